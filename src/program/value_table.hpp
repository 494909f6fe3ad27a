#ifndef POSTLUDE_PROGRAM_VALUE_TABLE_HPP
#define POSTLUDE_PROGRAM_VALUE_TABLE_HPP

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "program/program.hpp"

namespace postlude {
namespace detail {

/// Finds equal values of a program: those that compute the same from the same inputs.
class ValueTable {
 public:
  /// The index of a value of `program` that equals `value`; of `value` itself, appended, when there
  /// is none.
  int share(Program& program, Value value);
  /// The index of an equal value, where there is one.
  std::optional<int> find(const Value& value) const;

 private:
  /// Everything that makes two values equal.
  using Key =
      std::tuple<int, int, int, int, std::uint64_t, std::uint64_t, std::int64_t, std::int64_t,
                 std::int64_t, int, std::int64_t, std::int64_t, std::int64_t, std::vector<int>>;

  static Key key_of(const Value& value);

  std::map<Key, int> indices_;
};

}  // namespace detail
}  // namespace postlude

#endif
