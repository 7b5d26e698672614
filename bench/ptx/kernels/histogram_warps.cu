// A histogram for each warp, summed at the end.
// block: 256
// args: u8[16384] i32[64] i32=16384
// grid: 4
// race NO_MERGE_BARRIER: the histograms are summed before all warps have counted
extern "C" __global__ void histogram_warps(const unsigned char *in, int *out, int n) {
    __shared__ int bins[8][64];
    int t = threadIdx.x, warp = t / 32;
    for (int b = t; b < 8 * 64; b += 256) bins[b / 64][b % 64] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
        atomicAdd(&bins[warp][in[i] >> 2], 1); // @NO_MERGE_BARRIER
#ifndef NO_MERGE_BARRIER
    __syncthreads();
#endif
    if (t < 64) {
        int sum = 0;
        for (int w = 0; w < 8; w++) sum += bins[w][t]; // @NO_MERGE_BARRIER
        atomicAdd(&out[t], sum);
    }
}
