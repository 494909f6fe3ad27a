#ifndef POSTLUDE_EVALUATOR_REDUCERS_HPP
#define POSTLUDE_EVALUATOR_REDUCERS_HPP

#include <cmath>
#include <cstdint>

#include <postlude/operation_table.hpp>

#include "evaluator/formulas.hpp"
#include "evaluator/function.hpp"

namespace postlude {
namespace detail {

/// Partial result of any reduction. What the fields mean depends on the reduction; partial results
/// of tiles, teams and ranks combine by Reducer::combine.
struct ReductionState {
  double first = 0;
  double second = 0;
  std::int64_t index = 0;
};

/// How one reduction works, for values of type T:
/// - identity(): the state of no elements;
/// - accumulate(state, value, index, parameter): takes one more element;
/// - combine(state, other, parameter): takes all elements of another state;
/// - finish(state, count, parameter): the result over `count` elements.
template <class T, Reduction kind>
struct Reducer;

/// Sums. For T = float the float64 state holds 29 more bits than the elements, which covers 1e8
/// terms; for T = double the rounding errors are summed in `second` (Neumaier, 1974).
template <class T>
struct SumReducer {
  POSTLUDE_FUNCTION static ReductionState identity() { return {}; }

  POSTLUDE_FUNCTION static void add(ReductionState& state, double value) {
    const double total = state.first + value;
    if (sizeof(T) == sizeof(double)) {
      const double error = std::fabs(state.first) >= std::fabs(value)
                               ? (state.first - total) + value
                               : (value - total) + state.first;
      state.second += error;
    }
    state.first = total;
  }

  POSTLUDE_FUNCTION static void accumulate(ReductionState& state, T value, std::int64_t, double) {
    add(state, static_cast<double>(value));
  }

  POSTLUDE_FUNCTION static void combine(ReductionState& state, const ReductionState& other,
                                        double) {
    add(state, other.first);
    state.second += other.second;
  }

  POSTLUDE_FUNCTION static double total(const ReductionState& state) {
    // After an overflow the error terms are Inf - Inf: the plain total is the right answer then.
    const double corrected = state.first + state.second;
    return formula::is_nan(corrected) ? state.first : corrected;
  }
};

template <class T>
struct Reducer<T, Reduction::sum> : SumReducer<T> {
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t, double) {
    return SumReducer<T>::total(state);
  }
};

template <class T>
struct Reducer<T, Reduction::mean> : SumReducer<T> {
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t count, double) {
    return SumReducer<T>::total(state) / static_cast<double>(count);
  }
};

template <class T>
struct Reducer<T, Reduction::prod> {
  POSTLUDE_FUNCTION static ReductionState identity() { return {1, 0, 0}; }
  POSTLUDE_FUNCTION static void accumulate(ReductionState& state, T value, std::int64_t, double) {
    state.first *= static_cast<double>(value);
  }
  POSTLUDE_FUNCTION static void combine(ReductionState& state, const ReductionState& other,
                                        double) {
    state.first *= other.first;
  }
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t, double) {
    return state.first;
  }
};

/// Reductions whose state is one value that `Select` chooses.
template <class T, class Select>
struct SelectReducer {
  POSTLUDE_FUNCTION static ReductionState identity() { return {Select::start(), 0, 0}; }
  POSTLUDE_FUNCTION static void accumulate(ReductionState& state, T value, std::int64_t, double) {
    state.first = Select::choose(state.first, Select::prepare(static_cast<double>(value)));
  }
  POSTLUDE_FUNCTION static void combine(ReductionState& state, const ReductionState& other,
                                        double) {
    state.first = Select::choose(state.first, other.first);
  }
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t, double) {
    return state.first;
  }
};

struct SelectLargest {
  POSTLUDE_FUNCTION static double start() { return -formula::infinity<double>(); }
  POSTLUDE_FUNCTION static double prepare(double value) { return value; }
  POSTLUDE_FUNCTION static double choose(double a, double b) { return formula::max(a, b); }
};
struct SelectSmallest {
  POSTLUDE_FUNCTION static double start() { return formula::infinity<double>(); }
  POSTLUDE_FUNCTION static double prepare(double value) { return value; }
  POSTLUDE_FUNCTION static double choose(double a, double b) { return formula::min(a, b); }
};
struct SelectLargestMagnitude : SelectLargest {
  POSTLUDE_FUNCTION static double prepare(double value) { return std::fabs(value); }
};
struct SelectAny {
  POSTLUDE_FUNCTION static double start() { return 0; }
  POSTLUDE_FUNCTION static double prepare(double value) { return value != 0 ? 1 : 0; }
  POSTLUDE_FUNCTION static double choose(double a, double b) { return a > b ? a : b; }
};
struct SelectAll : SelectAny {
  POSTLUDE_FUNCTION static double start() { return 1; }
  POSTLUDE_FUNCTION static double choose(double a, double b) { return a < b ? a : b; }
};

template <class T>
struct Reducer<T, Reduction::max> : SelectReducer<T, SelectLargest> {};
template <class T>
struct Reducer<T, Reduction::min> : SelectReducer<T, SelectSmallest> {};
template <class T>
struct Reducer<T, Reduction::amax> : SelectReducer<T, SelectLargestMagnitude> {};
template <class T>
struct Reducer<T, Reduction::any> : SelectReducer<T, SelectAny> {};
template <class T>
struct Reducer<T, Reduction::all> : SelectReducer<T, SelectAll> {};

/// log(sum(exp(v))): `first` is the largest value m so far, `second` the sum of exp(v - m).
template <class T>
struct Reducer<T, Reduction::logsumexp> {
  POSTLUDE_FUNCTION static ReductionState identity() {
    return {-formula::infinity<double>(), 0, 0};
  }

  POSTLUDE_FUNCTION static void accumulate(ReductionState& state, T value, std::int64_t, double) {
    take(state, value, 1);
  }
  POSTLUDE_FUNCTION static void combine(ReductionState& state, const ReductionState& other,
                                        double) {
    take(state, static_cast<T>(other.first), other.second);
  }
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t, double) {
    const bool is_infinite = std::fabs(state.first) == formula::infinity<double>();
    return is_infinite ? state.first : state.first + std::log(state.second);
  }

 private:
  /// Takes `weight` times exp(value).
  POSTLUDE_FUNCTION static void take(ReductionState& state, T value, double weight) {
    const T largest = static_cast<T>(state.first);
    if (value > largest) {
      state.second = state.second * static_cast<double>(std::exp(largest - value)) + weight;
      state.first = static_cast<double>(value);
    } else if (value <= largest) {
      // Two infinities have no difference: -inf adds nothing, +inf is the result already.
      if (std::fabs(value) != formula::infinity<T>())
        state.second += weight * static_cast<double>(std::exp(value - largest));
    } else {
      state.first = static_cast<double>(value + largest);  // NaN
    }
  }
};

/// (sum |v|^p)^(1/p): `first` is the largest magnitude m so far, `second` the sum of (|v|/m)^p, so
/// that no power overflows or vanishes (LAPACK's lassq, for any p).
template <class T>
struct Reducer<T, Reduction::norm> {
  POSTLUDE_FUNCTION static ReductionState identity() { return {}; }

  POSTLUDE_FUNCTION static void accumulate(ReductionState& state, T value, std::int64_t, double p) {
    take(state, static_cast<double>(std::fabs(value)), 1, p);
  }
  POSTLUDE_FUNCTION static void combine(ReductionState& state, const ReductionState& other,
                                        double p) {
    take(state, other.first, other.second, p);
  }
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t, double p) {
    const bool is_largest = state.first == 0 || state.first == formula::infinity<double>() ||
                            p == formula::infinity<double>();
    return is_largest ? state.first : state.first * std::pow(state.second, 1 / p);
  }

 private:
  POSTLUDE_FUNCTION static double raise(double ratio, double p) {
    return p == 2 ? ratio * ratio : (p == 1 ? ratio : std::pow(ratio, p));
  }
  POSTLUDE_FUNCTION static void take(ReductionState& state, double magnitude, double weight,
                                     double p) {
    if (magnitude > state.first) {
      state.second = state.second * raise(state.first / magnitude, p) + weight;
      state.first = magnitude;
    } else if (magnitude <= state.first) {
      if (magnitude > 0) state.second += weight * raise(magnitude / state.first, p);
    } else {
      state.first += magnitude;  // NaN
    }
  }
};

/// Variance by Welford's recurrence and Chan's combination (Chan, Golub, LeVeque, 1983): `first` is
/// the mean, `second` the sum of squared deviations, `index` the number of elements.
template <class T>
struct WelfordReducer {
  POSTLUDE_FUNCTION static ReductionState identity() { return {}; }

  POSTLUDE_FUNCTION static void accumulate(ReductionState& state, T value, std::int64_t, double) {
    state.index += 1;
    const double before = static_cast<double>(value) - state.first;
    state.first += before / static_cast<double>(state.index);
    state.second += before * (static_cast<double>(value) - state.first);
  }
  POSTLUDE_FUNCTION static void combine(ReductionState& state, const ReductionState& other,
                                        double) {
    if (other.index == 0) return;
    const double count = static_cast<double>(state.index + other.index);
    const double difference = other.first - state.first;
    const double share = static_cast<double>(other.index) / count;
    state.first += difference * share;
    state.second +=
        other.second + difference * difference * share * static_cast<double>(state.index);
    state.index += other.index;
  }
  POSTLUDE_FUNCTION static double variance(const ReductionState& state, std::int64_t count,
                                           double correction) {
    return state.second / formula::max(static_cast<double>(count) - correction, 0.0);
  }
};

template <class T>
struct Reducer<T, Reduction::var> : WelfordReducer<T> {
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t count,
                                         double correction) {
    return WelfordReducer<T>::variance(state, count, correction);
  }
};
template <class T>
struct Reducer<T, Reduction::std> : WelfordReducer<T> {
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t count,
                                         double correction) {
    return std::sqrt(WelfordReducer<T>::variance(state, count, correction));
  }
};

/// Index of the first largest (sign 1) or smallest (sign -1) element: `first` is sign times the
/// element, `index` its index, -1 before the first element. The first NaN wins over everything.
template <class T, int sign>
struct IndexReducer {
  POSTLUDE_FUNCTION static ReductionState identity() { return {0, 0, -1}; }

  POSTLUDE_FUNCTION static void accumulate(ReductionState& state, T value, std::int64_t index,
                                           double) {
    take(state, sign * static_cast<double>(value), index);
  }
  POSTLUDE_FUNCTION static void combine(ReductionState& state, const ReductionState& other,
                                        double) {
    if (other.index >= 0) take(state, other.first, other.index);
  }
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t, double) {
    return static_cast<double>(state.index);
  }

 private:
  POSTLUDE_FUNCTION static void take(ReductionState& state, double value, std::int64_t index) {
    const bool value_is_nan = formula::is_nan(value);
    const bool held_is_nan = formula::is_nan(state.first);
    const bool is_equal = value == state.first || (value_is_nan && held_is_nan);
    const bool wins =
        state.index < 0 ||
        (is_equal ? index < state.index : value > state.first || (value_is_nan && !held_is_nan));
    if (!wins) return;
    state.first = value;
    state.index = index;
  }
};

template <class T>
struct Reducer<T, Reduction::argmax> : IndexReducer<T, 1> {};
template <class T>
struct Reducer<T, Reduction::argmin> : IndexReducer<T, -1> {};

/// The state of no elements, for a reduction chosen at run time.
template <class T>
POSTLUDE_FUNCTION ReductionState reduction_identity(Reduction kind) {
  switch (kind) {
#define POSTLUDE_CASE(name, parameter, fallback, formula) \
  case Reduction::name:                                   \
    return Reducer<T, Reduction::name>::identity();
    POSTLUDE_REDUCTIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
  }
  return {};
}

/// Takes lane i of `values` into `states[i * state_stride]`, with index `first_index + i *
/// index_stride`; a state stride of 0 reduces the lanes into one state.
template <class T, int width>
POSTLUDE_FUNCTION void reduction_accumulate(Reduction kind, double parameter,
                                            ReductionState* states, int state_stride,
                                            const T* values, int count, std::int64_t first_index,
                                            int index_stride) {
  switch (kind) {
#define POSTLUDE_CASE(name, unused, fallback, formula)                                         \
  case Reduction::name:                                                                        \
    POSTLUDE_UNROLL                                                                            \
    for (int lane = 0; lane < width; ++lane)                                                   \
      if (lane < count)                                                                        \
        Reducer<T, Reduction::name>::accumulate(states[lane * state_stride], values[lane],     \
                                                first_index + lane * index_stride, parameter); \
    break;
    POSTLUDE_REDUCTIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
  }
}

/// Takes all elements of `other`, for a reduction chosen at run time.
template <class T>
POSTLUDE_FUNCTION void reduction_combine(Reduction kind, double parameter, ReductionState& state,
                                         const ReductionState& other) {
  switch (kind) {
#define POSTLUDE_CASE(name, unused, fallback, formula)             \
  case Reduction::name:                                            \
    Reducer<T, Reduction::name>::combine(state, other, parameter); \
    break;
    POSTLUDE_REDUCTIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
  }
}

/// The result over `count` elements, for a reduction chosen at run time.
template <class T>
POSTLUDE_FUNCTION double reduction_finish(Reduction kind, double parameter,
                                          const ReductionState& state, std::int64_t count) {
  switch (kind) {
#define POSTLUDE_CASE(name, unused, fallback, formula) \
  case Reduction::name:                                \
    return Reducer<T, Reduction::name>::finish(state, count, parameter);
    POSTLUDE_REDUCTIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
  }
  return 0;
}

}  // namespace detail
}  // namespace postlude

#endif
