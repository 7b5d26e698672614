// The reduction of the CUDA samples of 2007: a volatile pointer and no barrier inside of the last warp.
// block: 128
// args: f32[2048] f32[16]
// grid: 16
// expect: race
// race NO_BARRIER: the last warp adds what other warps have not stored yet
extern "C" __global__ void reduce_volatile(const float *in, float *out) {
    __shared__ float sums[128];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 128 + t]; // @NO_BARRIER
    __syncthreads();
    if (t < 64) sums[t] += sums[t + 64]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    if (t < 32) {
        volatile float *v = sums;
        v[t] += v[t + 32]; // @base @NO_BARRIER
        v[t] += v[t + 16]; // @base @NO_BARRIER
        v[t] += v[t + 8]; // @base @NO_BARRIER
        v[t] += v[t + 4]; // @base @NO_BARRIER
        v[t] += v[t + 2]; // @base @NO_BARRIER
        v[t] += v[t + 1]; // @base @NO_BARRIER
    }
    if (t == 0) out[blockIdx.x] = sums[0]; // @base @NO_BARRIER
}
