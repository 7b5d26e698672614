// Softmax with a running maximum; warps exchange maximum and sum once.
// block: 128
// args: f32[16384] f32[16384] i32=1024
// grid: 16
// race NO_BARRIER: maxima of other warps are read before they are stored
extern "C" __global__ void softmax_online(const float *in, float *out, int n) {
    __shared__ float2 warps[4];
    const float *row = in + blockIdx.x * n;
    float largest = -1e30f, sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 128) {
        float v = row[i], m = fmaxf(largest, v);
        sum = sum * __expf(largest - m) + __expf(v - m);
        largest = m;
    }
    for (int s = 16; s > 0; s /= 2) {
        float m = __shfl_xor_sync(0xffffffffu, largest, s), p = __shfl_xor_sync(0xffffffffu, sum, s);
        float both = fmaxf(largest, m);
        sum = sum * __expf(largest - both) + p * __expf(m - both);
        largest = both;
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = make_float2(largest, sum); // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    float m = -1e30f, total = 0.0f;
    for (int w = 0; w < 4; w++) m = fmaxf(m, warps[w].x); // @NO_BARRIER
    for (int w = 0; w < 4; w++) total += warps[w].y * __expf(warps[w].x - m); // @NO_BARRIER
    for (int i = threadIdx.x; i < n; i += 128) out[blockIdx.x * n + i] = __expf(row[i] - m) / total;
}
