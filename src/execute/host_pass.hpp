#ifndef POSTLUDE_EXECUTE_HOST_PASS_HPP
#define POSTLUDE_EXECUTE_HOST_PASS_HPP

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "evaluator/small_floats.hpp"
#include "execute/compensated_sum.hpp"
#include "execute/matrix_pass.hpp"

namespace postlude {
namespace detail {

// What a host thread does in a pass: loops over neighbours that become SIMD instructions.

/// Bit patterns of magnitudes, which order as the magnitudes do, NaN above infinity.
template <class T>
struct HostElement;

template <>
struct HostElement<float> {
  using Bits = std::int32_t;
  static constexpr Bits mask = 0x7fffffff;
  static double value(float element) { return static_cast<double>(element); }
};
template <>
struct HostElement<double> {
  using Bits = std::int64_t;
  static constexpr Bits mask = 0x7fffffffffffffff;
  static double value(double element) { return element; }
};
template <>
struct HostElement<Float16> {
  using Bits = std::int16_t;
  static constexpr Bits mask = 0x7fff;
  static double value(Float16 element) { return static_cast<double>(to_float(element)); }
};
template <>
struct HostElement<BFloat16> {
  using Bits = std::int16_t;
  static constexpr Bits mask = 0x7fff;
  static double value(BFloat16 element) { return static_cast<double>(to_float(element)); }
};

/// Of elements of float32 or less float64 is exact enough; of float64 ones not, when there are
/// many.
template <class T>
using HostSum = std::conditional_t<std::is_same<T, double>::value, CompensatedSum, PlainSum>;

/// A line's elements, of which neighbours may be apart.
template <class T, bool is_contiguous>
struct HostLine {
  using Bits = typename HostElement<T>::Bits;
  const T* data;
  std::int64_t stride;

  T operator[](std::int64_t i) const { return data[is_contiguous ? i : i * stride]; }

  Bits magnitude_bits(std::int64_t i) const {
    const T element = (*this)[i];
    Bits bits;
    std::memcpy(&bits, &element, sizeof bits);
    return static_cast<Bits>(bits & HostElement<T>::mask);
  }

  Bits largest(std::int64_t begin, std::int64_t end, Bits largest) const {
    for (std::int64_t i = begin; i < end; ++i) largest = std::max(largest, magnitude_bits(i));
    return largest;
  }

  /// Independent sums, so that additions do not wait for each other.
  void add_to(HostSum<T>& sum, std::int64_t begin, std::int64_t end, const double* weights) const {
    constexpr int lanes = 8;
    HostSum<T> partial[lanes];
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes)
      for (int lane = 0; lane < lanes; ++lane)
        partial[lane].add(HostElement<T>::value((*this)[i + lane]) *
                          (weights == nullptr ? 1.0 : weights[i + lane]));
    for (; i < end; ++i)
      partial[0].add(HostElement<T>::value((*this)[i]) * (weights == nullptr ? 1.0 : weights[i]));
    for (const HostSum<T>& each : partial) sum.add(each);
  }

  double value(std::int64_t i) const { return HostElement<T>::value((*this)[i]); }
};

/// What worker `worker` of a pass does.
template <class T, bool is_contiguous>
struct HostPass {
  using Bits = typename HostElement<T>::Bits;
  using Line = HostLine<T, is_contiguous>;
  MatrixPass pass;

  void operator()(const std::int64_t worker) const {
    Bits largest = 0;
    for (std::int64_t unit = worker; unit < pass.cut.units; unit += pass.cut.workers)
      largest = pass.sums == PassSums::along_outer ? along_outer(unit, largest)
                                                   : along_inner(unit, largest);
    T element;
    std::memcpy(&element, &largest, sizeof element);
    pass.magnitudes[worker] = HostElement<T>::value(element);
  }

 private:
  Line line(std::int64_t batch, std::int64_t outer) const {
    const PassMatrix& matrix = pass.matrix;
    return {static_cast<const T*>(matrix.data) + batch * matrix.stride_batch +
                outer * matrix.stride_outer,
            matrix.stride_inner};
  }

  void store(const HostSum<T>& sum, std::int64_t place) const {
    double* const lost = lost_of(pass);
    sum.store(pass.partials + place, lost == nullptr ? nullptr : lost + place);
  }

  const double* weights_of(std::int64_t batch) const {
    return pass.weights == nullptr ? nullptr : pass.weights + batch * pass.weights_stride;
  }

  /// Adds `count` lines from `outer` on to each other: the sums are read and written once for all.
  template <int count>
  Bits take_lines(std::int64_t batch, std::int64_t outer, std::int64_t begin, std::int64_t end,
                  HostSum<T>* sums, Bits largest) const {
    const double* const all_weights = weights_of(batch);
    Line lines[count];
    double weights[count];
    for (int i = 0; i < count; ++i) {
      lines[i] = line(batch, outer + i);
      weights[i] = all_weights == nullptr ? 1.0 : all_weights[outer + i];
    }
    // A part at a time, which the first loop over it leaves in the cache for the second.
    constexpr std::int64_t part = 512;
    for (std::int64_t first = begin; first < end; first += part) {
      const std::int64_t part_end = std::min(first + part, end);
      for (const Line& each : lines) largest = each.largest(first, part_end, largest);
      for (std::int64_t i = first; i < part_end; ++i)
        for (int each = 0; each < count; ++each)
          sums[i - begin].add(lines[each].value(i) * weights[each]);
    }
    return largest;
  }

  Bits along_inner(std::int64_t unit, Bits largest) const {
    const std::int64_t chunk = unit % pass.cut.chunks;
    const std::int64_t group = unit / pass.cut.chunks;
    const std::int64_t batch = group / pass.cut.groups;
    const std::int64_t outer = group % pass.cut.groups;
    const std::int64_t begin = chunk * pass.cut.length;
    const std::int64_t end = std::min(begin + pass.cut.length, pass.matrix.inner);
    const Line elements = line(batch, outer);
    if (pass.sums == PassSums::none) return elements.largest(begin, end, largest);
    const double* const weights = weights_of(batch);
    HostSum<T> sum;
    for (std::int64_t i = begin; i < end; i += pass_tile) {
      const std::int64_t tile_end = std::min(i + pass_tile, end);
      largest = elements.largest(i, tile_end, largest);
      elements.add_to(sum, i, tile_end, weights);
    }
    store(sum, (chunk * pass.matrix.batch + batch) * pass.matrix.outer + outer);
    return largest;
  }

  Bits along_outer(std::int64_t unit, Bits largest) const {
    const std::int64_t tile = unit % pass.cut.groups;
    const std::int64_t rest = unit / pass.cut.groups;
    const std::int64_t batch = rest / pass.cut.chunks;
    const std::int64_t chunk = rest % pass.cut.chunks;
    const std::int64_t first = chunk * pass.cut.length;
    const std::int64_t last = std::min(first + pass.cut.length, pass.matrix.outer);
    const std::int64_t begin = tile * host_pass_tile;
    const std::int64_t end = std::min(begin + host_pass_tile, pass.matrix.inner);
    HostSum<T> sums[host_pass_tile];
    constexpr int at_once = 4;
    std::int64_t outer = first;
    for (; outer + at_once <= last; outer += at_once)
      largest = take_lines<at_once>(batch, outer, begin, end, sums, largest);
    for (; outer < last; ++outer) largest = take_lines<1>(batch, outer, begin, end, sums, largest);
    const std::int64_t place = (chunk * pass.matrix.batch + batch) * pass.matrix.inner + begin;
    for (std::int64_t i = 0; i < end - begin; ++i) store(sums[i], place + i);
    return largest;
  }
};

}  // namespace detail
}  // namespace postlude

#endif
