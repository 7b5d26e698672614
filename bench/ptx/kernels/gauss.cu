// Gaussian elimination of a system with 16 unknowns by 16 by 17 threads.
// block: 17x16
// args: f32[272]
// grid: 1
// race NO_FACTOR_BARRIER: a row is changed before its factor is read by all
// race NO_STEP_BARRIER: the next pivot row is read while it is still being changed
extern "C" __global__ void gauss(float *system) {
    __shared__ float m[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    m[y][x] = system[y * 17 + x]; // @NO_STEP_BARRIER
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        float factor = y != k ? m[y][k] / m[k][k] : 0.0f; // @NO_FACTOR_BARRIER @NO_STEP_BARRIER
        float pivot = m[k][x]; // @NO_STEP_BARRIER
#ifndef NO_FACTOR_BARRIER
        __syncthreads();
#endif
        if (y != k) m[y][x] -= factor * pivot; // @NO_FACTOR_BARRIER @NO_STEP_BARRIER
#ifndef NO_STEP_BARRIER
        __syncthreads();
#endif
    }
    system[y * 17 + x] = m[y][x];
}
