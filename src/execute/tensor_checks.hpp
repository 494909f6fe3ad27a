#ifndef POSTLUDE_EXECUTE_TENSOR_CHECKS_HPP
#define POSTLUDE_EXECUTE_TENSOR_CHECKS_HPP

#include <string>

#include <postlude/backend.hpp>
#include <postlude/tensor.hpp>

namespace postlude {
namespace detail {

/// Throws Error unless kernels of the backend can read and write the tensor: a valid description,
/// data, alignment, memory space. `name` is the argument's name for the message.
void require_usable(const Tensor& tensor, const std::string& name, Backend backend);

}  // namespace detail
}  // namespace postlude

#endif
