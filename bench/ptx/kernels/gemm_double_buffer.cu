// Two tiles of each matrix take turns: one barrier for each step.
// block: 16x16
// args: f32[16384] f32[16384] f32[16384] i32=128
// grid: 8x8
// race NO_BARRIER: tiles are used before they are stored
// race ONE_BUFFER: both buffers are the same
extern "C" __global__ void gemm_double_buffer(const float *a, const float *b, float *c, int n) {
    __shared__ float as[2][16][16], bs[2][16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    int now = 0;
    as[0][y][x] = a[row * n + x]; // @NO_BARRIER
    bs[0][y][x] = b[y * n + col]; // @NO_BARRIER
    __syncthreads();
    for (int k = 16; k <= n; k += 16) {
#ifdef ONE_BUFFER
        int next = now;
#else
        int next = now ^ 1;
#endif
        if (k < n) {
            as[next][y][x] = a[row * n + k + x]; // @NO_BARRIER @ONE_BUFFER
            bs[next][y][x] = b[(k + y) * n + col]; // @NO_BARRIER @ONE_BUFFER
        }
        for (int i = 0; i < 16; i++) sum += as[now][y][i] * bs[now][i][x]; // @NO_BARRIER @ONE_BUFFER
#ifndef NO_BARRIER
        __syncthreads();
#endif
        now = next;
    }
    c[row * n + col] = sum;
}
