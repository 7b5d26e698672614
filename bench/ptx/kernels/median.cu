// A median filter of three by three over a tile that covers the halo.
// block: 18x18
// args: f32[16384] f32[16384] i32=128
// grid: 8x8
// race NO_BARRIER: neighbours are read before they are stored
extern "C" __global__ void median(const float *in, float *out, int n) {
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x - 1, y = blockIdx.y * 16 + threadIdx.y - 1;
    tile[threadIdx.y][threadIdx.x] = in[min(max(y, 0), n - 1) * n + min(max(x, 0), n - 1)]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    if (threadIdx.x == 0 || threadIdx.x == 17 || threadIdx.y == 0 || threadIdx.y == 17) return;
    float v[9];
    for (int i = 0; i < 9; i++) v[i] = tile[threadIdx.y - 1 + i / 3][threadIdx.x - 1 + i % 3]; // @NO_BARRIER
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++)
            if (v[j] < v[i]) {
                float swap = v[i];
                v[i] = v[j];
                v[j] = swap;
            }
    out[y * n + x] = v[4];
}
