#include <postlude.h>

#include <postlude/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#include "convert.hpp"
#include "guard.hpp"
#include "structs.hpp"

namespace postlude {
namespace detail {
namespace capi {
namespace {

// DLTensor as DLPack's ABI lays it out (dlpack.h, unchanged from 0.2 on), so that neither our
// header nor the library needs DLPack's. A test compiles against the real one.

struct DlDevice {
  std::int32_t type;
  std::int32_t number;
};

struct DlDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t dimensions;
  DlDataType dtype;
  const std::int64_t* shape;
  const std::int64_t* strides;  ///< in elements; null for row-major order
  std::uint64_t byte_offset;
};

postlude_dtype dtype_of(const DlDataType& dtype) {
  struct Known {
    std::uint8_t code;
    std::uint8_t bits;
    postlude_dtype dtype;
  };
  constexpr std::uint8_t integer = 0;
  constexpr std::uint8_t floating = 2;
  constexpr std::uint8_t brain_floating = 4;
  static constexpr Known known[] = {{floating, 64, POSTLUDE_FLOAT64},
                                    {floating, 32, POSTLUDE_FLOAT32},
                                    {floating, 16, POSTLUDE_FLOAT16},
                                    {brain_floating, 16, POSTLUDE_BFLOAT16},
                                    {integer, 64, POSTLUDE_INT64}};
  for (const Known& each : known)
    if (each.code == dtype.code && each.bits == dtype.bits && dtype.lanes == 1) return each.dtype;
  throw Error(Status::unsupported, "dlpack.dtype has code " + std::to_string(dtype.code) + ", " +
                                       std::to_string(dtype.bits) + " bits and " +
                                       std::to_string(dtype.lanes) +
                                       " lanes: expected float64, float32, float16, bfloat16 or "
                                       "int64 with one lane");
}

postlude_memory_space space_of(std::int32_t device_type) {
  switch (device_type) {
    case 1:   // kDLCPU
    case 3:   // kDLCUDAHost
    case 11:  // kDLROCMHost
      return POSTLUDE_HOST;
    case 2:   // kDLCUDA
    case 10:  // kDLROCM
    case 14:  // kDLOneAPI
      return POSTLUDE_DEVICE;
    case 13:  // kDLCUDAManaged
      return POSTLUDE_SHARED;
  }
  throw Error(Status::unsupported, "dlpack.device has type " + std::to_string(device_type) +
                                       ": expected the memory of a CPU, CUDA, ROCm or oneAPI");
}

postlude_tensor converted(const DlTensor& source) {
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
  if (source.dimensions < 1 || source.dimensions > 3)
    throw Error(Status::invalid_argument,
                "dlpack.ndim is " + std::to_string(source.dimensions) + ": expected 1, 2 or 3");
  require_pointer(source.shape, "dlpack.shape", "the extents");
  tensor.rank = source.dimensions;
  tensor.dtype = dtype_of(source.dtype);
  tensor.memory_space = space_of(source.device.type);
  if (source.data != nullptr) tensor.data = static_cast<char*>(source.data) + source.byte_offset;
  std::int64_t next_stride = 1;
  for (int dimension = source.dimensions - 1; dimension >= 0; --dimension) {
    const std::int64_t extent = source.shape[dimension];
    require_extent(extent, ArgumentName("dlpack").member("shape", dimension));
    tensor.extent[dimension] = extent;
    tensor.stride[dimension] = source.strides == nullptr ? next_stride : source.strides[dimension];
    if (source.strides == nullptr &&
        __builtin_mul_overflow(next_stride, std::max<std::int64_t>(extent, 1), &next_stride))
      throw Error(Status::invalid_argument,
                  "dlpack.shape has more than 2^63 elements: expected an addressable tensor");
  }
  return tensor;
}

}  // namespace
}  // namespace capi
}  // namespace detail
}  // namespace postlude

postlude_status postlude_tensor_from_dlpack(postlude_tensor* tensor, const void* dlpack) {
  using namespace postlude::detail::capi;
  return guard([&] {
    require_pointer(tensor, "tensor", "the tensor to fill");
    require_pointer(dlpack, "dlpack", "a DLTensor");
    *tensor = converted(*static_cast<const DlTensor*>(dlpack));
  });
}
