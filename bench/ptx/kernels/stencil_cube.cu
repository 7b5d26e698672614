// A stencil over a tile of three dimensions, with a block of three dimensions.
// block: 8x8x4
// args: f32[16384] f32[16384]
// grid: 64
// race NO_BARRIER: neighbours are read before they are stored
extern "C" __global__ void stencil_cube(const float *in, float *out) {
    __shared__ float cube[4][8][8];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int i = blockIdx.x * 256 + (z * 8 + y) * 8 + x;
    cube[z][y][x] = in[i]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    float v = cube[z][y][x]; // @NO_BARRIER
    if (x > 0) v += cube[z][y][x - 1]; // @NO_BARRIER
    if (y > 0) v += cube[z][y - 1][x]; // @NO_BARRIER
    if (z > 0) v += cube[z - 1][y][x]; // @NO_BARRIER
    out[i] = v;
}
