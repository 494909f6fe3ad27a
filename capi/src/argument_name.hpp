#ifndef POSTLUDE_CAPI_ARGUMENT_NAME_HPP
#define POSTLUDE_CAPI_ARGUMENT_NAME_HPP

#include <cstddef>
#include <string>

namespace postlude {
namespace detail {
namespace capi {

/// How a message calls an argument or a part of it: `bindings.outputs[2].extent[1]`. It is put
/// together only when a message needs it, so that a call without fault pays nothing for it.
///
/// The name of a part points at the name of the whole, which must outlive it: pass names down as
/// function arguments, do not store them.
class ArgumentName {
 public:
  ArgumentName(const char* argument) : ArgumentName(nullptr, argument, none) {}

  /// One element of an array.
  ArgumentName element(std::size_t index) const {
    return ArgumentName(this, nullptr, static_cast<std::ptrdiff_t>(index));
  }

  /// A member of a struct, or one element of an array that is a member.
  ArgumentName member(const char* member, std::ptrdiff_t index = none) const {
    return ArgumentName(this, member, index);
  }

  std::string text() const {
    std::string text = whole_ != nullptr ? whole_->text() : "";
    if (whole_ != nullptr && name_ != nullptr) text += ".";
    if (name_ != nullptr) text += name_;
    if (index_ != none) text += "[" + std::to_string(index_) + "]";
    return text;
  }

 private:
  static constexpr std::ptrdiff_t none = -1;

  ArgumentName(const ArgumentName* whole, const char* name, std::ptrdiff_t index)
      : whole_(whole), name_(name), index_(index) {}

  const ArgumentName* whole_;
  const char* name_;
  std::ptrdiff_t index_;
};

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
