// Sum of a block; the last warp goes on alone, with __syncwarp between its steps.
// block: 256
// args: f32[4096] f32[16] i32=4096
// grid: 16
// race NO_SYNCWARP: lanes of one warp are not ordered by themselves since Volta
// race TOO_EARLY: two warps are still adding when the steps without barriers begin
extern "C" __global__ void reduce_last_warp(const float *in, float *out, int n) {
    __shared__ float sums[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
#ifdef TOO_EARLY
    for (int s = 128; s > 64; s >>= 1) {
#else
    for (int s = 128; s >= 32; s >>= 1) {
#endif
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
#ifdef TOO_EARLY
    if (t < 64) {
        for (int s = 64; s > 0; s >>= 1) {
#else
    if (t < 32) {
        for (int s = 16; s > 0; s >>= 1) {
#endif
            float other = sums[t + s]; // @TOO_EARLY @NO_SYNCWARP
#ifndef NO_SYNCWARP
            __syncwarp();
#endif
            sums[t] += other; // @TOO_EARLY @NO_SYNCWARP
#ifndef NO_SYNCWARP
            __syncwarp();
#endif
        }
    }
    if (t == 0) out[blockIdx.x] = sums[0]; // @TOO_EARLY @NO_SYNCWARP
}
