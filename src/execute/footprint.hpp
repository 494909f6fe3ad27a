#ifndef POSTLUDE_EXECUTE_FOOTPRINT_HPP
#define POSTLUDE_EXECUTE_FOOTPRINT_HPP

#include <cstddef>

#include <postlude/tensor.hpp>

namespace postlude {
namespace detail {

/// True unless the strides are known to give every element an address of its own.
bool overlaps_itself(const Tensor& tensor);

/// False when the two share no element. Exact for contiguous tensors and for blocks of columns or
/// rows of one parent; otherwise true when their address ranges meet.
bool may_overlap(const Tensor& a, const Tensor& b);

/// Whether the address range of a tensor meets these bytes.
bool overlaps_bytes(const Tensor& tensor, const void* begin, std::size_t bytes);

}  // namespace detail
}  // namespace postlude

#endif
