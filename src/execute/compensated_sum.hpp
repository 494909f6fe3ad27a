#ifndef POSTLUDE_EXECUTE_COMPENSATED_SUM_HPP
#define POSTLUDE_EXECUTE_COMPENSATED_SUM_HPP

namespace postlude {
namespace detail {

class PlainSum {
 public:
  void add(double term) { sum_ += term; }
  void add(const PlainSum& other) { sum_ += other.sum_; }
  double value() const { return sum_; }

  /// What is kept of the sum where others are still to be added; `lost` is null.
  void store(double* sum, double* /*lost*/) const { *sum = sum_; }

 private:
  double sum_ = 0;
};

/// A sum that keeps what each addition rounds away (Knuth, The Art of Computer Programming, volume
/// 2, 4.2.2, theorem B), for finite terms.
class CompensatedSum {
 public:
  CompensatedSum() = default;
  CompensatedSum(double sum, double lost) : sum_(sum), lost_(lost) {}

  void add(double term) {
    const double sum = sum_ + term;
    const double taken = sum - sum_;
    lost_ += (sum_ - (sum - taken)) + (term - taken);
    sum_ = sum;
  }
  void add(const CompensatedSum& other) {
    add(other.sum_);
    lost_ += other.lost_;
  }
  double value() const { return sum_ + lost_; }

  /// In two numbers where others are still to be added, in one where `lost` is null.
  void store(double* sum, double* lost) const {
    *sum = lost == nullptr ? value() : sum_;
    if (lost != nullptr) *lost = lost_;
  }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

}  // namespace detail
}  // namespace postlude

#endif
