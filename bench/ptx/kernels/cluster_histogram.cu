// A histogram in the shared memories of a cluster of four: every thread adds to the block that has its bin.
// block: 128
// grid: 4
// args: i32[4096] i32[256] i32=4096
// target: sm_90
// race NO_ZERO: bins are added to before their block has set them to zero
// race BLOCK_BARRIER: a barrier of the block does not wait until the other blocks' bins are zero
// race NO_TOTAL: bins are read while other blocks still add to them
// race PLAIN_ADD: a bin is read and stored again, with no atomic
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const int *in, int *out, int n) {
    __shared__ int bins[64];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    unsigned rank = cluster.block_rank();
    if (t < 64) bins[t] = 0; // @NO_ZERO @BLOCK_BARRIER
#if defined(BLOCK_BARRIER)
    __syncthreads();
#elif !defined(NO_ZERO)
    cluster.sync();
#endif
    for (int i = rank * 128 + t; i < n; i += 512) {
        int bin = in[i] & 255;
        int *to = cluster.map_shared_rank(&bins[bin % 64], bin / 64);
#ifdef PLAIN_ADD
        *to = *to + 1; // @PLAIN_ADD
#else
        atomicAdd(to, 1); // @NO_ZERO @BLOCK_BARRIER @NO_TOTAL
#endif
    }
#ifdef NO_TOTAL
    __syncthreads();
#else
    cluster.sync();
#endif
    if (t < 64) out[rank * 64 + t] = bins[t]; // @NO_TOTAL
}
