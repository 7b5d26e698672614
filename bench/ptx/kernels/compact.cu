// Stream compaction: warp ballots, an offset for each warp, then a gather through shared memory.
// block: 256
// args: i32[4096] i32[4096] i32[16]
// grid: 16
// race NO_COUNTS_BARRIER: offsets are summed before all warps have stored their counts
// race NO_TOTAL_BARRIER: warps use the offsets before thread 0 has summed them
extern "C" __global__ void compact(const int *in, int *out, int *counts) {
    __shared__ int offsets[9];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int v = in[blockIdx.x * 256 + t];
    unsigned kept = __ballot_sync(0xffffffffu, v > 0);
    if (lane == 0) offsets[warp + 1] = __popc(kept); // @NO_COUNTS_BARRIER
#ifndef NO_COUNTS_BARRIER
    __syncthreads();
#endif
    if (t == 0) {
        offsets[0] = 0; // @NO_TOTAL_BARRIER
        for (int w = 1; w <= 8; w++) offsets[w] += offsets[w - 1]; // @NO_COUNTS_BARRIER @NO_TOTAL_BARRIER
        counts[blockIdx.x] = offsets[8];
    }
#ifndef NO_TOTAL_BARRIER
    __syncthreads();
#endif
    int place = offsets[warp] + __popc(kept & ((1u << lane) - 1)); // @NO_TOTAL_BARRIER
    if (v > 0) out[blockIdx.x * 256 + place] = v;
}
