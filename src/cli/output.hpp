#ifndef POSTLUDE_CLI_OUTPUT_HPP
#define POSTLUDE_CLI_OUTPUT_HPP

#include <postlude.h>

#include <cstddef>
#include <initializer_list>
#include <string>

namespace postlude {
namespace cli {

/// A file that comes into being whole or not at all: it is written beside its place under a
/// temporary name, and renamed when it is complete.
class OutputFile {
 public:
  /// Finds out whether the file can be written, before the work for it is done. Throws CliError.
  explicit OutputFile(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// The absolute path of the file, symbolic links followed.
  const std::string& target() const { return target_; }

  /// Writes a dense host tensor of rank 2 as .npy under the temporary name: in C order, or in
  /// Fortran order when the tensor is column-major and that makes a difference.
  void write(const postlude_tensor& tensor, bool is_fortran_order);
  /// Writes a text under the temporary name.
  void write(const std::string& text);
  /// Gives the file its name.
  void publish();

 private:
  struct Bytes {
    const void* data;
    std::size_t count;
  };
  void write(std::initializer_list<Bytes> parts);

  std::string path_;
  std::string target_;
  std::string temporary_;
};

}  // namespace cli
}  // namespace postlude

#endif
