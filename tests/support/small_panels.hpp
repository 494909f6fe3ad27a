#ifndef POSTLUDE_TESTS_SUPPORT_SMALL_PANELS_HPP
#define POSTLUDE_TESTS_SUPPORT_SMALL_PANELS_HPP

#include <cstddef>

#include "plan/panels.hpp"

namespace postlude {
namespace test {

/// While it lives, plans for hosts cut y into panels of about so many bytes, or, by threads, of 16
/// rows or columns.
class SmallPanels {
 public:
  explicit SmallPanels(std::size_t bytes, bool is_by_threads = false)
      : before_(detail::panel_limits()) {
    detail::panel_limits().most_lines_by_threads = is_by_threads ? 256 : 0;
    detail::panel_limits().lines_of_thread = 16;
    detail::panel_limits().cached_bytes = bytes;
    detail::panel_limits().most_bytes = bytes;
    detail::panel_limits().workspace_bytes = std::size_t(1) << 40;
  }
  SmallPanels(const SmallPanels&) = delete;
  SmallPanels& operator=(const SmallPanels&) = delete;
  ~SmallPanels() { detail::panel_limits() = before_; }

 private:
  detail::PanelLimits before_;
};

}  // namespace test
}  // namespace postlude

#endif
