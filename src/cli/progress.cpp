#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace postlude {
namespace cli {

Progress::Progress() : is_terminal_(::isatty(STDERR_FILENO) == 1) {
  if (is_terminal_) ticker_ = std::thread([this] { tick(); });
}

Progress::~Progress() {
  if (!is_terminal_) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_closing_ = true;
    erase();
  }
  wake_.notify_one();
  ticker_.join();
}

void Progress::phase(const std::string& text) {
  if (!is_terminal_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (text_.empty()) begin_ = std::chrono::steady_clock::now();
  text_ = text;
}

void Progress::done() {
  if (!is_terminal_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  erase();
  text_.clear();
}

void Progress::tick() {
  using namespace std::chrono_literals;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!is_closing_) {
    wake_.wait_for(lock, 250ms);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
    if (is_closing_ || text_.empty() || seconds < 500ms) continue;
    const std::string line = fmt::format("\r\033[K{} ... {:.0f} s", text_, seconds.count());
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
    is_shown_ = true;
  }
}

void Progress::erase() {
  if (!is_shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  is_shown_ = false;
}

}  // namespace cli
}  // namespace postlude
