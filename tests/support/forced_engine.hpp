#ifndef POSTLUDE_TESTS_SUPPORT_FORCED_ENGINE_HPP
#define POSTLUDE_TESTS_SUPPORT_FORCED_ENGINE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <postlude/plan.hpp>
#include <postlude/prepared_weights.hpp>

#include "support/workload.hpp"

namespace postlude {
namespace test {

// What tests of one engine, forced by name, have in common.

/// A plan of "y" on the engine; "" for none in particular.
Plan plan_on(const std::string& engine, const TestTensor& x, const TestTensor& w);

/// Why the engine refuses an ordinary float32 problem here, "" when it does not.
std::string refusal_of(const std::string& engine);

/// Whether it does; says so then.
bool is_left_out(const std::string& engine);

Settings settings_on(const std::string& engine, std::int64_t m, std::int64_t n, std::int64_t k);

/// These settings with every kind of result.
std::vector<Settings> results_of(const Settings& settings);

/// Executes "y" with weights, on data whose products are exact, and compares.
void check_prepared(Workload& workload, const PreparedWeights& weights, bool has_w);

}  // namespace test
}  // namespace postlude

#endif
