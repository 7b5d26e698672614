// A digit of two bits: four counters for each thread, scanned by columns.
// block: 128
// args: i32[2048] i32[2048] i32=4
// grid: 16
// race NO_STORE_BARRIER: counters of other threads are read before they are stored
// race NO_SCAN_BARRIER: the scan overwrites what others still read
extern "C" __global__ void radix_scan(const unsigned *in, int *out, int shift) {
    __shared__ int count[4][128];
    int t = threadIdx.x, base = blockIdx.x * 128;
    unsigned digit = in[base + t] >> shift & 3;
    for (int d = 0; d < 4; d++) count[d][t] = digit == d; // @NO_STORE_BARRIER
#ifndef NO_STORE_BARRIER
    __syncthreads();
#endif
    for (int s = 1; s < 128; s *= 2) {
        int v[4];
        for (int d = 0; d < 4; d++) v[d] = t >= s ? count[d][t - s] : 0; // @NO_STORE_BARRIER @NO_SCAN_BARRIER
#ifndef NO_SCAN_BARRIER
        __syncthreads();
#endif
        for (int d = 0; d < 4; d++) count[d][t] += v[d]; // @NO_SCAN_BARRIER
        __syncthreads();
    }
    int place = 0;
    for (unsigned d = 0; d < digit; d++) place += count[d][127];
    out[base + t] = place;
}
