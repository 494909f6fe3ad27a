#ifndef POSTLUDE_CAPI_STRUCTS_HPP
#define POSTLUDE_CAPI_STRUCTS_HPP

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <postlude/error.hpp>

#include "argument_name.hpp"

namespace postlude {
namespace detail {
namespace capi {

// Structs of the C interface begin with their size, so that caller and library may know different
// versions of them. When a field is appended:
// - it must not move into tail padding that older versions had, or the size would not change;
// - the least size accepted stays the one of 0.1, and the fields beyond the caller's size keep the
//   value of the _INIT macro.
// postlude_tensor is embedded in other structs by value and therefore never grows.

/// Throws Error(invalid_argument) "`argument` is null: expected `expected`" for a null pointer.
void require_pointer(const void* pointer, const ArgumentName& argument, const char* expected);

/// Throws Error(version_mismatch) unless a struct of `size` bytes at `data` can be read as one of
/// `known` bytes: not smaller, and with nothing but zeros in the fields that are not known here.
void require_input_size(const void* data, std::size_t size, std::size_t known,
                        const ArgumentName& argument);

/// The same for a struct that is written to: what lies beyond `known` is left alone.
void require_output_size(std::size_t size, std::size_t known, const ArgumentName& argument);

/// Throws Error(invalid_argument) unless `data` may be an array of `count` structs.
void require_array(const void* data, std::size_t count, const ArgumentName& argument,
                   const char* count_argument);

/// The size that the caller gave a struct, which is its first member.
inline std::size_t stated_size(const void* data) {
  std::size_t size = 0;
  std::memcpy(&size, data, sizeof(size));
  return size;
}

/// Copies the known part of a caller's struct.
template <class Struct>
Struct read_struct(const Struct* source, const ArgumentName& argument) {
  require_pointer(source, argument, "a struct set up with its _INIT macro");
  require_input_size(source, stated_size(source), sizeof(Struct), argument);
  Struct copy;
  std::memcpy(&copy, source, sizeof(Struct));
  copy.size = sizeof(Struct);
  return copy;
}

/// Copies the known parts of a caller's array. Its elements are as far apart as the first one is
/// large, since the caller may know a larger struct than this library does.
template <class Struct>
std::vector<Struct> read_array(const Struct* first, std::size_t count, const ArgumentName& argument,
                               const char* count_argument) {
  require_array(first, count, argument, count_argument);
  std::vector<Struct> copies;
  if (count == 0) return copies;
  copies.reserve(count);
  const std::size_t spacing = stated_size(first);
  for (std::size_t i = 0; i < count; ++i) {
    const ArgumentName name = argument.element(i);
    const auto* element =
        reinterpret_cast<const Struct*>(reinterpret_cast<const char*>(first) + i * spacing);
    copies.push_back(read_struct(element, name));
    if (stated_size(element) != spacing)
      throw Error(Status::version_mismatch,
                  name.text() + ".size is " + std::to_string(stated_size(element)) + ": expected " +
                      std::to_string(spacing) + ", the size of the first element");
  }
  return copies;
}

}  // namespace capi
}  // namespace detail
}  // namespace postlude

#endif
