#include "execute/guarded_plan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "execute/binding.hpp"
#include "execute/contiguous_tensor.hpp"
#include "execute/enqueue_pass.hpp"
#include "execute/enqueue_stages.hpp"
#include "execute/memory.hpp"
#include "plan/stage_description.hpp"

namespace postlude {
namespace detail {
namespace {

/// On a device a pass over w takes as long as the GEMM of so many rows, or nearly.
constexpr std::int64_t fewest_rows_for_pass_over_w = 64;

Shape x_shape(const GemmProblem& gemm) { return {gemm.batch, gemm.m, gemm.k}; }

std::size_t doubles(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(double); }

/// "2^96".
std::string power_text(double power) {
  return "2^" + std::to_string(static_cast<int>(std::log2(power)));
}

}  // namespace

GuardedPlan::GuardedPlan(GuardedProgram guarded, const GemmProblem& gemm, ResultLayout layout)
    : guarded_(std::move(guarded)),
      gemm_(gemm),
      is_on_device_(!is_reachable(gemm.backend, MemorySpace::host)),
      plan_(make_execution_plan(guarded_.program, gemm, layout)) {
  for (const std::size_t index : guarded_.bounded_operands)
    (guarded_.program.operands[index].kind == OperandKind::scalar ? scalars_ : tensors_)
        .push_back(index);

  const bool over_columns = guarded_.sum_over_columns >= 0;
  const bool over_rows = guarded_.sum_over_rows >= 0;
  const auto pass = [&](const Shape& shape, const MatrixStrides& strides, int dimension) {
    return matrix_pass(gemm.backend, gemm.dtype, shape, strides, dimension);
  };
  sums_of_w_ = place(pass(weight_shape(gemm), gemm.w, over_columns ? 0 : -1));
  x_ = place(pass(x_shape(gemm), gemm.x, over_columns ? 1 : -1));
  if (over_rows) {
    sums_of_x_ = place(pass(x_shape(gemm), gemm.x, 0));
    w_ = place(pass({gemm.batch, gemm.n, gemm.k}, gemm.w, 1));
  }
  operands_offset_ = reserve(doubles(most_magnitudes * static_cast<std::int64_t>(tensors_.size())));
  scratch_offset_ = reserve(plan_.workspace_bytes);

  // Of y itself, and of what is added up where sums of y are made without it.
  condition_.limit = guarded_.limit;
  condition_.rows_of_w = over_columns ? 2 * static_cast<double>(gemm.n) : 2;
  condition_.rows_of_x = over_rows ? 2 * static_cast<double>(gemm.m) : 2;
  condition_.products =
      static_cast<double>(gemm.k) * std::max(condition_.rows_of_w, condition_.rows_of_x);
}

GuardedPlan::PlacedPass GuardedPlan::place(const MatrixPass& pass) {
  PlacedPass placed;
  placed.pass = pass;
  placed.magnitudes_offset = reserve(doubles(most_magnitudes));
  if (pass.sums == PassSums::none) return placed;
  placed.sums_offset = reserve(doubles(pass.sum_count()));
  placed.partials_offset = pass.cut.chunks > 1 ? reserve(partials_bytes(pass)) : placed.sums_offset;
  return placed;
}

std::size_t GuardedPlan::reserve(std::size_t bytes) {
  const std::size_t offset = workspace_bytes_;
  workspace_bytes_ += (bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
  return offset;
}

/// Whether a device runs the program in the launch that decides: one small stage.
bool GuardedPlan::runs_with_decision() const {
  constexpr std::int64_t most_lines = 8192;
  constexpr std::int64_t most_additions = 8192;  // every block makes all of them
  if (!is_on_device_ || plan_.stages.size() != 1) return false;
  const PlannedStage& planned = plan_.stages.front();
  const auto additions = [](const PlacedPass& placed) {
    const bool is_whole = placed.pass.sums == PassSums::none || placed.pass.cut.chunks == 1;
    return is_whole ? 0 : placed.pass.cut.chunks * placed.pass.sum_count();
  };
  return planned.sweep == SweepKind::pointwise && plan_.compute_dtype == DataType::float32 &&
         planned.stage.batch * planned.stage.outer <= most_lines &&
         planned.domain.elements() <= 16 * most_lines &&
         additions(x_) + additions(w_) <= most_additions;
}

/// The passes of one execution, and what they find.
class GuardedPlan::Execution {
 public:
  Execution(const GuardedPlan& plan, const ExecutionSpace& space, char* workspace)
      : plan_(plan), space_(space), workspace_(workspace) {
    decision_.condition = plan.condition_;
  }

  double* doubles_at(std::size_t offset) const {
    return reinterpret_cast<double*>(workspace_ + offset);
  }

  Magnitudes look_at(const PlacedPass& placed, const void* data, const double* weights = nullptr,
                     std::int64_t weights_stride = 0) {
    MatrixPass pass = placed.pass;
    pass.matrix.data = data;
    pass.weights = weights;
    pass.weights_stride = weights_stride;
    pass.magnitudes = doubles_at(placed.magnitudes_offset);
    pass.partials = doubles_at(placed.partials_offset);
    enqueue_pass(space_, pass, waiting_);
    waiting_.clear();
    return {pass.magnitudes, pass.cut.workers};
  }

  /// The additions that a pass has left to be done.
  ChunkedSums sums_of(const PlacedPass& placed) const {
    if (placed.pass.cut.chunks == 1) return {};
    MatrixPass pass = placed.pass;
    pass.partials = doubles_at(placed.partials_offset);
    return sums_after(pass, doubles_at(placed.sums_offset));
  }

  void add_now(const PlacedPass& placed) const {
    const ChunkedSums sums = sums_of(placed);
    if (sums.count > 0) enqueue_sums(space_, sums);
  }

  /// False once a host has found what cannot be proved.
  bool may_hold(const Magnitudes& magnitudes) const {
    return plan_.is_on_device_ || largest_of(magnitudes) <= plan_.condition_.limit;
  }

  bool look_at_operands(const std::vector<const Binding*>& bindings) {
    double* place = doubles_at(plan_.operands_offset_);
    decision_.operands = {place, 0};
    for (const std::size_t index : plan_.tensors_) {
      const ProgramOperand& operand = plan_.guarded_.program.operands[index];
      const Tensor& tensor = bindings[index]->tensor;
      MatrixPass pass =
          matrix_pass(plan_.gemm_.backend, tensor.dtype, operand.shape,
                      strides_of(tensor, reading_as(operand.shape, operand.is_batched)), -1);
      pass.matrix.data = tensor.data;
      pass.magnitudes = place;
      // A device takes it with the pass over x or w that is first.
      if (plan_.is_on_device_ && tensor.dtype == plan_.gemm_.dtype &&
          waiting_.size() < most_other_passes)
        waiting_.push_back(pass);
      else
        enqueue_pass(space_, pass);
      if (!may_hold({place, pass.cut.workers})) return false;
      place += pass.cut.workers;
      decision_.operands.count += pass.cut.workers;
    }
    return true;
  }

  /// Looks at w and x and adds up what is asked for. `facts` may be null.
  bool look_at_factors(const Arguments& arguments, const WeightFacts* facts) {
    const bool over_columns = plan_.guarded_.sum_over_columns >= 0;
    const bool over_rows = plan_.guarded_.sum_over_rows >= 0;
    const double* sums_of_w = facts == nullptr ? nullptr : facts->sums();
    const bool needs_sums = over_columns && sums_of_w == nullptr;
    if (facts != nullptr) decision_.w = facts->magnitudes();
    if (needs_sums || (facts == nullptr && !over_rows)) {
      decision_.w = look_at(plan_.sums_of_w_, arguments.w.data);
      if (!may_hold(decision_.w)) return false;
      if (needs_sums) {
        add_now(plan_.sums_of_w_);
        sums_of_w = doubles_at(plan_.sums_of_w_.sums_offset);
      }
    }
    if (over_columns || !over_rows) {
      decision_.x = look_at(plan_.x_, arguments.x.data, sums_of_w,
                            weight_shape(plan_.gemm_).batch > 1 ? plan_.gemm_.k : 0);
      if (!may_hold(decision_.x)) return false;
    }
    if (over_columns) decision_.sums[0] = sums_of(plan_.x_);
    if (!over_rows) return true;
    decision_.x = look_at(plan_.sums_of_x_, arguments.x.data);
    if (!may_hold(decision_.x)) return false;
    add_now(plan_.sums_of_x_);
    const Magnitudes w = look_at(plan_.w_, arguments.w.data,
                                 doubles_at(plan_.sums_of_x_.sums_offset), plan_.gemm_.k);
    if (decision_.w.count == 0) decision_.w = w;
    decision_.sums[1] = sums_of(plan_.w_);
    return true;
  }

  /// On a host, whether it is proved; on a device the word is written there, and `stage` run.
  bool decide(int* word, const Stage* stage) {
    decision_.is_proved = word;
    decision_.stage = stage;
    return enqueue_decision(space_, decision_);
  }

 private:
  const GuardedPlan& plan_;
  const ExecutionSpace& space_;
  char* workspace_;
  GuardDecision decision_;
  std::vector<MatrixPass> waiting_;  ///< for the next one
};

GuardOutcome GuardedPlan::run(const ExecutionSpace& space, const Arguments& arguments,
                              const std::vector<const Binding*>& bindings, const WeightFacts* facts,
                              char* workspace) const {
  if (facts != nullptr && !facts->is_known()) return {};
  const bool needs_sums = wants_weight_sums() && (facts == nullptr || facts->sums() == nullptr);
  const bool reads_w = facts == nullptr || needs_sums || guarded_.sum_over_rows >= 0;
  if (reads_w && arguments.w.data == nullptr) return {};
  if (reads_w && is_on_device_ && gemm_.batch * gemm_.m < fewest_rows_for_pass_over_w) return {};
  for (const std::size_t index : scalars_)
    if (!(std::fabs(bindings[index]->scalar) <= guarded_.limit)) return {};

  auto* const word = reinterpret_cast<int*>(workspace);
  workspace += decision_bytes();
  Execution execution(*this, space, workspace);
  if (!execution.look_at_operands(bindings) || !execution.look_at_factors(arguments, facts))
    return {};

  std::vector<const Binding*> all = bindings;
  std::vector<Binding> sums;
  sums.reserve(2);
  const auto bind = [&](int operand, std::size_t offset) {
    const ProgramOperand& planned = guarded_.program.operands[static_cast<std::size_t>(operand)];
    Tensor tensor =
        contiguous_tensor(execution.doubles_at(offset), DataType::float64, planned.shape);
    tensor.memory_space = is_on_device_ ? MemorySpace::device : MemorySpace::host;
    sums.emplace_back(planned.name, tensor);
    all.resize(guarded_.program.operands.size());
    all[static_cast<std::size_t>(operand)] = &sums.back();
  };
  if (guarded_.sum_over_columns >= 0) bind(guarded_.sum_over_columns, x_.sums_offset);
  if (guarded_.sum_over_rows >= 0) bind(guarded_.sum_over_rows, w_.sums_offset);
  BoundMemory memory;
  memory.workspace = workspace + scratch_offset_;

  if (runs_with_decision()) {
    const Stage stage = bind_stage(plan_, plan_.stages.front(), memory, all, arguments.outputs);
    execution.decide(word, &stage);
    return {false, word};
  }
  if (!execution.decide(word, nullptr)) return {};
  if (!is_on_device_) {
    enqueue_stages(space, plan_, memory, all, arguments.outputs);
    return {true, nullptr};
  }
  enqueue_stages(space, plan_, memory, all, arguments.outputs, {word, 1});
  return {false, word};
}

Shortcut GuardedPlan::description() const {
  Shortcut shortcut;
  shortcut.program = guarded_.program;
  shortcut.rewrites = guarded_.applied;
  shortcut.is_decided_on_device = is_on_device_;
  const bool over_columns = guarded_.sum_over_columns >= 0;
  const bool over_rows = guarded_.sum_over_rows >= 0;
  const auto element = static_cast<double>(size_of(gemm_.dtype));
  const double of_x = static_cast<double>(x_shape(gemm_).elements()) * element;
  const double of_w = static_cast<double>(weight_shape(gemm_).elements()) * element;
  double bytes = over_columns && over_rows ? 2 * of_x : of_x;
  for (const std::size_t operand : tensors_)
    bytes += static_cast<double>(guarded_.program.operands[operand].shape.elements()) * element;
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) bytes += describe_stage(plan_, i).bytes;
  shortcut.bytes_with_prepared_weights = bytes + (over_rows ? of_w : 0);
  shortcut.bytes = bytes + (over_columns && over_rows ? 2 * of_w : of_w);
  std::string rows;
  if (over_columns) rows += " N";
  if (over_rows) rows += " M";
  shortcut.condition = "2 K" + rows + " max|x| max|w|";
  for (const std::size_t operand : guarded_.bounded_operands)
    shortcut.condition += ", |" + guarded_.program.operands[operand].name + "|";
  shortcut.condition += " at most " + power_text(guarded_.limit);
  return shortcut;
}

}  // namespace detail
}  // namespace postlude
