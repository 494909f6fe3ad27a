#include "gemm/onednn_matmul.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

#include <oneapi/dnnl/dnnl.hpp>

#include <postlude/error.hpp>

#include "compat/openmp_threads.hpp"

namespace postlude {
namespace detail {
namespace {

/// Never destroyed: plans may outlive other objects of static duration.
dnnl::engine& cpu_engine() {
  static auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::memory::desc describe(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                            const MatrixStrides& strides) {
  using Dims = dnnl::memory::dims;
  constexpr auto f32 = dnnl::memory::data_type::f32;
  if (batch == 1) return {Dims{rows, columns}, f32, Dims{strides.row, strides.column}};
  const bool is_shared = strides.batch == 0;
  const std::int64_t whole = std::max(rows * strides.row, columns * strides.column);
  return {Dims{is_shared ? 1 : batch, rows, columns}, f32,
          Dims{is_shared ? whole : strides.batch, strides.row, strides.column}};
}

/// In float32 whatever the environment says, with a scratchpad that the caller gives.
dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR > 2 || DNNL_VERSION_MINOR >= 4
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
#endif
#if DNNL_VERSION_MAJOR > 3 || (DNNL_VERSION_MAJOR == 3 && DNNL_VERSION_MINOR >= 4)
  attributes.set_deterministic(true);
#endif
  return attributes;
}

dnnl::memory::desc describe_plain_b(const OneDnnShape& shape) {
  return describe(shape.batch, shape.depth, shape.columns, shape.b);
}

dnnl::matmul::primitive_desc make_description(const OneDnnShape& shape,
                                              const dnnl::memory::desc& b) {
  const dnnl::memory::desc a = describe(shape.batch, shape.rows, shape.depth, shape.a);
  const dnnl::memory::desc c = describe(shape.batch, shape.rows, shape.columns, shape.c);
#if DNNL_VERSION_MAJOR >= 3
  return {cpu_engine(), a, b, c, attributes()};
#else
  return {dnnl::matmul::desc(a, b, c), attributes(), cpu_engine()};
#endif
}

[[noreturn]] void throw_as(const dnnl::error& error, Status status) {
  throw Error(error.status == dnnl_out_of_memory ? Status::out_of_memory : status,
              std::string("oneDNN does not compute the product: ") + error.what());
}

auto members(const MatrixStrides& strides) {
  return std::tie(strides.batch, strides.row, strides.column);
}

auto members(const OneDnnShape& shape) {
  return std::tuple_cat(
      std::tie(shape.batch, shape.rows, shape.columns, shape.depth, shape.threads),
      members(shape.a), members(shape.b), members(shape.c));
}

}  // namespace

class OneDnnFormat {
 public:
  explicit OneDnnFormat(const dnnl::memory::desc& description) : description_(description) {}

  const dnnl::memory::desc& description() const { return description_; }

 private:
  dnnl::memory::desc description_;
};

bool operator==(const OneDnnFormat& left, const OneDnnFormat& right) {
  return left.description() == right.description();
}

std::size_t bytes_of(const OneDnnFormat& format) { return format.description().get_size(); }

bool operator==(const OneDnnShape& left, const OneDnnShape& right) {
  if ((left.b_format == nullptr) != (right.b_format == nullptr)) return false;
  if (left.b_format != nullptr && !(*left.b_format == *right.b_format)) return false;
  return members(left) == members(right);
}

std::shared_ptr<const OneDnnFormat> wanted_format_of_b(const OneDnnShape& shape) {
  const OpenMpThreads threads(shape.threads);
  const dnnl::memory::desc any({shape.depth, shape.columns}, dnnl::memory::data_type::f32,
                               dnnl::memory::format_tag::any);
  try {
    const dnnl::memory::desc wanted = make_description(shape, any).weights_desc();
    if (wanted == describe_plain_b(shape)) return nullptr;
    return std::make_shared<const OneDnnFormat>(wanted);
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

void write_b(const OneDnnShape& shape, const float* b, const OneDnnFormat& format, float* to) {
  const OpenMpThreads threads(shape.threads);
  try {
    dnnl::memory from(describe_plain_b(shape), cpu_engine(), const_cast<float*>(b));
    dnnl::memory made(format.description(), cpu_engine(), to);
    dnnl::stream stream(cpu_engine());
    dnnl::reorder(from, made).execute(stream, from, made);
    stream.wait();
  } catch (const dnnl::error& error) {
    throw_as(error, Status::backend_failure);
  }
}

struct OneDnnMatmul::Primitive {
  explicit Primitive(const OneDnnShape& shape)
      : description(make_description(shape, shape.b_format == nullptr
                                                ? describe_plain_b(shape)
                                                : shape.b_format->description())),
        a(description.src_desc()),
        b(description.weights_desc()),
        c(description.dst_desc()),
        scratchpad(description.scratchpad_desc()) {}

  dnnl::matmul::primitive_desc description;
  dnnl::memory::desc a, b, c, scratchpad;
  std::once_flag is_made;
  dnnl::matmul matmul;
};

OneDnnMatmul::OneDnnMatmul(const OneDnnShape& shape) : shape_(shape) {
  // oneDNN shares out the work when it describes and when it makes a primitive.
  const OpenMpThreads threads(shape.threads);
  try {
    primitive_ = std::make_unique<Primitive>(shape);
    implementation_ = primitive_->description.impl_info_str();
    scratchpad_bytes_ = primitive_->scratchpad.get_size();
  } catch (const dnnl::error& error) {
    throw_as(error, Status::unsupported);
  }
}

OneDnnMatmul::~OneDnnMatmul() = default;

void OneDnnMatmul::make_ready() const {
  const OpenMpThreads threads(shape_.threads);
  try {
    std::call_once(primitive_->is_made,
                   [&] { primitive_->matmul = dnnl::matmul(primitive_->description); });
  } catch (const dnnl::error& error) {
    throw_as(error, Status::backend_failure);
  }
}

bool OneDnnMatmul::is_reference() const {
  return implementation_.rfind("ref", 0) == 0 || implementation_.rfind("gemm:ref", 0) == 0;
}

void OneDnnMatmul::run(const float* a, const float* b, float* c, void* scratchpad) const {
  make_ready();
  const OpenMpThreads threads(shape_.threads);
  const auto memory = [](const dnnl::memory::desc& description, const void* data) {
    return dnnl::memory(description, cpu_engine(), const_cast<void*>(data));
  };
  try {
    std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SRC, memory(primitive_->a, a)},
                                                       {DNNL_ARG_WEIGHTS, memory(primitive_->b, b)},
                                                       {DNNL_ARG_DST, memory(primitive_->c, c)}};
    if (scratchpad_bytes_ > 0)
      arguments.emplace(DNNL_ARG_SCRATCHPAD, memory(primitive_->scratchpad, scratchpad));
    // A stream of a processor is no more than a name: the work is done when execute() returns.
    dnnl::stream stream(cpu_engine());
    primitive_->matmul.execute(stream, arguments);
    stream.wait();
  } catch (const dnnl::error& error) {
    throw_as(error, Status::backend_failure);
  }
}

}  // namespace detail
}  // namespace postlude
