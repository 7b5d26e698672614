// A tile copied by cp.async, 16 bytes a thread, and read by its neighbours.
// block: 128
// args: f32[8192] f32[8192]
// grid: 16
// race NO_WAIT: the tile is read before the copies have arrived
// race NO_BARRIER: the tile is read before the copies of other threads have arrived
#include <cuda_pipeline.h>
extern "C" __global__ void copy_tile(const float4 *in, float *out) {
    __shared__ float4 tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[blockIdx.x * 128 + t], 16); // @NO_WAIT @NO_BARRIER
    __pipeline_commit();
#ifndef NO_WAIT
    __pipeline_wait_prior(0);
#endif
#ifndef NO_BARRIER
    __syncthreads();
#endif
    const float *flat = (const float *)tile;
    for (int i = 0; i < 4; i++) out[blockIdx.x * 512 + i * 128 + t] = flat[i * 128 + t]; // @NO_WAIT @NO_BARRIER
}
