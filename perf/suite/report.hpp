#ifndef POSTLUDE_PERF_REPORT_HPP
#define POSTLUDE_PERF_REPORT_HPP

#include <nlohmann/json.hpp>
#include <string>

#include "case.hpp"
#include "check.hpp"
#include "sampler.hpp"

namespace postlude {
namespace perf {

/// The results of a run in the schema of perf/README.md. The file is written anew after every
/// entry, so that a run that is cut short leaves what it had.
class Report {
 public:
  /// `head` has the entries beside measurements and missing. No file when `path` is empty.
  Report(std::string path, nlohmann::json head);

  void measured(const Case& what, const std::string& peer, const Samples& samples, int copies,
                const Check& check, double flops, double bytes);
  /// `name` is that of a case, or "*" for all.
  void missing(const std::string& peer, const std::string& name, const std::string& reason);

 private:
  void write() const;

  std::string path_;
  nlohmann::json json_;
};

}  // namespace perf
}  // namespace postlude

#endif
