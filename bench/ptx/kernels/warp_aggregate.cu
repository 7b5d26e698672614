// A counter for each warp, kept by its first lane, read by all lanes behind __syncwarp.
// block: 256
// args: i32[4096] i32[4096]
// grid: 16
// race NO_SYNCWARP: lanes of one warp are not ordered by themselves
extern "C" __global__ void warp_aggregate(const int *in, int *out) {
    __shared__ int counter[8];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, i = blockIdx.x * 256 + t;
    unsigned votes = __ballot_sync(0xffffffffu, in[i] > 0);
    if (lane == 0) counter[warp] = __popc(votes); // @NO_SYNCWARP
#ifndef NO_SYNCWARP
    __syncwarp();
#endif
    out[i] = counter[warp]; // @NO_SYNCWARP
}
