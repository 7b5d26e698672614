// Two blocks share tiles of B: each loads a half and multicasts it to both. A slot is refilled once both have freed it.
// block: 160
// grid: 2
// args: f32[65536] f32[65536] f32[256] i32=16
// target: sm_90
// race OWN_RELEASE: a slot is refilled although the other block still reads it: each block frees its own mbarrier alone
// race NO_FULL: a slot is read before its bytes have arrived
// deadlock HALF_BYTES: the bytes of one half only are expected
// phase NO_EMPTY: slots are refilled with no wait for those who read them
// warning NO_FENCE: threads read a slot, and the copy engine refills it, with no proxy fence between
// lifetime NO_LAST: a block can end while the other's copies and arrivals still go to it
#define SLOTS 3
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned of_rank(unsigned at, unsigned rank) {
    unsigned found;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(found) : "r"(at), "r"(rank));
    return found;
}
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra again; }" // @HALF_BYTES @NO_EMPTY
                 ::"r"(at), "r"(parity)
                 : "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_multicast(const float *a, const float *b, float *c, int steps) {
    __shared__ __align__(16) float as[SLOTS][128], bs[SLOTS][128];
    __shared__ unsigned long long full[SLOTS], empty[SLOTS];
    int t = threadIdx.x;
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (t == 0) {
        for (int s = 0; s < SLOTS; s++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full[s]))); // @HALF_BYTES
#ifdef OWN_RELEASE
            asm volatile("mbarrier.init.shared.b64 [%0], 4;" ::"r"(address(&empty[s])));
#else
            asm volatile("mbarrier.init.shared.b64 [%0], 8;" ::"r"(address(&empty[s])));
#endif
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (t >= 128) {
        if (t == 128)
            for (int k = 0; k < steps; k++) {
                int s = k % SLOTS;
#ifndef NO_EMPTY
                wait(address(&empty[s]), (k / SLOTS + 1) & 1);
#endif
#ifdef HALF_BYTES
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 768;" ::"r"(address(&full[s])) : "memory"); // @HALF_BYTES
#else
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(address(&full[s])) : "memory"); // @NO_EMPTY
#endif
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" // @NO_FENCE @NO_FULL @NO_EMPTY @HALF_BYTES
                             ::"r"(address(as[s])), "l"(a + (k * 2 + rank) * 128), "r"(address(&full[s]))
                             : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" // @NO_FENCE @OWN_RELEASE @NO_FULL @NO_EMPTY @HALF_BYTES @NO_LAST
                             ::"r"(address(&bs[s][rank * 64])), "l"(b + (k * 2 + rank) * 64), "r"(address(&full[s])), "h"((short)3)
                             : "memory");
            }
    } else {
        float sum = 0.0f;
        for (int k = 0; k < steps; k++) {
            int s = k % SLOTS;
#ifndef NO_FULL
            wait(address(&full[s]), k / SLOTS & 1);
#endif
            sum += as[s][t] * bs[s][127 - t]; // @OWN_RELEASE @NO_FULL @NO_FENCE
#ifndef NO_FENCE
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
            __syncwarp();
            // One lane of each warp frees the slot in both blocks: each refills half of it.
#ifdef OWN_RELEASE
            if (t % 32 == 0) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address(&empty[s])) : "memory"); // @OWN_RELEASE
#else
            if (t % 32 < 2) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(of_rank(address(&empty[s]), t % 32)) : "memory"); // @NO_LAST
#endif
        }
        c[rank * 128 + t] = sum;
    }
#ifndef NO_LAST
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
}
