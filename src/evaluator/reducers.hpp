#ifndef POSTLUDE_EVALUATOR_REDUCERS_HPP
#define POSTLUDE_EVALUATOR_REDUCERS_HPP

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <postlude/operation_table.hpp>

#include "evaluator/formulas.hpp"
#include "evaluator/function.hpp"
#include "evaluator/span.hpp"

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

/// Independent sums of a block, so that additions do not wait for each other.
constexpr int block_lanes = 8;

/// The sum of term(value) over a block.
template <class T, class Term>
POSTLUDE_FUNCTION double block_sum(const T* values, int count, const Term& term) {
  double partial[block_lanes] = {};
  int i = 0;
  for (; i + block_lanes <= count; i += block_lanes)
    for (int lane = 0; lane < block_lanes; ++lane) partial[lane] += term(values[i + lane]);
  for (; i < count; ++i) partial[0] += term(values[i]);
  double sum = 0;
  for (int lane = 0; lane < block_lanes; ++lane) sum += partial[lane];
  return sum;
}

/// Independent choices of a block. On a host as many as make a compiler keep the loop over them,
/// which it turns into SIMD instructions; of fewer it makes a branch for each.
#if defined(POSTLUDE_ON_DEVICE)
constexpr int choice_lanes = 4;
#else
constexpr int choice_lanes = 32;
#endif

/// Chooses among the values of a block with `take(chosen, value)`, then among the chosen ones with
/// `join`; `start` for no values.
template <class T, class Take, class Join>
POSTLUDE_FUNCTION T block_choice(const T* values, int count, T start, const Take& take,
                                 const Join& join) {
  if (count < choice_lanes) {  // such as the window of a pooling
    T one = start;
    for (int i = 0; i < count; ++i) one = take(one, values[i]);
    return one;
  }
  T chosen[choice_lanes];
  for (int lane = 0; lane < choice_lanes; ++lane) chosen[lane] = start;
  int i = 0;
  for (; i + choice_lanes <= count; i += choice_lanes)
    for (int lane = 0; lane < choice_lanes; ++lane)
      chosen[lane] = take(chosen[lane], values[i + lane]);
  for (int lane = 0; i + lane < count; ++lane) chosen[lane] = take(chosen[lane], values[i + lane]);
  for (int half = choice_lanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) chosen[lane] = join(chosen[lane], chosen[lane + half]);
  return chosen[0];
}

/// The largest value of a block, NaN if there is one; -inf for no values.
template <class T>
POSTLUDE_FUNCTION T block_max(const T* values, int count) {
  const auto larger = [](T a, T b) { return formula::max(a, b); };
  return block_choice(values, count, -formula::infinity<T>(), larger, larger);
}

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

  POSTLUDE_FUNCTION static void accumulate_block(ReductionState& state, const T* values, int count,
                                                 double) {
    if (sizeof(T) == sizeof(double)) {
      ReductionState partial[block_lanes];
      for (int i = 0; i < count; ++i) add(partial[i % block_lanes], static_cast<double>(values[i]));
      for (const ReductionState& each : partial) combine(state, each, 0);
    } else {
      add(state, block_sum(values, count, [](T value) { return static_cast<double>(value); }));
    }
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
    accumulate_folded(state, Select::prepare(value));
  }

  // The choice is exact in T: lanes are folded there before a state takes the chosen one.
  POSTLUDE_FUNCTION static T fold_start() { return static_cast<T>(Select::start()); }
  POSTLUDE_FUNCTION static T fold(T chosen, T value) {
    return Select::choose(chosen, Select::prepare(value));
  }
  POSTLUDE_FUNCTION static T join(T a, T b) { return Select::choose(a, b); }
  POSTLUDE_FUNCTION static void accumulate_block(ReductionState& state, const T* values, int count,
                                                 double) {
    const auto take = [](T chosen, T value) { return fold(chosen, value); };
    const auto join_two = [](T a, T b) { return join(a, b); };
    accumulate_folded(state, block_choice(values, count, fold_start(), take, join_two));
  }
  POSTLUDE_FUNCTION static void accumulate_folded(ReductionState& state, T chosen) {
    state.first = Select::choose(state.first, static_cast<double>(chosen));
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
  template <class T>
  POSTLUDE_FUNCTION static T prepare(T value) {
    return value;
  }
  template <class T>
  POSTLUDE_FUNCTION static T choose(T a, T b) {
    return formula::max(a, b);
  }
};
struct SelectSmallest {
  POSTLUDE_FUNCTION static double start() { return formula::infinity<double>(); }
  template <class T>
  POSTLUDE_FUNCTION static T prepare(T value) {
    return value;
  }
  template <class T>
  POSTLUDE_FUNCTION static T choose(T a, T b) {
    return formula::min(a, b);
  }
};
struct SelectLargestMagnitude : SelectLargest {
  template <class T>
  POSTLUDE_FUNCTION static T prepare(T value) {
    return std::fabs(value);
  }
};
struct SelectAny {
  POSTLUDE_FUNCTION static double start() { return 0; }
  template <class T>
  POSTLUDE_FUNCTION static T prepare(T value) {
    return value != T(0) ? T(1) : T(0);
  }
  template <class T>
  POSTLUDE_FUNCTION static T choose(T a, T b) {
    return a > b ? a : b;
  }
};
struct SelectAll : SelectAny {
  POSTLUDE_FUNCTION static double start() { return 1; }
  template <class T>
  POSTLUDE_FUNCTION static T choose(T a, T b) {
    return a < b ? a : b;
  }
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

/// Sums of exp(v), which may be beyond all numbers: `first` is the largest value m so far, `second`
/// the sum of exp(v - m).
template <class T>
struct ExponentialsReducer {
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
  /// Relative to the largest of the block and of what came before, which is found first.
  POSTLUDE_FUNCTION static void accumulate_block(ReductionState& state, const T* values, int count,
                                                 double) {
    const T before = static_cast<T>(state.first);
    const T largest = formula::max(before, block_max(values, count));
    state.first = static_cast<double>(largest);
    // -inf: there is nothing yet. inf and NaN are the result already.
    if (!(std::fabs(largest) < formula::infinity<T>())) return;
    const double sum = block_sum(
        values, count, [largest](T value) { return formula::exp_of_difference(value, largest); });
    state.second = state.second * formula::exp_of_difference(before, largest) + sum;
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

template <class T>
struct Reducer<T, Reduction::logsumexp> : ExponentialsReducer<T> {
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t, double) {
    const bool is_infinite = std::fabs(state.first) == formula::infinity<double>();
    return is_infinite ? state.first : state.first + std::log(state.second);
  }
};

/// Of an infinity, as of NaN, v - max(v) is NaN.
template <class T>
struct Reducer<T, Reduction::sumexp> : ExponentialsReducer<T> {
  POSTLUDE_FUNCTION static double finish(const ReductionState& state, std::int64_t count, double) {
    const bool is_finite = std::fabs(state.first) < formula::infinity<double>();
    return is_finite || count == 0 ? state.second : state.first - state.first;
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
    if (state.index == 0) {
      state = other;  // a large mean squared would be inf, and inf * 0 elements NaN
      return;
    }
    const double count = static_cast<double>(state.index + other.index);
    const double difference = other.first - state.first;
    const double share = static_cast<double>(other.index) / count;
    state.first += difference * share;
    state.second +=
        other.second + difference * difference * share * static_cast<double>(state.index);
    state.index += other.index;
  }
  /// Mean and squared deviations of the block in two passes, without a division for each element.
  /// Relative to the first element, so that equal values have no deviation at all.
  POSTLUDE_FUNCTION static void accumulate_block(ReductionState& state, const T* values, int count,
                                                 double) {
    if (count == 0) return;
    const double origin = static_cast<double>(values[0]);
    const double mean =
        block_sum(values, count,
                  [origin](T value) { return static_cast<double>(value) - origin; }) /
        count;
    ReductionState block;
    block.index = count;
    block.first = origin + mean;
    block.second = block_sum(values, count, [origin, mean](T value) {
      const double deviation = (static_cast<double>(value) - origin) - mean;
      return deviation * deviation;
    });
    combine(state, block, 0);
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

/// Where the lanes of a span go: lane i of a packet to `states[i * state_stride]`, with an index
/// for argmax and argmin.
struct LaneTargets {
  ReductionState* states;
  int state_stride;  ///< 0: all lanes share one state; 1: a state for each lane of a packet
  std::int64_t first_index;
  std::int64_t packet_index_stride;
  std::int64_t lane_index_stride;
};

/// Whether lanes may first be chosen from in T, before a state takes the chosen one.
template <class Reducer, class = void>
struct FoldsLanes : std::false_type {};
template <class Reducer>
struct FoldsLanes<Reducer, std::void_t<decltype(Reducer::fold_start())>> : std::true_type {};

/// Whether a reducer has a faster way than one element after the other.
template <class Reducer, class T, class = void>
struct TakesBlocks : std::false_type {};
template <class Reducer, class T>
struct TakesBlocks<Reducer, T,
                   std::void_t<decltype(Reducer::accumulate_block(
                       std::declval<ReductionState&>(), static_cast<const T*>(nullptr), 0, 0.0))>>
    : std::true_type {};

/// Gives every existing lane of a span to a reducer.
template <class Reducer, class T, int packets, int width>
POSTLUDE_FUNCTION void accumulate_lanes(const LaneTargets& targets, const T* lanes,
                                        const Span& span, double parameter) {
  if constexpr (FoldsLanes<Reducer>::value) {
    T chosen[width];
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane) chosen[lane] = Reducer::fold_start();
    POSTLUDE_UNROLL
    for (int p = 0; p < packets; ++p) {
      const int count = span.count(p, width);
      POSTLUDE_UNROLL
      for (int lane = 0; lane < width; ++lane)
        if (lane < count) chosen[lane] = Reducer::fold(chosen[lane], lanes[p * width + lane]);
    }
    if (targets.state_stride == 0) {
      POSTLUDE_UNROLL
      for (int lane = 1; lane < width; ++lane) chosen[0] = Reducer::join(chosen[0], chosen[lane]);
      Reducer::accumulate_folded(targets.states[0], chosen[0]);
    } else {
      POSTLUDE_UNROLL
      for (int lane = 0; lane < width; ++lane)
        Reducer::accumulate_folded(targets.states[lane], chosen[lane]);
    }
  } else {
    // In float64, whose sums are compensated, blocks gain little.
    if constexpr (TakesBlocks<Reducer, T>::value && sizeof(T) < sizeof(double)) {
      if (targets.state_stride == 0 && span.is_full(packets, width))
        return Reducer::accumulate_block(targets.states[0], lanes, packets * width, parameter);
    }
    POSTLUDE_UNROLL
    for (int p = 0; p < packets; ++p) {
      const int count = span.count(p, width);
      POSTLUDE_UNROLL
      for (int lane = 0; lane < width; ++lane)
        if (lane < count)
          Reducer::accumulate(targets.states[lane * targets.state_stride], lanes[p * width + lane],
                              targets.first_index + p * targets.packet_index_stride +
                                  lane * targets.lane_index_stride,
                              parameter);
    }
  }
}

/// Gives `count` neighbours, the first of which has index `first_index`, to one state.
template <class Reducer, class T>
POSTLUDE_FUNCTION void accumulate_block(ReductionState& state, const T* values, int count,
                                        [[maybe_unused]] std::int64_t first_index,
                                        double parameter) {
  if constexpr (TakesBlocks<Reducer, T>::value) {
    Reducer::accumulate_block(state, values, count, parameter);
  } else {
    for (int i = 0; i < count; ++i)
      Reducer::accumulate(state, values[i], first_index + i, parameter);
  }
}

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

/// Takes the lanes of a span, for a reduction chosen at run time.
template <class T, int packets, int width>
POSTLUDE_FUNCTION void reduction_accumulate(Reduction kind, double parameter,
                                            const LaneTargets& targets, const T* lanes,
                                            const Span& span) {
  switch (kind) {
#define POSTLUDE_CASE(name, unused, fallback, formula)                                     \
  case Reduction::name:                                                                    \
    accumulate_lanes<Reducer<T, Reduction::name>, T, packets, width>(targets, lanes, span, \
                                                                     parameter);           \
    break;
    POSTLUDE_REDUCTIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
  }
}

/// Takes `count` neighbours into one state, for a reduction chosen at run time.
template <class T>
POSTLUDE_FUNCTION void reduction_accumulate_block(Reduction kind, double parameter,
                                                  ReductionState& state, const T* values, int count,
                                                  std::int64_t first_index) {
  switch (kind) {
#define POSTLUDE_CASE(name, unused, fallback, formula)                                           \
  case Reduction::name:                                                                          \
    accumulate_block<Reducer<T, Reduction::name>>(state, values, count, first_index, parameter); \
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
