#ifndef POSTLUDE_EXECUTE_COMPENSATED_SUM_HPP
#define POSTLUDE_EXECUTE_COMPENSATED_SUM_HPP

#include "evaluator/reducers.hpp"

namespace postlude {
namespace detail {

class PlainSum {
 public:
  void add(double term) { sum_ += term; }
  void add(const PlainSum& other) { sum_ += other.sum_; }

  /// What is kept of the sum where others are still to be added; `lost` is null.
  void store(double* sum, double* /*lost*/) const { *sum = sum_; }

 private:
  double sum_ = 0;
};

/// A sum of float64 numbers as reductions make it, which keeps what each addition rounds away.
class CompensatedSum {
 public:
  CompensatedSum() = default;
  CompensatedSum(double sum, double lost) : state_{sum, lost, 0} {}

  void add(double term) { Sum::add(state_, term); }
  void add(const CompensatedSum& other) { Sum::combine(state_, other.state_, 0); }
  double value() const { return Sum::total(state_); }

  /// In two numbers where others are still to be added, in one where `lost` is null.
  void store(double* sum, double* lost) const {
    *sum = lost == nullptr ? value() : state_.first;
    if (lost != nullptr) *lost = state_.second;
  }

 private:
  using Sum = SumReducer<double>;
  ReductionState state_ = Sum::identity();
};

}  // namespace detail
}  // namespace postlude

#endif
