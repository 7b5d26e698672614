// Tiles are copied by cp.async into a ring of three buffers, two steps ahead: one barrier for each step.
// block: 16x16
// args: f32[16384] f32[16384] f32[16384] i32=128
// grid: 8x8
// race WAIT_FOR_TOO_FEW: one group more may be outstanding than the ring allows
// race NO_BARRIER: tiles are used before the copies of other threads have arrived
// race SHORT_RING: two buffers are too few for copies two steps ahead
#include <cuda_pipeline.h>
#ifdef SHORT_RING
#define RING 2
#else
#define RING 3
#endif
extern "C" __global__ void gemm_copy_ring(const float *a, const float *b, float *c, int n) {
    __shared__ float as[RING][16][16], bs[RING][16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x, tiles = n / 16;
    float sum = 0.0f;
    for (int k = 0; k < 2; k++) {
        if (k < tiles) {
            __pipeline_memcpy_async(&as[k][y][x], &a[row * n + k * 16 + x], 4); // @WAIT_FOR_TOO_FEW @NO_BARRIER @SHORT_RING
            __pipeline_memcpy_async(&bs[k][y][x], &b[(k * 16 + y) * n + col], 4); // @WAIT_FOR_TOO_FEW @NO_BARRIER @SHORT_RING
        }
        __pipeline_commit();
    }
    int now = 0, next = 2 % RING;
    for (int k = 0; k < tiles; k++) {
#ifdef WAIT_FOR_TOO_FEW
        __pipeline_wait_prior(2);
#else
        __pipeline_wait_prior(1);
#endif
#ifndef NO_BARRIER
        __syncthreads();
#endif
        if (k + 2 < tiles) {
            __pipeline_memcpy_async(&as[next][y][x], &a[row * n + (k + 2) * 16 + x], 4); // @WAIT_FOR_TOO_FEW @NO_BARRIER @SHORT_RING
            __pipeline_memcpy_async(&bs[next][y][x], &b[((k + 2) * 16 + y) * n + col], 4); // @WAIT_FOR_TOO_FEW @NO_BARRIER @SHORT_RING
        }
        __pipeline_commit();
        for (int i = 0; i < 16; i++) sum += as[now][y][i] * bs[now][i][x]; // @WAIT_FOR_TOO_FEW @NO_BARRIER @SHORT_RING
        now = now + 1 == RING ? 0 : now + 1;
        next = next + 1 == RING ? 0 : next + 1;
    }
    c[row * n + col] = sum;
}
