#ifndef POSTLUDE_PERF_UNFUSED_OPERATIONS_HPP
#define POSTLUDE_PERF_UNFUSED_OPERATIONS_HPP

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace postlude {
namespace perf {
namespace unfused {

/// The operations as a person would write them for one layer, apart from Postlude's evaluator.
/// They are bodies: of a flat loop over elements, or over lines, whose `line` sums, finds the
/// largest, and visits elements.

// ---- Formulas of one element
// ---------------------------------------------------------------------

template <class T>
struct Scale {
  T factor;
  KOKKOS_FUNCTION T operator()(T v) const { return v * factor; }
};
template <class T>
struct Divide {
  T divisor;
  KOKKOS_FUNCTION T operator()(T v) const { return v / divisor; }
};
template <class T>
struct AddNumber {
  T number;
  KOKKOS_FUNCTION T operator()(T v) const { return v + number; }
};
template <class T>
struct Clamp {
  T low, high;
  KOKKOS_FUNCTION T operator()(T v) const { return v < low ? low : (v > high ? high : v); }
};
template <class T>
struct MinNumber {
  T number;
  KOKKOS_FUNCTION T operator()(T v) const { return v > number ? number : v; }
};
template <class T>
struct LeakyRelu {
  T slope;
  KOKKOS_FUNCTION T operator()(T v) const { return v > 0 ? v : slope * v; }
};
template <class T>
struct Relu {
  KOKKOS_FUNCTION T operator()(T v) const { return v > 0 ? v : T(0); }
};
template <class T>
struct Sigmoid {
  KOKKOS_FUNCTION T operator()(T v) const { return 1 / (1 + std::exp(-v)); }
};
template <class T>
struct Silu {
  KOKKOS_FUNCTION T operator()(T v) const { return v / (1 + std::exp(-v)); }
};
template <class T>
struct Gelu {
  KOKKOS_FUNCTION T operator()(T v) const {
    return v * T(0.5) * (1 + std::erf(v * T(0.70710678118654752)));
  }
};
template <class T>
struct Mish {
  KOKKOS_FUNCTION T operator()(T v) const { return v * std::tanh(std::log1p(std::exp(v))); }
};
template <class T>
struct Tanh {
  KOKKOS_FUNCTION T operator()(T v) const { return std::tanh(v); }
};
template <class T>
struct Add {
  KOKKOS_FUNCTION T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct Subtract {
  KOKKOS_FUNCTION T operator()(T a, T b) const { return a - b; }
};
template <class T>
struct SubtractFrom {
  KOKKOS_FUNCTION T operator()(T a, T b) const { return b - a; }
};
template <class T>
struct Multiply {
  KOKKOS_FUNCTION T operator()(T a, T b) const { return a * b; }
};

// ---- Bodies over elements
// ------------------------------------------------------------------------

template <class T, class Formula>
struct Unary {
  const T* in;
  T* out;
  Formula formula;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { out[i] = formula(in[i]); }
};

template <class T, class Formula>
struct Binary {
  const T* a;
  const T* b;
  T* out;
  Formula formula;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { out[i] = formula(a[i], b[i]); }
};

template <class T, class Formula>
struct WithRow {
  const T* in;
  const T* row;
  T* out;
  std::uint32_t columns;
  Formula formula;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    out[i] = formula(in[i], row[static_cast<std::uint32_t>(i) % columns]);
  }
};

template <class T, class Formula>
struct WithColumn {
  const T* column;
  const T* in;
  T* out;
  std::uint32_t columns;
  Formula formula;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    out[i] = formula(column[static_cast<std::uint32_t>(i) / columns], in[i]);
  }
};

/// Largest of neighbouring pairs.
template <class T>
struct MaxPoolPairs {
  const T* in;
  T* out;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const T a = in[2 * i];
    const T b = in[2 * i + 1];
    out[i] = a > b ? a : b;
  }
};

/// One element for each column.
template <class T>
struct ColumnMax {
  const T* in;
  T* out;
  std::int64_t rows, columns;
  KOKKOS_FUNCTION void operator()(const std::int64_t column) const {
    T largest = in[column];
    for (std::int64_t row = 1; row < rows; ++row) {
      const T v = in[row * columns + column];
      if (v > largest) largest = v;
    }
    out[column] = largest;
  }
};

/// Mean and biased variance of each column.
template <class T>
struct ColumnMoments {
  const T* in;
  T* mean;
  T* variance;
  std::int64_t rows, columns;
  KOKKOS_FUNCTION void operator()(const std::int64_t column) const {
    double sum = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      sum += static_cast<double>(in[row * columns + column]);
    const double center = sum / static_cast<double>(rows);
    double squares = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const double d = static_cast<double>(in[row * columns + column]) - center;
      squares += d * d;
    }
    mean[column] = static_cast<T>(center);
    variance[column] = static_cast<T>(squares / static_cast<double>(rows));
  }
};

/// (v - mean) / sqrt(variance + eps) * weight + bias of each column.
template <class T>
struct NormalizeColumns {
  const T* in;
  const T* mean;
  const T* variance;
  const T* weight;
  const T* bias;
  T* out;
  std::uint32_t columns;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const {
    const std::uint32_t n = static_cast<std::uint32_t>(i) % columns;
    out[i] = (in[i] - mean[n]) / std::sqrt(variance[n] + T(1e-5)) * weight[n] + bias[n];
  }
};

/// |v| + 0.5, what the layer with given statistics takes as its variance.
template <class T>
struct AbsPlusHalf {
  KOKKOS_FUNCTION T operator()(T v) const { return std::fabs(v) + T(0.5); }
};

// ---- Bodies over lines
// ---------------------------------------------------------------------------

template <class T>
struct LineSum {
  const T* in;
  T* out;
  std::int64_t columns;
  double divisor;  ///< 1 for a sum, the number of columns for a mean

  template <class Line>
  KOKKOS_FUNCTION void operator()(const Line& line, const std::int64_t m) const {
    const T* v = in + m * columns;
    const double sum =
        line.sum(static_cast<int>(columns), [&](int n) { return static_cast<double>(v[n]); });
    line.once([&] { out[m] = static_cast<T>(sum / divisor); });
  }
};

template <class T>
struct LineMax {
  const T* in;
  T* out;
  std::int64_t columns;

  template <class Line>
  KOKKOS_FUNCTION void operator()(const Line& line, const std::int64_t m) const {
    const T* v = in + m * columns;
    const T largest =
        line.template largest<T>(static_cast<int>(columns), [&](int n) { return v[n]; });
    line.once([&] { out[m] = largest; });
  }
};

template <class T>
struct LineLogSumExp {
  const T* in;
  T* out;
  std::int64_t columns;

  template <class Line>
  KOKKOS_FUNCTION void operator()(const Line& line, const std::int64_t m) const {
    const T* v = in + m * columns;
    const T largest =
        line.template largest<T>(static_cast<int>(columns), [&](int n) { return v[n]; });
    const double sum = line.sum(static_cast<int>(columns), [&](int n) {
      return static_cast<double>(std::exp(v[n] - largest));
    });
    line.once([&] { out[m] = largest + std::log(static_cast<T>(sum)); });
  }
};

template <class T>
struct Softmax {
  const T* in;
  T* out;
  std::int64_t columns;

  template <class Line>
  KOKKOS_FUNCTION void operator()(const Line& line, const std::int64_t m) const {
    const T* v = in + m * columns;
    T* to = out + m * columns;
    const T largest =
        line.template largest<T>(static_cast<int>(columns), [&](int n) { return v[n]; });
    const T sum = static_cast<T>(line.sum(static_cast<int>(columns), [&](int n) {
      return static_cast<double>(std::exp(v[n] - largest));
    }));
    line.each(static_cast<int>(columns), [&](int n) { to[n] = std::exp(v[n] - largest) / sum; });
  }
};

/// A line is a group of a row.
template <class T>
struct GroupNorm {
  const T* in;
  const T* weight;
  const T* bias;
  T* out;
  std::int64_t width;  ///< columns of a group
  std::int64_t groups;

  template <class Line>
  KOKKOS_FUNCTION void operator()(const Line& line, const std::int64_t index) const {
    const T* v = in + index * width;
    T* to = out + index * width;
    const std::int64_t first = index % groups * width;
    const int count = static_cast<int>(width);
    const T mean = static_cast<T>(line.sum(count, [&](int n) {
      return static_cast<double>(v[n]);
    }) / static_cast<double>(width));
    const double squares = line.sum(count, [&](int n) {
      const T d = v[n] - mean;
      return static_cast<double>(d * d);
    });
    const T scale = 1 / std::sqrt(static_cast<T>(squares / static_cast<double>(width)) + T(1e-5));
    line.each(count,
              [&](int n) { to[n] = (v[n] - mean) * scale * weight[first + n] + bias[first + n]; });
  }
};

}  // namespace unfused
}  // namespace perf
}  // namespace postlude

#endif
