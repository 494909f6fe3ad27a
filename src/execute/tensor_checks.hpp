#ifndef POSTLUDE_EXECUTE_TENSOR_CHECKS_HPP
#define POSTLUDE_EXECUTE_TENSOR_CHECKS_HPP

#include <cstdint>
#include <string>

#include <postlude/backend.hpp>
#include <postlude/tensor.hpp>

#include "execute/tensor_name.hpp"

namespace postlude {
namespace detail {

/// Throws Error unless the tensor has a known dtype, a rank of 1 to 3 and extents whose number of
/// bytes fits in 62 bits.
void require_valid_description(const Tensor& tensor, const TensorName& name);

/// Throws Error unless kernels of the backend can read and write the tensor: a valid description,
/// data, alignment, memory space.
void require_usable(const Tensor& tensor, const TensorName& name, Backend backend);

/// Whether both have one dtype, rank and extents.
bool same_form(const Tensor& a, const Tensor& b);

/// The first dimension in which tensors of one form have different strides that tell, -1 when none.
int different_stride(const Tensor& a, const Tensor& b);

std::int64_t element_count(const Tensor& tensor);

/// a * b, or -1 when it does not fit in 62 bits or one is negative.
std::int64_t checked_product(std::int64_t a, std::int64_t b);

/// "128x64" with the extents of the tensor.
std::string extents_text(const Tensor& tensor);

/// "f32 128x64".
std::string form_text(const Tensor& tensor);

}  // namespace detail
}  // namespace postlude

#endif
