#ifndef POSTLUDE_DATA_TYPE_HPP
#define POSTLUDE_DATA_TYPE_HPP

#include <cstddef>
#include <cstdint>

namespace postlude {

/// Element types of tensors in memory. The values equal those of `postlude_dtype` in C.
///
/// Arithmetic inside an epilogue is float32 for float32, float16 and bfloat16 problems and float64
/// for float64 problems; results are rounded once, when they are stored.
///
/// Since: 0.1.
enum class DataType : std::int32_t {
  float64 = 1,
  float32 = 2,
  float16 = 3,   ///< IEEE 754 binary16
  bfloat16 = 4,  ///< upper half of a binary32
  int64 = 5      ///< results of index reductions only
};

/// Size of one element in bytes; 0 for a value that is not a DataType. Since: 0.1.
constexpr std::size_t size_of(DataType type) noexcept {
  switch (type) {
    case DataType::float64:
    case DataType::int64:
      return 8;
    case DataType::float32:
      return 4;
    case DataType::float16:
    case DataType::bfloat16:
      return 2;
  }
  return 0;
}

/// The name used in messages and by `explain`: "f64", "f32", "f16", "bf16" or "i64". Since: 0.1.
constexpr const char* name_of(DataType type) noexcept {
  switch (type) {
    case DataType::float64:
      return "f64";
    case DataType::float32:
      return "f32";
    case DataType::float16:
      return "f16";
    case DataType::bfloat16:
      return "bf16";
    case DataType::int64:
      return "i64";
  }
  return "?";
}

/// The DataType of a C++ element type, by specialisation. Since: 0.1.
template <class T>
struct DataTypeOf;
/// The DataType of double. Since: 0.1.
template <>
struct DataTypeOf<double> {
  static constexpr DataType value = DataType::float64;  ///< float64
};
/// The DataType of float. Since: 0.1.
template <>
struct DataTypeOf<float> {
  static constexpr DataType value = DataType::float32;  ///< float32
};
/// The DataType of std::int64_t. Since: 0.1.
template <>
struct DataTypeOf<std::int64_t> {
  static constexpr DataType value = DataType::int64;  ///< int64
};

}  // namespace postlude

#endif
