#ifndef POSTLUDE_EXECUTE_TENSOR_NAME_HPP
#define POSTLUDE_EXECUTE_TENSOR_NAME_HPP

#include <string>

namespace postlude {
namespace detail {

/// What a message calls a tensor, or the number in its place: x, or output 'gate'. The words are
/// put together only when a message needs them, since every execution checks its arguments. The
/// name must outlive this.
class TensorName {
 public:
  TensorName(const char* kind) : kind_(kind) {}
  TensorName(const char* kind, const std::string& name) : kind_(kind), name_(&name) {}

  std::string text() const {
    return name_ == nullptr ? kind_ : std::string(kind_) + " '" + *name_ + "'";
  }

 private:
  const char* kind_;
  const std::string* name_ = nullptr;
};

inline std::string operator+(const TensorName& name, const char* rest) {
  return name.text() + rest;
}

}  // namespace detail
}  // namespace postlude

#endif
