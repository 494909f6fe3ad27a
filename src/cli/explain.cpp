#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli_error.hpp"
#include "commands.hpp"
#include "element_type.hpp"
#include "machine_file.hpp"
#include "workload.hpp"

namespace postlude {
namespace cli {
namespace {

using nlohmann::json;

/// What limits a part of the plan, and the time that follows.
struct Prediction {
  double seconds = 0;
  bool is_limited_by_bytes = true;
};

struct Predictions {
  Prediction gemm;
  std::vector<Prediction> stages;
  double total = 0;
  std::optional<Prediction> shortcut;  ///< an execution that takes it
  std::optional<Prediction> shortcut_with_prepared_weights;
};

/// The rate of the GEMM as it is computed; nothing where it was not measured.
std::optional<double> gemm_rate(const MachineLimits& limits, const json& problem) {
  std::string kind = problem.at("compute").get<std::string>();
  if (kind == "automatic") kind = problem.at("dtype").get<std::string>();
  const auto rate = limits.gemm_flops_per_second.find(kind);
  if (rate == limits.gemm_flops_per_second.end()) return std::nullopt;
  return rate->second;
}

/// The sum over the GEMM and the stages of the larger of two times: of its bytes at the speed of a
/// copy, and of the GEMM's FLOPs at that of a square GEMM.
std::optional<Predictions> predict(const MachineLimits& limits, const json& plan) {
  const std::optional<double> rate = gemm_rate(limits, plan.at("problem"));
  if (!rate) return std::nullopt;
  const auto of_bytes = [&](const json& part) {
    return part.at("bytes").get<double>() / limits.copy_bytes_per_second;
  };
  Predictions predictions;
  const json& gemm = plan.at("gemm");
  const double of_flops = gemm.at("flops").get<double>() / *rate;
  predictions.gemm = {std::max(of_flops, of_bytes(gemm)), of_bytes(gemm) >= of_flops};
  predictions.total = predictions.gemm.seconds;
  for (const json& stage : plan.at("stages")) {
    predictions.stages.push_back({of_bytes(stage), true});
    predictions.total += predictions.stages.back().seconds;
  }
  const json& shortcut = plan.at("shortcut");
  if (!shortcut.is_null()) {
    predictions.shortcut = {of_bytes(shortcut), true};
    predictions.shortcut_with_prepared_weights = {
        shortcut.at("bytes_with_prepared_weights").get<double>() / limits.copy_bytes_per_second,
        true};
  }
  return predictions;
}

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.3g} us", seconds * 1e6)
                        : fmt::format("{:.3g} ms", seconds * 1e3);
}

std::string prediction_text(const Prediction& prediction) {
  return time_text(prediction.seconds) +
         (prediction.is_limited_by_bytes ? ", limited by memory" : ", limited by arithmetic");
}

std::string text_of(const std::string& path, const std::optional<MachineLimits>& limits,
                    const std::optional<Predictions>& predictions) {
  if (!limits)
    return "limits\n  not measured: 'postlude bench --calibrate' measures this machine's\n";
  std::string text = fmt::format("limits ({}, {})\n  copy {:.1f} GB/s", path, limits->date,
                                 limits->copy_bytes_per_second * 1e-9);
  for (const auto& [kind, rate] : limits->gemm_flops_per_second)
    text += fmt::format(", GEMM in {} {:.0f} GFLOP/s", kind, rate * 1e-9);
  text += "\n";
  if (!predictions) return text + "  no GEMM in this mode was measured\n";
  text += fmt::format("  GEMM: {}\n", prediction_text(predictions->gemm));
  for (std::size_t i = 0; i < predictions->stages.size(); ++i)
    text += fmt::format("  stage {}: {}\n", i + 1, prediction_text(predictions->stages[i]));
  text += fmt::format("  predicted time {}\n", time_text(predictions->total));
  if (predictions->shortcut)
    text += fmt::format("  shortcut: {}; {} with prepared weights\n",
                        prediction_text(*predictions->shortcut),
                        time_text(predictions->shortcut_with_prepared_weights->seconds));
  return text;
}

json json_of(const std::optional<MachineLimits>& limits) {
  if (!limits) return nullptr;
  return {{"date", limits->date},
          {"threads", limits->threads},
          {"copy_bytes_per_second", limits->copy_bytes_per_second},
          {"gemm_flops_per_second", limits->gemm_flops_per_second}};
}

json json_of(const std::optional<Predictions>& predictions) {
  if (!predictions) return nullptr;
  json stages = json::array();
  for (const Prediction& stage : predictions->stages) stages.push_back(stage.seconds);
  json object = {{"gemm", predictions->gemm.seconds},
                 {"gemm_is_limited_by_memory", predictions->gemm.is_limited_by_bytes},
                 {"stages", stages},
                 {"total", predictions->total}};
  if (predictions->shortcut) {
    object["shortcut"] = predictions->shortcut->seconds;
    object["shortcut_with_prepared_weights"] = predictions->shortcut_with_prepared_weights->seconds;
  }
  return object;
}

json plan_json(const Workload& workload) {
  const char* text = nullptr;
  require(postlude_plan_explain_json(workload.plan(), &text));
  return json::parse(text);
}

std::string plan_text(const Workload& workload) {
  const char* explanation = nullptr;
  require(postlude_plan_explain(workload.plan(), &explanation));
  std::string text = explanation;
  if (text.empty() || text.back() != '\n') text += '\n';
  // The plan does not know in what its results will be stored.
  for (const ResultDescription& result : workload.results())
    if (result.dtype != result.natural_dtype)
      text += fmt::format("{} is stored as {}; its bytes are counted as {}\n", result.name,
                          element_name(result.dtype), element_name(result.natural_dtype));
  return text;
}

}  // namespace

int explain(const ExplainArguments& arguments) {
  const SyntheticWorkload synthetic = make_synthetic_workload(arguments);
  json plan = plan_json(synthetic.workload);
  const std::optional<MachineLimits> limits = read_machine_limits(
      arguments.machine_file, plan.at("problem").at("backend").get<std::string>());
  std::optional<Predictions> predictions;
  if (limits) predictions = predict(*limits, plan);
  if (arguments.is_json) {
    plan["limits"] = json_of(limits);
    plan["predicted_seconds"] = json_of(predictions);
    fmt::print("{}\n", plan.dump(2));
  } else {
    fmt::print("{}{}", plan_text(synthetic.workload),
               text_of(arguments.machine_file, limits, predictions));
  }
  return exit_ok;
}

}  // namespace cli
}  // namespace postlude
