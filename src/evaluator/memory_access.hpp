#ifndef POSTLUDE_EVALUATOR_MEMORY_ACCESS_HPP
#define POSTLUDE_EVALUATOR_MEMORY_ACCESS_HPP

#include <cstdint>

#include "evaluator/function.hpp"
#include "evaluator/quotient.hpp"
#include "evaluator/small_floats.hpp"
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

  POSTLUDE_FUNCTION LaneLayout(const OperandAccess& access, std::int64_t parts, const Span& span)
      : first(span.outer * access.stride_outer + span.inner * access.stride_inner),
        packet_stride(span.outer_step * access.stride_outer +
                      span.inner_step * access.stride_inner),
        lane_stride(access.stride_inner) {
    if (span.batch != 0) first += batch_offset(access, parts, span.batch);
  }

  POSTLUDE_FUNCTION static std::int64_t batch_offset(const OperandAccess& access,
                                                     std::int64_t parts, std::int64_t batch) {
    if (parts == 1) return batch * access.stride_batch;
    const std::int64_t whole = batch < parts ? 0 : quotient(batch, parts);
    return whole * access.stride_batch + (batch - whole * parts) * access.stride_part;
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
    const T value = Convert<T, From>::from(base[layout.first]);
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
        to[p * width + lane] = Convert<T, From>::from(packet.lanes[lane]);
    }
    return;
  }
  POSTLUDE_UNROLL
  for (int p = 0; p < packets; ++p) {
    const From* from = base + layout.first + p * layout.packet_stride;
    const int count = span.count(p, width);
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane)
      to[p * width + lane] =
          lane < count ? Convert<T, From>::from(from[lane * layout.lane_stride]) : T(0);
  }
#else
  static_assert(packets == 1, "a host evaluates one packet at a time");
  const From* from = base + layout.first;
  const int count = span.count(0, width);
  if (layout.lane_stride == 0) {
    const T value = Convert<T, From>::from(*from);
    for (int lane = 0; lane < width; ++lane) to[lane] = value;
  } else if (layout.lane_stride == 1) {
    for (int lane = 0; lane < count; ++lane) to[lane] = Convert<T, From>::from(from[lane]);
  } else {
    for (int lane = 0; lane < count; ++lane)
      to[lane] = Convert<T, From>::from(from[lane * layout.lane_stride]);
  }
#endif
}

/// Reads the lanes of a span from an array whose elements neighbours share.
template <class From, class T, int packets, int width>
POSTLUDE_FUNCTION void read_shared_lanes(const From* base, const OperandAccess& access,
                                         std::int64_t parts, const Span& span, T* to) {
  base += LaneLayout::batch_offset(access, parts, span.batch);
  POSTLUDE_UNROLL
  for (int p = 0; p < packets; ++p) {
    const int count = span.count(p, width);
    const std::int64_t outer = span.outer + p * span.outer_step;
    const std::int64_t inner = span.inner + p * span.inner_step;
    const std::int64_t line_index =
        access.outer_divisor == 1 ? outer : quotient(outer, access.outer_divisor);
    const From* line = base + line_index * access.stride_outer;
    std::int64_t element = quotient(inner, access.inner_divisor);
    std::int64_t left = (element + 1) * access.inner_divisor - inner;
    if (count > 0 && count <= left) {  // as in the middle of a group of a normalisation
      const T value = Convert<T, From>::from(line[element * access.stride_inner]);
      POSTLUDE_UNROLL
      for (int lane = 0; lane < width; ++lane) to[p * width + lane] = value;
      continue;
    }
    POSTLUDE_UNROLL
    for (int lane = 0; lane < width; ++lane) {
      if (lane < count)
        to[p * width + lane] = Convert<T, From>::from(line[element * access.stride_inner]);
      if (--left == 0) {
        ++element;
        left = access.inner_divisor;
      }
    }
  }
}

/// Reads the lanes of a span from an array of elements of type From.
template <class From, class T, int packets, int width>
POSTLUDE_FUNCTION void read_operand(const OperandAccess& access, std::int64_t parts,
                                    const Span& span, T* to) {
  const From* base = static_cast<const From*>(access.data);
  if (access.outer_divisor == 1 && access.inner_divisor == 1)
    read_lanes<From, T, packets, width>(base, LaneLayout(access, parts, span), span, to);
  else
    read_shared_lanes<From, T, packets, width>(base, access, parts, span, to);
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
        packet.lanes[lane] = Convert<To, T>::from(from[p * width + lane]);
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
      if (lane < count)
        to[lane * layout.lane_stride] = Convert<To, T>::from(from[p * width + lane]);
#else
    if (layout.lane_stride == 1) {
      for (int lane = 0; lane < count; ++lane) to[lane] = Convert<To, T>::from(from[lane]);
    } else {
      for (int lane = 0; lane < count; ++lane)
        to[lane * layout.lane_stride] = Convert<To, T>::from(from[lane]);
    }
#endif
  }
}

/// The type that elements of a DataType are stored as.
template <DataType dtype>
struct Storage;
template <>
struct Storage<DataType::float64> {
  using type = double;
};
template <>
struct Storage<DataType::float32> {
  using type = float;
};
template <>
struct Storage<DataType::float16> {
  using type = Float16;
};
template <>
struct Storage<DataType::bfloat16> {
  using type = BFloat16;
};
template <>
struct Storage<DataType::int64> {
  using type = std::int64_t;
};

/// Reads the elements of a span from an operand. `parts` is the stage's.
template <class T, int packets, int width>
POSTLUDE_FUNCTION void load(const OperandAccess& access, std::int64_t parts, const Span& span,
                            T* to) {
  switch (access.dtype) {
    case DataType::float64:
      read_operand<double, T, packets, width>(access, parts, span, to);
      break;
    case DataType::float32:
      read_operand<float, T, packets, width>(access, parts, span, to);
      break;
    case DataType::float16:
      read_operand<Float16, T, packets, width>(access, parts, span, to);
      break;
    case DataType::bfloat16:
      read_operand<BFloat16, T, packets, width>(access, parts, span, to);
      break;
    case DataType::int64:
      read_operand<std::int64_t, T, packets, width>(access, parts, span, to);
      break;
  }
}

/// Writes the elements of a span to an operand.
template <class T, int packets, int width>
POSTLUDE_FUNCTION void store(const OperandAccess& access, std::int64_t parts, const Span& span,
                             const T* from) {
  const LaneLayout layout(access, parts, span);
  switch (access.dtype) {
    case DataType::float64:
      write_lanes<double, T, packets, width>(from, layout, span, static_cast<double*>(access.data));
      break;
    case DataType::float32:
      write_lanes<float, T, packets, width>(from, layout, span, static_cast<float*>(access.data));
      break;
    case DataType::float16:
      write_lanes<Float16, T, packets, width>(from, layout, span,
                                              static_cast<Float16*>(access.data));
      break;
    case DataType::bfloat16:
      write_lanes<BFloat16, T, packets, width>(from, layout, span,
                                               static_cast<BFloat16*>(access.data));
      break;
    case DataType::int64:
      write_lanes<std::int64_t, T, packets, width>(from, layout, span,
                                                   static_cast<std::int64_t*>(access.data));
      break;
  }
}

}  // namespace detail
}  // namespace postlude

#endif
