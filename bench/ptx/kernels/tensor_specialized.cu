// Producer, products and epilogue in warps of their own, over several tiles; two accumulators, so that one is loaded
// while the next is multiplied.
// block: 192
// args: f16[1048576] f16[65536] f32[65536] i32=8
// target: sm_100a
// race ONE_ACCUMULATOR: the next tile is multiplied into the accumulator that is still loaded
// race NO_LOAD_WAIT: an accumulator is freed before the loads from it are waited for
// warning NO_BEFORE_FENCE: no tcgen05.fence before the arrival that frees an accumulator
// warning NO_AFTER_FENCE: no tcgen05.fence behind the wait for a free accumulator
// race NO_FREE_WAIT: a tile is multiplied with no wait for a free accumulator
// deadlock FEW_ARRIVALS: one thread of each warp frees the accumulator, and 128 arrivals are counted
// race COMMIT_FIRST: the accumulator is committed before the last product of the tile
#define SLOTS 3
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void init(unsigned at, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory"); // @FEW_ARRIVALS
}
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" // @FEW_ARRIVALS @NO_FREE_WAIT
                 ::"r"(at), "r"(parity)
                 : "memory");
}
__device__ void commit(unsigned bar) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar) : "memory"); // @COMMIT_FIRST @NO_FREE_WAIT
}
extern "C" __global__ void tensor_specialized(const char *a, const char *b, float *c, int tiles) {
    __shared__ __align__(128) char as[SLOTS][4096], bs[SLOTS][2048];
    __shared__ unsigned long long full[SLOTS], empty[SLOTS], ready[2], taken[2];
    __shared__ unsigned tensor;
    int t = threadIdx.x, warp = t / 32;
    if (warp == 5) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(address(&tensor)) : "memory");
    if (t == 0) {
        for (int s = 0; s < SLOTS; s++) init(address(&full[s]), 1), init(address(&empty[s]), 1);
        for (int s = 0; s < 2; s++) init(address(&ready[s]), 1), init(address(&taken[s]), 128); // @FEW_ARRIVALS
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    unsigned base = tensor;
    if (t == 128) {
#pragma unroll 1
        for (int k = 0; k < tiles * 4; k++) {
            int s = k % SLOTS;
            wait(address(&empty[s]), (k / SLOTS + 1) & 1);
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 6144;" ::"r"(address(&full[s])) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" ::"r"(address(as[s])), "l"(a + k * 4096), "r"(address(&full[s])) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];" ::"r"(address(bs[s])), "l"(b + k % 4 * 2048), "r"(address(&full[s])) : "memory");
        }
    } else if (t == 160) {
        int k = 0;
        for (int tile = 0; tile < tiles; tile++) {
            int which = tile & 1;
#ifndef NO_FREE_WAIT
            wait(address(&taken[which]), (tile / 2 + 1) & 1);
#endif
#ifndef NO_AFTER_FENCE
            asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#endif
#ifdef ONE_ACCUMULATOR
            unsigned d = base;
#else
            unsigned d = base + which * 64;
#endif
            for (int step = 0; step < 4; step++, k++) {
                int s = k % SLOTS;
                wait(address(&full[s]), k / SLOTS & 1);
                unsigned long long da = address(as[s]) >> 4 | 128ull << 16 | 8ull << 32 | 1ull << 46;
                unsigned long long db = address(bs[s]) >> 4 | 64ull << 16 | 8ull << 32 | 1ull << 46;
                unsigned shape = 1 << 4 | 64 / 8 << 17 | 128 / 16 << 24;
#ifdef COMMIT_FIRST
                if (step == 3) commit(address(&ready[which]));
#endif
                asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" // @ONE_ACCUMULATOR @NO_LOAD_WAIT @NO_BEFORE_FENCE @NO_AFTER_FENCE @NO_FREE_WAIT @COMMIT_FIRST
                             ::"r"(d), "l"(da), "l"(db), "r"(shape), "r"(step)
                             : "memory");
                commit(address(&empty[s]));
            }
#ifndef COMMIT_FIRST
            commit(address(&ready[which]));
#endif
        }
    } else if (t < 128) {
        for (int tile = 0; tile < tiles; tile++) {
            int which = tile & 1;
            wait(address(&ready[which]), tile / 2 & 1);
            asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#ifdef ONE_ACCUMULATOR
            unsigned d = base;
#else
            unsigned d = base + which * 64;
#endif
            unsigned r[8];
            for (int k = 0; k < 8; k++) {
                asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];" // @ONE_ACCUMULATOR @NO_LOAD_WAIT @NO_BEFORE_FENCE @NO_AFTER_FENCE @NO_FREE_WAIT @COMMIT_FIRST
                             : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                             : "r"(d + (warp * 32 << 16) + k * 8)
                             : "memory");
#ifndef NO_LOAD_WAIT
                asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#endif
                for (int i = 0; i < 8; i++) c[tile * 8192 + t * 64 + k * 8 + i] = __uint_as_float(r[i]);
            }
#ifndef NO_BEFORE_FENCE
            asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
#endif
#ifdef FEW_ARRIVALS
            if (t % 32 == 0)
#endif
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address(&taken[which])) : "memory"); // @FEW_ARRIVALS @NO_FREE_WAIT
        }
#ifdef NO_LOAD_WAIT
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#endif
    }
    __syncthreads();
    if (warp == 5) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(base) : "memory");
}
