// Tiles of 64 by 64 with 4 by 4 sums for each thread, transposed on the way in.
// block: 256
// args: f32[16384] f32[16384] f32[16384] i32=128
// grid: 2x2
// race NO_LOAD_BARRIER: tiles are used before they are stored
// race NO_REUSE_BARRIER: the next tiles are stored while these are still used
extern "C" __global__ void gemm_registers(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][64], bs[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 4; i++) {
            int e = t + i * 256;
            as[e % 16][e / 16] = a[(row0 + e / 16) * n + k + e % 16]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
            bs[e / 64][e % 64] = b[(k + e / 64) * n + col0 + e % 64]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        }
#ifndef NO_LOAD_BARRIER
        __syncthreads();
#endif
        for (int i = 0; i < 16; i++)
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++)
                    sum[y][x] += as[i][ty * 4 + y] * bs[i][tx * 4 + x]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
#ifndef NO_REUSE_BARRIER
        __syncthreads();
#endif
    }
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) c[(row0 + ty * 4 + y) * n + col0 + tx * 4 + x] = sum[y][x];
}
