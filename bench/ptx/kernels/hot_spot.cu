// A pyramid: several steps without leaving the block, the valid region shrinks by one cell each time.
// block: 16x16
// args: f32[16384] f32[16384] i32=128 i32=4
// grid: 16x16
// race NO_READ_BARRIER: a cell is overwritten while its neighbours still read it
// race NO_WRITE_BARRIER: a neighbour is read before its new value is stored
extern "C" __global__ void hot_spot(const float *in, float *out, int n, int steps) {
    __shared__ float heat[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 8 + tx, y = blockIdx.y * 8 + ty;
    heat[ty][tx] = in[min(y, n - 1) * n + min(x, n - 1)]; // @NO_WRITE_BARRIER
    __syncthreads();
    bool computed = false;
    for (int k = 1; k <= steps; k++) {
        float v = 0.0f;
        computed = tx >= k && tx < 16 - k && ty >= k && ty < 16 - k;
        if (computed)
            v = heat[ty][tx] // @NO_WRITE_BARRIER
                + 0.1f * (heat[ty][tx - 1] + heat[ty][tx + 1] + heat[ty - 1][tx] + heat[ty + 1][tx]); // @NO_READ_BARRIER @NO_WRITE_BARRIER
#ifndef NO_READ_BARRIER
        __syncthreads();
#endif
        if (computed) heat[ty][tx] = v; // @NO_READ_BARRIER @NO_WRITE_BARRIER
#ifndef NO_WRITE_BARRIER
        __syncthreads();
#endif
    }
    if (computed && x < n && y < n) out[y * n + x] = heat[ty][tx];
}
