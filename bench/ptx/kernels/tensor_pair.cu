// Two blocks of a cluster multiply together: each has half of both operands, one thread issues for both, and the commit
// arrives at the mbarriers of both.
// block: 128
// grid: 2
// args: f16[4096] f16[1024] f32[16384]
// target: sm_100a
// race BLOCK_BARRIER: the product reads operands that the other block still stores
// deadlock ONE_BLOCK: the commit arrives in the first block alone
// race NO_WAIT: the second block loads its part of the result while the product may still be at work
// race BOTH_ISSUE: both blocks issue the product
// fence NO_PROXY_FENCE: the operands are stored with no proxy fence before the product reads them
// allocation ONE_FREES: the second block does not free its columns
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void meet() {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) tensor_pair(const uint4 *a, const uint4 *b, float *c) {
    __shared__ __align__(128) uint4 as[2][128], bs[2][32];
    __shared__ unsigned long long done;
    __shared__ unsigned tensor;
    int t = threadIdx.x, warp = t / 32;
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (warp == 0) asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(address(&tensor)) : "memory"); // @ONE_FREES
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&done)) : "memory"); // @ONE_BLOCK @BLOCK_BARRIER
    for (int u = 0; u < 2; u++) {
        as[u][t] = a[(rank * 2 + u) * 128 + t]; // @BLOCK_BARRIER @NO_PROXY_FENCE
        if (t < 32) bs[u][t] = b[(rank * 2 + u) * 32 + t]; // @BLOCK_BARRIER @NO_PROXY_FENCE
    }
#ifndef NO_PROXY_FENCE
    asm volatile("fence.proxy.async;" ::: "memory");
#endif
#ifdef BLOCK_BARRIER
    __syncthreads();
#else
    meet();
#endif
    unsigned d = tensor;
#ifdef BOTH_ISSUE
    if (t == 0) {
#else
    if (rank == 0 && t == 0) {
#endif
        unsigned long long da = (address(as) & 0x3FFFF) >> 4 | 128ull << 16 | 8ull << 32 | 1ull << 46;
        unsigned long long db = (address(bs) & 0x3FFFF) >> 4 | 32ull << 16 | 8ull << 32 | 1ull << 46;
        unsigned shape = 1 << 4 | 64 / 8 << 17 | 256 / 16 << 24;
        asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 1; tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }" // @BLOCK_BARRIER @NO_WAIT @BOTH_ISSUE @NO_PROXY_FENCE
                     ::"r"(d), "l"(da), "l"(db), "r"(shape)
                     : "memory");
#ifdef ONE_BLOCK
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(address(&done)) : "memory"); // @ONE_BLOCK
#else
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(address(&done)), "h"((short)3) : "memory"); // @BLOCK_BARRIER @BOTH_ISSUE
#endif
    }
#ifdef NO_WAIT
    if (rank == 0)
#endif
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(address(&done)) : "memory"); // @ONE_BLOCK
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    unsigned r[8];
    for (int k = 0; k < 8; k++) {
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];" // @NO_WAIT @BOTH_ISSUE
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                     : "r"(d + (warp * 32 << 16) + k * 8)
                     : "memory");
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 8; i++) c[(rank * 128 + t) * 64 + k * 8 + i] = __uint_as_float(r[i]);
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    meet();
#ifdef ONE_FREES
    if (rank == 0)
#endif
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 64;" ::"r"(d) : "memory");
}
