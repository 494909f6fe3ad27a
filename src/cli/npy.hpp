#ifndef POSTLUDE_CLI_NPY_HPP
#define POSTLUDE_CLI_NPY_HPP

// NumPy's .npy files, format 1.0 to 3.0, for float16, float32, float64 and int64 arrays of this
// machine's byte order. The format has no bfloat16.
//
// Why not a library: the one that Debian carries is xtensor (xtensor/xnpy.hpp, 0.24). Its loader
// believes the header: it allocates what the header claims before looking at the file, lets the
// number of elements wrap around, does not notice that the file ends early (the rest of the array
// is whatever the memory held), and misreads headers of 128 bytes or more, because it combines
// signed chars. The checks belong between the header and the allocation, where its interface has
// no seam, so that a wrapper would need a header parser of its own, which is all there is here.

#include <postlude.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace postlude {
namespace cli {

/// Closes a file descriptor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor();
  int number() const { return number_; }
  /// Closes now; false when the system reports that data were lost.
  bool close();

 private:
  int number_;
};

/// A .npy file whose header has been read and agrees with the size of the file. Elements are read
/// by read().
class NpyFile {
 public:
  /// Opens and validates. Throws CliError naming the file, what was found and what was expected.
  explicit NpyFile(const std::string& path);

  const std::string& path() const { return path_; }
  postlude_dtype dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  /// True when the first index runs fastest.
  bool is_fortran_order() const { return is_fortran_order_; }
  std::size_t data_bytes() const { return data_bytes_; }
  /// The shape as NumPy prints it, "(3, 4)".
  std::string shape_text() const;

  /// Reads all elements, in the order of the file, into data_bytes() bytes of memory.
  void read(void* destination) const;

 private:
  std::string path_;
  FileDescriptor file_;
  postlude_dtype dtype_ = POSTLUDE_FLOAT32;
  std::vector<std::int64_t> shape_;
  bool is_fortran_order_ = false;
  std::size_t data_offset_ = 0;
  std::size_t data_bytes_ = 0;
};

/// "(3, 4)", "(3,)", "()".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// The header of a format 1.0 file, magic string included: 64-byte aligned, as NumPy writes it.
/// Throws CliError for a dtype that the format lacks.
std::string npy_header(postlude_dtype dtype, bool is_fortran_order,
                       const std::vector<std::int64_t>& shape);

}  // namespace cli
}  // namespace postlude

#endif
