// Four blocks of a cluster sum their parts; each puts its sum into the first block's array, which adds them up.
// block: 128
// grid: 4
// args: f32[2048] f32[1]
// target: sm_90
// race NO_BARRIER: the sums are read before the other blocks have put them there
// race BLOCK_BARRIER: a barrier of the block in place of the cluster's orders nothing between blocks
// race SAME_SLOT: two blocks put their sums into the same slot
// lifetime NO_START: the first block may not have started when the others store into its memory
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_reduce(const float *in, float *out) {
    __shared__ float part[128];
    __shared__ float sums[4];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
#ifndef NO_START
    cluster.sync();
#endif
    float sum = 0.0f;
    for (int i = 0; i < 4; i++) sum += in[(rank * 4 + i) * 128 + t];
    part[t] = sum;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (t < k) part[t] += part[t + k];
        __syncthreads();
    }
#ifdef SAME_SLOT
    if (t == 0) *cluster.map_shared_rank(&sums[rank / 2], 0) = part[0]; // @SAME_SLOT
#else
    if (t == 0) *cluster.map_shared_rank(&sums[rank], 0) = part[0]; // @NO_BARRIER @BLOCK_BARRIER @NO_START
#endif
#ifdef BLOCK_BARRIER
    __syncthreads();
#elif !defined(NO_BARRIER)
    cluster.sync();
#endif
    if (rank == 0 && t == 0) out[0] = sums[0] + sums[1] + sums[2] + sums[3]; // @NO_BARRIER @BLOCK_BARRIER
}
