// A sum that every thread gets, computed twice with one array: the second use must wait for the first.
// block: 128
// args: f32[2048] f32[2048]
// grid: 16
// race NO_REUSE_BARRIER: a thread stores for the second sum while others still read the first one
// race NO_BARRIER: the total is read before all warps have stored
__device__ float block_sum(float v, float *warps) {
    for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(0xffffffffu, v, s);
#ifndef NO_REUSE_BARRIER
    __syncthreads();
#endif
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v; // @NO_REUSE_BARRIER @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    return warps[0] + warps[1] + warps[2] + warps[3]; // @NO_REUSE_BARRIER @NO_BARRIER
}
extern "C" __global__ void reduce_all(const float *in, float *out) {
    __shared__ float warps[4];
    int i = blockIdx.x * 128 + threadIdx.x;
    float x = in[i];
    float mean = block_sum(x, warps) / 128.0f;
    float d = x - mean;
    out[i] = d * rsqrtf(block_sum(d * d, warps) / 128.0f + 1e-5f);
}
