// Two products in a row, as in attention: warps load the first result, store it again as an operand in tensor memory,
// and the second product reads it there.
// block: 128
// args: f16[2048] f16[2048] f32[8192] i32=6
// target: sm_100a
// race NO_STORE_WAIT: the second product reads the operand before its stores are complete
// race NO_BARRIER: the second product reads parts that other warps still store
// race NO_SECOND_WAIT: the operand is stored again while the second product may still read it
// race OVERLAP: the second result lies on columns of the first
// allocation ON_OPERAND: the second result lies on columns of its operand
// phase PARITY: the wait for the first product is always for the same phase
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" // @PARITY
                 ::"r"(at), "r"(parity)
                 : "memory");
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}
__device__ void commit(unsigned bar) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar) : "memory"); // @PARITY @NO_SECOND_WAIT
}
extern "C" __global__ void tensor_chained(const uint4 *a, const uint4 *b, float *c, int rounds) {
    __shared__ __align__(128) uint4 as[2][128], bs[2][16];
    __shared__ unsigned long long first, second;
    __shared__ unsigned tensor;
    int t = threadIdx.x, warp = t / 32;
    if (warp == 0) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(address(&tensor)) : "memory");
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&first)) : "memory"); // @PARITY
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&second)) : "memory");
    }
    for (int u = 0; u < 2; u++) {
        as[u][t] = a[u * 128 + t];
        if (t < 16) bs[u][t] = b[u * 16 + t];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned base = tensor, scores = base, operand = base + 32, lanes = warp * 32 << 16;
#ifdef OVERLAP
    unsigned result = base + 8;
#elif defined(ON_OPERAND)
    unsigned result = base + 36;
#else
    unsigned result = base + 48;
#endif
    unsigned long long da = address(as) >> 4 | 128ull << 16 | 8ull << 32 | 1ull << 46;
    unsigned long long db = address(bs) >> 4 | 16ull << 16 | 8ull << 32 | 1ull << 46;
    unsigned shape = 1 << 4 | 16 / 8 << 17 | 128 / 16 << 24;
    for (int k = 0; k < rounds; k++) {
        if (t == 0) {
            asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 1; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(scores), "l"(da), "l"(db), "r"(shape) : "memory"); // @PARITY @OVERLAP
            commit(address(&first));
        }
#ifdef PARITY
        wait(address(&first), 0);
#else
        wait(address(&first), k & 1);
#endif
        unsigned r[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                     : "r"(scores + lanes)
                     : "memory");
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#ifndef NO_SECOND_WAIT
        // The second product of the round before has read its operand.
        if (k > 0) wait(address(&second), (k + 1) & 1);
#endif
        asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7};" // @NO_STORE_WAIT @NO_BARRIER @NO_SECOND_WAIT @OVERLAP
                     ::"r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7]), "r"(operand + lanes)
                     : "memory");
#ifndef NO_STORE_WAIT
        asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
#endif
        asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
#ifdef NO_BARRIER
        __syncwarp();
#else
        __syncthreads();
#endif
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        if (t == 0) {
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p; }" ::"r"(result), "r"(operand), "l"(db), "r"(shape), "r"(k) : "memory"); // @ON_OPERAND @NO_STORE_WAIT @NO_BARRIER @NO_SECOND_WAIT @OVERLAP
            commit(address(&second));
        }
    }
    wait(address(&second), (rounds + 1) & 1);
    unsigned r[8];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
                 : "r"(result + lanes)
                 : "memory");
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    for (int i = 0; i < 8; i++) c[t * 8 + i] = __uint_as_float(r[i]);
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(base) : "memory");
}
