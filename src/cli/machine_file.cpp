#include "machine_file.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli_error.hpp"
#include "output.hpp"

namespace postlude {
namespace cli {
namespace {

using nlohmann::json;

constexpr int schema = 1;

CliError no_machine_file(const std::string& path, const std::string& reason) {
  return CliError(
      fmt::format("machine file '{}': {}; 'postlude bench --calibrate' writes one", path, reason));
}

/// The whole file; an empty one of the schema when there is none.
json read(const std::string& path) {
  std::error_code fault;
  if (!std::filesystem::exists(path, fault))
    return {{"schema", schema}, {"backends", json::object()}};
  std::ifstream file(path);
  const json content = json::parse(file, nullptr, false);
  if (!content.is_object() || !content.contains("backends") || !content["backends"].is_object())
    throw no_machine_file(path, "it is not a file of measured limits");
  if (content.value("schema", 0) != schema)
    throw no_machine_file(path, fmt::format("its schema is not {}", schema));
  return content;
}

double positive(const json& value) {
  const double number = value.get<double>();
  if (!(number > 0)) throw json::other_error::create(501, "not positive", nullptr);
  return number;
}

}  // namespace

std::string default_machine_file() {
  if (const char* const path = std::getenv("POSTLUDE_MACHINE_FILE")) return path;
  if (const char* const folder = std::getenv("XDG_CONFIG_HOME"))
    if (*folder == '/') return std::string(folder) + "/postlude/machine.json";
  if (const char* const home = std::getenv("HOME"))
    return std::string(home) + "/.config/postlude/machine.json";
  throw CliError("neither POSTLUDE_MACHINE_FILE nor HOME is set: name the file with --machine");
}

std::optional<MachineLimits> read_machine_limits(const std::string& path,
                                                 const std::string& backend) {
  const json content = read(path);
  const auto entry = content["backends"].find(backend);
  if (entry == content["backends"].end()) return std::nullopt;
  try {
    MachineLimits limits;
    limits.date = entry->at("date").get<std::string>();
    limits.threads = entry->at("threads").get<int>();
    limits.copy_bytes_per_second = positive(entry->at("copy_bytes_per_second"));
    for (const auto& [name, value] : entry->at("gemm_flops_per_second").items())
      limits.gemm_flops_per_second[name] = positive(value);
    return limits;
  } catch (const json::exception& error) {
    throw no_machine_file(path, fmt::format("backend {}: {}", backend, error.what()));
  }
}

void write_machine_limits(const std::string& path, const std::string& backend,
                          const MachineLimits& limits) {
  json content = read(path);
  content["backends"][backend] = {{"date", limits.date},
                                  {"threads", limits.threads},
                                  {"copy_bytes_per_second", limits.copy_bytes_per_second},
                                  {"gemm_flops_per_second", limits.gemm_flops_per_second}};
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault)
    throw CliError(
        fmt::format("cannot make the folder '{}': {}", folder.string(), fault.message()));
  OutputFile file(path);
  file.write(content.dump(2) + "\n");
  file.publish();
}

}  // namespace cli
}  // namespace postlude
