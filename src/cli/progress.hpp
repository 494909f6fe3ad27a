#ifndef POSTLUDE_CLI_PROGRESS_HPP
#define POSTLUDE_CLI_PROGRESS_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace postlude {
namespace cli {

/// A line on stderr that names the phase of long work and the seconds since its beginning. Nothing
/// is written unless stderr is a terminal, nor before the work has lasted half a second.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a phase, and the work if this is its first one.
  void phase(const std::string& text);
  /// Ends the work and erases the line, so that results can be printed.
  void done();

 private:
  void tick();
  void erase();

  bool is_terminal_ = false;
  bool is_shown_ = false;
  bool is_closing_ = false;
  std::string text_;
  std::chrono::steady_clock::time_point begin_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread ticker_;
};

}  // namespace cli
}  // namespace postlude

#endif
