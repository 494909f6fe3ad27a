#ifdef _OPENMP
#include <omp.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/backend.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/workload.hpp"

using namespace postlude;
using namespace postlude::test;

namespace {

/// What a thread can set, put back at the end.
class OpenMpSettings {
 public:
  ~OpenMpSettings() {
    omp_set_num_threads(threads_);
    omp_set_dynamic(is_dynamic_);
    omp_set_max_active_levels(levels_);
  }

 private:
  int threads_ = omp_get_max_threads();
  int is_dynamic_ = omp_get_dynamic();
  int levels_ = omp_get_max_active_levels();
};

}  // namespace

TEST_CASE("executions on OpenMP have their threads whatever the calling thread has set",
          "[conformance]") {
  if (backend() != Backend::openmp) return;
  const std::vector<std::pair<std::string, std::function<void()>>> changes = {
      {"one thread", [] { omp_set_num_threads(1); }},
      {"as many as there are to be had", [] { omp_set_dynamic(1); }},
      {"one, or fewer",
       [] {
         omp_set_num_threads(1);
         omp_set_dynamic(1);
       }},
      {"no parallel regions", [] { omp_set_max_active_levels(0); }}};
  Random random;
  INFO(random.hint());
  for (const std::string engine : {"kokkos_kernels", ""})
    for (const std::string text :
         {"min(y + bias, c) - c", "m = max(y + bias, dim=0); gelu(m - mean(m, dim=1))",
          "softmax(y + bias, dim=1)", "sum(y + bias, dim=1)"}) {
      Settings settings;
      settings.m = 64;
      settings.n = 256;
      settings.k = 32;
      settings.engine = engine;
      Workload workload(settings, Epilogue(text),
                        {{"bias", OperandKind::row}, {"c", OperandKind::scalar}});
      workload.fill_exact(random);
      workload.execute();
      const std::vector<double> expected = workload.output().elements();
      for (const auto& [name, change] : changes) {
        INFO(text << ", engine " << engine << ", " << name);
        const OpenMpSettings restored;
        change();
        const int threads = omp_get_max_threads();
        const int is_dynamic = omp_get_dynamic();
        const int levels = omp_get_max_active_levels();
        workload.execute();
        CHECK(workload.output().elements() == expected);
        CHECK(omp_get_max_threads() == threads);
        CHECK(omp_get_dynamic() == is_dynamic);
        CHECK(omp_get_max_active_levels() == levels);
      }
    }
}
#endif
