#include "program/guarded/guarded_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "program/guarded/sum_of_products.hpp"
#include "program/guarded/vanishing_difference.hpp"
#include "program/ranges/value_range.hpp"
#include "program/rewrites/apply_rewrites.hpp"

namespace postlude {
namespace detail {
namespace {

/// Magnitudes that a proof is tried with, as powers of two, the widest first.
const std::vector<int>& limits(DataType arithmetic) {
  static const std::vector<int> of_float32 = {96, 64, 48, 32, 24, 16, 10};
  static const std::vector<int> of_float64 = {900, 512, 128, 64, 32, 16, 10};
  return arithmetic == DataType::float64 ? of_float64 : of_float32;
}

class Search {
 public:
  Search(const Program& program, DataType arithmetic, const std::set<std::string>& without,
         double zero)
      : program_(program),
        arithmetic_(arithmetic),
        without_(without),
        zero_(zero),
        builder_(program, arithmetic, true),
        from_y_(values_from_y(program)) {}

  std::optional<GuardedProgram> run() {
    for (const Value& each : program_.values) {
      Value value = each;
      for (int& input : value.inputs) input = places_[static_cast<std::size_t>(input)];
      const int index = static_cast<int>(places_.size());
      const int place = replacement(index, value);
      places_.push_back(place >= 0 ? builder_.expand(place, value.shape) : builder_.add(value));
    }
    // Of several zeros each may be of either sign: too many cases to look at.
    if (to_prove_.empty() || zeros_of_either_sign_ > 1) return std::nullopt;
    for (ProgramResult& result : builder_.program().results)
      result.value = places_[static_cast<std::size_t>(result.value)];
    for (const int exponent : limits(arithmetic_)) {
      guarded_.limit = std::ldexp(1.0, exponent);
      if (!is_proved()) continue;
      RewrittenProgram rewritten = apply_rewrites(builder_.program(), arithmetic_, without_);
      if (rewritten.program.uses_y()) return std::nullopt;
      guarded_.program = std::move(rewritten.program);
      guarded_.applied.insert(guarded_.applied.end(), rewritten.applied.begin(),
                              rewritten.applied.end());
      find_bounded_operands();
      return std::move(guarded_);
    }
    return std::nullopt;
  }

  /// Whether the zeros that were put in might have been of the other sign.
  bool depends_on_sign() const { return zeros_of_either_sign_ > 0; }

 private:
  bool is_on(const char* name) const { return without_.count(name) == 0; }

  int replacement(int index, const Value& value) {
    if (!from_y_[static_cast<std::size_t>(index)]) return -1;
    if (is_on("vanishing_differences")) {
      const VanishingDifference difference =
          vanishing_difference(program_, program_.values[static_cast<std::size_t>(index)]);
      if (difference.of >= 0) {
        to_prove_.push_back(difference.of);
        if (difference.may_be_negative_zero) ++zeros_of_either_sign_;
        note("vanishing_differences", value, "0", "v - v is 0 for finite v",
             "what v was needed for alone");
        return builder_.constant(zero_);
      }
    }
    if (is_on("sums_of_products")) return sum_of_products(index, value);
    return -1;
  }

  int sum_of_products(int index, const Value& value) {
    if (value.kind != NodeKind::reduction || value.window_size != 0 ||
        (value.reduction != Reduction::sum && value.reduction != Reduction::mean))
      return -1;
    const Shape& shape = builder_.input(value, 0).shape;
    const std::int64_t count = value.dim == 0 ? shape.rows : shape.columns;
    if (count < 2) return -1;
    const std::optional<int> sum = SumOfProducts(builder_, value.dim, count, [&] {
                                     return sum_of_y(value.dim);
                                   }).of(value.inputs[0]);
    if (!sum) return -1;
    int place = *sum;
    if (value.reduction == Reduction::mean)
      place = builder_.pointwise(Operation::divide,
                                 {place, builder_.constant(static_cast<double>(count))});
    to_prove_.push_back(index);
    sums_to_prove_.push_back(place);
    note("sums_of_products", value, builder_.text(place),
         value.dim == 1 ? "y summed over dim 1 is the product of x and the sums of w over its rows"
                        : "y summed over dim 0 is the product of w and the sums of x over its rows",
         "the GEMM");
    return place;
  }

  /// The operand that stands for it.
  int sum_of_y(int dim) {
    int& operand = dim == 1 ? guarded_.sum_over_columns : guarded_.sum_over_rows;
    Program& program = builder_.program();
    const Shape shape = dim == 1 ? Shape{program.y.batch, program.y.rows, 1}
                                 : Shape{program.y.batch, 1, program.y.columns};
    if (operand < 0) {
      operand = static_cast<int>(program.operands.size());
      ProgramOperand sums;
      sums.name = dim == 1 ? "sum(y, dim=1)" : "sum(y, dim=0)";
      sums.kind = dim == 1 ? OperandKind::column : OperandKind::row;
      sums.is_batched = program.y.batch > 1;
      sums.shape = shape;
      sums.is_used = true;
      program.operands.push_back(sums);
    }
    Value value;
    value.kind = NodeKind::operand;
    value.operand = operand;
    value.shape = shape;
    return builder_.add(std::move(value));
  }

  void note(const char* name, const Value& before, const std::string& after, const char* reason,
            const char* saved) {
    guarded_.applied.push_back({name, builder_.text(before), after, reason, saved});
  }

  /// Whether everything that has to be finite is, in both programs, within the limit.
  bool is_proved() {
    RangeAssumptions assumptions;
    assumptions.arithmetic = arithmetic_;
    assumptions.y = {-guarded_.limit, guarded_.limit, false, true};
    assumptions.operands = assumptions.y;
    const std::vector<Range> written = value_ranges(program_, assumptions);
    for (const int index : to_prove_)
      if (!written[static_cast<std::size_t>(index)].is_finite()) return false;
    const std::vector<Range> ranges = value_ranges(builder_.program(), assumptions);
    return std::all_of(sums_to_prove_.begin(), sums_to_prove_.end(), [&](int index) {
      return ranges[static_cast<std::size_t>(index)].is_finite();
    });
  }

  /// Those that what has to be finite is made of.
  void find_bounded_operands() {
    std::vector<bool> needed(program_.values.size(), false);
    for (const int index : to_prove_) needed[static_cast<std::size_t>(index)] = true;
    std::set<std::size_t> operands;
    for (std::size_t i = needed.size(); i-- > 0;) {
      if (!needed[i]) continue;
      const Value& value = program_.values[i];
      if (value.kind == NodeKind::operand) operands.insert(static_cast<std::size_t>(value.operand));
      for (const int input : value.inputs) needed[static_cast<std::size_t>(input)] = true;
    }
    guarded_.bounded_operands.assign(operands.begin(), operands.end());
  }

  const Program& program_;
  DataType arithmetic_;
  const std::set<std::string>& without_;
  double zero_;
  RewriteBuilder builder_;
  std::vector<bool> from_y_;
  std::vector<int> places_;
  std::vector<int> to_prove_;       ///< values of the program that must be finite
  std::vector<int> sums_to_prove_;  ///< and of the one that is built
  GuardedProgram guarded_;
  int zeros_of_either_sign_ = 0;
};

}  // namespace

std::optional<GuardedProgram> find_guarded_program(const Program& program, DataType arithmetic,
                                                   const std::set<std::string>& without) {
  if (!program.uses_y() || program.y.elements() == 0 || program.depth == 0) return std::nullopt;
  Search search(program, arithmetic, without, 0.0);
  std::optional<GuardedProgram> guarded = search.run();
  if (!guarded || !search.depends_on_sign()) return guarded;
  // With -0 in their place: the zeros must not be told apart by what is made of them.
  Search other(program, arithmetic, without, -0.0);
  const std::optional<GuardedProgram> with_negative_zero = other.run();
  if (!with_negative_zero || to_string(with_negative_zero->program) != to_string(guarded->program))
    return std::nullopt;
  return guarded;
}

}  // namespace detail
}  // namespace postlude
