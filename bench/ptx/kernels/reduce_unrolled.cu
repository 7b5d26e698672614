// The templated reduction: every step unrolled, the size of the block a template argument.
// block: 512
// args: f32[8192] f32[16]
// grid: 16
// race NO_BARRIER: the step over 128 begins before the step over 256 has ended
template <int N> __device__ void reduce_steps(float *sums, int t) {
    if (N >= 512) {
        if (t < 256) sums[t] += sums[t + 256]; // @NO_BARRIER
#ifndef NO_BARRIER
        __syncthreads();
#endif
    }
    if (N >= 256) {
        if (t < 128) sums[t] += sums[t + 128]; // @NO_BARRIER
        __syncthreads();
    }
    if (N >= 128) {
        if (t < 64) sums[t] += sums[t + 64];
        __syncthreads();
    }
    if (t < 32) {
        float v = sums[t] + sums[t + 32];
        for (int s = 16; s > 0; s /= 2) v += __shfl_down_sync(0xffffffffu, v, s);
        if (t == 0) sums[0] = v;
    }
}
extern "C" __global__ void reduce_unrolled(const float *in, float *out) {
    __shared__ float sums[512];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 512 + t];
    __syncthreads();
    reduce_steps<512>(sums, t);
    if (t == 0) out[blockIdx.x] = sums[0];
}
