// Forward substitution: one unknown in each step, broadcast to the threads below.
// block: 64
// args: f32[4096] f32[64]
// grid: 1
// race NO_BARRIER: the unknown is used before it is stored
extern "C" __global__ void triangular_solve(const float *m, float *b) {
    __shared__ float x[64];
    int t = threadIdx.x;
    float rest = b[t];
    for (int k = 0; k < 64; k++) {
        if (t == k) x[k] = rest / m[k * 64 + k]; // @NO_BARRIER
#ifndef NO_BARRIER
        __syncthreads();
#endif
        if (t > k) rest -= m[t * 64 + k] * x[k]; // @NO_BARRIER
    }
    b[t] = x[t];
}
