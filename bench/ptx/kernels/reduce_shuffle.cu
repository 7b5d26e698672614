// Sum of a block by warp shuffles; shared memory holds one sum for each warp.
// block: 256
// args: f32[4096] f32[16] i32=4096
// grid: 16
// race NO_BARRIER: the first warp reads sums that other warps have not stored yet
__device__ float warp_sum(float v) {
    for (int s = 16; s > 0; s /= 2) v += __shfl_down_sync(0xffffffffu, v, s);
    return v;
}
extern "C" __global__ void reduce_shuffle(const float *in, float *out, int n) {
    __shared__ float warps[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
    v = warp_sum(v);
    if (lane == 0) warps[warp] = v; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    v = threadIdx.x < blockDim.x / 32 ? warps[lane] : 0.0f; // @NO_BARRIER
    if (warp == 0) v = warp_sum(v);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}
