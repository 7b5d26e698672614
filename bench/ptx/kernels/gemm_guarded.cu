// The tiled product for matrices of any size: zeros are stored beyond the edges.
// block: 16x16
// args: f32[10000] f32[10000] f32[10000] i32=100 i32=100 i32=100
// grid: 7x7
// race NO_REUSE_BARRIER: the next tiles are stored while these are still used
// divergence EARLY_CONTINUE: threads beyond the edge skip the barriers of an iteration
extern "C" __global__ void gemm_guarded(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int i = 0; i < (k + 15) / 16; i++) {
#ifdef EARLY_CONTINUE
        if (row >= m || col >= n) continue; // @EARLY_CONTINUE
#endif
        as[y][x] = row < m && i * 16 + x < k ? a[row * k + i * 16 + x] : 0.0f; // @NO_REUSE_BARRIER @EARLY_CONTINUE
        bs[y][x] = i * 16 + y < k && col < n ? b[(i * 16 + y) * n + col] : 0.0f; // @NO_REUSE_BARRIER @EARLY_CONTINUE
        __syncthreads(); // @EARLY_CONTINUE
        for (int j = 0; j < 16; j++) sum += as[y][j] * bs[j][x]; // @NO_REUSE_BARRIER @EARLY_CONTINUE
#ifndef NO_REUSE_BARRIER
        __syncthreads(); // @EARLY_CONTINUE
#endif
    }
    if (row < m && col < n) c[row * n + col] = sum;
}
