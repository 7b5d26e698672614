// One bit of a radix sort: ballots and counts for each warp give every key its place.
// block: 256
// args: i32[4096] i32[4096] i32=3
// grid: 16
// race NO_COUNTS_BARRIER: the counts of other warps are read before they are stored
extern "C" __global__ void radix_split(const unsigned *in, unsigned *out, int bit) {
    __shared__ int zeros[8];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, base = blockIdx.x * 256;
    unsigned key = in[base + t];
    bool one = key >> bit & 1;
    unsigned clear = __ballot_sync(0xffffffffu, !one);
    if (lane == 0) zeros[warp] = __popc(clear); // @NO_COUNTS_BARRIER
#ifndef NO_COUNTS_BARRIER
    __syncthreads();
#endif
    int before = __popc(clear & ((1u << lane) - 1)), all = 0;
    for (int w = 0; w < 8; w++) {
        if (w < warp) before += zeros[w]; // @NO_COUNTS_BARRIER
        all += zeros[w]; // @NO_COUNTS_BARRIER
    }
    out[base + (one ? all + t - before : before)] = key;
}
