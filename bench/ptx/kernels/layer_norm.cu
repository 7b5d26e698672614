// Layer normalization: mean and variance by shuffles, the results broadcast through shared memory.
// block: 256
// args: f32[16384] f32[16384] i32=1024
// grid: 16
// race NO_SUMS_BARRIER: sums of other warps are read before they are stored
// race NO_RESULT_BARRIER: mean and variance are read before thread 0 has stored them
extern "C" __global__ void layer_norm(const float *in, float *out, int n) {
    __shared__ float sums[8], squares[8], mean, scale;
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    float s = 0.0f, q = 0.0f;
    for (int i = t; i < n; i += 256) {
        float v = in[blockIdx.x * n + i];
        s += v, q += v * v;
    }
    for (int d = 16; d > 0; d /= 2) {
        s += __shfl_down_sync(0xffffffffu, s, d);
        q += __shfl_down_sync(0xffffffffu, q, d);
    }
    if (lane == 0) sums[warp] = s, squares[warp] = q; // @NO_SUMS_BARRIER
#ifndef NO_SUMS_BARRIER
    __syncthreads();
#endif
    if (t == 0) {
        for (int w = 1; w < 8; w++) s += sums[w], q += squares[w]; // @NO_SUMS_BARRIER
        mean = s / n; // @NO_RESULT_BARRIER
        scale = rsqrtf(q / n - s / n * (s / n) + 1e-5f); // @NO_RESULT_BARRIER
    }
#ifndef NO_RESULT_BARRIER
    __syncthreads();
#endif
    for (int i = t; i < n; i += 256) out[blockIdx.x * n + i] = (in[blockIdx.x * n + i] - mean) * scale; // @NO_RESULT_BARRIER
}
