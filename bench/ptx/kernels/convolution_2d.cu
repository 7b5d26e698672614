// A tile with its halo loaded by one linear loop, then convolved.
// block: 16x16
// args: f32[16384] f32[25] f32[16384] i32=128
// grid: 8x8
// race NO_BARRIER: neighbours are read before they are stored
extern "C" __global__ void convolution_2d(const float *in, const float *filter, float *out, int n) {
    __shared__ float tile[20 * 20];
    int x0 = blockIdx.x * 16 - 2, y0 = blockIdx.y * 16 - 2;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 400; i += 256) {
        int x = x0 + i % 20, y = y0 + i / 20;
        tile[i] = x >= 0 && x < n && y >= 0 && y < n ? in[y * n + x] : 0.0f; // @NO_BARRIER
    }
#ifndef NO_BARRIER
    __syncthreads();
#endif
    float sum = 0.0f;
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++)
            sum += filter[dy * 5 + dx] * tile[(threadIdx.y + dy) * 20 + threadIdx.x + dx]; // @NO_BARRIER
    out[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x] = sum;
}
