// Blocks of a cluster of two send each other a tile with a bulk copy, which completes on the receiver's mbarrier.
// block: 128
// grid: 2
// args: f32[2048] f32[256] i32=8
// target: sm_90
// fence NO_FENCE: the stores of the tile are not fenced before the copy engine reads it
// race EARLY_FILL: the next tile is stored while the copy of the last one still reads it
// race NO_WAIT: a tile is read before it has arrived
// phase OWN_MBARRIER: the bytes go to the other block and are counted by the sender's own mbarrier
// deadlock WRONG_BYTES: the receiver expects more bytes than are sent
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned of_rank(unsigned at, unsigned rank) {
    unsigned found;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(found) : "r"(at), "r"(rank));
    return found;
}
__device__ void wait(unsigned at, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra again; }" // @WRONG_BYTES @OWN_MBARRIER
                 ::"r"(at), "r"(parity)
                 : "memory");
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_bulk(const float *in, float *out, int rounds) {
    __shared__ __align__(16) float mine[128], theirs[128];
    __shared__ unsigned long long full;
    auto cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    int t = threadIdx.x;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full))); // @WRONG_BYTES @OWN_MBARRIER
    cluster.sync();
    float sum = 0.0f;
    for (int k = 0; k < rounds; k++) {
        mine[t] = in[k * 256 + rank * 128 + t]; // @NO_FENCE @EARLY_FILL
#ifndef NO_FENCE
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
        __syncthreads();
        if (t == 0) {
#ifdef WRONG_BYTES
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(address(&full)) : "memory"); // @WRONG_BYTES
#else
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(address(&full)) : "memory"); // @OWN_MBARRIER
#endif
#ifdef OWN_MBARRIER
            unsigned bar = address(&full);
#else
            unsigned bar = of_rank(address(&full), rank ^ 1);
#endif
            asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" // @NO_FENCE @EARLY_FILL @NO_WAIT @OWN_MBARRIER @WRONG_BYTES
                         ::"r"(of_rank(address(theirs), rank ^ 1)), "r"(address(mine)), "r"(bar)
                         : "memory");
        }
#ifndef NO_WAIT
        wait(address(&full), k & 1);
#endif
        sum += theirs[127 - t]; // @NO_WAIT
#ifdef EARLY_FILL
        __syncthreads();
#else
        cluster.sync();
#endif
    }
    out[rank * 128 + t] = sum;
    cluster.sync();
}
