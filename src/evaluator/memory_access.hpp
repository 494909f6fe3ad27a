#ifndef POSTLUDE_EVALUATOR_MEMORY_ACCESS_HPP
#define POSTLUDE_EVALUATOR_MEMORY_ACCESS_HPP

#include <cstdint>

#include "evaluator/function.hpp"
#include "evaluator/stage.hpp"

namespace postlude {
namespace detail {

/// Where a sweep stands in the domain of its stage.
struct Position {
  std::int64_t batch;
  std::int64_t outer;
  std::int64_t inner;
};

POSTLUDE_FUNCTION std::int64_t offset_of(const OperandAccess& access, const Position& at) {
  return at.batch * access.stride_batch + at.outer * access.stride_outer +
         at.inner * access.stride_inner;
}

/// `width` elements that one memory instruction moves when they are aligned.
template <class T, int width>
struct alignas(sizeof(T) * width) Packet {
  T lanes[width];
};

template <class T, int width>
POSTLUDE_FUNCTION bool is_packet_aligned(const T* address) {
  return reinterpret_cast<std::uintptr_t>(address) % sizeof(Packet<T, width>) == 0;
}

/// Reads `count` elements of type From from `from`, `stride` apart, into the lanes of `to`.
template <class From, class T, int width>
POSTLUDE_FUNCTION void read_lanes(const From* from, std::int64_t stride, int count, T* to) {
  if (stride == 0) {
    const T value = count > 0 ? static_cast<T>(*from) : T(0);
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane) to[lane] = value;
    return;
  }
#if defined(POSTLUDE_ON_DEVICE)
  if (stride == 1 && count == width && is_packet_aligned<From, width>(from)) {
    const Packet<From, width> packet = *reinterpret_cast<const Packet<From, width>*>(from);
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane) to[lane] = static_cast<T>(packet.lanes[lane]);
    return;
  }
  POSTLUDE_UNROLL
  for (int lane = 0; lane < width; ++lane)
    to[lane] = lane < count ? static_cast<T>(from[lane * stride]) : T(0);
#else
  if (stride == 1) {
    for (int lane = 0; lane < count; ++lane) to[lane] = static_cast<T>(from[lane]);
  } else {
    for (int lane = 0; lane < count; ++lane) to[lane] = static_cast<T>(from[lane * stride]);
  }
#endif
}

/// Writes `count` lanes of `from` to `to`, `stride` apart, each rounded once to type To.
template <class To, class T, int width>
POSTLUDE_FUNCTION void write_lanes(const T* from, std::int64_t stride, int count, To* to) {
#if defined(POSTLUDE_ON_DEVICE)
  if (stride == 1 && count == width && is_packet_aligned<To, width>(to)) {
    Packet<To, width> packet;
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane) packet.lanes[lane] = static_cast<To>(from[lane]);
    *reinterpret_cast<Packet<To, width>*>(to) = packet;
    return;
  }
  POSTLUDE_UNROLL
  for (int lane = 0; lane < width; ++lane)
    if (lane < count) to[lane * stride] = static_cast<To>(from[lane]);
#else
  if (stride == 1) {
    for (int lane = 0; lane < count; ++lane) to[lane] = static_cast<To>(from[lane]);
  } else {
    for (int lane = 0; lane < count; ++lane) to[lane * stride] = static_cast<To>(from[lane]);
  }
#endif
}

/// Reads the lanes at `at` and the next ones along the inner dimension.
template <class T, int width>
POSTLUDE_FUNCTION void load(const OperandAccess& access, const Position& at, int count, T* to) {
  const std::int64_t offset = offset_of(access, at);
  switch (access.dtype) {
    case DataType::float64:
      read_lanes<double, T, width>(static_cast<const double*>(access.data) + offset,
                                   access.stride_inner, count, to);
      break;
    case DataType::float32:
      read_lanes<float, T, width>(static_cast<const float*>(access.data) + offset,
                                  access.stride_inner, count, to);
      break;
    case DataType::int64:
      read_lanes<std::int64_t, T, width>(static_cast<const std::int64_t*>(access.data) + offset,
                                         access.stride_inner, count, to);
      break;
    case DataType::float16:
    case DataType::bfloat16:
      break;  // refused when a plan is made
  }
}

/// Writes the lanes at `at` and the next ones along the inner dimension.
template <class T, int width>
POSTLUDE_FUNCTION void store(const OperandAccess& access, const Position& at, int count,
                             const T* from) {
  const std::int64_t offset = offset_of(access, at);
  switch (access.dtype) {
    case DataType::float64:
      write_lanes<double, T, width>(from, access.stride_inner, count,
                                    static_cast<double*>(access.data) + offset);
      break;
    case DataType::float32:
      write_lanes<float, T, width>(from, access.stride_inner, count,
                                   static_cast<float*>(access.data) + offset);
      break;
    case DataType::int64:
      write_lanes<std::int64_t, T, width>(from, access.stride_inner, count,
                                          static_cast<std::int64_t*>(access.data) + offset);
      break;
    case DataType::float16:
    case DataType::bfloat16:
      break;  // refused when a plan is made
  }
}

}  // namespace detail
}  // namespace postlude

#endif
