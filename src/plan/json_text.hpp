#ifndef POSTLUDE_PLAN_JSON_TEXT_HPP
#define POSTLUDE_PLAN_JSON_TEXT_HPP

#include <string>
#include <utility>
#include <vector>

namespace postlude {
namespace detail {

/// A string in JSON, with quotes and whatever must be escaped escaped.
std::string json_string(const std::string& text);
/// A finite number in JSON.
std::string json_number(double number);
/// `[a, b]` of texts in JSON.
std::string json_array(const std::vector<std::string>& elements);
/// `{"name": value}` of names and of texts in JSON.
std::string json_object(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace detail
}  // namespace postlude

#endif
