#include "program/value_table.hpp"

#include <cstring>
#include <utility>

namespace postlude {
namespace detail {
namespace {

/// Bits, so that 0 and -0 are two constants and a NaN equals itself.
std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

ValueTable::Key ValueTable::key_of(const Value& value) {
  return Key(static_cast<int>(value.kind), static_cast<int>(value.operation),
             static_cast<int>(value.reduction), value.dim, bits_of(value.parameter),
             bits_of(value.constant), value.window_size, value.window_step, value.factor,
             value.operand, value.shape.batch, value.shape.rows, value.shape.columns, value.inputs);
}

int ValueTable::share(Program& program, Value value) {
  const auto [entry, is_new] =
      indices_.emplace(key_of(value), static_cast<int>(program.values.size()));
  if (is_new) program.values.push_back(std::move(value));
  return entry->second;
}

std::optional<int> ValueTable::find(const Value& value) const {
  const auto entry = indices_.find(key_of(value));
  if (entry == indices_.end()) return std::nullopt;
  return entry->second;
}

}  // namespace detail
}  // namespace postlude
