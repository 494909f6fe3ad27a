#ifndef POSTLUDE_PROGRAM_PRODUCT_FACTORS_HPP
#define POSTLUDE_PROGRAM_PRODUCT_FACTORS_HPP

#include "program/program.hpp"

namespace postlude {
namespace detail {

/// The same program for an engine that leaves a product with a factor for each row and one for each
/// column: the GEMM's result stands for the product, and y = (product * row factor) * column factor
/// takes its place in what used it.
Program with_product_factors(const Program& program);

}  // namespace detail
}  // namespace postlude

#endif
