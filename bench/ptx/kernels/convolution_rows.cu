// Rows convolved with a filter of radius 8; each thread loads several elements.
// block: 16x4
// args: f32[16384] f32[17] f32[16384] i32=128
// grid: 1x32
// race NO_BARRIER: neighbours (of the same warp: two rows of 16 threads) are read before they are stored
extern "C" __global__ void convolution_rows(const float *in, const float *filter, float *out, int w) {
    __shared__ float row[4][10 * 16];
    int y = blockIdx.y * 4 + threadIdx.y, x = threadIdx.x;
    for (int i = 1; i < 9; i++) row[threadIdx.y][x + i * 16] = in[y * w + x + (i - 1) * 16]; // @NO_BARRIER
    row[threadIdx.y][x] = 0.0f; // @NO_BARRIER
    row[threadIdx.y][x + 9 * 16] = 0.0f; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    for (int i = 1; i < 9; i++) {
        float sum = 0.0f;
        for (int k = -8; k <= 8; k++) sum += filter[8 - k] * row[threadIdx.y][x + i * 16 + k]; // @NO_BARRIER
        out[y * w + x + (i - 1) * 16] = sum;
    }
}
