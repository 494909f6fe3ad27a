#ifndef POSTLUDE_TESTS_SUPPORT_TEST_TENSOR_HPP
#define POSTLUDE_TESTS_SUPPORT_TEST_TENSOR_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <postlude/tensor.hpp>

#include "support/backend.hpp"

namespace postlude {
namespace test {

/// How a test lays a matrix (or, by its inner stride, a vector) out in memory.
enum class Layout {
  row_major,
  column_major,
  padded_rows,     ///< row-major, with a gap after each row
  padded_columns,  ///< column-major, with a gap after each column
  every_second,    ///< row-major, every second element of padded rows: no unit stride
  reversed         ///< as every_second, both dimensions backwards: for inputs
};
std::string name_of(Layout layout);

/// Strides, outermost dimension first.
std::vector<std::int64_t> strides_of(Layout layout, const std::vector<std::int64_t>& extents);

/// A tensor with a copy on the host and one in the backend's memory.
///
/// Both start as poison: every byte, those between and around the elements included, is 0xff, which
/// is NaN in float32 and float64 and -1 in int64. So an element that is read without having been
/// written is NaN, and one that is written beside the tensor is noticed.
class TestTensor {
 public:
  TestTensor(DataType dtype, const std::vector<std::int64_t>& extents,
             const std::vector<std::int64_t>& strides);
  TestTensor(DataType dtype, const std::vector<std::int64_t>& extents,
             Layout layout = Layout::row_major);

  /// Descriptions of the copies in host memory and in the backend's.
  Tensor host() const;
  Tensor device() const;

  std::int64_t extent(int dimension) const { return extents_[static_cast<std::size_t>(dimension)]; }
  DataType dtype() const { return dtype_; }

  /// Elements of the host copy; missing leading indices are 0.
  double get(std::int64_t i, std::int64_t j = 0, std::int64_t k = 0) const;
  void set(double value, std::int64_t i, std::int64_t j = 0, std::int64_t k = 0);
  /// Elements in the order of their indices.
  std::vector<double> elements() const;
  /// One call for each element, in that order.
  void fill(const std::function<double()>& next);
  void fill(const std::vector<double>& values);

  void upload();
  void download();

  /// The host copy is poison outside its elements.
  bool is_poison_around() const;
  /// The host copy is poison everywhere.
  bool is_untouched() const;

  /// Every byte of the host copy, to compare before and after.
  const std::vector<unsigned char>& bytes() const { return host_; }

 private:
  std::int64_t offset(std::int64_t i, std::int64_t j, std::int64_t k) const;
  void for_each_index(
      const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) const;
  Tensor describe(char* bytes, MemorySpace space) const;

  DataType dtype_;
  std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> strides_;
  std::int64_t origin_ = 0;  ///< byte of element (0, 0, 0)
  std::vector<unsigned char> host_;
  DeviceBuffer device_;
};

}  // namespace test
}  // namespace postlude

#endif
