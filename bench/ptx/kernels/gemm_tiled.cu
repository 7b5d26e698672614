// The tiled matrix product of the CUDA programming guide.
// block: 16x16
// args: f32[16384] f32[16384] f32[16384] i32=128
// grid: 8x8
// race NO_LOAD_BARRIER: tiles are used before they are stored
// race NO_REUSE_BARRIER: the next tiles are stored while these are still used
extern "C" __global__ void gemm_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        as[y][x] = a[row * n + k + x]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        bs[y][x] = b[(k + y) * n + col]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
#ifndef NO_LOAD_BARRIER
        __syncthreads();
#endif
        for (int i = 0; i < 16; i++) sum += as[y][i] * bs[i][x]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
#ifndef NO_REUSE_BARRIER
        __syncthreads();
#endif
    }
    c[row * n + col] = sum;
}
