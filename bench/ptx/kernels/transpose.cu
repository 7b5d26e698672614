// Transpose through a padded tile of 32 by 32.
// block: 32x8
// args: f32[16384] f32[16384] i32=128
// grid: 4x4
// race NO_BARRIER: columns are read before other rows of threads have stored them
extern "C" __global__ void transpose(const float *in, float *out, int n) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j]; // @NO_BARRIER
}
