#include "unfused_work.hpp"

#ifdef POSTLUDE_PERF_HAS_BLAS
extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*,
            const float*, const int*, const float*, const int*, const float*, float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
            const double*, const int*, const double*, const int*, const double*, double*,
            const int*);
}
#endif

namespace postlude {
namespace perf {
namespace {

#ifdef POSTLUDE_PERF_HAS_BLAS
void call_blas(int m, int n, int k, const float* a, const float* b, float* c) {
  const float one = 1, zero = 0;
  sgemm_("T", "N", &m, &n, &k, &one, a, &k, b, &k, &zero, c, &m);
}
void call_blas(int m, int n, int k, const double* a, const double* b, double* c) {
  const double one = 1, zero = 0;
  dgemm_("T", "N", &m, &n, &k, &one, a, &k, b, &k, &zero, c, &m);
}
#else
template <class T>
void call_blas(int, int, int, const T*, const T*, T*) {}
#endif

/// One thread's work on one line. On hosts alone, but called by bodies that are for devices too.
struct LoopLine {
  template <class Value>
  KOKKOS_FUNCTION double sum(int count, const Value& value) const {
    double total = 0;
    for (int i = 0; i < count; ++i) total += value(i);
    return total;
  }
  template <class T, class Value>
  KOKKOS_FUNCTION T largest(int count, const Value& value) const {
    T result = value(0);
    for (int i = 1; i < count; ++i) {
      const T v = value(i);
      if (v > result) result = v;
    }
    return result;
  }
  template <class Body>
  KOKKOS_FUNCTION void each(int count, const Body& body) const {
    for (int i = 0; i < count; ++i) body(i);
  }
  template <class Body>
  KOKKOS_FUNCTION void once(const Body& body) const {
    body();
  }
};

struct LoopExecutor {
  template <class Body>
  void elements(std::int64_t count, const Body& body) const {
#pragma omp parallel for
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
  template <class Body>
  void lines(std::int64_t count, const Body& body) const {
#pragma omp parallel for
    for (std::int64_t i = 0; i < count; ++i) body(LoopLine(), i);
  }
  template <class T>
  void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const T* x, const T* w, T* y) const {
    call_blas(static_cast<int>(n), static_cast<int>(m), static_cast<int>(k), w, x, y);
  }
};

class BlasLoops : public Peer {
 public:
  explicit BlasLoops(Backend backend) : backend_(backend) {}

  std::string name() const override { return "BLAS, one loop per operation"; }

  std::string refusal(const Case& what) const override {
#ifndef POSTLUDE_PERF_HAS_BLAS
    return "the suite was built without a BLAS";
#elif !defined(_OPENMP)
    return "the suite was compiled without OpenMP";
#else
    if (backend_ != Backend::openmp) return "its loops are OpenMP's: run with --backend openmp";
    return unfused::refusal<LoopExecutor>(what);
#endif
  }

  Work prepare(const ExecutionSpace& space, const Case& what, const Inputs& inputs,
               const std::vector<DeviceTensor>& outputs) const override {
    if (what.dtype == DataType::float64)
      return unfused::work_of<double>(space, LoopExecutor(), {}, what, inputs, outputs);
    return unfused::work_of<float>(space, LoopExecutor(), {}, what, inputs, outputs);
  }

 private:
  Backend backend_;
};

class BlasAlone : public BlasLoops {
 public:
  using BlasLoops::BlasLoops;

  std::string name() const override { return "BLAS, the GEMM alone"; }

  std::string refusal(const Case& what) const override {
    return BlasLoops::refusal(computed(what));
  }

  Case computed(const Case& what) const override {
    Case product = what;
    product.program = "product";
    product.text = "y";
    product.independent = Independent::rows;
    product.operands.clear();
    return product;
  }
};

}  // namespace

std::unique_ptr<Peer> make_blas_alone(Backend backend) {
  return std::make_unique<BlasAlone>(backend);
}

std::unique_ptr<Peer> make_blas_loops(Backend backend) {
  return std::make_unique<BlasLoops>(backend);
}

}  // namespace perf
}  // namespace postlude
