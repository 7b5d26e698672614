// Every block has a tile, and reads its halo from the shared memory of its neighbours in a cluster of four.
// block: 128
// grid: 8
// args: f32[1024] f32[1024]
// target: sm_90
// race NO_FIRST: a halo is read before the neighbour has stored it
// race BLOCK_BARRIER: a barrier of the block does not wait for the neighbours
// lifetime NO_LAST: a block can end while its neighbours still read its tile
// race WRONG_RANK: the halo on the right is stored into, not read from, the tile of the neighbour
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_stencil(const float *in, float *out) {
    __shared__ float s[128];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;
    unsigned rank = cluster.block_rank();
    s[t] = in[blockIdx.x * 128 + t]; // @NO_FIRST @BLOCK_BARRIER @WRONG_RANK
#if defined(BLOCK_BARRIER)
    __syncthreads();
#elif !defined(NO_FIRST)
    cluster.sync();
#else
    __syncthreads();
#endif
    float left = t > 0 ? s[t - 1] : 0.0f, right = t < 127 ? s[t + 1] : 0.0f;
    if (t == 0 && rank > 0) left = cluster.map_shared_rank(s, rank - 1)[127]; // @NO_FIRST @BLOCK_BARRIER @NO_LAST
#ifdef WRONG_RANK
    if (t == 127 && rank < 3) cluster.map_shared_rank(s, rank + 1)[0] = right; // @WRONG_RANK
#else
    if (t == 127 && rank < 3) right = cluster.map_shared_rank(s, rank + 1)[0]; // @NO_FIRST @BLOCK_BARRIER @NO_LAST
#endif
    out[blockIdx.x * 128 + t] = 0.25f * left + 0.5f * s[t] + 0.25f * right; // @WRONG_RANK
#ifndef NO_LAST
    cluster.sync();
#endif
}
