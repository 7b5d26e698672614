// LU decomposition of a block: a column of factors, then the rest is updated.
// block: 32
// args: f32[1024]
// grid: 1
// race NO_FACTOR_BARRIER: rows use factors that other threads are still storing
// race NO_UPDATE_BARRIER: the next column begins before the update has ended
extern "C" __global__ void lu_block(float *matrix) {
    __shared__ float m[32][33];
    int t = threadIdx.x;
    for (int i = 0; i < 32; i++) m[i][t] = matrix[i * 32 + t]; // @NO_UPDATE_BARRIER
    __syncthreads();
    for (int k = 0; k < 31; k++) {
        if (t > k) m[t][k] /= m[k][k]; // @NO_FACTOR_BARRIER @NO_UPDATE_BARRIER
#ifndef NO_FACTOR_BARRIER
        __syncthreads();
#endif
        if (t > k)
            for (int i = k + 1; i < 32; i++) m[i][t] -= m[i][k] * m[k][t]; // @NO_FACTOR_BARRIER @NO_UPDATE_BARRIER
#ifndef NO_UPDATE_BARRIER
        __syncthreads();
#endif
    }
    for (int i = 0; i < 32; i++) matrix[i * 32 + t] = m[i][t]; // @NO_UPDATE_BARRIER
}
