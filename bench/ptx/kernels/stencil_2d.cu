// A five-point stencil over a tile with a halo on all sides.
// block: 16x16
// args: f32[16384] f32[16384] i32=128
// grid: 8x8
// race NO_BARRIER: neighbours are read before they are stored
extern "C" __global__ void stencil_2d(const float *in, float *out, int n) {
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = in[y * n + x]; // @NO_BARRIER
    if (threadIdx.x == 0) tile[ty][0] = x > 0 ? in[y * n + x - 1] : 0.0f; // @NO_BARRIER
    if (threadIdx.x == 15) tile[ty][17] = x + 1 < n ? in[y * n + x + 1] : 0.0f; // @NO_BARRIER
    if (threadIdx.y == 0) tile[0][tx] = y > 0 ? in[(y - 1) * n + x] : 0.0f; // @NO_BARRIER
    if (threadIdx.y == 15) tile[17][tx] = y + 1 < n ? in[(y + 1) * n + x] : 0.0f; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    out[y * n + x] = 0.2f * (tile[ty][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] // @NO_BARRIER
                             + tile[ty - 1][tx] + tile[ty + 1][tx]); // @NO_BARRIER
}
