// The two largest values of a block, pairs merged over a tree.
// block: 128
// args: f32[2048] f32[32]
// grid: 16
// race NO_BARRIER: a pair is read before the step before has stored it
extern "C" __global__ void top_two(const float *in, float *out) {
    __shared__ float2 best[128];
    int t = threadIdx.x;
    best[t] = make_float2(in[blockIdx.x * 128 + t], -1e30f); // @NO_BARRIER
    for (int s = 64; s > 0; s /= 2) {
#ifndef NO_BARRIER
        __syncthreads();
#endif
        if (t < s) {
            float2 a = best[t], b = best[t + s]; // @NO_BARRIER
            best[t] = make_float2(fmaxf(a.x, b.x), fmaxf(fminf(a.x, b.x), a.x > b.x ? a.y : b.y)); // @NO_BARRIER
        }
    }
    if (t == 0) out[2 * blockIdx.x] = best[0].x, out[2 * blockIdx.x + 1] = best[0].y;
}
