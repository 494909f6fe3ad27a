#ifndef POSTLUDE_GEMM_HOPPER_PRIMITIVES_CUH
#define POSTLUDE_GEMM_HOPPER_PRIMITIVES_CUH

#include <cstdint>

namespace postlude {
namespace detail {

// Instructions of sm_90a that have no name in CUDA C++: barriers in shared memory, the copy engine
// for tensors, and what orders the warpgroup's matrix instructions. Addresses in shared memory are
// 32 bits. No header of CUDA is included, since the compiler for run time has none.

/// What the copy engine knows of a tensor: a CUtensorMap, which the driver fills in.
struct alignas(128) TensorMap {
  std::uint64_t words[16];
};

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void barrier_create(std::uint32_t barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes barriers that were created visible to the copy engine.
__device__ __forceinline__ void barrier_publish() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives, and makes the phase wait for so many bytes of copies.
__device__ __forceinline__ void barrier_expect(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// Waits for the end of the phase of this parity. A new barrier is in phase 0; one waits for the
/// phase of parity 1 before it without delay.
__device__ __forceinline__ void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// What the cache is to do with what is copied.
__device__ __forceinline__ std::uint64_t keep_policy() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ std::uint64_t stream_policy() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Copies a box at (k, row, part) of a tensor to shared memory.
__device__ __forceinline__ void copy_box(std::uint32_t to, const TensorMap& map, int k, int row,
                                         int part, std::uint32_t barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(&map), "r"(k), "r"(row), "r"(part), "r"(barrier), "l"(policy)
      : "memory");
}

__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Makes this thread's stores to shared memory visible to matrix instructions and the copy engine.
__device__ __forceinline__ void publish_shared_stores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// threadIdx.x, read here and now: what is computed from it is not kept in registers from before.
__device__ __forceinline__ int thread_read_anew() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

/// Waits for `threads` threads of the block, all of them in whole warps, at its named barrier
/// `barrier`; 0 is the barrier of all.
template <int barrier, int threads>
__device__ __forceinline__ void wait_for_threads() {
  asm volatile("bar.sync %0, %1;" ::"n"(barrier), "n"(threads) : "memory");
}

/// Counts this thread among the `threads` that a named barrier waits for, and goes on.
__device__ __forceinline__ void arrive_at_threads(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// The same for a barrier that is known at run time only.
__device__ __forceinline__ void wait_for_threads(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// As wait_for_threads(); returns whether any of them has said yes.
template <int barrier, int threads>
__device__ __forceinline__ bool any_of_threads(bool says_yes) {
  std::uint32_t any;
  asm volatile(
      "{\n.reg .pred own, any;\n"
      "setp.ne.u32 own, %1, 0;\n"
      "bar.red.or.pred any, %2, %3, own;\n"
      "selp.u32 %0, 1, 0, any;\n}\n"
      : "=r"(any)
      : "r"(static_cast<std::uint32_t>(says_yes)), "n"(barrier), "n"(threads)
      : "memory");
  return any != 0;
}

/// Two floats to two halves, the first one in front, each rounded to the nearest.
__device__ __forceinline__ std::uint32_t halves_of(float first, float second) {
  std::uint32_t halves;
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(halves) : "f"(first), "f"(second));
  return halves;
}

__device__ __forceinline__ float2 floats_of(std::uint32_t halves) {
  float2 floats;
  asm("{\n.reg .b16 first, second;\n"
      "mov.b32 {first, second}, %2;\n"
      "cvt.f32.f16 %0, first;\n"
      "cvt.f32.f16 %1, second;\n}\n"
      : "=f"(floats.x), "=f"(floats.y)
      : "r"(halves));
  return floats;
}

template <int registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

template <int registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

/// In a kernel of dependent_launch.hpp: waits until the kernel before it has ended and what it
/// wrote can be read. Before anything that is not this kernel's own is read or written.
__device__ __forceinline__ void wait_for_kernel_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// Before matrix instructions that use registers which other instructions wrote.
__device__ __forceinline__ void wgmma_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Ends a group of matrix instructions.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most `groups` of the last groups are under way.
template <int groups>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}

/// Ties registers to this place: they are neither read before it nor kept elsewhere across it.
template <int count>
__device__ __forceinline__ void pin(float (&registers)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}

/// Descriptor of a tile in shared memory with k contiguous in lines of 128 bytes, swizzled, eight
/// of them after another: 16 more bytes in k are 1 more.
__device__ __forceinline__ std::uint64_t tile_descriptor(std::uint32_t address) {
  constexpr std::uint64_t swizzle_of_128_bytes = std::uint64_t(1) << 62;
  constexpr std::uint64_t eight_lines = std::uint64_t(1024 / 16) << 32;
  constexpr std::uint64_t unused = std::uint64_t(1) << 16;
  return swizzle_of_128_bytes | eight_lines | unused | ((address & 0x3ffff) >> 4);
}

}  // namespace detail
}  // namespace postlude

#endif
