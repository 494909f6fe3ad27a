#include "npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "cli_error.hpp"
#include "element_type.hpp"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "npy.cpp reads and writes little-endian files without swapping bytes"
#endif

namespace postlude {
namespace cli {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
// NumPy refuses longer headers too; those of plain arrays have 118 bytes.
constexpr std::size_t longest_header = 10000;

constexpr std::array<postlude_dtype, 3> readable_types{POSTLUDE_FLOAT16, POSTLUDE_FLOAT32,
                                                       POSTLUDE_FLOAT64};
constexpr const char* expected_types = "float16 ('<f2'), float32 ('<f4') or float64 ('<f8')";

const char* descr_of(postlude_dtype dtype) {
  switch (dtype) {
    case POSTLUDE_FLOAT16:
      return "<f2";
    case POSTLUDE_FLOAT32:
      return "<f4";
    case POSTLUDE_FLOAT64:
      return "<f8";
    case POSTLUDE_INT64:
      return "<i8";
    default:
      throw CliError(fmt::format(".npy files cannot hold {}", element_name(dtype)));
  }
}

int open_to_read(const std::string& path) {
  // Not blocking, so that a named pipe is refused instead of waited for.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) throw CliError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  return file;
}

// Reads exactly `bytes` at `offset`; false when the file ends before.
bool read_at(int file, const std::string& path, void* destination, std::size_t bytes,
             std::size_t offset) {
  auto* out = static_cast<char*>(destination);
  while (bytes > 0) {
    // One call transfers at most 2^31 - 4096 bytes on Linux.
    const ssize_t count = ::pread(file, out, std::min<std::size_t>(bytes, std::size_t{1} << 30),
                                  static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw CliError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    if (count == 0) return false;
    out += count;
    offset += static_cast<std::size_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

// The Python dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// with its keys in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::string descr;
  bool is_fortran_order = false;
  std::vector<std::int64_t> shape;

  void parse() {
    expect('{');
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    while (peek() != '}') {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        if (peek() == '[')
          throw CliError(
              fmt::format("'{}' holds a structured array; expected {}", path_, expected_types));
        descr = string();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        is_fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        shape = tuple();
        has_shape = true;
      } else {
        fail();
      }
      if (peek() != '}') expect(',');
    }
    expect('}');
    if (peek() != '\0' || !has_descr || !has_order || !has_shape) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw CliError(
        fmt::format("'{}' has a damaged .npy header (at byte {} of its text)", path_, position_));
  }

  // The next character that is not white space, '\0' at the end.
  char peek() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n'))
      ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  void expect(char c) {
    if (peek() != c) fail();
    ++position_;
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail();
    const std::size_t begin = position_ + 1;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail();
    position_ = end + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return value;
      }
    }
    fail();
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (peek() != ')') {
      std::int64_t extent = 0;
      const char* const begin = text_.data() + position_;
      const auto [next, fault] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (fault != std::errc() || extent < 0) fail();
      position_ += static_cast<std::size_t>(next - begin);
      if (peek() == 'L') ++position_;  // written by Python 2
      extents.push_back(extent);
      if (peek() != ')') expect(',');
    }
    expect(')');
    return extents;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t position_ = 0;
};

postlude_dtype dtype_of_descr(const std::string& descr, const std::string& path) {
  for (const postlude_dtype dtype : readable_types)
    if (descr == descr_of(dtype)) return dtype;
  if (descr == ">f2" || descr == ">f4" || descr == ">f8")
    throw CliError(
        fmt::format("'{0}' is big-endian ('{1}'); expected little-endian {3}: convert it with "
                    ".astype('<{2}')",
                    path, descr, descr.substr(1), expected_types));
  std::string name;
  // Types that NumPy does not know are saved as so many bytes without a meaning.
  if (descr == "|V2" || descr == "<V2") name = "bfloat16 perhaps, which .npy files cannot hold, ";
  if (descr == "<i4") name = "int32, ";
  if (descr == "<i8") name = "int64, ";
  if (descr == "|b1") name = "bool, ";
  if (descr == "|O") name = "Python objects, ";
  throw CliError(
      fmt::format("'{}' has elements of dtype {}'{}'; expected {}: convert it with "
                  ".astype(numpy.float32)",
                  path, name, descr, expected_types));
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

bool FileDescriptor::close() {
  const int number = number_;
  number_ = -1;
  return ::close(number) == 0;
}

NpyFile::NpyFile(const std::string& path) : path_(path), file_(open_to_read(path)) {
  struct stat status {};
  if (::fstat(file_.number(), &status) != 0)
    throw CliError(fmt::format("cannot examine '{}': {}", path, std::strerror(errno)));
  if (!S_ISREG(status.st_mode))
    throw CliError(fmt::format("'{}' is not a regular file; expected a .npy file", path));
  const auto file_bytes = static_cast<std::size_t>(status.st_size);

  unsigned char start[12] = {};
  const std::size_t start_bytes = std::min(file_bytes, sizeof start);
  const bool is_whole = read_at(file_.number(), path, start, start_bytes, 0);
  if (!is_whole || start_bytes < magic.size() ||
      std::memcmp(start, magic.data(), magic.size()) != 0)
    throw CliError(fmt::format("'{}' is not a .npy file: it does not begin with \\x93NUMPY", path));
  const auto truncated_header = [&] {
    return CliError(fmt::format("'{}' is truncated: its {} bytes end within the .npy header", path,
                                file_bytes));
  };
  if (start_bytes < sizeof start) throw truncated_header();
  const unsigned major = start[6];
  if (major < 1 || major > 3)
    throw CliError(fmt::format("'{}' is a .npy file of format {}.{}; expected format 1.0 to 3.0",
                               path, major, unsigned{start[7]}));
  const std::size_t prefix = major == 1 ? 10 : 12;
  std::size_t header_bytes = std::size_t{start[8]} | std::size_t{start[9]} << 8;
  if (major > 1) header_bytes |= std::size_t{start[10]} << 16 | std::size_t{start[11]} << 24;
  if (header_bytes > longest_header)
    throw CliError(
        fmt::format("'{}' has a damaged .npy header: it claims {} bytes of text, "
                    "expected at most {}",
                    path, header_bytes, longest_header));
  if (file_bytes < prefix + header_bytes) throw truncated_header();
  std::string header(header_bytes, '\0');
  if (!read_at(file_.number(), path, header.data(), header_bytes, prefix)) throw truncated_header();

  HeaderParser parser(header, path_);
  parser.parse();
  dtype_ = dtype_of_descr(parser.descr, path_);
  shape_ = std::move(parser.shape);
  is_fortran_order_ = parser.is_fortran_order;
  data_offset_ = prefix + header_bytes;

  // A zero anywhere makes the array empty, whatever the other extents.
  std::size_t bytes = element_bytes(dtype_);
  const bool is_empty = std::find(shape_.begin(), shape_.end(), 0) != shape_.end();
  for (const std::int64_t extent : shape_) {
    if (is_empty) bytes = 0;
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes))
      throw CliError(fmt::format("'{}' claims the shape {}, larger than memory can address", path,
                                 shape_text()));
  }
  data_bytes_ = bytes;
  const std::size_t available = file_bytes - data_offset_;
  if (available < data_bytes_)
    throw CliError(
        fmt::format("'{}' is truncated: shape {} of {} needs {} bytes after the header, "
                    "the file has {}",
                    path, shape_text(), element_name(dtype_), data_bytes_, available));
  if (available > data_bytes_)
    throw CliError(
        fmt::format("'{}' is damaged or holds several arrays: shape {} of {} needs {} "
                    "bytes after the header, the file has {}",
                    path, shape_text(), element_name(dtype_), data_bytes_, available));
}

std::string NpyFile::shape_text() const { return cli::shape_text(shape_); }

void NpyFile::read(void* destination) const {
  if (!read_at(file_.number(), path_, destination, data_bytes_, data_offset_))
    throw CliError(fmt::format("'{}' became shorter while it was read", path_));
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

std::string npy_header(postlude_dtype dtype, bool is_fortran_order,
                       const std::vector<std::int64_t>& shape) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr_of(dtype),
                  is_fortran_order ? "True" : "False", shape_text(shape));
  constexpr std::size_t prefix = 10;
  constexpr std::size_t alignment = 64;
  const std::size_t used = prefix + text.size() + 1;
  text.append((alignment - used % alignment) % alignment, ' ');
  text += '\n';
  std::string header(magic);
  header += '\1';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace cli
}  // namespace postlude
