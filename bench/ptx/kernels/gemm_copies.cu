// Tiles are copied by cp.async into two buffers that take turns.
// block: 16x16
// args: f32[16384] f32[16384] f32[16384] i32=128
// grid: 8x8
// race NO_WAIT: tiles are used before the copies have arrived
// race NO_BARRIER: tiles are used before the copies of other threads have arrived
// race NO_REUSE_BARRIER: the next copies overwrite tiles that are still used
#include <cuda_pipeline.h>
extern "C" __global__ void gemm_copies(const float *a, const float *b, float *c, int n) {
    __shared__ float as[2][16][16], bs[2][16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    __pipeline_memcpy_async(&as[0][y][x], &a[row * n + x], 4); // @NO_WAIT @NO_BARRIER
    __pipeline_memcpy_async(&bs[0][y][x], &b[y * n + col], 4); // @NO_WAIT @NO_BARRIER
    __pipeline_commit();
    int tiles = n / 16;
    for (int k = 0; k < tiles; k++) {
        int now = k & 1;
        if (k + 1 < tiles) {
            __pipeline_memcpy_async(&as[now ^ 1][y][x], &a[row * n + (k + 1) * 16 + x], 4); // @NO_WAIT @NO_BARRIER @NO_REUSE_BARRIER
            __pipeline_memcpy_async(&bs[now ^ 1][y][x], &b[((k + 1) * 16 + y) * n + col], 4); // @NO_WAIT @NO_BARRIER @NO_REUSE_BARRIER
        }
        __pipeline_commit();
#ifndef NO_WAIT
        __pipeline_wait_prior(1);
#endif
#ifndef NO_BARRIER
        __syncthreads();
#endif
        for (int i = 0; i < 16; i++) sum += as[now][y][i] * bs[now][i][x]; // @NO_WAIT @NO_BARRIER @NO_REUSE_BARRIER
#ifndef NO_REUSE_BARRIER
        __syncthreads();
#endif
    }
    c[row * n + col] = sum;
}
