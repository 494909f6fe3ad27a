#include "support/forced_engine.hpp"

#include <postlude/error.hpp>

#include "reference/reference_gemm.hpp"
#include "support/backend.hpp"
#include "support/catch.hpp"
#include "support/error_model.hpp"

namespace postlude {
namespace test {

Plan plan_on(const std::string& engine, const TestTensor& x, const TestTensor& w) {
  PlanOptions options;
  options.engine = engine;
  return Plan(execution_space(), {x.device(), w.device(), ComputeMode::automatic}, "y", {},
              options);
}

std::string refusal_of(const std::string& engine) {
  const TestTensor x(DataType::float32, {8, 16});
  const TestTensor w(DataType::float32, {8, 16});
  try {
    plan_on(engine, x, w);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

bool is_left_out(const std::string& engine) {
  const std::string reason = refusal_of(engine);
  if (reason.empty()) return false;
  WARN("left out: " << reason);
  return true;
}

Settings settings_on(const std::string& engine, std::int64_t m, std::int64_t n, std::int64_t k) {
  Settings settings;
  settings.m = m;
  settings.n = n;
  settings.k = k;
  settings.engine = engine;
  return settings;
}

std::vector<Settings> results_of(const Settings& settings) {
  std::vector<Settings> list;
  for (const ResultLayout result :
       {ResultLayout::row_major, ResultLayout::column_major, ResultLayout::any})
    for (const bool is_padded : {false, true}) {
      if (is_padded && result == ResultLayout::any) continue;
      list.push_back(settings);
      list.back().result = result;
      list.back().has_padded_outputs = is_padded;
    }
  return list;
}

void check_prepared(Workload& workload, const PreparedWeights& weights, bool has_w) {
  workload.x().upload();
  TestTensor poisoned = workload.output();
  poisoned.fill([] { return 0.5; });
  poisoned.upload();
  Arguments arguments = workload.device_arguments();
  arguments.outputs[0] = poisoned.device();
  arguments.prepared_weights = &weights;
  if (!has_w) arguments.w.data = nullptr;
  workload.plan().execute(arguments);
  fence();
  poisoned.download();
  CHECK(poisoned.is_poison_around());
  const Array expected = detail::reference::multiply(workload.x().host(), workload.w().host());
  check_elements(poisoned, expected, Array(expected.shape));
}

}  // namespace test
}  // namespace postlude
