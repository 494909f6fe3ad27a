#include "gemm/processor.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

#include <cstring>
#endif

namespace postlude {
namespace detail {
namespace {

#if defined(__x86_64__) && defined(__GNUC__)
struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf) {
  Registers registers;
  __get_cpuid_count(leaf, 0, &registers.a, &registers.b, &registers.c, &registers.d);
  return registers;
}

/// Whether the system saves all registers of AVX-512 when it switches threads: bits 1, 2 and 5 to 7
/// of XCR0, which may be read where bit 27 says so.
bool has_avx512_registers() {
  if ((cpuid(1).c >> 27 & 1) == 0) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & 0xe6) == 0xe6;
}

/// AVX-512 F: bit 16.
bool has_avx512_instructions() { return (cpuid(7).b >> 16 & 1) != 0; }
#endif

}  // namespace

bool has_avx512() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool has_it = has_avx512_instructions() && has_avx512_registers();
  return has_it;
#else
  return false;
#endif
}

bool is_from_intel() {
#if defined(__x86_64__) && defined(__GNUC__)
  const Registers vendor = cpuid(0);
  char name[13] = {};
  std::memcpy(name, &vendor.b, 4);
  std::memcpy(name + 4, &vendor.d, 4);
  std::memcpy(name + 8, &vendor.c, 4);
  return std::strcmp(name, "GenuineIntel") == 0;
#else
  return false;
#endif
}

}  // namespace detail
}  // namespace postlude
