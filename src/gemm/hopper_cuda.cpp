#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compat/current_device.hpp"
#include "evaluator/quotient_up.hpp"
#include "gemm/cublaslt.hpp"
#include "gemm/cuda_status.hpp"
#include "gemm/hopper.hpp"
#include "gemm/hopper_kernels.hpp"
#include "gemm/hopper_stage_kernels.hpp"
#include "gemm/hopper_tile_stages.hpp"
#include "gemm/kokkos_kernels.hpp"
#include "gemm/matrix_form.hpp"
#include "gemm/split_gemm_weights.hpp"
#include "gemm/split_layout.hpp"
#include "gemm/tensor_cores.hpp"

namespace postlude {
namespace detail {
namespace {

/// What the copy engine asks of addresses and of distances between rows, in bytes.
constexpr std::int64_t copy_alignment = 16;

/// The bound of the mode f32 is (K + 2) eps sum |x| |w|. The parts' remainders take 6 eps of it,
/// the tensor cores up to 4 in every 64 of k, elements that are small beside their row's largest 8.
constexpr std::int64_t least_k_of_f32 = 16;

/// With as many products the error is at most twice that of a strict sum, or below 2^-24 of the sum
/// of magnitudes: what rounding one element of each product to float32 does.
constexpr std::int64_t least_k_by_default = 128;

bool is_small(DataType dtype) { return dtype == DataType::float16 || dtype == DataType::bfloat16; }

/// Of 16-bit floats.
HopperFormat format_of(DataType dtype) {
  return dtype == DataType::float16 ? HopperFormat::float16 : HopperFormat::bfloat16;
}

GemmSize size_of_product(const GemmProblem& problem) { return {problem.m, problem.n, problem.k}; }

int attribute_of(const ExecutionSpace& space, cudaDeviceAttr attribute) {
  int value = 0;
  require_success(cudaDeviceGetAttribute(&value, attribute, device_of(space)),
                  "cudaDeviceGetAttribute");
  return value;
}

bool is_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % copy_alignment == 0;
}

/// Why the copy engine cannot read a matrix of rows x k elements, "" when it can (from an aligned
/// address).
std::string copy_refusal(const char* name, std::int64_t rows, const GemmProblem& problem,
                         const MatrixStrides& strides) {
  const auto bytes = static_cast<std::int64_t>(size_of(problem.dtype));
  const BlasMatrix form = blas_form(rows, problem.k, strides);
  if (form.form != MatrixForm::row_major) return std::string(name) + " needs contiguous rows";
  const auto fits = [&](std::int64_t distance) { return distance * bytes % copy_alignment == 0; };
  if (rows > 1 && !fits(form.leading_dimension))
    return std::string(name) + " has rows at a distance of " +
           std::to_string(form.leading_dimension * bytes) +
           " bytes: the copy engine needs a multiple of 16";
  if (problem.batch > 1 && !fits(strides.batch))
    return std::string(name) + " has matrices at a distance of " +
           std::to_string(strides.batch * bytes) + " bytes: the copy engine needs a multiple of 16";
  return "";
}

/// How w comes to the kernel where it is not prepared.
enum class WeightsRoute { as_they_are, streamed, split_before };

class HopperGemm final : public GemmPlan {
 public:
  HopperGemm(const ExecutionSpace& space, const GemmProblem& problem)
      : device_(device_of(space)), is_split_(!is_small(problem.dtype)) {
    if (is_trivial(problem)) return;
    processors_ = attribute_of(space, cudaDevAttrMultiProcessorCount);
    const GemmSize size = size_of_product(problem);
    if (is_split_) {
      prepared_ = choose_hopper_tiling(HopperFormat::split, size, processors_);
      unprepared_ = prepared_;
      unprepared_.seconds += splitting_seconds(size);
      const HopperChoice streamed = choose_hopper_tiling(HopperFormat::streamed, size, processors_);
      route_ = WeightsRoute::split_before;
      if (copy_refusal("w", problem.n, problem, problem.w).empty() &&
          streamed.seconds < unprepared_.seconds) {
        unprepared_ = streamed;
        route_ = WeightsRoute::streamed;
      }
      x_bytes_ = split_matrix_bytes(problem.m, problem.k);
      extrema_bytes_ = std::max(splitting_bytes(problem.m, problem.k, problem.x.column),
                                splitting_bytes(problem.n, problem.k, problem.w.column));
    } else {
      format_ = format_of(problem.dtype);
      unprepared_ = choose_hopper_tiling(format_, size, processors_);
      prepared_ = unprepared_;
    }
    const int slices = std::max(prepared_.tiling.slices, unprepared_.tiling.slices);
    if (slices > 1)
      slices_bytes_ =
          aligned_bytes(static_cast<std::size_t>(slices) * static_cast<std::size_t>(problem.m) *
                        static_cast<std::size_t>(problem.n) * sizeof(float));
    if (route_ == WeightsRoute::split_before)
      weights_bytes_ = split_matrix_bytes(problem.n, problem.k);
    if (route_ == WeightsRoute::streamed)
      weights_bytes_ = streamed_scales_bytes(problem) + streamed_states_bytes(problem);

    const compat::CurrentDevice current(device_);
    if (is_split_) load_hopper_kernel(HopperFormat::split, prepared_.tiling);
    if (!is_split_ || route_ == WeightsRoute::streamed)
      load_hopper_kernel(is_split_ ? HopperFormat::streamed : format_, unprepared_.tiling);

    // What is left for addresses that the copy engine cannot read.
    GemmProblem portable = portable_problem(problem);
    EngineAnswer answer = kokkos_kernels_engine().consider(space, portable, AlgorithmChoice());
    fallback_ = answer.gemm;
    fallback_bytes_ = answer.candidate.workspace_bytes;
  }

  double seconds() const { return unprepared_.seconds; }
  /// Whether a stage that may be taken in is left to a sweep all the same.
  bool leaves_stage(const GemmProblem& problem) const {
    return has_slices() || streams_narrow_tiles_for_long(problem);
  }
  WeightsRoute route() const { return route_; }
  const HopperTiling& tiling() const { return unprepared_.tiling; }
  std::size_t weights_bytes() const { return weights_bytes_; }
  std::size_t workspace_bytes() const {
    const std::size_t own = x_bytes_ + extrema_bytes_ + slices_bytes_ + partials_bytes_;
    return aligned_bytes(std::max(own, fallback_bytes_)) + weights_bytes_;
  }

  void run(const ExecutionSpace& space, const GemmProblem& problem,
           const GemmArguments& arguments) const override {
    if (problem.batch == 0 || problem.m == 0 || problem.n == 0) return;
    if (problem.k == 0) return zero_result(problem, arguments.y, stream_of(space));
    if (needs_fallback(arguments)) return run_fallback(space, problem, arguments);
    for (std::int64_t batch = 0; batch < problem.batch; ++batch)
      run_matrix(problem, arguments, batch, nullptr, stream_of(space));
  }

  bool can_skip() const override { return true; }
  bool can_skip(const GemmArguments& arguments) const override {
    return !needs_fallback(arguments);
  }

  TakenStages take_in(const GemmProblem& problem, const FollowingStages& stages) const override {
    if (is_trivial(problem)) return {};
    TakenStages taken;
    taken.refusal = stage_refusal(problem, stages.front());
    if (!taken.refusal.empty()) return taken;
    // More stages may need more registers than there are.
    for (taken.count = stages_on_tiles(stages); taken.count > 0; --taken.count) {
      const std::string refusal = make_ready_for(stages, static_cast<int>(taken.count));
      if (!refusal.empty()) {
        taken.refusal = refusal;
        continue;
      }
      taken.words = taken.count == 1 ? "all of it, tile by tile" : "all of them, tile by tile";
      taken.workspace_bytes = workspace_bytes();
      break;
    }
    return taken;
  }

  bool run_with(const ExecutionSpace& space, const GemmProblem& problem,
                const GemmArguments& arguments, const FollowingStages& stages) const override {
    if (is_trivial(problem) || needs_fallback(arguments)) return false;
    Taken taken;
    taken.made_for =
        stage_kernel(stages, static_cast<int>(stages.size()), arguments.weights != nullptr);
    taken.stages = bound_stages(stages);
    taken.keeps_y = stages.back().keeps_y;
    taken.functions = find_hopper_stages(taken.made_for, taken.stages);
    if (taken.functions.kernel == nullptr) return false;
    for (std::int64_t batch = 0; batch < problem.batch; ++batch)
      run_matrix(problem, arguments, batch, &taken, stream_of(space));
    finish_hopper_stages(taken.functions, taken.made_for, taken.epilogue, taken.stages,
                         stream_of(space));
    return true;
  }

  std::unique_ptr<GemmWeights> make_weights(const ExecutionSpace& space,
                                            const GemmProblem& problem) const override {
    if (!is_split_ || is_trivial(problem)) return nullptr;
    return std::make_unique<SplitGemmWeights>(device_of(space), problem);
  }

  bool takes(const GemmWeights& weights, const GemmProblem& problem) const override {
    const auto* split = dynamic_cast<const SplitGemmWeights*>(&weights);
    return is_split_ && split != nullptr && split->weights().fit(device_, problem);
  }

 private:
  /// Stages that are run on the sums.
  struct Taken {
    HopperStageKernel made_for;
    HopperStages stages = {};
    bool keeps_y = false;
    HopperStageFunctions functions;
    HopperEpilogue epilogue;
  };

  /// Whether the copy engine cannot read what it would have to.
  bool needs_fallback(const GemmArguments& arguments) const {
    const bool reads_w = arguments.weights == nullptr && route_ != WeightsRoute::split_before;
    return (reads_w && !is_aligned(arguments.w)) || (!is_split_ && !is_aligned(arguments.x));
  }

  /// Why a stage is left to a sweep, "" when nothing speaks against it but what its kernel needs.
  std::string stage_refusal(const GemmProblem& problem, const FollowingStage& stage) const {
    const PlannedStage& planned = stage.planned;
    if (!hopper_stage_refusal().empty()) return hopper_stage_refusal();
    if (!stage.may_compile) return "the plan compiles no stage of this size";
    if (problem.y.column != 1) return "y is not row-major";
    const std::string refusal = tile_refusal(planned);
    if (!refusal.empty()) return refusal;
    if (has_slices()) return "k is cut into slices, whose sums are added afterwards";
    if (streams_narrow_tiles_for_long(problem))
      return "w is split as it streams, in narrow tiles: a kernel that stores y is faster at it";
    return "";
  }

  bool has_slices() const { return prepared_.tiling.slices > 1 || unprepared_.tiling.slices > 1; }

  /// A step of the kernel with a stage takes a sixth of a microsecond longer than one of the kernel
  /// for narrow tiles, which is worth a sweep after about 32 of them.
  bool streams_narrow_tiles_for_long(const GemmProblem& problem) const {
    const int columns = unprepared_.tiling.columns;
    return route_ == WeightsRoute::streamed && columns < 128 &&
           quotient_up(problem.k, hopper_step) > 32;
  }

  /// How many of the stages a tile can run one after another.
  static std::size_t stages_on_tiles(const FollowingStages& stages) {
    std::vector<const PlannedStage*> taken = {&stages.front().planned};
    // Two stages are more than 4 KB of arguments, which drivers take from CUDA 12.1 on.
    int driver = 0;
    require_success(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    if (driver < 12010) return 1;
    while (taken.size() < std::min<std::size_t>(stages.size(), most_tile_stages)) {
      const FollowingStage& next = stages[taken.size()];
      if (!next.may_compile || !can_follow_on_tile(next.planned, taken)) break;
      taken.push_back(&next.planned);
    }
    return taken.size();
  }

  static HopperStages bound_stages(const FollowingStages& stages) {
    HopperStages bound = {};
    for (std::size_t i = 0; i < std::min(stages.size(), bound.size()); ++i)
      bound[i] = &stages[i].bound;
    return bound;
  }

  /// Compiles kernels for the first `count` stages. Returns why they cannot be used, "" when they
  /// can.
  std::string make_ready_for(const FollowingStages& stages, int count) const {
    // With and without prepared weights. Where one of them cannot, the other does not either.
    std::vector<HopperStageKernel> kernels = {stage_kernel(stages, count, false)};
    if (is_split_ && stage_kernel(stages, count, true).format != kernels[0].format)
      kernels.push_back(stage_kernel(stages, count, true));
    const compat::CurrentDevice current(device_);
    const HopperStages bound = bound_stages(stages);
    const std::string refusal = compile_hopper_stages(kernels, bound);
    if (!refusal.empty()) return refusal;
    std::size_t partials_bytes = 0;
    for (const HopperStageKernel& kernel : kernels) {
      load_hopper_stage_kernel(find_hopper_stages(kernel, bound).kernel, kernel.format,
                               kernel.columns, kernel.count);
      partials_bytes =
          std::max(partials_bytes, aligned_bytes(hopper_partials_bytes(kernel, bound)));
    }
    partials_bytes_ = partials_bytes;
    return "";
  }

  HopperStageKernel stage_kernel(const FollowingStages& stages, int count, bool is_prepared) const {
    HopperStageKernel kernel;
    const bool is_streamed = !is_prepared && route_ == WeightsRoute::streamed;
    kernel.format = !is_split_    ? format_
                    : is_streamed ? HopperFormat::streamed
                                  : HopperFormat::split;
    kernel.columns = (is_prepared || !is_streamed ? prepared_ : unprepared_).tiling.columns;
    kernel.count = count;
    for (int i = 0; i < count; ++i)
      kernel.stages[i] = tile_stage_of(stages[static_cast<std::size_t>(i)].planned);
    return kernel;
  }

  std::size_t streamed_scales_bytes(const GemmProblem& problem) const {
    return split_scales_bytes(problem.n * unprepared_.tiling.slices);
  }
  std::size_t streamed_states_bytes(const GemmProblem& problem) const {
    return split_states_bytes(problem.n * unprepared_.tiling.slices);
  }

  static GemmProblem portable_problem(GemmProblem problem) {
    if (problem.dtype == DataType::float32) problem.compute = ComputeMode::f32;
    return problem;
  }

  void run_fallback(const ExecutionSpace& space, const GemmProblem& problem,
                    const GemmArguments& arguments) const {
    if (fallback_ == nullptr)
      throw Error(Status::unsupported,
                  "the engine hopper needs x and w at addresses that are multiples of 16");
    GemmArguments own = arguments;
    own.weights = nullptr;
    fallback_->run(space, portable_problem(problem), own);
  }

  /// One product, with the stages that are taken in, if there are any.
  void run_matrix(const GemmProblem& problem, const GemmArguments& arguments, std::int64_t batch,
                  Taken* taken, cudaStream_t stream) const {
    char* place = static_cast<char*>(arguments.workspace);
    const auto take = [&](std::size_t bytes) {
      char* const taken = place;
      place += bytes;
      return taken;
    };
    char* const x_memory = take(x_bytes_);
    auto* const extrema = reinterpret_cast<RowExtrema*>(take(extrema_bytes_));
    auto* const slices = reinterpret_cast<float*>(take(slices_bytes_));
    auto* const partials = reinterpret_cast<ReductionState*>(take(partials_bytes_));
    // Without prepared weights the place after everything else is theirs.
    char* const w_memory =
        static_cast<char*>(arguments.workspace) + workspace_bytes() - weights_bytes_;

    HopperProduct product;
    product.m = problem.m;
    product.n = problem.n;
    product.k = problem.k;
    product.unless = arguments.unless;
    product.processors = processors_;
    SplitFactor of_x;
    SplitFactor of_w;
    SplitSums sums;
    sums.unless = arguments.unless;
    HopperTiling tiling = unprepared_.tiling;
    if (is_split_) {
      of_x.source = {static_cast<const float*>(arguments.x) + batch * problem.x.batch, problem.m,
                     problem.k, problem.x.row, problem.x.column};
      SplitMatrix x = split_matrix_at(x_memory, problem.m, problem.k, false);
      x.unless = arguments.unless;
      split_matrix(of_x.source, x, extrema, stream);
      of_x.scales = x.scales;
      of_x.states = x.states;
      product.x = matrix_of(x);
      product.x_scales = x.scales;

      of_w.source = {nullptr, problem.n, problem.k, problem.w.row, problem.w.column};
      if (arguments.weights == nullptr)
        of_w.source.data = static_cast<const float*>(arguments.w) + batch * problem.w.batch;
      if (arguments.weights == nullptr && route_ == WeightsRoute::streamed) {
        product.format = HopperFormat::streamed;
        product.w = {of_w.source.data, problem.w.row * static_cast<std::int64_t>(sizeof(float)), 0};
        product.w_scales = reinterpret_cast<RowScale*>(w_memory);
        product.w_states =
            reinterpret_cast<std::uint8_t*>(w_memory + streamed_scales_bytes(problem));
        of_w.states = product.w_states;
        sums.w_scale_count = tiling.slices;
      } else {
        SplitMatrix w;
        if (arguments.weights != nullptr) {
          const SplitWeights& weights =
              static_cast<const SplitGemmWeights*>(arguments.weights)->weights();
          w = weights.matrix(batch);
          of_w.kept = weights.kept_rows();
        } else {
          w = split_matrix_at(w_memory, problem.n, problem.k, true);
          w.unless = arguments.unless;
          if (batch == 0 || problem.w.batch != 0) split_matrix(of_w.source, w, extrema, stream);
        }
        tiling = prepared_.tiling;
        product.format = HopperFormat::split;
        product.w = matrix_of(w);
        product.w_scales = w.scales;
        of_w.states = w.states;
        of_w.parts = w.parts;
        of_w.padded_k = w.padded_k;
        of_w.low_first = w.low_first;
      }
      of_w.scales = product.w_scales;
    } else {
      const auto at = [&](const void* data, const MatrixStrides& strides) {
        return HopperMatrix{static_cast<const char*>(data) + batch * strides.batch * 2,
                            strides.row * 2, 0};
      };
      product.format = format_;
      product.x = at(arguments.x, problem.x);
      product.w = at(arguments.w, problem.w);
      sums.w_scale_count = 0;
    }

    if (taken != nullptr) {
      if (taken->keeps_y) {
        product.y = static_cast<float*>(arguments.y) + batch * problem.y.batch;
        product.y_row_stride = problem.y.row;
        product.y_column_stride = 1;
      }
      taken->epilogue = {of_x, of_w, batch, partials};
      hopper_multiply_with(taken->functions.kernel, product, tiling, taken->epilogue,
                           taken->stages.data(), taken->made_for.count, stream);
      return;
    }

    sums.m = problem.m;
    sums.n = problem.n;
    sums.y = static_cast<float*>(arguments.y) + batch * problem.y.batch;
    sums.y_row_stride = problem.y.row;
    sums.y_column_stride = problem.y.column;
    if (tiling.slices > 1) {
      sums.slices = slices;
      sums.slice_count = tiling.slices;
      product.y = slices;
      product.y_row_stride = problem.n;
      product.y_column_stride = 1;
      product.slice_stride = problem.m * problem.n;
    } else {
      product.y = sums.y;
      product.y_row_stride = problem.y.row;
      product.y_column_stride = problem.y.column;
    }
    hopper_multiply(product, tiling, stream);
    if (is_split_ || tiling.slices > 1) settle_sums(of_x, of_w, sums, stream);
  }

  static HopperMatrix matrix_of(const SplitMatrix& matrix) {
    const auto part = matrix.padded_k * static_cast<std::int64_t>(bytes_of_part);
    return {matrix.parts, 2 * part, part};
  }

  int device_;
  int processors_ = 0;
  bool is_split_;
  HopperFormat format_ = HopperFormat::split;
  WeightsRoute route_ = WeightsRoute::as_they_are;
  HopperChoice prepared_;
  HopperChoice unprepared_;
  std::size_t x_bytes_ = 0;
  std::size_t extrema_bytes_ = 0;
  std::size_t slices_bytes_ = 0;
  std::size_t weights_bytes_ = 0;
  mutable std::size_t partials_bytes_ = 0;  ///< of a stage that is taken in, once it is
  std::shared_ptr<const GemmPlan> fallback_;
  std::size_t fallback_bytes_ = 0;
};

/// Why the engine leaves a problem to others, "" when it does not.
std::string refusal(const ExecutionSpace& space, const GemmProblem& problem) {
  const bool is_f32 =
      problem.dtype == DataType::float32 &&
      (problem.compute == ComputeMode::f32 || problem.compute == ComputeMode::f32_emulated_f16x3);
  if (!is_f32 && !(is_small(problem.dtype) && problem.compute == ComputeMode::automatic))
    return std::string(
               "takes f16 and bf16, and f32 in the modes f32 and f32_emulated_f16x3, not ") +
           name_of(problem.dtype) + " in the mode " + name_of(problem.compute);
  const std::string needed = "needs a CUDA device of compute capability 9.0: ";
  if (space.backend() != Backend::cuda)
    return needed + "the backend is " + name_of(space.backend());
  const int major = attribute_of(space, cudaDevAttrComputeCapabilityMajor);
  const int minor = attribute_of(space, cudaDevAttrComputeCapabilityMinor);
  if (major != 9 || minor != 0)
    return needed + "this one has " + std::to_string(major) + "." + std::to_string(minor);
  std::string reason = size_refusal(problem);
  if (!reason.empty()) return reason;
  if (problem.has_factors) return "writes y itself, and leaves no factors";
  if (is_trivial(problem)) return "";
  if (problem.compute == ComputeMode::f32 && problem.k < least_k_of_f32)
    return "sums of fewer than " + std::to_string(least_k_of_f32) +
           " products would not be as exact as strict f32";
  if (is_small(problem.dtype)) {
    reason = copy_refusal("x", problem.m, problem, problem.x);
    if (reason.empty()) reason = copy_refusal("w", problem.n, problem, problem.w);
  }
  return reason;
}

/// Bytes an element that a sweep over y reads and writes where a stage follows: y, float32 or not,
/// and a result.
double sweep_bytes(const GemmProblem& problem) {
  if (!problem.precedes_stage) return 0;
  return is_small(problem.dtype) ? 6 : 8;
}

/// Seconds of such a sweep.
double sweep_seconds(const GemmProblem& problem) {
  return problem.precedes_stage ? stage_seconds(size_of_product(problem), sweep_bytes(problem)) : 0;
}

/// Seconds of a product and a sweep that the other engines will need, as far as they take the
/// problem.
double rival_seconds(const GemmProblem& problem) {
  const GemmSize size = size_of_product(problem);
  const double sweep = sweep_seconds(problem);
  if (is_small(problem.dtype)) return small_gemm_seconds(format_of(problem.dtype), size) + sweep;
  const double strict = strict_gemm_seconds(size) + sweep;
  if (problem.compute == ComputeMode::f32) return strict;
  const double split = split_gemm_seconds(size, sweep_bytes(problem));
  return is_small_emulated(problem) ? std::min(strict, split) : split;
}

std::string microseconds(double seconds) {
  return std::to_string(static_cast<long long>(seconds * 1e6 + 0.5)) + " us";
}

std::string remark(const HopperGemm& gemm, const GemmProblem& problem) {
  const HopperTiling& tiling = gemm.tiling();
  std::string text = is_small(problem.dtype)
                         ? std::string("products of ") + name_of(problem.dtype) + ", sums in f32"
                         : "three products of f16 parts, promoted to f32 every 64 of k";
  if (gemm.route() == WeightsRoute::streamed) text += "; splits w as it streams";
  if (gemm.route() == WeightsRoute::split_before)
    text += "; splits w in memory unless it is prepared";
  text += "; tiles of " + std::to_string(tiling.columns) + "x" + std::to_string(hopper_rows);
  if (tiling.slices > 1) text += ", k in " + std::to_string(tiling.slices) + " slices";
  return text;
}

class HopperEngine final : public Engine {
 public:
  const char* name() const override { return "hopper"; }

  EngineAnswer consider(const ExecutionSpace& space, const GemmProblem& problem,
                        const AlgorithmChoice&) const override {
    EngineAnswer answer;
    answer.candidate.name = name();
    answer.candidate.reason = refusal(space, problem);
    if (!answer.candidate.reason.empty()) return answer;
    const auto gemm = std::make_shared<const HopperGemm>(space, problem);
    answer.candidate.accepts = true;
    answer.candidate.workspace_bytes = gemm->workspace_bytes();
    answer.candidate.weights_bytes = gemm->weights_bytes();
    answer.candidate.reason = remark(*gemm, problem);
    if (!is_trivial(problem)) {
      const double rival = rival_seconds(problem);
      const double own =
          gemm->seconds() + (gemm->leaves_stage(problem) ? sweep_seconds(problem) : 0);
      const bool is_exact = problem.compute != ComputeMode::f32 || problem.k >= least_k_by_default;
      answer.candidate.is_second_choice = own > rival || !is_exact;
      answer.candidate.reason += "; about " + microseconds(own) +
                                 (problem.precedes_stage ? " with a stage" : " a product") +
                                 ", others about " + microseconds(rival);
      if (!is_exact)
        answer.candidate.reason += "; by name only, since sums of fewer than " +
                                   std::to_string(least_k_by_default) +
                                   " products may be less exact than strict f32";
    }
    answer.gemm = gemm;
    return answer;
  }
};

}  // namespace

const Engine& hopper_engine() {
  static const HopperEngine engine;
  return engine;
}

}  // namespace detail
}  // namespace postlude
