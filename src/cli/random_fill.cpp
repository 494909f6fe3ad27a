#include "random_fill.hpp"

#include <random>

#include "cli_error.hpp"
#include "parallel_for.hpp"
#include "small_floats.hpp"

namespace postlude {
namespace cli {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

// The output function of splitmix64 (Steele, Lea, Flood 2014): a bijection that passes BigCrush
// when it is applied to a counter multiplied by `golden`.
inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::uint64_t start_of(const UniformNumbers& numbers) {
  return mix(mix(numbers.seed + golden) + (numbers.stream + 1) * golden);
}

// As many leading bits as the type's significand holds, so that 1 is never reached.
template <class T>
T unit(std::uint64_t bits);
template <>
inline float unit<float>(std::uint64_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits >> 40)) * 0x1p-24f;
}
template <>
inline double unit<double>(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-53;
}

// The number that `store` gets is of type T; it returns the element.
template <class T, class Element, class Store>
void fill(Element* data, std::size_t elements, const UniformNumbers& numbers, const Store& store) {
  const std::uint64_t start = start_of(numbers);
  const T low = static_cast<T>(numbers.low);
  const T width = static_cast<T>(numbers.high - numbers.low);
  constexpr std::size_t worth_a_thread = 1 << 16;
  const auto threads =
      static_cast<unsigned>(std::min<std::size_t>(host_threads(), 1 + elements / worth_a_thread));
  parallel_for(elements, threads, [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      data[i] = store(low + width * unit<T>(mix(start + i * golden)));
  });
}

}  // namespace

std::uint64_t fresh_seed() {
  // 53 bits: JSON readers that keep numbers as float64 give the seed back unchanged.
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) >> 11;
}

double random_number(const UniformNumbers& numbers) {
  return numbers.low + (numbers.high - numbers.low) * unit<double>(mix(start_of(numbers)));
}

void random_fill(void* data, postlude_dtype dtype, std::size_t elements,
                 const UniformNumbers& numbers) {
  const auto unchanged = [](auto number) { return number; };
  switch (dtype) {
    case POSTLUDE_FLOAT64:
      return fill<double>(static_cast<double*>(data), elements, numbers, unchanged);
    case POSTLUDE_FLOAT32:
      return fill<float>(static_cast<float*>(data), elements, numbers, unchanged);
    case POSTLUDE_FLOAT16:
      return fill<float>(static_cast<std::uint16_t*>(data), elements, numbers, float16_of);
    case POSTLUDE_BFLOAT16:
      return fill<float>(static_cast<std::uint16_t*>(data), elements, numbers, bfloat16_of);
    default:
      throw CliError("random numbers have a floating-point type");
  }
}

}  // namespace cli
}  // namespace postlude
