// A tile whose rows are as long as the caller says, and one word more against bank conflicts.
// block: 16x16
// args: f32[256] f32[256] i32=16
// shared: 1088
// grid: 1
// race NO_BARRIER: the tile is read transposed before it is filled
extern "C" __global__ void tile_stride(const float *in, float *out, int rows) {
    extern __shared__ float tile[];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y * (rows + 1) + x] = in[y * 16 + x]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    out[y * 16 + x] = tile[x * (rows + 1) + y]; // @NO_BARRIER
}
