// Matrix times vector; the vector goes through shared memory in pieces.
// block: 256
// args: f32[262144] f32[512] f32[512] i32=512
// grid: 2
// race NO_LOAD_BARRIER: the piece is used before it is stored
// race NO_REUSE_BARRIER: the next piece is stored while this one is still used
extern "C" __global__ void matvec(const float *m, const float *x, float *y, int n) {
    __shared__ float piece[256];
    int row = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 256) {
        piece[threadIdx.x] = k + threadIdx.x < n ? x[k + threadIdx.x] : 0.0f; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
#ifndef NO_LOAD_BARRIER
        __syncthreads();
#endif
        if (row < n)
            for (int i = 0; i < 256 && k + i < n; i++) sum += m[row * n + k + i] * piece[i]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
#ifndef NO_REUSE_BARRIER
        __syncthreads();
#endif
    }
    if (row < n) y[row] = sum;
}
