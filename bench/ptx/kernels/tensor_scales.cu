// Products of numbers with a scale for each block of 32: scales are copied to tensor memory, in the order of the products.
// block: 160
// args: f16[131072] f16[65536] f32[8192] i32=8
// target: sm_100a
// race ONE_SLOT: the scales of the next step are copied over those that a product may still read
// race NO_FULL: scales are copied from shared memory before they have arrived
// race COPY_AFTER: the scales are copied behind the product that needs them
// warning NO_AFTER_FENCE: no tcgen05.fence between the wait for a product and the copy over its scales
// race EARLY_COMMIT: the slot is freed by a commit before the last copy out of it
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::"r"(at), "r"(parity) : "memory");
}
__device__ void copy(unsigned to, const void *from, unsigned bytes, unsigned bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory"); // @NO_FULL @EARLY_COMMIT
}
__device__ void scale(unsigned to, unsigned from) {
    unsigned long long rows = from >> 4 | 8ull << 32 | 1ull << 46;
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(rows) : "memory"); // @ONE_SLOT @NO_FULL @COPY_AFTER @EARLY_COMMIT @NO_AFTER_FENCE
}
__device__ void commit(unsigned bar) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar) : "memory"); // @NO_FULL
}
extern "C" __global__ void tensor_scales(const char *operands, const char *scales, float *c, int steps) {
    // A has 128 rows and B 64, of 32 bytes each; 512 bytes of scales for each of them.
    __shared__ __align__(128) char slots[2][7168];
    __shared__ unsigned long long full[2], empty[2], done;
    __shared__ unsigned tensor;
    int t = threadIdx.x, warp = t / 32;
    if (warp == 0) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(address(&tensor)) : "memory");
    if (t == 0) {
        for (int s = 0; s < 2; s++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full[s])) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&empty[s])) : "memory");
        }
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&done)) : "memory");
    }
    __syncthreads();
    unsigned d = tensor;
    if (t == 128) {
        for (int k = 0; k < steps; k++) {
            int s = k & 1;
            wait(address(&empty[s]), (k / 2 + 1) & 1);
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 7168;" ::"r"(address(&full[s])) : "memory");
            copy(address(slots[s]), operands + k * 6144, 6144, address(&full[s]));
            copy(address(slots[s]) + 6144, scales + k * 1024, 1024, address(&full[s]));
        }
    } else if (t == 0) {
        for (int k = 0; k < steps; k++) {
            int s = k & 1;
#ifndef NO_FULL
            wait(address(&full[s]), k / 2 & 1);
#endif
            unsigned at = address(slots[s]);
#ifdef ONE_SLOT
            unsigned sa = d + 64, sb = d + 68;
#else
            unsigned sa = d + 64 + k % 4 * 8, sb = sa + 4;
            // Scales have four places: the product that last read this one is done.
            if (k >= 4) wait(address(&empty[s]), (k / 2 + 1) & 1);
#ifndef NO_AFTER_FENCE
            asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#endif
#endif
#ifdef EARLY_COMMIT
            scale(sa, at + 6144);
            commit(address(&empty[s]));
            scale(sb, at + 6656);
#elif !defined(COPY_AFTER)
            scale(sa, at + 6144);
            scale(sb, at + 6656);
#endif
            unsigned long long da = at >> 4 | 128ull << 16 | 8ull << 32 | 1ull << 46;
            unsigned long long db = (at + 4096) >> 4 | 64ull << 16 | 8ull << 32 | 1ull << 46;
            unsigned shape = 64 / 8 << 17 | 1 << 23 | 128 / 16 << 24;
            asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%0], %1, %2, %3, [%4], [%5], p; }" // @ONE_SLOT @COPY_AFTER @NO_FULL @EARLY_COMMIT @NO_AFTER_FENCE
                         ::"r"(d), "l"(da), "l"(db), "r"(shape), "r"(sa), "r"(sb), "r"(k)
                         : "memory");
#ifdef COPY_AFTER
            scale(sa, at + 6144);
            scale(sb, at + 6656);
#endif
#ifndef EARLY_COMMIT
            commit(address(&empty[s]));
#endif
        }
        commit(address(&done));
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
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(d) : "memory");
}
