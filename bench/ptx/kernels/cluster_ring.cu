// Blocks of a cluster of four pass their values round a ring: st.async into the next block, which frees the slot by a
// remote arrival.
// block: 64
// grid: 4
// args: f32[256] f32[256] i32=12
// target: sm_90
// race NO_FULL: a slot is read before the values of the block before have arrived
// race NO_EMPTY: a slot is stored into while its block still reads it
// phase OWN_ARRIVAL: the slot is freed at the block's own mbarrier, not at that of the sender
// phase PARITY: the wait for a full slot is always for the same parity
// deadlock WRONG_COUNT: the mbarrier of the free slot counts more arrivals than there are threads
// lifetime NO_LAST: a block can end before the arrivals of the next one have come
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned of_rank(unsigned at, unsigned rank) {
    unsigned found;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(found) : "r"(at), "r"(rank));
    return found;
}
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra again; }" // @WRONG_COUNT @PARITY @OWN_ARRIVAL
                 ::"r"(at), "r"(parity)
                 : "memory");
}
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_ring(const float *in, float *out, int rounds) {
    __shared__ float slot[64];
    __shared__ unsigned long long full, empty;
    auto cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), next = (rank + 1) % 4, last = (rank + 3) % 4;
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full))); // @PARITY
#ifdef WRONG_COUNT
        asm volatile("mbarrier.init.shared.b64 [%0], 96;" ::"r"(address(&empty))); // @WRONG_COUNT
#else
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(address(&empty))); // @OWN_ARRIVAL
#endif
    }
    cluster.sync();
    float v = in[rank * 64 + t];
    for (int k = 0; k < rounds; k++) {
        if (t == 0) asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(address(&full)) : "memory"); // @PARITY
        // The next block has read what was sent in the round before.
#ifndef NO_EMPTY
        wait(address(&empty), (k + 1) & 1);
#endif
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" // @NO_FULL @NO_EMPTY @PARITY @OWN_ARRIVAL
                     ::"r"(of_rank(address(&slot[t]), next)), "f"(v), "r"(of_rank(address(&full), next))
                     : "memory");
#ifdef PARITY
        wait(address(&full), 0);
#elif !defined(NO_FULL)
        wait(address(&full), k & 1);
#endif
        v += slot[63 - t]; // @NO_FULL @NO_EMPTY
#ifdef OWN_ARRIVAL
        unsigned sender = rank;
#else
        unsigned sender = last;
#endif
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" // @OWN_ARRIVAL @WRONG_COUNT @NO_LAST
                     ::"r"(of_rank(address(&empty), sender))
                     : "memory");
    }
    out[rank * 64 + t] = v;
#ifndef NO_LAST
    cluster.sync();
#endif
}
