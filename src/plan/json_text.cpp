#include "plan/json_text.hpp"

#include <cstdio>

#include "expression/number_text.hpp"

namespace postlude {
namespace detail {

std::string json_string(const std::string& text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
      json += escape;
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string json_number(double number) { return number_text(number, 15); }

std::string json_array(const std::vector<std::string>& elements) {
  std::string json = "[";
  for (std::size_t i = 0; i < elements.size(); ++i) json += (i == 0 ? "" : ", ") + elements[i];
  return json + "]";
}

std::string json_object(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string json = "{";
  for (std::size_t i = 0; i < members.size(); ++i)
    json += (i == 0 ? "" : ", ") + json_string(members[i].first) + ": " + members[i].second;
  return json + "}";
}

}  // namespace detail
}  // namespace postlude
