// One product on tensor memory: threads store both operands, one issues it, and each warp loads its lanes of the result.
// block: 128
// args: f16[2048] f16[1024] f32[8192]
// target: sm_100a
// fence NO_PROXY_FENCE: the operands are stored with no proxy fence before the product reads them
// race NO_BARRIER: the product reads operands that other threads still store
// deadlock NO_COMMIT: nothing arrives at the mbarrier that all wait for
// race NO_WAIT: the result is loaded while the product may still be at work
// race EARLY_COMMIT: the commit comes before the product, and tells nothing of it
// phase WRONG_PARITY: the wait is for the phase before the first, which is over at once
// warning NO_AFTER_FENCE: no tcgen05.fence between the wait and the loads of other threads' results
// race NO_LOAD_WAIT: the memory is freed while loads may still be at work
// race EARLY_FREE: the memory is freed while other warps still load from it
// allocation WRONG_LANES: every warp loads the lanes of the first
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" // @NO_COMMIT @WRONG_PARITY
                 ::"r"(at), "r"(parity)
                 : "memory");
}
extern "C" __global__ void tensor_tile(const uint4 *a, const uint4 *b, float *c) {
    // Two columns of units of 16 bytes: K is 16, of two bytes each.
    __shared__ __align__(128) uint4 as[2][128], bs[2][64];
    __shared__ unsigned long long done;
    __shared__ unsigned tensor;
    int t = threadIdx.x, warp = t / 32;
    if (warp == 0) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(address(&tensor)) : "memory"); // @NO_LOAD_WAIT
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&done)) : "memory"); // @NO_COMMIT @WRONG_PARITY
    for (int u = 0; u < 2; u++) {
        as[u][t] = a[u * 128 + t]; // @NO_PROXY_FENCE @NO_BARRIER
        if (t < 64) bs[u][t] = b[u * 64 + t]; // @NO_PROXY_FENCE @NO_BARRIER
    }
#ifndef NO_PROXY_FENCE
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
#ifdef NO_BARRIER
    if (warp == 0) __syncwarp();
#else
    __syncthreads();
#endif
    unsigned d = tensor;
    if (t == 0) {
        unsigned long long da = address(as) >> 4 | 128ull << 16 | 8ull << 32 | 1ull << 46;
        unsigned long long db = address(bs) >> 4 | 64ull << 16 | 8ull << 32 | 1ull << 46;
        unsigned shape = 1 << 4 | 64 / 8 << 17 | 128 / 16 << 24;
#ifdef EARLY_COMMIT
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(address(&done)) : "memory");
#endif
        asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 1; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" // @NO_PROXY_FENCE @NO_BARRIER @NO_WAIT @EARLY_COMMIT @WRONG_PARITY @NO_AFTER_FENCE
                     ::"r"(d), "l"(da), "l"(db), "r"(shape)
                     : "memory");
#if !defined(NO_COMMIT) && !defined(EARLY_COMMIT)
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(address(&done)) : "memory"); // @WRONG_PARITY
#endif
    }
#ifdef WRONG_PARITY
    wait(address(&done), 1);
#elif !defined(NO_WAIT)
    wait(address(&done), 0);
#endif
#ifndef NO_AFTER_FENCE
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#endif
#ifdef WRONG_LANES
    unsigned from = d;
#else
    unsigned from = d + (warp * 32 << 16);
#endif
    unsigned r[8];
    for (int k = 0; k < 8; k++) {
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];" // @NO_WAIT @EARLY_COMMIT @WRONG_PARITY @NO_AFTER_FENCE @NO_LOAD_WAIT @EARLY_FREE @WRONG_LANES
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                     : "r"(from + k * 8)
                     : "memory");
#ifndef NO_LOAD_WAIT
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#endif
        for (int i = 0; i < 8; i++) c[t * 64 + k * 8 + i] = __uint_as_float(r[i]);
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
#ifndef EARLY_FREE
    __syncthreads();
#endif
    if (warp == 0) {
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(d) : "memory"); // @NO_LOAD_WAIT @EARLY_FREE
    }
}
