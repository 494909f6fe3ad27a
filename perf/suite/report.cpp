#include "report.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "statistics.hpp"

namespace postlude {
namespace perf {
namespace {

/// JSON has no infinity; an error that is not finite is written as null.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

/// A line for each entry of the lists, so that a file is small and two of them can be compared.
void print(std::ostream& to, const nlohmann::json& json) {
  const char* separator = "{\n ";
  for (const auto& entry : json.items()) {
    to << separator << nlohmann::json(entry.key()) << ": ";
    separator = ",\n ";
    if (!entry.value().is_array()) {
      to << entry.value();
      continue;
    }
    const char* line = "[\n  ";
    for (const nlohmann::json& element : entry.value()) {
      to << line << element;
      line = ",\n  ";
    }
    to << (entry.value().empty() ? "[]" : "\n ]");
  }
  to << "\n}\n";
}

}  // namespace

Report::Report(std::string path, nlohmann::json head)
    : path_(std::move(path)), json_(std::move(head)) {
  json_["measurements"] = nlohmann::json::array();
  json_["missing"] = nlohmann::json::array();
  write();
}

void Report::measured(const Case& what, const std::string& peer, const Samples& samples, int copies,
                      const Check& check, double flops, double bytes) {
  const Statistics seconds = statistics_of(samples.seconds);
  json_["measurements"].push_back(
      {{"case", what.name()},
       {"peer", peer},
       {"set", what.set},
       {"program", what.program},
       {"text", what.text},
       {"dtype", name_of(what.dtype)},
       {"m", what.m},
       {"n", what.n},
       {"k", what.k},
       {"flops", flops},
       {"bytes", bytes},
       {"seconds",
        {{"median", seconds.median},
         {"minimum", seconds.minimum},
         {"maximum", seconds.maximum},
         {"mad", seconds.mad},
         {"samples", samples.seconds.size()},
         {"executions_per_sample", samples.executions_per_sample},
         {"copies", copies}}},
       {"error",
        {{"tolerance", check.tolerance},
         {"checked", check.checked},
         {"elements", check.elements},
         {"violations", check.violations},
         {"largest_absolute_error", number(check.largest_absolute_error)},
         {"largest_relative_error", number(check.largest_relative_error)}}}});
  if (samples.is_in_turns) json_["measurements"].back()["seconds"]["in_turns"] = samples.seconds;
  write();
}

void Report::missing(const std::string& peer, const std::string& name, const std::string& reason) {
  json_["missing"].push_back({{"peer", peer}, {"case", name}, {"reason", reason}});
  write();
}

void Report::write() const {
  if (path_.empty()) return;
  // Renamed at the end: whoever reads the file meanwhile finds a whole one.
  const std::string unfinished = path_ + ".unfinished";
  {
    std::ofstream file(unfinished);
    print(file, json_);
    if (!file.flush()) throw std::runtime_error("cannot write '" + unfinished + "'");
  }
  if (std::rename(unfinished.c_str(), path_.c_str()) != 0)
    throw std::runtime_error("cannot write '" + path_ + "'");
}

}  // namespace perf
}  // namespace postlude
