#include "structs.hpp"

#include <algorithm>

namespace postlude {
namespace detail {
namespace capi {
namespace {

/// Larger sizes are taken for garbage: looking for zeros behind the known fields would read beyond
/// the caller's memory. Operating systems draw the line for growing structs at a page too.
constexpr std::size_t largest_struct = 4096;

/// More structs than any plan has operands or results.
constexpr std::size_t largest_count = 65535;

[[noreturn]] void fail_size(std::size_t size, std::size_t known, const ArgumentName& argument,
                            const char* expected) {
  throw Error(Status::version_mismatch, argument.text() + ".size is " + std::to_string(size) +
                                            " and the library's is " + std::to_string(known) +
                                            ": " + expected);
}

}  // namespace

void require_pointer(const void* pointer, const ArgumentName& argument, const char* expected) {
  if (pointer == nullptr)
    throw Error(Status::invalid_argument, argument.text() + " is null: expected " + expected);
}

void require_output_size(std::size_t size, std::size_t known, const ArgumentName& argument) {
  if (size < known || size > largest_struct)
    fail_size(size, known, argument,
              "expected sizeof of the struct, as its _INIT macro sets it, in a program compiled "
              "for this or a newer version");
}

void require_input_size(const void* data, std::size_t size, std::size_t known,
                        const ArgumentName& argument) {
  require_output_size(size, known, argument);
  const auto* bytes = static_cast<const unsigned char*>(data);
  if (std::any_of(bytes + known, bytes + size, [](unsigned char byte) { return byte != 0; }))
    fail_size(size, known, argument,
              "expected zeros in the fields that only a newer version knows");
}

void require_array(const void* data, std::size_t count, const ArgumentName& argument,
                   const char* count_argument) {
  if (data == nullptr && count != 0)
    throw Error(Status::invalid_argument, argument.text() + " is null: expected an array of " +
                                              std::to_string(count) + ", the value of " +
                                              count_argument);
  if (count > largest_count)
    throw Error(Status::invalid_argument, std::string(count_argument) + " is " +
                                              std::to_string(count) + ": expected at most " +
                                              std::to_string(largest_count));
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude
