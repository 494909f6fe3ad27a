#include "reference/reductions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace postlude {
namespace detail {
namespace reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using Elements = std::vector<double>;

bool has_nan(const Elements& v) {
  return std::any_of(v.begin(), v.end(), [](double e) { return std::isnan(e); });
}

Elements magnitudes(const Elements& v) {
  Elements result;
  for (const double e : v) result.push_back(std::abs(e));
  return result;
}

double largest(const Elements& v) { return *std::max_element(v.begin(), v.end()); }
double smallest(const Elements& v) { return *std::min_element(v.begin(), v.end()); }

double first_nan_or(const Elements& v, Elements::const_iterator otherwise) {
  const auto nan = std::find_if(v.begin(), v.end(), [](double e) { return std::isnan(e); });
  return static_cast<double>((nan == v.end() ? otherwise : nan) - v.begin());
}

/// Sums in long double; where that is no wider than double, the rounding errors are summed too.
double total(const Elements& v) {
  long double sum = 0;
  long double lost = 0;
  for (const double e : v) {
    const long double next = sum + e;
    if (std::isfinite(next))
      lost += std::abs(sum) >= std::abs(e) ? (sum - next) + e : (e - next) + sum;
    sum = next;
  }
  return static_cast<double>(sum + lost);
}

/// One function for each reduction of the operation table; see Formula.
struct Reducer {
  static double sum(const Elements& v, double) { return total(v); }
  static double mean(const Elements& v, double) { return total(v) / static_cast<double>(v.size()); }
  static double prod(const Elements& v, double) {
    long double product = 1;
    for (const double e : v) product *= e;
    return static_cast<double>(product);
  }
  static double max(const Elements& v, double) {
    return v.empty() || has_nan(v) ? not_a_number : largest(v);
  }
  static double min(const Elements& v, double) {
    return v.empty() || has_nan(v) ? not_a_number : smallest(v);
  }
  static double amax(const Elements& v, double) { return max(magnitudes(v), 0); }
  static double logsumexp(const Elements& v, double) {
    if (has_nan(v)) return not_a_number;
    if (v.empty()) return -infinity;
    const double top = largest(v);
    if (std::isinf(top)) return top;
    Elements terms;
    for (const double e : v) terms.push_back(std::exp(e - top));
    return top + std::log(total(terms));
  }
  static double sumexp(const Elements& v, double) {
    if (v.empty()) return 0;
    if (has_nan(v)) return not_a_number;
    const double top = largest(v);
    Elements terms;
    for (const double e : v) terms.push_back(std::exp(e - top));  // NaN for two infinities
    return total(terms);
  }
  static double norm(const Elements& v, double p) {
    if (has_nan(v)) return not_a_number;
    if (v.empty()) return 0;
    const double top = largest(magnitudes(v));
    if (top == 0 || std::isinf(top) || std::isinf(p)) return top;
    Elements terms;
    for (const double e : v) terms.push_back(std::pow(std::abs(e) / top, p));
    return top * std::pow(total(terms), 1 / p);
  }
  static double var(const Elements& v, double correction) {
    // Relative to the first element: equal ones then have no deviation, however large they are.
    Elements distances;
    for (const double e : v) distances.push_back(e - v.front());
    const double center = mean(distances, 0);
    Elements squares;
    for (const double e : distances) squares.push_back((e - center) * (e - center));
    const double freedom = static_cast<double>(v.size()) - correction;
    return total(squares) / std::max(freedom, 0.0);
  }
  static double std(const Elements& v, double correction) { return std::sqrt(var(v, correction)); }
  static double argmax(const Elements& v, double) {
    return v.empty() ? -1 : first_nan_or(v, std::max_element(v.begin(), v.end()));
  }
  static double argmin(const Elements& v, double) {
    return v.empty() ? -1 : first_nan_or(v, std::min_element(v.begin(), v.end()));
  }
  static double any(const Elements& v, double) {
    return std::any_of(v.begin(), v.end(), [](double e) { return e != 0; }) ? 1 : 0;
  }
  static double all(const Elements& v, double) {
    return std::all_of(v.begin(), v.end(), [](double e) { return e != 0; }) ? 1 : 0;
  }
};

}  // namespace

double reduce(Reduction reduction, const Elements& elements, double parameter) {
  switch (reduction) {
#define POSTLUDE_CASE(name, keyword, fallback, formula) \
  case Reduction::name:                                 \
    return Reducer::name(elements, parameter);
    POSTLUDE_REDUCTIONS(POSTLUDE_CASE)
#undef POSTLUDE_CASE
  }
  return not_a_number;
}

}  // namespace reference
}  // namespace detail
}  // namespace postlude
