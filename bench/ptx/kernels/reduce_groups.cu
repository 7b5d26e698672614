// Sum of a block with cooperative groups.
// block: 256
// args: f32[4096] f32[16]
// grid: 16
// race NO_SYNC: the first tile reads sums that other tiles have not stored yet
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void reduce_groups(const float *in, float *out) {
    __shared__ float sums[8];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    float v = in[blockIdx.x * 256 + threadIdx.x];
    for (int s = 16; s > 0; s /= 2) v += tile.shfl_down(v, s);
    if (tile.thread_rank() == 0) sums[threadIdx.x / 32] = v; // @NO_SYNC
#ifndef NO_SYNC
    block.sync();
#endif
    if (block.thread_rank() == 0) {
        float total = 0.0f;
        for (int w = 0; w < 8; w++) total += sums[w]; // @NO_SYNC
        out[blockIdx.x] = total;
    }
}
