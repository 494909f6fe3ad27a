#include <oneapi/dnnl/dnnl.hpp>

#include <cfloat>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "peer.hpp"

namespace postlude {
namespace perf {
namespace {

using Eltwise = dnnl::algorithm;
using Arguments = std::unordered_map<int, dnnl::memory>;

/// algorithm(v; alpha, beta), as oneDNN defines its elementwise post-operations.
struct PostOperation {
  Eltwise algorithm;
  float alpha = 0;
  float beta = 0;
};

PostOperation linear(float factor, float term = 0) {
  return {Eltwise::eltwise_linear, factor, term};
}
PostOperation clip(float low, float high) { return {Eltwise::eltwise_clip_v2, low, high}; }
PostOperation relu(float slope = 0) { return {Eltwise::eltwise_relu, slope, 0}; }
PostOperation silu() { return {Eltwise::eltwise_swish, 1, 0}; }
PostOperation gelu() { return {Eltwise::eltwise_gelu_erf, 0, 0}; }
PostOperation mish() { return {Eltwise::eltwise_mish, 0, 0}; }
PostOperation sigmoid() { return {Eltwise::eltwise_logistic, 0, 0}; }
PostOperation tanh() { return {Eltwise::eltwise_tanh, 0, 0}; }

/// What follows the matmul with its post-operations, in primitives of its own.
enum class Rest {
  nothing,
  softmax,         ///< of the rows
  sum,             ///< over the columns
  largest,         ///< over the columns; then less its mean over dim 1
  largest_of_dim0  ///< over the rows; likewise
};

struct Recipe {
  std::vector<PostOperation> of_matmul = {};
  Rest rest = Rest::nothing;
  std::vector<PostOperation> of_rest = {};
  const char* bias = "bias";
};

/// The programs of perf/programs.json that a matmul with post-operations, and at most the
/// primitives of Rest, can express.
const std::map<std::string, Recipe>& recipes() {
  static const std::map<std::string, Recipe> table = {
      {"s1", {{clip(-FLT_MAX, 2), linear(1, -2)}}},
      {"s2_dim0", {{}, Rest::largest_of_dim0, {gelu()}}},
      {"s2_dim1", {{}, Rest::largest, {gelu()}}},
      {"bias_relu", {{relu()}}},
      {"multiply_leaky_relu", {{linear(2), relu(0.1f)}}},
      {"divide_sum_scale", {{linear(0.5f)}, Rest::sum, {linear(1.5f)}}},
      {"mish_mish", {{mish(), mish()}}},
      {"scale_add_unscaled", {{linear(1.5f)}}},
      {"scale_hardtanh_gelu", {{linear(0.5f), clip(-2, 2), gelu()}}},
      {"sigmoid_sum", {{sigmoid()}, Rest::sum, {}}},
      {"silu_scale", {{silu(), linear(2)}}},
      {"relu_divide", {{relu(), linear(0.5f)}}},
      {"dropout_inference_softmax", {{}, Rest::softmax, {}}},
      {"add_relu", {{relu()}, Rest::nothing, {}, "other"}},
      {"silu_divide_clamp_tanh_clamp", {{silu(), linear(0.5f), clip(-1, 1), tanh(), clip(-1, 1)}}},
      {"divide_gelu", {{linear(0.1f), gelu()}}},
      {"gelu_softmax", {{gelu()}, Rest::softmax, {}}},
      {"subtract_multiply_relu", {{linear(1.5f, -3), relu()}}}};
  return table;
}

dnnl::primitive_attr attributes_of(const std::vector<PostOperation>& list) {
  dnnl::post_ops operations;
  for (const PostOperation& operation : list)
    operations.append_eltwise(1, operation.algorithm, operation.alpha, operation.beta);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(operations);
  return attributes;
}

dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns) {
  return {{rows, columns}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab};
}

void* data_of(const DeviceTensor& tensor) { return tensor.tensor().data; }

/// Primitives in order, with the memory of each copy.
class Sequence {
 public:
  Sequence(const Case& what, const Recipe& recipe, bool is_prepared, const Inputs& inputs,
           const std::vector<DeviceTensor>& outputs)
      : engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        m_(what.m),
        n_(what.n),
        copies_(static_cast<std::size_t>(inputs.copies())) {
    const bool is_whole = recipe.rest == Rest::nothing;
    if (!is_whole) y_ = dnnl::memory(matrix(m_, n_), engine_);
    add_matmul(what, recipe, is_prepared, inputs, outputs);
    add_rest(recipe, outputs);
  }

  void execute(int copy) {
    const std::vector<Arguments>& arguments = copies_[static_cast<std::size_t>(copy)];
    for (std::size_t i = 0; i < primitives_.size(); ++i)
      primitives_[i].execute(stream_, arguments[i]);
    stream_.wait();
  }

 private:
  dnnl::memory memory(const dnnl::memory::desc& description, const DeviceTensor& tensor) const {
    return dnnl::memory(description, engine_, data_of(tensor));
  }

  void add_matmul(const Case& what, const Recipe& recipe, bool is_prepared, const Inputs& inputs,
                  const std::vector<DeviceTensor>& outputs) {
    const dnnl::memory::desc x = matrix(m_, what.k), y = matrix(m_, n_), bias = matrix(1, n_);
    // w^T, k x n, of which w holds the columns.
    const dnnl::memory::desc w({what.k, n_}, dnnl::memory::data_type::f32,
                               dnnl::memory::dims{1, what.k});
    const dnnl::memory::desc any({what.k, n_}, dnnl::memory::data_type::f32,
                                 dnnl::memory::format_tag::any);
    const dnnl::matmul::primitive_desc description(
        dnnl::matmul::desc(x, is_prepared ? any : w, bias, y), attributes_of(recipe.of_matmul),
        engine_);
    primitives_.push_back(dnnl::matmul(description));
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const int copy = static_cast<int>(i);
      dnnl::memory weights = memory(w, inputs.w(copy));
      if (is_prepared) {
        dnnl::memory reordered(description.weights_desc(), engine_);
        dnnl::reorder(weights, reordered).execute(stream_, weights, reordered);
        stream_.wait();
        weights = reordered;
      }
      copies_[i].push_back(
          {{DNNL_ARG_SRC, memory(x, inputs.x(copy))},
           {DNNL_ARG_WEIGHTS, weights},
           {DNNL_ARG_BIAS, memory(bias, inputs.operand(recipe.bias, copy))},
           {DNNL_ARG_DST, recipe.rest == Rest::nothing ? memory(y, outputs[i]) : y_}});
    }
  }

  void add_rest(const Recipe& recipe, const std::vector<DeviceTensor>& outputs) {
    const dnnl::memory::desc y = matrix(m_, n_);
    switch (recipe.rest) {
      case Rest::nothing:
        return;
      case Rest::softmax: {
        const dnnl::softmax_v2_forward::primitive_desc description(
            dnnl::softmax_v2_forward::desc(dnnl::prop_kind::forward_inference,
                                           dnnl::algorithm::softmax_accurate, y, y, 1),
            engine_);
        primitives_.push_back(dnnl::softmax_v2_forward(description));
        for (std::size_t i = 0; i < copies_.size(); ++i)
          copies_[i].push_back({{DNNL_ARG_SRC, y_}, {DNNL_ARG_DST, memory(y, outputs[i])}});
        return;
      }
      case Rest::sum:
        add_reduction(dnnl::algorithm::reduction_sum, y_, matrix(m_, 1), recipe.of_rest);
        for (std::size_t i = 0; i < copies_.size(); ++i)
          copies_[i].push_back(
              {{DNNL_ARG_SRC, y_}, {DNNL_ARG_DST, memory(matrix(m_, 1), outputs[i])}});
        return;
      case Rest::largest:
      case Rest::largest_of_dim0:
        return add_largest(recipe, outputs);
    }
  }

  void add_reduction(dnnl::algorithm algorithm, const dnnl::memory& from,
                     const dnnl::memory::desc& to, const std::vector<PostOperation>& operations) {
    const dnnl::reduction::primitive_desc description(
        dnnl::reduction::desc(algorithm, from.get_desc(), to, 0, 0), attributes_of(operations),
        engine_);
    primitives_.push_back(dnnl::reduction(description));
  }

  /// m = max(y, dim), then m - mean(m, dim=1) with the post-operations.
  void add_largest(const Recipe& recipe, const std::vector<DeviceTensor>& outputs) {
    const bool by_column = recipe.rest == Rest::largest_of_dim0;
    const dnnl::memory::desc shape = by_column ? matrix(1, n_) : matrix(m_, 1);
    const dnnl::memory::desc mean_shape = by_column ? matrix(1, 1) : matrix(m_, 1);
    const dnnl::memory largest(shape, engine_), mean(mean_shape, engine_);
    add_reduction(dnnl::algorithm::reduction_max, y_, shape, {});
    // Of one column the mean is the column: oneDNN reduces no dimension of extent 1.
    if (by_column) add_reduction(dnnl::algorithm::reduction_mean, largest, mean_shape, {});
    const dnnl::binary::primitive_desc subtract(
        dnnl::binary::desc(dnnl::algorithm::binary_sub, shape, mean_shape, shape),
        attributes_of(recipe.of_rest), engine_);
    primitives_.push_back(dnnl::binary(subtract));
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      copies_[i].push_back({{DNNL_ARG_SRC, y_}, {DNNL_ARG_DST, largest}});
      if (by_column) copies_[i].push_back({{DNNL_ARG_SRC, largest}, {DNNL_ARG_DST, mean}});
      copies_[i].push_back({{DNNL_ARG_SRC_0, largest},
                            {DNNL_ARG_SRC_1, by_column ? mean : largest},
                            {DNNL_ARG_DST, memory(shape, outputs[i])}});
    }
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  std::int64_t m_, n_;
  dnnl::memory y_;
  std::vector<dnnl::primitive> primitives_;
  std::vector<std::vector<Arguments>> copies_;  ///< of each primitive
};

class OneDnn : public Peer {
 public:
  OneDnn(Backend backend, bool is_prepared) : backend_(backend), is_prepared_(is_prepared) {}

  std::string name() const override {
    return is_prepared_ ? "oneDNN with post-ops, prepared weights" : "oneDNN with post-ops";
  }

  std::string absence() const override {
    return backend_ == Backend::openmp ? "" : "its threads are OpenMP's: run with --backend openmp";
  }

  std::string refusal(const Case& what) const override {
    if (what.dtype != DataType::float32) return "it is written for f32";
    if (recipes().count(what.program) == 0)
      return "it takes more than post-operations and one reduction or softmax";
    return "";
  }

  Work prepare(const ExecutionSpace&, const Case& what, const Inputs& inputs,
               const std::vector<DeviceTensor>& outputs) const override {
    const auto sequence =
        std::make_shared<Sequence>(what, recipes().at(what.program), is_prepared_, inputs, outputs);
    return [sequence](int copy) { sequence->execute(copy); };
  }

 private:
  Backend backend_;
  bool is_prepared_;
};

}  // namespace

std::unique_ptr<Peer> make_onednn(Backend backend, bool is_prepared) {
  return std::make_unique<OneDnn>(backend, is_prepared);
}

}  // namespace perf
}  // namespace postlude
