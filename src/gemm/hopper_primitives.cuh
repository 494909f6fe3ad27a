#ifndef POSTLUDE_GEMM_HOPPER_PRIMITIVES_CUH
#define POSTLUDE_GEMM_HOPPER_PRIMITIVES_CUH

#include <cuda.h>

#include <cstdint>

namespace postlude {
namespace detail {

// Instructions of sm_90a that have no name in CUDA C++: barriers in shared memory, the copy engine
// for tensors, clusters, and what orders the warpgroup's matrix instructions. Addresses in shared
// memory are 32 bits.

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void barrier_create(std::uint32_t barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes barriers that were created visible to the cluster and to the copy engine.
__device__ __forceinline__ void barrier_publish() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// At the same barrier of another block of the cluster.
__device__ __forceinline__ void barrier_arrive_at(std::uint32_t barrier, std::uint32_t rank) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}\n" ::"r"(barrier),
      "r"(rank)
      : "memory");
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
__device__ __forceinline__ void copy_box(std::uint32_t to, const CUtensorMap& map, int k, int row,
                                         int part, std::uint32_t barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(&map), "r"(k), "r"(row), "r"(part), "r"(barrier), "l"(policy)
      : "memory");
}

/// The same to the blocks of the cluster whose bits are set, at the same address in each, whose own
/// barrier is told.
__device__ __forceinline__ void copy_box_to(std::uint16_t blocks, std::uint32_t to,
                                            const CUtensorMap& map, int k, int row, int part,
                                            std::uint32_t barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6, %7;" ::"r"(to),
      "l"(&map), "r"(k), "r"(row), "r"(part), "r"(barrier), "h"(blocks), "l"(policy)
      : "memory");
}

__device__ __forceinline__ void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Makes this thread's stores to shared memory visible to matrix instructions and the copy engine.
__device__ __forceinline__ void publish_shared_stores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ std::uint32_t rank_in_cluster() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_wait_for_all() {
  asm volatile(
      "barrier.cluster.arrive.release;\n"
      "barrier.cluster.wait.acquire;" ::
          : "memory");
}

template <int registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

template <int registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
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
