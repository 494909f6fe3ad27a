// Postlude inside a Kokkos application: Kokkos is initialised by the application, the Views are its
// own, in either layout, and everything runs in order on its own execution-space instance.

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdio>
#include <type_traits>

#include <postlude/postlude.hpp>

using Space = Kokkos::DefaultExecutionSpace;

#ifdef KOKKOS_ENABLE_CUDA
/// A queue of the application's own: a CUDA stream.
class Queue {
 public:
  Queue() { cudaStreamCreate(&stream_); }
  ~Queue() { cudaStreamDestroy(stream_); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  Space instance() const { return Space(stream_); }

 private:
  cudaStream_t stream_;
};
#else
class Queue {
 public:
  Space instance() const { return Space(); }
};
#endif

/// A layer z = relu(x w^T + bias), and the mean of each column of z.
template <class Layout>
struct Layer {
  using Matrix = Kokkos::View<float**, Layout, Space>;
  using Vector = Kokkos::View<float*, Space>;

  Layer(int m, int n, int k)
      : x("x", m, k), w("w", n, k), bias("bias", n), z("z", m, n), mean("mean", 1, n) {}

  Matrix x, w;
  Vector bias;
  Matrix z, mean;
};

/// The application's own kernels. Before Postlude's: numbers in [low, high).
struct Fill {
  float* values;
  float low, high;

  KOKKOS_FUNCTION void operator()(int i) const {
    values[i] = low + (high - low) * static_cast<float>(i * 37 % 101) / 101;
  }
};

template <class View>
void fill(const Space& instance, const View& view, float low, float high) {
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Space>(instance, 0, view.size()),
                       Fill{view.data(), low, high});
}

/// After Postlude's: z[m,n] -= mean[n].
template <class Layout>
struct SubtractMean {
  Layer<Layout> layer;

  KOKKOS_FUNCTION void operator()(int m) const {
    for (std::size_t n = 0; n < layer.z.extent(1); ++n) layer.z(m, n) -= layer.mean(0, n);
  }
};

template <class Layout>
void run(const Space& instance, const Layer<Layout>& layer) {
  // Made once; the layout says where z may be kept while it is computed.
  postlude::PlanOptions options;
  options.layout = std::is_same<Layout, Kokkos::LayoutLeft>::value
                       ? postlude::ResultLayout::column_major
                       : postlude::ResultLayout::row_major;
  const postlude::Plan plan(instance, postlude::linear(layer.x, layer.w),
                            "z = relu(y + bias); return z, mean(z, dim=0)",
                            {{"bias", postlude::OperandKind::row}}, options);

  fill(instance, layer.x, 0, 1);
  fill(instance, layer.w, -1, 1);
  fill(instance, layer.bias, -1, 1);
  postlude::Arguments arguments;
  arguments.x = postlude::as_tensor(layer.x);
  arguments.w = postlude::as_tensor(layer.w);
  arguments.bindings = {{"bias", layer.bias}};
  arguments.outputs = {postlude::as_tensor(layer.z), postlude::as_tensor(layer.mean)};
  plan.execute(instance, arguments);
  Kokkos::parallel_for("subtract_mean", Kokkos::RangePolicy<Space>(instance, 0, layer.z.extent(0)),
                       SubtractMean<Layout>{layer});
  // Kernels on one instance run in order: the first fence is before the host reads.
  instance.fence();
}

/// Compares with plain loops in double; the number of elements outside the tolerance.
template <class Layout>
int count_wrong(const Layer<Layout>& layer) {
  const auto copy = [](const auto& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  const auto x = copy(layer.x);
  const auto w = copy(layer.w);
  const auto bias = copy(layer.bias);
  const auto z = copy(layer.z);
  const std::size_t rows = z.extent(0);
  int wrong = 0;
  for (std::size_t n = 0; n < z.extent(1); ++n) {
    Kokkos::View<double*, Kokkos::HostSpace> column("column", rows);
    double mean = 0;
    for (std::size_t m = 0; m < rows; ++m) {
      double y = bias(n);
      for (std::size_t k = 0; k < x.extent(1); ++k) y += double(x(m, k)) * w(n, k);
      column(m) = std::fmax(y, 0.0);
      mean += column(m) / static_cast<double>(rows);
    }
    for (std::size_t m = 0; m < rows; ++m) {
      const double expected = column(m) - mean;
      if (!(std::fabs(z(m, n) - expected) <= 1e-4 + 1e-4 * std::fabs(expected))) ++wrong;
    }
  }
  return wrong;
}

template <class Layout>
int run_and_check(const Space& instance, const char* name) {
  const Layer<Layout> layer(33, 65, 300);
  run(instance, layer);
  const int wrong = count_wrong(layer);
  std::printf("%s: %d of %zu elements are wrong\n", name, wrong, layer.z.size());
  return wrong;
}

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Queue queue;
  const Space instance = queue.instance();
  const int wrong = run_and_check<Kokkos::LayoutLeft>(instance, "LayoutLeft") +
                    run_and_check<Kokkos::LayoutRight>(instance, "LayoutRight");
  return wrong != 0;
}
