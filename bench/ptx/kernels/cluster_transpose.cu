// A matrix in the shared memories of two blocks: each stores its tile, transposed, half of it into the other block.
// block: 32x8
// grid: 2
// args: f32[4096] f32[4096]
// target: sm_90
// race NO_BARRIER: tiles are read while the other block still stores into them
// race WRONG_COLUMN: both blocks store into the same columns of the tiles
// lifetime NO_START: nothing tells that the other block has started when its tile is stored into
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_transpose(const float *in, float *out) {
    __shared__ float tile[32][65];
    auto cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    int x = threadIdx.x, y = threadIdx.y;
#ifndef NO_START
    cluster.sync();
#endif
    // Row r of 64, columns 32 * rank .. +31, goes to column r of the block that has rows of that column.
    for (int r = y; r < 64; r += 8) {
        float v = in[(rank * 32 + x) * 64 + r];
#ifdef WRONG_COLUMN
        int column = x;
#else
        int column = rank * 32 + x;
#endif
        cluster.map_shared_rank(&tile[0][0], r / 32)[r % 32 * 65 + column] = v; // @NO_BARRIER @WRONG_COLUMN @NO_START
    }
#ifdef NO_BARRIER
    __syncthreads();
#else
    cluster.sync();
#endif
    for (int r = y; r < 32; r += 8)
        for (int half = 0; half < 2; half++)
            out[(rank * 32 + r) * 64 + half * 32 + x] = tile[r][half * 32 + x]; // @NO_BARRIER
}
