// Transpose of bytes: neighbours share a word, which is no race by itself.
// block: 32x32
// args: u8[16384] u8[16384] i32=128
// grid: 4x4
// race NO_BARRIER: columns are read before other warps have stored them
extern "C" __global__ void transpose_bytes(const unsigned char *in, unsigned char *out, int n) {
    __shared__ unsigned char tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + x] = tile[x][y]; // @NO_BARRIER
}
