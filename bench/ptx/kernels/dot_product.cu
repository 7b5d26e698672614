// Dot product with a grid-stride loop, as in "CUDA by Example".
// block: 256
// args: f32[4096] f32[4096] f32[4] i32=4096
// grid: 4
// race NO_BARRIER: partial products are added before they are stored
// divergence BARRIER_IN_BRANCH: the barrier stands inside of `if (t < s)`
extern "C" __global__ void dot_product(const float *a, const float *b, float *out, int n) {
    __shared__ float cache[256];
    int t = threadIdx.x;
    float v = 0.0f;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) v += a[i] * b[i];
    cache[t] = v; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    int s = 128;
    while (s != 0) {
#ifdef BARRIER_IN_BRANCH
        if (t < s) { // @BARRIER_IN_BRANCH
            cache[t] += cache[t + s]; // @BARRIER_IN_BRANCH
            __syncthreads(); // @BARRIER_IN_BRANCH
        }
#else
        if (t < s) cache[t] += cache[t + s]; // @NO_BARRIER
        __syncthreads();
#endif
        s /= 2;
    }
    if (t == 0) out[blockIdx.x] = cache[0]; // @BARRIER_IN_BRANCH
}
