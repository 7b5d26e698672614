// Transpose of a square matrix in place: a pair of tiles for each block of the lower triangle.
// block: 32x8
// args: f32[16384] i32=128
// grid: 4x4
// race NO_BARRIER: one of the tiles is read before it is stored
extern "C" __global__ void transpose_in_place(float *m, int n) {
    __shared__ float lower[32][33], upper[32][33];
    int bx = blockIdx.x, by = blockIdx.y;
    if (bx > by) return;
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) {
        lower[y][x] = m[(by * 32 + y) * n + bx * 32 + x]; // @NO_BARRIER
        upper[y][x] = m[(bx * 32 + y) * n + by * 32 + x]; // @NO_BARRIER
    }
#ifndef NO_BARRIER
    __syncthreads();
#endif
    for (int y = threadIdx.y; y < 32; y += 8) {
        m[(bx * 32 + y) * n + by * 32 + x] = lower[x][y]; // @NO_BARRIER
        m[(by * 32 + y) * n + bx * 32 + x] = upper[x][y]; // @NO_BARRIER
    }
}
