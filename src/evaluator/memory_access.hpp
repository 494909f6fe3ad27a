#ifndef POSTLUDE_EVALUATOR_MEMORY_ACCESS_HPP
#define POSTLUDE_EVALUATOR_MEMORY_ACCESS_HPP

#include <cstdint>

#include "evaluator/function.hpp"
#include "evaluator/span.hpp"
#include "evaluator/stage.hpp"

namespace postlude {
namespace detail {

/// `width` elements that one memory instruction moves when they are aligned.
template <class T, int width>
struct alignas(sizeof(T) * width) Packet {
  T lanes[width];
};

/// How the lanes of a span lie in an array: the first element and the strides from packet to packet
/// and from lane to lane, in elements.
struct LaneLayout {
  std::int64_t first;
  std::int64_t packet_stride;
  std::int64_t lane_stride;

  POSTLUDE_FUNCTION LaneLayout(const OperandAccess& access, const Span& span)
      : first(span.outer * access.stride_outer + span.inner * access.stride_inner),
        packet_stride(span.outer_step * access.stride_outer +
                      span.inner_step * access.stride_inner),
        lane_stride(access.stride_inner) {
    if (span.batch != 0) first += span.batch * access.stride_batch;
  }

  /// Every packet is contiguous and starts at a multiple of its size.
  template <int width, class Element>
  POSTLUDE_FUNCTION bool has_aligned_packets(const Element* base) const {
    const auto places = reinterpret_cast<std::uintptr_t>(base + first) |
                        (static_cast<std::uintptr_t>(packet_stride) * sizeof(Element));
    return lane_stride == 1 && places % (sizeof(Element) * width) == 0;
  }
};

/// Reads the lanes of a span; lanes without an element are unspecified.
template <class From, class T, int packets, int width>
POSTLUDE_FUNCTION void read_lanes(const From* base, const LaneLayout& layout, const Span& span,
                                  T* to) {
#if defined(POSTLUDE_ON_DEVICE)
  if (layout.lane_stride == 0 && layout.packet_stride == 0) {
    const T value = static_cast<T>(base[layout.first]);
    POSTLUDE_UNROLL
    for (int lane = 0; lane < packets * width; ++lane) to[lane] = value;
    return;
  }
  if (span.is_full(packets, width) && layout.has_aligned_packets<width>(base)) {
    POSTLUDE_UNROLL
    for (int p = 0; p < packets; ++p) {
      const auto packet = *reinterpret_cast<const Packet<From, width>*>(base + layout.first +
                                                                        p * layout.packet_stride);
      POSTLUDE_UNROLL
      for (int lane = 0; lane < width; ++lane)
        to[p * width + lane] = static_cast<T>(packet.lanes[lane]);
    }
    return;
  }
  POSTLUDE_UNROLL
  for (int p = 0; p < packets; ++p) {
    const From* from = base + layout.first + p * layout.packet_stride;
    const int count = span.count(p, width);
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane)
      to[p * width + lane] = lane < count ? static_cast<T>(from[lane * layout.lane_stride]) : T(0);
  }
#else
  static_assert(packets == 1, "a host evaluates one packet at a time");
  const From* from = base + layout.first;
  const int count = span.count(0, width);
  if (layout.lane_stride == 0) {
    const T value = static_cast<T>(*from);
    for (int lane = 0; lane < width; ++lane) to[lane] = value;
  } else if (layout.lane_stride == 1) {
    for (int lane = 0; lane < count; ++lane) to[lane] = static_cast<T>(from[lane]);
  } else {
    for (int lane = 0; lane < count; ++lane)
      to[lane] = static_cast<T>(from[lane * layout.lane_stride]);
  }
#endif
}

/// Writes the lanes of a span, each rounded once to type To.
template <class To, class T, int packets, int width>
POSTLUDE_FUNCTION void write_lanes(const T* from, const LaneLayout& layout, const Span& span,
                                   To* base) {
#if defined(POSTLUDE_ON_DEVICE)
  if (span.is_full(packets, width) && layout.has_aligned_packets<width>(base)) {
    POSTLUDE_UNROLL
    for (int p = 0; p < packets; ++p) {
      Packet<To, width> packet;
      POSTLUDE_UNROLL
      for (int lane = 0; lane < width; ++lane)
        packet.lanes[lane] = static_cast<To>(from[p * width + lane]);
      *reinterpret_cast<Packet<To, width>*>(base + layout.first + p * layout.packet_stride) =
          packet;
    }
    return;
  }
#endif
  POSTLUDE_UNROLL
  for (int p = 0; p < packets; ++p) {
    To* to = base + layout.first + p * layout.packet_stride;
    const int count = span.count(p, width);
#if defined(POSTLUDE_ON_DEVICE)
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane)
      if (lane < count) to[lane * layout.lane_stride] = static_cast<To>(from[p * width + lane]);
#else
    if (layout.lane_stride == 1) {
      for (int lane = 0; lane < count; ++lane) to[lane] = static_cast<To>(from[lane]);
    } else {
      for (int lane = 0; lane < count; ++lane)
        to[lane * layout.lane_stride] = static_cast<To>(from[lane]);
    }
#endif
  }
}

/// Reads the elements of a span from an operand of element type `dtype`.
template <class T, int packets, int width>
POSTLUDE_FUNCTION void load(const OperandAccess& access, DataType dtype, const Span& span, T* to) {
  const LaneLayout layout(access, span);
  switch (dtype) {
    case DataType::float64:
      read_lanes<double, T, packets, width>(static_cast<const double*>(access.data), layout, span,
                                            to);
      break;
    case DataType::float32:
      read_lanes<float, T, packets, width>(static_cast<const float*>(access.data), layout, span,
                                           to);
      break;
    case DataType::int64:
      read_lanes<std::int64_t, T, packets, width>(static_cast<const std::int64_t*>(access.data),
                                                  layout, span, to);
      break;
    case DataType::float16:
    case DataType::bfloat16:
      break;  // refused when a plan is made
  }
}

/// Writes the elements of a span to an operand of element type `dtype`.
template <class T, int packets, int width>
POSTLUDE_FUNCTION void store(const OperandAccess& access, DataType dtype, const Span& span,
                             const T* from) {
  const LaneLayout layout(access, span);
  switch (dtype) {
    case DataType::float64:
      write_lanes<double, T, packets, width>(from, layout, span, static_cast<double*>(access.data));
      break;
    case DataType::float32:
      write_lanes<float, T, packets, width>(from, layout, span, static_cast<float*>(access.data));
      break;
    case DataType::int64:
      write_lanes<std::int64_t, T, packets, width>(from, layout, span,
                                                   static_cast<std::int64_t*>(access.data));
      break;
    case DataType::float16:
    case DataType::bfloat16:
      break;  // refused when a plan is made
  }
}

}  // namespace detail
}  // namespace postlude

#endif
