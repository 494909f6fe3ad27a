#include "output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli_error.hpp"
#include "element_type.hpp"
#include "npy.hpp"

namespace postlude {
namespace cli {
namespace {

CliError cannot_write(const std::string& path, const std::string& reason) {
  return CliError(fmt::format("cannot write '{}': {}", path, reason));
}

// The permissions that a file created by open() would get.
mode_t ordinary_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

bool write_all(int file, const void* data, std::size_t bytes) {
  const auto* in = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::write(file, in, std::min<std::size_t>(bytes, std::size_t{1} << 30));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    in += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  if (path.empty()) throw cannot_write(path, "the name is empty");
  if (path.back() == '/') throw cannot_write(path, "it names a directory");
  std::error_code fault;
  target_ = std::filesystem::weakly_canonical(std::filesystem::absolute(path), fault).string();
  if (fault) throw cannot_write(path, fault.message());

  struct stat status {};
  if (::stat(target_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw cannot_write(path, "it is a directory");
    if (!S_ISREG(status.st_mode)) throw cannot_write(path, "it is not a regular file");
    if (::access(target_.c_str(), W_OK) != 0) throw cannot_write(path, std::strerror(errno));
  }
  const std::string directory = std::filesystem::path(target_).parent_path().string();
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    throw cannot_write(path, fmt::format("directory '{}': {}", directory, std::strerror(errno)));
  if (!std::filesystem::is_directory(directory, fault))
    throw cannot_write(path, fmt::format("'{}' is not a directory", directory));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)) {
  other.temporary_.clear();
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(const postlude_tensor& tensor, bool is_fortran_order) {
  const std::string header =
      npy_header(tensor.dtype, is_fortran_order, {tensor.extent[0], tensor.extent[1]});
  write({{header.data(), header.size()},
         {tensor.data, static_cast<std::size_t>(tensor.extent[0]) *
                           static_cast<std::size_t>(tensor.extent[1]) *
                           element_bytes(tensor.dtype)}});
}

void OutputFile::write(const std::string& text) { write({{text.data(), text.size()}}); }

void OutputFile::write(std::initializer_list<Bytes> parts) {
  struct stat status {};
  const mode_t mode =
      ::stat(target_.c_str(), &status) == 0 ? (status.st_mode & 07777) : ordinary_mode();

  // A short name of its own, since the target's may already be as long as the system allows.
  std::string name = (std::filesystem::path(target_).parent_path() / ".postlude-XXXXXX").string();
  FileDescriptor file(::mkstemp(name.data()));
  if (file.number() < 0) throw cannot_write(path_, std::strerror(errno));
  temporary_ = name;

  for (const Bytes& part : parts)
    if (!write_all(file.number(), part.data, part.count))
      throw cannot_write(path_, std::strerror(errno));
  if (::fchmod(file.number(), mode) != 0 || !file.close())
    throw cannot_write(path_, std::strerror(errno));
}

void OutputFile::publish() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    throw cannot_write(path_, std::strerror(errno));
  temporary_.clear();
}

}  // namespace cli
}  // namespace postlude
