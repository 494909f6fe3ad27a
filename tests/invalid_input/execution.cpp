#include "support/catch.hpp"

#include <functional>
#include <string>
#include <vector>

#include <postlude/check.hpp>
#include <postlude/error.hpp>

#include "support/errors.hpp"
#include "support/programs.hpp"
#include "support/workload.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

/// An operand of every kind, and a result of every shape and kind.
const char* const every_kind =
    "z = (y + bias) * scale + residual * c - gain\n"
    "return z, sum(z, dim=0), argmax(z, dim=1)";
/// One pass, in which the result also holds y.
const char* const in_place = "z = (y + bias) * scale + residual * c - gain";

/// A problem of 5 x 7 x 3 whose executions are to be refused.
class Victim {
 public:
  explicit Victim(DataType dtype = DataType::float32, ResultLayout layout = ResultLayout::row_major,
                  const char* text = every_kind)
      : workload(settings(dtype, layout), text, operands_of_every_kind()) {
    Random random;
    workload.fill_exact(random);
    workload.x().upload();
    workload.w().upload();
    for (const char* name : {"bias", "scale", "residual", "gain"}) workload.operand(name).upload();
  }

  /// Executes with arguments that `spoil` has changed: it must be refused with this status and
  /// message, before anything was written.
  template <class... Parts>
  void refuse(Status status, const std::function<void(Arguments&)>& spoil, const Parts&... parts) {
    Arguments arguments = workload.device_arguments();
    spoil(arguments);
    check_error(
        status, [&] { workload.plan().execute(arguments); }, parts...);
    check_untouched();
  }

  void check_untouched() {
    fence();
    for (std::size_t i = 0; i < workload.plan().result_count(); ++i) {
      workload.output(i).download();
      INFO("output " << i);
      CHECK(workload.output(i).is_untouched());
    }
  }

  /// The same arguments without the fault are accepted, and right.
  void check_works() {
    workload.execute();
    for (const CheckResult& result :
         compare_with_reference(workload.plan(), workload.host_arguments()))
      CHECK(result.violations == 0);
  }

  Workload workload;

 private:
  static Settings settings(DataType dtype, ResultLayout layout) {
    Settings result;
    result.dtype = dtype;
    result.m = 5;
    result.n = 7;
    result.k = 3;
    result.result = layout;
    return result;
  }
};

Binding& binding(Arguments& arguments, const std::string& name) {
  for (Binding& each : arguments.bindings)
    if (each.name == name) return each;
  throw std::out_of_range(name);
}

void remove_binding(Arguments& arguments, const std::string& name) {
  std::vector<Binding> kept;
  for (const Binding& each : arguments.bindings)
    if (each.name != name) kept.push_back(each);
  arguments.bindings = kept;
}

void shift(Tensor& tensor, std::int64_t bytes) {
  tensor.data = static_cast<char*>(tensor.data) + bytes;
}

}  // namespace

TEST_CASE("x and w that are not as planned are refused", "[invalid_input]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Victim victim(dtype);
  victim.refuse(
      Status::shape_mismatch, [](Arguments& a) { a.x.extent[0] = 4; }, "x", "4x3", "5x3");
  victim.refuse(
      Status::shape_mismatch, [](Arguments& a) { a.w.extent[1] = 2; }, "w", "7x2", "7x3");
  victim.refuse(
      Status::shape_mismatch, [](Arguments& a) { a.x.stride[0] = 4; }, "x", "stride 4");
  victim.refuse(
      Status::shape_mismatch, [](Arguments& a) { a.w.rank = 3; }, "w");
  victim.refuse(
      Status::shape_mismatch, [](Arguments& a) { a.w.rank = 1; }, "w");
  victim.refuse(
      Status::shape_mismatch,
      [](Arguments& a) {
        a.x.dtype = a.x.dtype == DataType::float32 ? DataType::float64 : DataType::float32;
      },
      "x", "f32", "f64");
  victim.check_works();
}

TEST_CASE("bindings that are missing, unknown or double are refused", "[invalid_input]") {
  Victim victim;
  for (const std::string name : {"bias", "scale", "residual", "c", "gain"})
    victim.refuse(
        Status::missing_operand, [&](Arguments& a) { remove_binding(a, name); }, "'" + name + "'",
        "not bound");
  victim.refuse(
      Status::unknown_name, [](Arguments& a) { a.bindings.emplace_back("bais", 1.0); }, "'bais'",
      "did you mean 'bias'?");
  victim.refuse(Status::unknown_name, [](Arguments& a) { a.bindings.emplace_back("", 1.0); });
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { a.bindings.push_back(binding(a, "bias")); },
      "'bias'", "twice");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { a.bindings.emplace_back("c", 2.0); }, "'c'",
      "twice");
  victim.check_works();
}

TEST_CASE("a number for a tensor and a tensor for a number are refused", "[invalid_input]") {
  Victim victim;
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { binding(a, "bias") = Binding("bias", 1.0); },
      "'bias'", "number", "tensor");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { binding(a, "gain") = Binding("gain", 1.0); },
      "'gain'");
  victim.refuse(
      Status::invalid_argument,
      [](Arguments& a) { binding(a, "c") = Binding("c", binding(a, "gain").tensor); }, "'c'",
      "tensor", "number");
  victim.check_works();
}

TEST_CASE("operands of another shape or dtype are refused", "[invalid_input]") {
  Victim victim;
  victim.refuse(
      Status::shape_mismatch, [](Arguments& a) { binding(a, "bias").tensor.extent[0] = 5; },
      "'bias'", "5", "1x7");
  victim.refuse(
      Status::shape_mismatch, [](Arguments& a) { binding(a, "scale").tensor.extent[0] = 7; },
      "'scale'", "7", "5x1");
  victim.refuse(
      Status::shape_mismatch,
      [](Arguments& a) {
        std::swap(binding(a, "residual").tensor.extent[0], binding(a, "residual").tensor.extent[1]);
      },
      "'residual'", "7x5", "5x7");
  victim.refuse(
      Status::shape_mismatch, [](Arguments& a) { binding(a, "gain").tensor.extent[0] = 2; },
      "'gain'");
  victim.refuse(
      Status::unsupported, [](Arguments& a) { binding(a, "bias").tensor.dtype = DataType::int64; },
      "'bias'", "i64");
  victim.refuse(
      Status::invalid_argument,
      [](Arguments& a) { binding(a, "bias").tensor.dtype = static_cast<DataType>(0); }, "'bias'",
      "dtype");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { binding(a, "bias").tensor.rank = 9; }, "'bias'",
      "rank 9");
  victim.check_works();
}

TEST_CASE("outputs of another number, shape or dtype are refused", "[invalid_input]") {
  Victim victim;
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { a.outputs.pop_back(); }, "outputs", "2", "3");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { a.outputs.clear(); }, "outputs", "0");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { a.outputs.push_back(a.outputs[0]); }, "outputs",
      "4", "3");
  victim.refuse(
      Status::shape_mismatch, [](Arguments& a) { a.outputs[0].extent[0] = 4; }, "'z'", "4x7",
      "5x7");
  victim.refuse(
      Status::shape_mismatch,
      [](Arguments& a) { std::swap(a.outputs[1].extent[0], a.outputs[1].extent[1]); }, "'result1'",
      "7x1", "1x7");
  victim.refuse(
      Status::unsupported, [](Arguments& a) { a.outputs[2].dtype = DataType::float64; },
      "'result2'", "f64", "i64");
  victim.refuse(
      Status::unsupported, [](Arguments& a) { a.outputs[1].dtype = DataType::int64; }, "'result1'",
      "i64");
  victim.check_works();
}

TEST_CASE("an output that holds y on the way must have the problem's dtype", "[invalid_input]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  const DataType other = dtype == DataType::float32 ? DataType::float64 : DataType::float32;
  Victim victim(dtype, ResultLayout::row_major, in_place);
  victim.refuse(
      Status::unsupported, [&](Arguments& a) { a.outputs[0].dtype = other; }, "'z'", name_of(dtype),
      name_of(other), "'any'");
  victim.check_works();
}

TEST_CASE("an output that holds y on the way must have the layout that was planned",
          "[invalid_input]") {
  const ResultLayout layout = GENERATE(ResultLayout::row_major, ResultLayout::column_major);
  Victim victim(DataType::float32, layout, in_place);
  victim.refuse(
      Status::shape_mismatch,
      [&](Arguments& a) {
        // Elements of the other order, in the same memory.
        const bool by_rows = layout == ResultLayout::row_major;
        a.outputs[0].stride[0] = by_rows ? 1 : 7;
        a.outputs[0].stride[1] = by_rows ? 5 : 1;
      },
      "'z'", layout == ResultLayout::row_major ? "row-major" : "column-major");
  victim.check_works();
}

TEST_CASE("output strides that map two elements to one address are refused", "[invalid_input]") {
  Victim victim(DataType::float32, ResultLayout::any);
  victim.refuse(
      Status::overlap, [](Arguments& a) { a.outputs[0].stride[0] = 0; }, "'z'");
  victim.refuse(
      Status::overlap, [](Arguments& a) { a.outputs[0].stride[1] = 0; }, "'z'");
  victim.refuse(
      Status::overlap,
      [](Arguments& a) {
        a.outputs[0].stride[0] = 3;
        a.outputs[0].stride[1] = 1;
      },
      "'z'", "one address");
  victim.refuse(
      Status::overlap, [](Arguments& a) { a.outputs[1].stride[1] = 0; }, "'result1'");
  victim.refuse(
      Status::overlap, [](Arguments& a) { a.outputs[2].stride[0] = 0; }, "'result2'");
  victim.check_works();
}

TEST_CASE("an output that overlaps an input, another output or the workspace is refused",
          "[invalid_input]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Victim victim(dtype);
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  victim.refuse(
      Status::overlap, [](Arguments& a) { a.outputs[0].data = a.x.data; }, "'z'", "x");
  victim.refuse(
      Status::overlap, [](Arguments& a) { a.outputs[0].data = a.w.data; }, "'z'", "w");
  victim.refuse(
      Status::overlap, [](Arguments& a) { a.outputs[1].data = a.x.data; }, "'result1'", "x");
  for (const std::string name : {"bias", "scale", "residual", "gain"})
    victim.refuse(
        Status::overlap, [&](Arguments& a) { a.outputs[0].data = binding(a, name).tensor.data; },
        "'z'", "'" + name + "'");
  // By one element only, at either end.
  victim.refuse(
      Status::overlap,
      [&](Arguments& a) {
        a.outputs[1].data = a.w.data;
        shift(a.outputs[1], 20 * size);
      },
      "'result1'", "w");
  victim.refuse(
      Status::overlap,
      [&](Arguments& a) {
        a.outputs[1].data = a.w.data;
        shift(a.outputs[1], -6 * size);
      },
      "'result1'", "w");
  victim.refuse(
      Status::overlap, [](Arguments& a) { a.outputs[1].data = a.outputs[0].data; }, "'result1'",
      "'z'");

  DeviceBuffer workspace(victim.workload.plan().workspace_bytes());
  REQUIRE(workspace.bytes() >= 7 * sizeof(double));
  Arguments arguments = victim.workload.device_arguments();
  arguments.outputs[1].data = workspace.data();
  check_error(
      Status::overlap,
      [&] {
        victim.workload.plan().execute(execution_space(), arguments, workspace.data(),
                                       workspace.bytes());
      },
      "'result1'", "workspace");
  victim.check_untouched();
  victim.check_works();
}

TEST_CASE("inputs may overlap each other", "[invalid_input]") {
  Settings settings;
  settings.m = settings.n = 4;
  settings.k = 4;
  Workload workload(settings, "y + r", {{"r", OperandKind::matrix}});
  Random random;
  INFO(random.hint());
  workload.fill_exact(random);
  workload.execute();
  Arguments arguments = workload.device_arguments();
  arguments.w.data = arguments.x.data;
  binding(arguments, "r").tensor.data = arguments.x.data;
  workload.plan().execute(arguments);
  fence();
  workload.output().download();
  double expected = workload.x().get(1, 2);
  for (std::int64_t k = 0; k < 4; ++k) expected += workload.x().get(1, k) * workload.x().get(2, k);
  CHECK(workload.output().get(1, 2) == expected);
}

TEST_CASE("null and misaligned data are refused, unless there are no elements", "[invalid_input]") {
  Victim victim;
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { a.x.data = nullptr; }, "x", "null");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { a.w.data = nullptr; }, "w", "null");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { binding(a, "bias").tensor.data = nullptr; },
      "'bias'", "null");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { a.outputs[0].data = nullptr; }, "'z'", "null");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { a.outputs[1].data = nullptr; }, "'result1'",
      "null");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { shift(a.x, 1); }, "x", "misaligned");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { shift(a.w, 2); }, "w", "misaligned");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { shift(binding(a, "scale").tensor, 3); },
      "'scale'", "misaligned");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { shift(a.outputs[0], 2); }, "'z'", "misaligned");
  victim.refuse(
      Status::invalid_argument, [](Arguments& a) { shift(a.outputs[2], 4); }, "'result2'",
      "misaligned");
  victim.check_works();
}

TEST_CASE("memory that the backend cannot reach is refused", "[invalid_input]") {
  Victim victim;
  const MemorySpace other =
      memory_space() == MemorySpace::host ? MemorySpace::device : MemorySpace::host;
  victim.refuse(
      Status::wrong_memory_space, [&](Arguments& a) { a.x.memory_space = other; }, "x",
      "cannot reach");
  victim.refuse(
      Status::wrong_memory_space,
      [&](Arguments& a) { binding(a, "bias").tensor.memory_space = other; }, "'bias'");
  victim.refuse(
      Status::wrong_memory_space, [&](Arguments& a) { a.outputs[0].memory_space = other; }, "'z'");
  victim.check_works();
}

TEST_CASE("a workspace that is too small or misaligned is refused", "[invalid_input]") {
  Victim victim;
  const std::size_t needed = victim.workload.plan().workspace_bytes();
  REQUIRE(needed > 0);
  DeviceBuffer workspace(needed + 256);
  const Arguments arguments = victim.workload.device_arguments();
  const auto execute = [&](char* data, std::size_t bytes) {
    victim.workload.plan().execute(execution_space(), arguments, data, bytes);
  };
  check_error(
      Status::invalid_argument, [&] { execute(workspace.data(), needed - 1); }, "workspace_bytes",
      std::to_string(needed - 1), std::to_string(needed));
  check_error(
      Status::invalid_argument, [&] { execute(workspace.data(), 0); }, "workspace_bytes");
  check_error(
      Status::invalid_argument, [&] { execute(workspace.data() + 8, needed); }, "misaligned");
  victim.check_untouched();
  CHECK_NOTHROW(execute(workspace.data(), needed));
  fence();
}

TEST_CASE("an operand that the program does not use need not be bound, nor be valid",
          "[invalid_input]") {
  Settings settings;
  settings.m = 3;
  settings.n = 2;
  settings.k = 2;
  Workload workload(settings, "relu(y)", {{"unused", OperandKind::row}});
  Random random;
  INFO(random.hint());
  workload.fill_exact(random);
  workload.execute();
  Arguments arguments = workload.device_arguments();
  arguments.bindings.clear();
  CHECK_NOTHROW(workload.plan().execute(arguments));
  Tensor nothing;
  nothing.rank = 0;
  arguments.bindings = {{"unused", nothing}};
  CHECK_NOTHROW(workload.plan().execute(arguments));
  fence();
}

TEST_CASE("x and w need not exist for a program without y", "[invalid_input]") {
  Settings settings;
  settings.m = 3;
  settings.n = 2;
  settings.k = 2;
  Workload workload(settings, "a + b", {{"a", OperandKind::row}, {"b", OperandKind::column}});
  Random random;
  INFO(random.hint());
  workload.fill_exact(random);
  workload.execute();
  const std::vector<double> expected = workload.output().elements();
  Arguments arguments = workload.device_arguments();
  arguments.x.data = nullptr;
  arguments.w.data = nullptr;
  CHECK_NOTHROW(workload.plan().execute(arguments));
  fence();
  workload.output().download();
  CHECK(workload.output().elements() == expected);
}

TEST_CASE("the reference refuses tensors that are not on the host", "[invalid_input]") {
  Victim victim;
  victim.workload.execute();
  Arguments arguments = victim.workload.host_arguments();
  arguments.outputs[0].memory_space = MemorySpace::device;
  check_error(
      Status::wrong_memory_space,
      [&] { compare_with_reference(victim.workload.plan(), arguments); }, "'z'");
  arguments = victim.workload.host_arguments();
  arguments.outputs.pop_back();
  check_error(
      Status::invalid_argument, [&] { compare_with_reference(victim.workload.plan(), arguments); },
      "outputs");
}

TEST_CASE("the reference finds a wrong element, a NaN and a wrong index", "[invalid_input]") {
  const DataType dtype = GENERATE(DataType::float32, DataType::float64);
  Victim victim(dtype);
  Workload& workload = victim.workload;
  const auto check = [&] {
    return compare_with_reference(workload.plan(), workload.host_arguments());
  };
  workload.execute();
  CHECK(check()[0].violations == 0);
  CHECK(check()[0].elements == 35);
  CHECK(check()[0].name == "z");

  const double right = workload.output(0).get(2, 3);
  const double off = 2 * (1 + std::abs(right)) * (dtype == DataType::float32 ? 1e-4 : 1e-11);
  workload.output(0).set(right + off, 2, 3);
  CHECK(check()[0].violations == 1);
  CHECK(std::abs(check()[0].largest_absolute_error - off) < 0.1 * off);
  CHECK(compare_with_reference(workload.plan(), workload.host_arguments(), 1.0)[0].violations == 0);
  workload.output(0).set(std::nan(""), 2, 3);
  CHECK(check()[0].violations == 1);
  workload.output(0).set(INFINITY, 2, 3);
  CHECK(check()[0].violations == 1);
  workload.output(0).set(right, 2, 3);
  CHECK(check()[0].violations == 0);

  CHECK(check()[2].violations == 0);
  const double index = workload.output(2).get(1);
  workload.output(2).set(-1, 1);
  CHECK(check()[2].violations == 1);
  workload.output(2).set(7, 1);
  CHECK(check()[2].violations == 1);
  workload.output(2).set(index, 1);
  CHECK(check()[2].violations == 0);
}
