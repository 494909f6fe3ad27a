#ifndef POSTLUDE_PERF_ROOFS_HPP
#define POSTLUDE_PERF_ROOFS_HPP

#include <postlude/execution_space.hpp>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace postlude {
namespace perf {

/// What the machine gives at most, measured: bytes a second of a copy, bytes read and written
/// together, and floating-point operations a second of a square GEMM in float32 and float64.
nlohmann::json measure_roofs(const ExecutionSpace& space, const std::string& size_class,
                             std::uint64_t seed);

}  // namespace perf
}  // namespace postlude

#endif
