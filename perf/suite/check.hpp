#ifndef POSTLUDE_PERF_CHECK_HPP
#define POSTLUDE_PERF_CHECK_HPP

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "case.hpp"
#include "data.hpp"
#include "reference/reference.hpp"

namespace postlude {
namespace perf {

/// How far a result is from its float64 reference.
struct Check {
  std::string checked;  ///< "all", "128 of 1024 rows" or "64 of 8192 columns"
  double tolerance = 0;
  std::int64_t elements = 0;
  std::int64_t violations = 0;
  double largest_absolute_error = 0;
  double largest_relative_error = 0;
};

/// Which part of a result is compared: some rows, some columns, or with Independent::nothing all.
struct Part {
  Independent along = Independent::nothing;
  std::vector<std::int64_t> chosen;
  std::string text = "all";
};

/// What the cases of one size must give, in float64: x w^T once for all of them, the rest once for
/// each, for however many peers.
class Reference {
 public:
  /// Of one copy of `inputs`, which it draws, and which must outlive it. On a host it multiplies
  /// with no more than `most_flops` operations where a part of the result can be had from a part of
  /// the inputs, and 12 rows or columns take fewer.
  Reference(const ExecutionSpace& space, const Inputs& inputs, double most_flops,
            std::mt19937_64& random);

  /// The copy of the inputs whose results are known.
  int copy() const { return copy_; }

  /// Compares the result of `what` for that copy. An element that differs by more than the
  /// tolerance, or in being NaN or infinite, is a violation.
  Check check(const Case& what, const DeviceTensor& output);

 private:
  using Array = detail::reference::Array;

  Part draw_part(Independent along, std::mt19937_64& random) const;
  const Array& product(Independent along);
  Array product_of(const Part& part);
  void verify(const Array& whole) const;
  void expect(const Case& what);

  ExecutionSpace space_;
  const Inputs& inputs_;
  double most_flops_;
  int copy_;
  std::int64_t m_, n_, k_;
  std::map<Independent, Part> parts_;
  std::map<Independent, Array> products_;  ///< of the parts, made when they are first needed
  std::vector<std::int64_t> verified_rows_;
  std::string program_;  ///< whose results expected_ are
  Array expected_;
};

}  // namespace perf
}  // namespace postlude

#endif
