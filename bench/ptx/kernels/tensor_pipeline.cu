// Two slots of operands: one thread fills them with bulk copies, another multiplies, and commits free the slots.
// block: 192
// args: f16[262144] f16[131072] f32[8192] i32=16
// target: sm_100a
// race NO_FULL: a slot is multiplied before its copies have arrived
// phase NO_EMPTY: slots are refilled with no wait for the products that read them
// race PLAIN_ARRIVAL: the slot is freed by an arrival, which does not wait for the product
// race ONE_COMMIT: only the first of two products is committed before its slot is freed
// deadlock NO_LAST_COMMIT: nothing arrives at the mbarrier of the result
// phase PARITY: the wait for a free slot does not change its parity
#define SLOTS 2
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" // @NO_LAST_COMMIT @PARITY
                 ::"r"(at), "r"(parity)
                 : "memory");
}
__device__ void copy(unsigned to, const void *from, unsigned bytes, unsigned bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" // @NO_FULL @NO_EMPTY @PLAIN_ARRIVAL @ONE_COMMIT @PARITY
                 ::"r"(to), "l"(from), "r"(bytes), "r"(bar)
                 : "memory");
}
__device__ void multiply(unsigned d, unsigned a, unsigned b, int accumulate) {
    unsigned long long da = a >> 4 | 128ull << 16 | 8ull << 32 | 1ull << 46;
    unsigned long long db = b >> 4 | 64ull << 16 | 8ull << 32 | 1ull << 46;
    unsigned shape = 1 << 4 | 64 / 8 << 17 | 128 / 16 << 24;
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" // @NO_FULL @NO_EMPTY @PLAIN_ARRIVAL @ONE_COMMIT @PARITY
                 ::"r"(d), "l"(da), "l"(db), "r"(shape), "r"(accumulate)
                 : "memory");
}
__device__ void commit(unsigned bar) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar) : "memory"); // @ONE_COMMIT @PARITY
}
extern "C" __global__ void tensor_pipeline(const char *a, const char *b, float *c, int steps) {
    __shared__ __align__(128) char as[SLOTS][2][4096], bs[SLOTS][2][2048];
    __shared__ unsigned long long full[SLOTS], empty[SLOTS], done;
    __shared__ unsigned tensor;
    int t = threadIdx.x, warp = t / 32;
    if (warp == 0) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(address(&tensor)) : "memory");
    if (t == 0) {
        for (int s = 0; s < SLOTS; s++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full[s])) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&empty[s])) : "memory"); // @PARITY
        }
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&done)) : "memory"); // @NO_LAST_COMMIT
    }
    __syncthreads();
    unsigned d = tensor;
    if (t == 128) {
        for (int k = 0; k < steps; k++) {
            int s = k % SLOTS;
#ifdef PARITY
            wait(address(&empty[s]), 1);
#elif !defined(NO_EMPTY)
            wait(address(&empty[s]), (k / SLOTS + 1) & 1);
#endif
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 12288;" ::"r"(address(&full[s])) : "memory"); // @NO_EMPTY @PARITY
            copy(address(as[s]), a + k * 8192, 8192, address(&full[s]));
            copy(address(bs[s]), b + k * 4096, 4096, address(&full[s]));
        }
    } else if (t == 160) {
        for (int k = 0; k < steps; k++) {
            int s = k % SLOTS;
#ifndef NO_FULL
            wait(address(&full[s]), k / SLOTS & 1);
#endif
            multiply(d, address(as[s][0]), address(bs[s][0]), k > 0);
#ifdef ONE_COMMIT
            commit(address(&empty[s]));
#endif
            multiply(d, address(as[s][1]), address(bs[s][1]), 1);
#if defined(PLAIN_ARRIVAL)
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address(&empty[s])) : "memory");
#elif !defined(ONE_COMMIT)
            commit(address(&empty[s]));
#endif
        }
#ifndef NO_LAST_COMMIT
        commit(address(&done));
#endif
    }
    if (t < 128) {
        wait(address(&done), 0);
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        unsigned r[8];
        for (int k = 0; k < 8; k++) {
            asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                         : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                         : "r"(d + (warp * 32 << 16) + k * 8)
                         : "memory");
            asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
            for (int i = 0; i < 8; i++) c[t * 64 + k * 8 + i] = __uint_as_float(r[i]);
        }
        asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    }
    __syncthreads();
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(d) : "memory");
}
