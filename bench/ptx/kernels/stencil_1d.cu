// A stencil of radius 3 with a halo at both ends, as in NVIDIA's introduction.
// block: 256
// args: f32[4102] f32[4096]
// grid: 16
// race NO_BARRIER: neighbours are read before they are stored
// race SHORT_HALO: the threads that load the right halo are one too many and overwrite the tile
extern "C" __global__ void stencil_1d(const float *in, float *out) {
    __shared__ float tile[256 + 6];
    int g = blockIdx.x * 256 + threadIdx.x + 3, l = threadIdx.x + 3;
    tile[l] = in[g]; // @NO_BARRIER @SHORT_HALO
    if (threadIdx.x < 3) {
        tile[l - 3] = in[g - 3]; // @NO_BARRIER
#ifdef SHORT_HALO
        tile[l + 255] = in[g + 256]; // @SHORT_HALO
#else
        tile[l + 256] = in[g + 256]; // @NO_BARRIER
#endif
    }
#ifndef NO_BARRIER
    __syncthreads();
#endif
    float sum = 0.0f;
    for (int o = -3; o <= 3; o++) sum += tile[l + o]; // @NO_BARRIER
    out[g - 3] = sum;
}
