#ifndef POSTLUDE_EVALUATOR_FUNCTION_HPP
#define POSTLUDE_EVALUATOR_FUNCTION_HPP

/// Marks the functions that kernels call. The evaluator includes neither Kokkos nor CUDA headers,
/// so that host tests and plain CUDA kernels can use it too.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define POSTLUDE_FUNCTION __host__ __device__ __forceinline__
#else
#define POSTLUDE_FUNCTION inline
#endif

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define POSTLUDE_ON_DEVICE
#endif

/// Before a loop over the lanes of a vector. On a device the lanes are registers, so the loop must
/// be unrolled for their indices to be constants. On a host it becomes SIMD code, which needs the
/// promise that lanes are independent, since source and destination may be the same array.
#if defined(POSTLUDE_ON_DEVICE)
#define POSTLUDE_UNROLL _Pragma("unroll")
#define POSTLUDE_LANES _Pragma("unroll")
#elif defined(__clang__)
#define POSTLUDE_UNROLL
#define POSTLUDE_LANES _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define POSTLUDE_UNROLL
#define POSTLUDE_LANES _Pragma("GCC ivdep")
#else
#define POSTLUDE_UNROLL
#define POSTLUDE_LANES
#endif

#endif
