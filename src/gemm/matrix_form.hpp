#ifndef POSTLUDE_GEMM_MATRIX_FORM_HPP
#define POSTLUDE_GEMM_MATRIX_FORM_HPP

#include <algorithm>
#include <cstdint>

#include "plan/gemm_problem.hpp"

namespace postlude {
namespace detail {

/// How a strided matrix looks to a BLAS, which knows one contiguous dimension and a leading one.
enum class MatrixForm { row_major, column_major, neither };

struct BlasMatrix {
  MatrixForm form = MatrixForm::neither;
  std::int64_t leading_dimension = 0;
};

/// The form of a rows x columns matrix. The stride of a dimension of one element does not matter.
inline BlasMatrix blas_form(std::int64_t rows, std::int64_t columns, const MatrixStrides& strides) {
  const auto fits = [](std::int64_t outer, std::int64_t inner, std::int64_t outer_stride,
                       std::int64_t inner_stride) {
    return (inner <= 1 || inner_stride == 1) &&
           (outer <= 1 || outer_stride >= std::max<std::int64_t>(inner, 1));
  };
  const auto leading = [](std::int64_t outer, std::int64_t inner, std::int64_t outer_stride) {
    return outer <= 1 ? std::max<std::int64_t>(inner, 1) : outer_stride;
  };
  if (fits(rows, columns, strides.row, strides.column))
    return {MatrixForm::row_major, leading(rows, columns, strides.row)};
  if (fits(columns, rows, strides.column, strides.row))
    return {MatrixForm::column_major, leading(columns, rows, strides.column)};
  return {};
}

/// Strides of a matrix that has a form, as if its dimensions of one element had more.
inline MatrixStrides plain_strides(std::int64_t rows, std::int64_t columns,
                                   const MatrixStrides& strides) {
  const BlasMatrix form = blas_form(rows, columns, strides);
  return form.form == MatrixForm::row_major
             ? MatrixStrides{strides.batch, form.leading_dimension, 1}
             : MatrixStrides{strides.batch, 1, form.leading_dimension};
}

/// Whether the columns of y are contiguous, so that a GEMM with contiguous rows computes
/// y^T = w x^T, and one with contiguous columns y itself.
inline bool has_column_major_y(const GemmProblem& problem) {
  return blas_form(problem.m, problem.n, problem.y).form == MatrixForm::column_major;
}

inline MatrixStrides transposed(const MatrixStrides& strides) {
  return {strides.batch, strides.column, strides.row};
}

}  // namespace detail
}  // namespace postlude

#endif
