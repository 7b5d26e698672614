// Column sums of a tile with a block of two dimensions.
// block: 32x8
// args: f32[8192] f32[256]
// grid: 8
// race NO_LOAD_BARRIER: a row is added before its warp has stored it
// race NO_STEP_BARRIER: a step reads rows that the step before has not added to
extern "C" __global__ void reduce_2d(const float *in, float *out) {
    __shared__ float tile[8][32];
    int x = threadIdx.x, y = threadIdx.y;
    float v = 0.0f;
    for (int row = y; row < 32; row += 8) v += in[(blockIdx.x * 32 + row) * 32 + x];
    tile[y][x] = v; // @NO_LOAD_BARRIER
#ifndef NO_LOAD_BARRIER
    __syncthreads();
#endif
    for (int s = 4; s > 0; s >>= 1) {
        if (y < s) tile[y][x] += tile[y + s][x]; // @NO_LOAD_BARRIER @NO_STEP_BARRIER
#ifndef NO_STEP_BARRIER
        __syncthreads();
#endif
    }
    if (y == 0) out[blockIdx.x * 32 + x] = tile[0][x];
}
