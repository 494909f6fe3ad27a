#include "support/random_program.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "expression/signature.hpp"
#include "program/program.hpp"

namespace postlude {
namespace test {
namespace {

using detail::Shape;

struct Item {
  Expression value;
  Shape shape;
};

template <class T>
const T& one_of(Random& random, const std::vector<T>& list) {
  return list[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(list.size())))];
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> list = {
#define POSTLUDE_NAME(name, arity, signature, formula) Operation::name,
      POSTLUDE_OPERATOR_OPERATIONS(POSTLUDE_NAME) POSTLUDE_FUNCTION_OPERATIONS(POSTLUDE_NAME)
#undef POSTLUDE_NAME
  };
  return list;
}

const std::vector<Reduction>& reductions() {
  static const std::vector<Reduction> list = {
#define POSTLUDE_NAME(name, parameter, fallback, formula) Reduction::name,
      POSTLUDE_REDUCTIONS(POSTLUDE_NAME)
#undef POSTLUDE_NAME
  };
  return list;
}

const std::vector<Composite>& composites() {
  static const std::vector<Composite> list = {
#define POSTLUDE_NAME(name, signature, formula) Composite::name,
      POSTLUDE_COMPOSITES(POSTLUDE_NAME)
#undef POSTLUDE_NAME
  };
  return list;
}

/// A small change of an input makes a large one of the result somewhere.
bool jumps(Operation operation) {
  switch (operation) {
    case Operation::less:
    case Operation::less_equal:
    case Operation::greater:
    case Operation::greater_equal:
    case Operation::equal:
    case Operation::not_equal:
    case Operation::where:
    case Operation::sign:
    case Operation::floor:
    case Operation::ceil:
    case Operation::round:
    case Operation::threshold:
      return true;
    default:
      return false;
  }
}

bool jumps(Reduction reduction) {
  return reduction == Reduction::argmax || reduction == Reduction::argmin ||
         reduction == Reduction::any || reduction == Reduction::all;
}

class Generator {
 public:
  Generator(Random& random, const RandomProgramSettings& settings)
      : random_(random), settings_(settings) {}

  RandomProgram make() {
    leaves();
    const std::int64_t count = 1 + random_.below(settings_.operations);
    for (std::int64_t i = 0; i < count; ++i) grow();
    add_result(items_.back());
    for (std::int64_t i = random_.below(settings_.results); i > 0; --i) add_result(any());
    return std::move(program_);
  }

 private:
  /// y, and operands of every kind.
  void leaves() {
    const std::int64_t m = settings_.m;
    const std::int64_t n = settings_.n;
    for (int i = 0; i < 3; ++i) items_.push_back({y(), {settings_.batch, m, n}});
    declare("bias", OperandKind::row, {1, 1, n});
    declare("other", OperandKind::row, {1, 1, n});
    declare("scale", OperandKind::column, {1, m, 1});
    declare("residual", OperandKind::matrix, {1, m, n});
    declare("c", OperandKind::scalar, {});
    declare("gain", OperandKind::element, {});
    program_.operands.push_back({"seed", OperandKind::scalar, false});
  }

  void declare(const std::string& name, OperandKind kind, Shape shape) {
    const bool is_batched =
        settings_.batch > 1 && kind != OperandKind::scalar && random_.below(2) == 0;
    if (is_batched) shape.batch = settings_.batch;
    program_.operands.push_back({name, kind, is_batched});
    items_.push_back({operand(name), shape});
  }

  void add_result(const Item& item) {
    program_.results.push_back({"r" + std::to_string(program_.results.size()), item.value});
  }

  /// Late values more often than early ones, so that programs grow deep.
  const Item& any() {
    const auto count = static_cast<std::int64_t>(items_.size());
    const std::int64_t recent = std::min<std::int64_t>(count, 4);
    const std::int64_t index =
        random_.below(2) == 0 ? count - 1 - random_.below(recent) : random_.below(count);
    return items_[static_cast<std::size_t>(index)];
  }

  Item constant() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    static const std::vector<double> ordinary = {0,   -0.0, 1,  -1,  2,   0.5,  4,
                                                 0.1, 3,    -2, 0.3, 1.0, -0.5, 6};
    static const std::vector<double> special = {
        infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 1e30, -3e38, 1e300, 1e-45};
    const bool is_special = settings_.has_special_constants && random_.below(6) == 0;
    if (!is_special && random_.below(4) == 0) return {Expression(random_.uniform(-3, 3)), {}};
    return {Expression(one_of(random_, is_special ? special : ordinary)), {}};
  }

  bool fits(const Shape& a, const Shape& b) const {
    return a.columns == b.columns || a.columns == 1 || b.columns == 1;
  }

  /// A value that broadcasts with `shape`: rows and batches always do, pools change the columns.
  Item partner(const Shape& shape) {
    if (random_.below(3) == 0) return constant();
    for (int attempt = 0; attempt < 8; ++attempt) {
      const Item& item = any();
      if (fits(item.shape, shape)) return item;
    }
    return constant();
  }

  void push(Expression value, const Shape& shape) { items_.push_back({std::move(value), shape}); }

  void push_call(const std::string& name, std::vector<CallArgument> arguments, const Shape& shape) {
    program_.used.insert(name);
    push(call(name, arguments), shape);
  }

  void grow() {
    switch (random_.below(10)) {
      case 0:
      case 1:
        return reduction();
      case 2:
        return composite();
      case 3:
      case 4:
        return phrase();
      default:
        return pointwise();
    }
  }

  void pointwise() {
    const Operation operation = one_of(random_, operations());
    if (!settings_.has_steps && jumps(operation)) return;
    const detail::OperationSignature& signature = detail::signature_of(operation);
    std::vector<Item> inputs = {any()};
    std::vector<Shape> shapes = {inputs[0].shape};
    while (static_cast<int>(inputs.size()) < signature.arity) {
      inputs.push_back(partner(detail::broadcast(shapes)));
      shapes.push_back(inputs.back().shape);
    }
    // The inputs that come first are not always the large ones.
    for (std::size_t i = inputs.size(); i-- > 1;)
      std::swap(inputs[i],
                inputs[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(i) + 1))]);
    std::vector<Expression> arguments;
    for (const Item& input : inputs) arguments.push_back(input.value);
    program_.used.insert(signature.name);
    push(detail::apply(operation, arguments), detail::broadcast(shapes));
  }

  void reduction() {
    const Reduction kind = one_of(random_, reductions());
    if (!settings_.has_steps && jumps(kind)) return;
    const Item item = any();
    const int dim = static_cast<int>(random_.below(2));
    const Shape shape = detail::reduced_shape(kind, item.shape, dim);
    program_.used.insert(detail::signature_of(kind).name);
    static const std::vector<double> powers = {1, 2, 3, 0.5,
                                               std::numeric_limits<double>::infinity()};
    static const std::vector<double> corrections = {0, 1, 2, -1};
    if (kind == Reduction::norm)
      push(reduce(kind, item.value, dim, one_of(random_, powers)), shape);
    else if (kind == Reduction::var || kind == Reduction::std)
      push(reduce(kind, item.value, dim, one_of(random_, corrections)), shape);
    else
      push(reduce(kind, item.value, dim), shape);
  }

  double dim() { return static_cast<double>(random_.below(2)); }

  std::int64_t divisor_of(std::int64_t n) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= n; ++d)
      if (n % d == 0) divisors.push_back(d);
    return one_of(random_, divisors);
  }

  /// A weight, bias or statistic for values of this shape.
  CallArgument extra(Shape& shape, const std::string& keyword) {
    const Item item = partner(shape);
    shape = detail::broadcast({shape, item.shape});
    return {item.value, keyword};
  }

  void composite() {
    const Composite kind = one_of(random_, composites());
    const std::string name = detail::signature_of(kind).name;
    const Item item = any();
    Shape shape = item.shape;
    std::vector<CallArgument> arguments = {{item.value, ""}};
    switch (kind) {
      case Composite::softmax:
      case Composite::log_softmax:
      case Composite::l2_normalize:
        arguments.push_back({dim(), "dim"});
        break;
      case Composite::layer_norm:
      case Composite::instance_norm:
      case Composite::group_norm:
        if (kind == Composite::group_norm)
          arguments.push_back({static_cast<double>(divisor_of(shape.columns)), "groups"});
        if (random_.below(2) == 0) arguments.push_back(extra(shape, "weight"));
        if (random_.below(2) == 0) arguments.push_back(extra(shape, "bias"));
        break;
      case Composite::rms_norm:
        if (random_.below(2) == 0) arguments.push_back(extra(shape, "weight"));
        break;
      case Composite::batch_norm:
        if (random_.below(2) == 0) {
          arguments.push_back(extra(shape, "mean"));
          arguments.push_back(extra(shape, "var"));
        }
        if (random_.below(2) == 0) arguments.push_back(extra(shape, "weight"));
        if (random_.below(2) == 0) arguments.push_back(extra(shape, "bias"));
        break;
      case Composite::max_pool:
      case Composite::avg_pool: {
        const std::int64_t kernel = 1 + random_.below(std::min<std::int64_t>(shape.columns, 4));
        const std::int64_t stride = 1 + random_.below(4);
        arguments.push_back({static_cast<double>(kernel), "kernel"});
        arguments.push_back({static_cast<double>(stride), "stride"});
        shape = detail::windowed_shape(shape, kernel, stride);
        break;
      }
      case Composite::dropout: {
        if (!settings_.has_steps) return;
        static const std::vector<double> rates = {0, 0.25, 0.5, 1};
        arguments.push_back({one_of(random_, rates), "p"});
        if (random_.below(2) == 0)
          arguments.push_back({operand("seed"), "seed"});
        else
          arguments.push_back({static_cast<double>(random_.below(1000)), "seed"});
        break;
      }
    }
    push_call(name, std::move(arguments), shape);
  }

  /// Something that a planner may say more simply, or that only looks like it.
  void phrase() {
    const Item item = any();
    const Expression& v = item.value;
    const Shape& shape = item.shape;
    const Expression number = constant().value;
    const Expression another = constant().value;
    const int d = static_cast<int>(random_.below(2));
    switch (random_.below(settings_.has_steps ? 24 : 18)) {
      case 0:
        return push(one_of(random_, std::vector<Expression>{v * 1, 1 * v, v / 1, v - 0, v + 0,
                                                            0 + v, v + -0.0, 0 - v, v * -1}),
                    shape);
      case 1:
        return push(-(-v), shape);
      case 2:
        return push(one_of(random_, std::vector<Expression>{abs(abs(v)), abs(square(v)), abs(-v),
                                                            square(abs(v)), relu(abs(v))}),
                    shape);
      case 3:
        return push(clamp(clamp(v, number, another), constant().value, constant().value), shape);
      case 4:
        return push(min(max(v, number), another), shape);
      case 5:
        return push(relu(hardtanh(relu6(v), number, another)), shape);
      case 6:
        return push(min(v, v), shape);
      case 7:
        return push(v / one_of(random_, std::vector<Expression>{2, 0.25, -8, 1e-40, 3}), shape);
      case 8:
        return push(v * v + v * v, shape);
      case 9:
        return push(v - reduce(Reduction::mean, v, d), shape);
      case 10:
        return push(reduce(Reduction::logsumexp, reduce(Reduction::max, v, d), d),
                    detail::reduced_shape(Reduction::max, shape, d));
      case 11:
        return push(reduce(Reduction::sum, reduce(Reduction::sum, v, d), d),
                    detail::reduced_shape(Reduction::sum, shape, d));
      case 12:
        return push(clamp(sigmoid(v), -1, 2) + relu(exp(v)), shape);
      case 13:
        return push(v + (-v), shape);
      case 14:
        return push((-v) * (-v), shape);
      case 15:
        return push(1 / sqrt(v), shape);
      case 16:
        return push(min(min(v, number), number), shape);
      case 17:
        return push(clamp(v, -std::numeric_limits<double>::infinity(), number), shape);
      case 18:
        return push(where(number, v, v * 2), shape);
      case 19:
        return push(where(v > number, v, v), shape);
      case 20:
        return push(floor(round(v)) + sign(sign(v)), shape);
      case 21:
        return push(where((v > number) != 0, v, number), shape);
      case 22:
        return push(clamp(v > number, 2, 3) * v, shape);
      default:
        return push(pow(v, one_of(random_, std::vector<Expression>{1, 2, 0, -1, 0.5})), shape);
    }
  }

  Random& random_;
  const RandomProgramSettings& settings_;
  std::vector<Item> items_;
  RandomProgram program_;
};

}  // namespace

RandomProgram random_program(Random& random, const RandomProgramSettings& settings) {
  return Generator(random, settings).make();
}

std::set<std::string> all_operation_names() {
  std::set<std::string> names;
  for (const Operation operation : operations()) names.insert(detail::signature_of(operation).name);
  for (const Reduction reduction : reductions()) names.insert(detail::signature_of(reduction).name);
  for (const Composite composite : composites()) names.insert(detail::signature_of(composite).name);
  return names;
}

}  // namespace test
}  // namespace postlude
