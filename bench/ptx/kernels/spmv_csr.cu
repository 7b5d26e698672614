// Sparse matrix times vector: a warp for each row, the products summed in shared memory.
// block: 128
// args: i32[129]:steps16 i32[2048]:below128 f32[2048] f32[128] f32[128] i32=128
// grid: 32
// race NO_SYNCWARP: lanes of one warp are not ordered by themselves
extern "C" __global__ void spmv_csr(const int *begin, const int *column, const float *value, const float *x, float *y,
                                    int rows) {
    __shared__ float sums[128];
    int t = threadIdx.x, lane = t % 32, row = blockIdx.x * 4 + t / 32;
    float sum = 0.0f;
    if (row < rows)
        for (int i = begin[row] + lane; i < begin[row + 1]; i += 32) sum += value[i] * x[column[i]];
    sums[t] = sum; // @NO_SYNCWARP
#ifndef NO_SYNCWARP
    __syncwarp();
#endif
    for (int s = 16; s > 0; s /= 2) {
        float other = lane < s ? sums[t + s] : 0.0f; // @NO_SYNCWARP
#ifndef NO_SYNCWARP
        __syncwarp();
#endif
        if (lane < s) sums[t] += other; // @NO_SYNCWARP
#ifndef NO_SYNCWARP
        __syncwarp();
#endif
    }
    if (lane == 0 && row < rows) y[row] = sums[t];
}
