// Transpose without padding: columns are permuted by xor with the row.
// block: 32x32
// args: f32[16384] f32[16384] i32=128
// grid: 4x4
// race NO_BARRIER: columns are read before other warps have stored them
// race WRONG_SWIZZLE: two columns of a row go to one place
extern "C" __global__ void transpose_swizzle(const float *in, float *out, int n) {
    __shared__ float tile[32 * 32];
    int x = threadIdx.x, y = threadIdx.y;
#ifdef WRONG_SWIZZLE
    int place = y * 32 + (x & (31 ^ (y & 1))); // y odd: the lowest bit of x gets lost
#else
    int place = y * 32 + (x ^ y);
#endif
    tile[place] = in[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x]; // @NO_BARRIER @WRONG_SWIZZLE
#ifndef NO_BARRIER
    __syncthreads();
#endif
    out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + x] = tile[x * 32 + (y ^ x)]; // @NO_BARRIER
}
