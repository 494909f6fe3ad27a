#include "execute/guarded_plan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "execute/binding.hpp"
#include "execute/enqueue_stages.hpp"

namespace postlude {
namespace detail {
namespace {

Shape x_shape(const GemmProblem& gemm) { return {gemm.batch, gemm.m, gemm.k}; }

std::size_t doubles(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(double); }

/// "2^96".
std::string power_text(double power) {
  return "2^" + std::to_string(static_cast<int>(std::log2(power)));
}

}  // namespace

GuardedPlan::GuardedPlan(GuardedProgram guarded, const GemmProblem& gemm,
                         const LinearProblem& problem, ResultLayout layout)
    : guarded_(std::move(guarded)),
      gemm_(gemm),
      plan_(make_execution_plan(guarded_.program, gemm, layout)),
      largest_of_x_(
          largest_magnitude(gemm.backend, gemm.dtype, x_shape(gemm), gemm.batch > 1, problem.x)),
      largest_of_w_(largest_magnitude(gemm.backend, gemm.dtype, weight_shape(gemm),
                                      weight_shape(gemm).batch > 1, problem.w)) {
  const Shape w_shape = weight_shape(gemm);
  std::int64_t magnitudes = std::max(gemm.batch, w_shape.batch);
  for (const std::size_t index : guarded_.bounded_operands) {
    const ProgramOperand& operand = guarded_.program.operands[index];
    if (operand.kind == OperandKind::scalar) {
      scalars_.push_back(index);
      continue;
    }
    operands_.push_back(
        {index, operand.shape.batch,
         largest_magnitude(gemm.backend, gemm.dtype, operand.shape, operand.is_batched, Tensor())});
    magnitudes = std::max(magnitudes, operand.shape.batch);
  }
  magnitudes_offset_ = reserve(doubles(magnitudes));
  std::size_t scratch = std::max(
      {plan_.workspace_bytes, largest_of_x_.workspace_bytes(), largest_of_w_.workspace_bytes()});
  for (const BoundedOperand& operand : operands_)
    scratch = std::max(scratch, operand.largest.workspace_bytes());
  const auto take = [&](std::optional<TensorProgram>& program, TensorProgram made) {
    scratch = std::max(scratch, made.workspace_bytes());
    program = std::move(made);
  };
  const bool x_is_batched = gemm.batch > 1;
  const bool w_is_batched = w_shape.batch > 1;
  if (guarded_.sum_over_columns >= 0) {
    take(sums_of_w_, TensorProgram(gemm.backend, gemm.dtype, "sum(v, dim=0)", w_shape, w_is_batched,
                                   problem.w));
    take(y_over_columns_,
         TensorProgram(gemm.backend, gemm.dtype, "sum(v * s, dim=1)", x_shape(gemm), x_is_batched,
                       problem.x, {{"s", OperandKind::row, w_is_batched}}));
    sums_of_w_offset_ = reserve(doubles(w_shape.batch * gemm.k));
    y_over_columns_offset_ = reserve(doubles(gemm.batch * gemm.m));
  }
  if (guarded_.sum_over_rows >= 0) {
    take(sums_of_x_, TensorProgram(gemm.backend, gemm.dtype, "sum(v, dim=0)", x_shape(gemm),
                                   x_is_batched, problem.x));
    take(y_over_rows_,
         TensorProgram(gemm.backend, gemm.dtype, "sum(v * s, dim=1)", {gemm.batch, gemm.n, gemm.k},
                       w_is_batched, problem.w, {{"s", OperandKind::row, x_is_batched}}));
    sums_of_x_offset_ = reserve(doubles(gemm.batch * gemm.k));
    y_over_rows_offset_ = reserve(doubles(gemm.batch * gemm.n));
  }
  scratch_offset_ = reserve(scratch);
}

std::size_t GuardedPlan::reserve(std::size_t bytes) {
  const std::size_t offset = workspace_bytes_;
  workspace_bytes_ += (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
  return offset;
}

bool GuardedPlan::is_proved(const ExecutionSpace& space, const Arguments& arguments,
                            const std::vector<const Binding*>& bindings, const WeightFacts* facts,
                            double* magnitudes, char* scratch) const {
  // Comparisons are false for NaN.
  const double limit = guarded_.limit;
  for (const std::size_t index : scalars_)
    if (!(std::fabs(bindings[index]->scalar) <= limit)) return false;
  for (const BoundedOperand& bounded : operands_) {
    bounded.largest.run(space, {bindings[bounded.operand]->tensor}, {magnitudes}, scratch);
    if (!(largest_of(magnitudes, bounded.batch) <= limit)) return false;
  }
  double w = 0;
  if (facts != nullptr) {
    w = facts->largest();
  } else {
    largest_of_w_.run(space, {arguments.w}, {magnitudes}, scratch);
    w = largest_of(magnitudes, weight_shape(gemm_).batch);
  }
  if (!(w <= limit)) return false;
  largest_of_x_.run(space, {arguments.x}, {magnitudes}, scratch);
  const double x = largest_of(magnitudes, gemm_.batch);
  if (!(x <= limit)) return false;
  // Of y itself, and of what is added up where sums of y are made without it.
  double count = static_cast<double>(gemm_.k);
  double rows_of_w = 1;
  double rows_of_x = 1;
  if (guarded_.sum_over_columns >= 0) rows_of_w = static_cast<double>(gemm_.n);
  if (guarded_.sum_over_rows >= 0) rows_of_x = static_cast<double>(gemm_.m);
  count *= std::max(rows_of_w, rows_of_x);
  return 2 * count * x * w <= limit && 2 * rows_of_w * w <= limit && 2 * rows_of_x * x <= limit;
}

bool GuardedPlan::run(const ExecutionSpace& space, const Arguments& arguments,
                      const std::vector<const Binding*>& bindings, const WeightFacts* facts,
                      char* workspace) const {
  const auto doubles_at = [&](std::size_t offset) {
    return reinterpret_cast<double*>(workspace + offset);
  };
  char* scratch = workspace + scratch_offset_;
  if (!is_proved(space, arguments, bindings, facts, doubles_at(magnitudes_offset_), scratch))
    return false;

  std::vector<const Binding*> all = bindings;
  std::vector<Binding> sums;
  sums.reserve(2);
  const auto bind = [&](int operand, double* data) {
    const ProgramOperand& planned = guarded_.program.operands[static_cast<std::size_t>(operand)];
    sums.emplace_back(planned.name, float64_tensor(gemm_.backend, data, planned.shape));
    all.resize(guarded_.program.operands.size());
    all[static_cast<std::size_t>(operand)] = &sums.back();
  };
  if (y_over_columns_) {
    double* of_w = facts == nullptr ? nullptr : facts->sums();
    if (of_w == nullptr) {
      of_w = doubles_at(sums_of_w_offset_);
      sums_of_w_->run(space, {arguments.w}, {of_w}, scratch);
    }
    const Tensor row = float64_tensor(gemm_.backend, of_w, {weight_shape(gemm_).batch, 1, gemm_.k});
    double* of_y = doubles_at(y_over_columns_offset_);
    y_over_columns_->run(space, {arguments.x, row}, {of_y}, scratch);
    bind(guarded_.sum_over_columns, of_y);
  }
  if (y_over_rows_) {
    double* of_x = doubles_at(sums_of_x_offset_);
    sums_of_x_->run(space, {arguments.x}, {of_x}, scratch);
    const Tensor row = float64_tensor(gemm_.backend, of_x, {gemm_.batch, 1, gemm_.k});
    double* of_y = doubles_at(y_over_rows_offset_);
    y_over_rows_->run(space, {arguments.w, row}, {of_y}, scratch);
    bind(guarded_.sum_over_rows, of_y);
  }
  BoundMemory memory;
  memory.workspace = scratch;
  enqueue_stages(space, plan_, memory, all, arguments.outputs);
  return true;
}

Shortcut GuardedPlan::description() const {
  Shortcut shortcut;
  shortcut.program = guarded_.program;
  shortcut.rewrites = guarded_.applied;
  std::string rows;
  if (guarded_.sum_over_columns >= 0) rows += " N";
  if (guarded_.sum_over_rows >= 0) rows += " M";
  shortcut.condition = "2 K" + rows + " max|x| max|w|";
  for (const std::size_t operand : guarded_.bounded_operands)
    shortcut.condition += ", |" + guarded_.program.operands[operand].name + "|";
  shortcut.condition += " at most " + power_text(guarded_.limit);
  return shortcut;
}

}  // namespace detail
}  // namespace postlude
