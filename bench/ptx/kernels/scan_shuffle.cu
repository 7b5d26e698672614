// Inclusive scan: shuffles within warps, then the first warp scans the totals of the warps.
// block: 256
// args: i32[4096] i32[4096]
// grid: 16
// race NO_TOTALS_BARRIER: the first warp reads totals that are not stored yet
// race NO_OFFSETS_BARRIER: other warps read offsets that the first warp has not stored yet
__device__ int warp_scan(int v, int lane) {
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += other;
    }
    return v;
}
extern "C" __global__ void scan_shuffle(const int *in, int *out) {
    __shared__ int totals[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int v = warp_scan(in[blockIdx.x * 256 + t], lane);
    if (lane == 31) totals[warp] = v; // @NO_TOTALS_BARRIER
#ifndef NO_TOTALS_BARRIER
    __syncthreads();
#endif
    if (warp == 0) {
        int total = lane < 8 ? totals[lane] : 0; // @NO_TOTALS_BARRIER
        total = warp_scan(total, lane);
        if (lane < 8) totals[lane] = total; // @NO_OFFSETS_BARRIER @NO_TOTALS_BARRIER
    }
#ifndef NO_OFFSETS_BARRIER
    __syncthreads();
#endif
    if (warp > 0) v += totals[warp - 1]; // @NO_OFFSETS_BARRIER
    out[blockIdx.x * 256 + t] = v;
}
