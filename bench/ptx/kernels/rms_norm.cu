// Normalization of several rows by one block: the total is used again for each row.
// block: 128
// args: f32[16384] f32[16384] i32=1024 i32=16
// grid: 4
// race NO_LOOP_BARRIER: a warp stores for the next row while another still reads this one
// race NO_BARRIER: sums of other warps are read before they are stored
extern "C" __global__ void rms_norm(const float *in, float *out, int n, int rows) {
    __shared__ float warps[4];
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float s = 0.0f;
        for (int i = threadIdx.x; i < n; i += 128) s += in[row * n + i] * in[row * n + i];
        for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = s; // @NO_LOOP_BARRIER @NO_BARRIER
#ifndef NO_BARRIER
        __syncthreads();
#endif
        float scale = rsqrtf((warps[0] + warps[1] + warps[2] + warps[3]) / n + 1e-6f); // @NO_LOOP_BARRIER @NO_BARRIER
#ifndef NO_LOOP_BARRIER
        __syncthreads();
#endif
        for (int i = threadIdx.x; i < n; i += 128) out[row * n + i] = in[row * n + i] * scale;
    }
}
