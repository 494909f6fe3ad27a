/* Tensors from DLPack, with DLPack's own header. */

#include <dlpack/dlpack.h>

#include "support.h"

static DLTensor dl_tensor(void* data, int32_t dimensions, int64_t* shape, int64_t* strides) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = dimensions;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  tensor.strides = strides;
  return tensor;
}

static void test_shapes(void) {
  float data[64];
  int64_t shape[] = {2, 3, 5};
  int64_t strides[] = {1, -7, 20};
  postlude_tensor found;
  memset(&found, 0xff, sizeof found);

  DLTensor source = dl_tensor(data, 3, shape, strides);
  source.byte_offset = 8 * sizeof(float);
  EXPECT_SUCCESS(postlude_tensor_from_dlpack(&found, &source));
  EXPECT(found.size == sizeof found && found.data == data + 8);
  EXPECT(found.dtype == POSTLUDE_FLOAT32 && found.rank == 3 && found.reserved == 0);
  EXPECT(found.memory_space == POSTLUDE_HOST);
  for (int i = 0; i < 3; ++i) EXPECT(found.extent[i] == shape[i] && found.stride[i] == strides[i]);

  /* Without strides: row-major. */
  source = dl_tensor(data, 3, shape, NULL);
  EXPECT_SUCCESS(postlude_tensor_from_dlpack(&found, &source));
  EXPECT(found.stride[0] == 15 && found.stride[1] == 5 && found.stride[2] == 1);
  source = dl_tensor(NULL, 1, shape, NULL);
  EXPECT_SUCCESS(postlude_tensor_from_dlpack(&found, &source));
  EXPECT(found.data == NULL && found.rank == 1 && found.extent[0] == 2 && found.stride[0] == 1);
}

static void test_types_and_devices(void) {
  static const struct {
    int code;
    int bits;
    postlude_dtype dtype;
  } types[] = {{kDLFloat, 64, POSTLUDE_FLOAT64},
               {kDLFloat, 32, POSTLUDE_FLOAT32},
               {kDLFloat, 16, POSTLUDE_FLOAT16},
               {kDLBfloat, 16, POSTLUDE_BFLOAT16},
               {kDLInt, 64, POSTLUDE_INT64}};
  static const struct {
    DLDeviceType device;
    postlude_memory_space space;
  } devices[] = {{kDLCPU, POSTLUDE_HOST},
                 {kDLCUDAHost, POSTLUDE_HOST},
                 {kDLCUDA, POSTLUDE_DEVICE},
                 {kDLROCM, POSTLUDE_DEVICE},
                 {kDLCUDAManaged, POSTLUDE_SHARED}};
  float data[4];
  int64_t shape[] = {4};
  postlude_tensor found;
  for (int i = 0; i < 5; ++i) {
    DLTensor source = dl_tensor(data, 1, shape, NULL);
    source.dtype.code = (uint8_t)types[i].code;
    source.dtype.bits = (uint8_t)types[i].bits;
    EXPECT_SUCCESS(postlude_tensor_from_dlpack(&found, &source));
    EXPECT(found.dtype == types[i].dtype);
    source = dl_tensor(data, 1, shape, NULL);
    source.device.device_type = devices[i].device;
    EXPECT_SUCCESS(postlude_tensor_from_dlpack(&found, &source));
    EXPECT(found.memory_space == devices[i].space);
  }
}

static void expect_refusal(const DLTensor* source, postlude_status status, const char* mention) {
  postlude_tensor tensor;
  postlude_tensor before;
  memset(&tensor, 0x5a, sizeof tensor);
  before = tensor;
  EXPECT_STATUS(postlude_tensor_from_dlpack(&tensor, source), status);
  EXPECT(strstr(postlude_last_error_message(), mention) != NULL);
  EXPECT(memcmp(&tensor, &before, sizeof tensor) == 0);
}

static void test_invalid_input(void) {
  float data[4];
  int64_t shape[] = {2, 2, 1, 1};
  DLTensor good = dl_tensor(data, 2, shape, NULL);
  postlude_tensor tensor;
  EXPECT_STATUS(postlude_tensor_from_dlpack(NULL, &good), POSTLUDE_INVALID_ARGUMENT);
  EXPECT_STATUS(postlude_tensor_from_dlpack(&tensor, NULL), POSTLUDE_INVALID_ARGUMENT);
  DLTensor source = good;
  source.ndim = 0;
  expect_refusal(&source, POSTLUDE_INVALID_ARGUMENT, "ndim is 0");
  source.ndim = 4;
  expect_refusal(&source, POSTLUDE_INVALID_ARGUMENT, "ndim is 4");
  source = good;
  source.shape = NULL;
  expect_refusal(&source, POSTLUDE_INVALID_ARGUMENT, "shape is null");
  source = good;
  source.dtype.code = kDLComplex;
  expect_refusal(&source, POSTLUDE_UNSUPPORTED, "dtype");
  source = good;
  source.dtype.bits = 8;
  expect_refusal(&source, POSTLUDE_UNSUPPORTED, "8 bits");
  source = good;
  source.dtype.lanes = 4;
  expect_refusal(&source, POSTLUDE_UNSUPPORTED, "4 lanes");
  source = good;
  source.device.device_type = kDLVulkan;
  expect_refusal(&source, POSTLUDE_UNSUPPORTED, "device");
  int64_t negative[] = {2, -1};
  source = dl_tensor(data, 2, negative, NULL);
  expect_refusal(&source, POSTLUDE_INVALID_ARGUMENT, "shape[1] is -1");
  int64_t huge[] = {INT64_MAX, 4};
  source = dl_tensor(data, 2, huge, NULL);
  expect_refusal(&source, POSTLUDE_INVALID_ARGUMENT, "shape");
}

int main(void) {
  test_shapes();
  test_types_and_devices();
  test_invalid_input();
  return finish("c_dlpack");
}
