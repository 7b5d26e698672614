// A scan over the blocks of a cluster of eight: each scans its own part, and adds the totals of the blocks before it.
// block: 64
// grid: 8
// args: i32[512] i32[512]
// target: sm_90
// race NO_TOTALS: totals are read before the other blocks have stored them
// lifetime NO_LAST: a block can end while later blocks still read its total
// race STEP_BARRIER: the steps of the scan inside a block have no barrier between reads and writes
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(8, 1, 1) cluster_scan(const int *in, int *out) {
    __shared__ int s[64];
    __shared__ int total;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    unsigned rank = cluster.block_rank();
    s[t] = in[rank * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int v = t >= d ? s[t - d] : 0; // @STEP_BARRIER
#ifndef STEP_BARRIER
        __syncthreads();
#endif
        s[t] += v; // @STEP_BARRIER
        __syncthreads();
    }
    if (t == 63) total = s[63]; // @NO_TOTALS
#ifdef NO_TOTALS
    __syncthreads();
#else
    cluster.sync();
#endif
    int before = 0;
    for (unsigned b = 0; b < rank; b++) before += *cluster.map_shared_rank(&total, b); // @NO_TOTALS @NO_LAST
    out[rank * 64 + t] = before + s[t];
#ifndef NO_LAST
    cluster.sync();
#endif
}
