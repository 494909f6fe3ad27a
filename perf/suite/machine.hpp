#ifndef POSTLUDE_PERF_MACHINE_HPP
#define POSTLUDE_PERF_MACHINE_HPP

#include <postlude/backend.hpp>

#include <cstddef>
#include <nlohmann/json.hpp>

namespace postlude {
namespace perf {

/// The processor or GPU that a backend runs on, its driver, cores and memory.
nlohmann::json machine_of(Backend backend);
/// Versions of what the suite was built from.
nlohmann::json software();
/// Time of day in UTC, as ISO 8601 has it.
std::string date();

/// Bytes of the largest cache in front of the backend's memory.
std::size_t cache_bytes(Backend backend);
/// Bytes of the backend's memory that the suite may take: half of what is free.
std::size_t usable_bytes(Backend backend);

}  // namespace perf
}  // namespace postlude

#endif
