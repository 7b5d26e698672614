// Rank sort: every element counts how many are smaller, then goes to its place.
// block: 256
// args: i32[4096] i32[4096]
// grid: 16
// race NO_LOAD_BARRIER: elements are counted before they are stored
extern "C" __global__ void rank_sort(const int *in, int *out) {
    __shared__ int a[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    int mine = in[base + t];
    a[t] = mine; // @NO_LOAD_BARRIER
#ifndef NO_LOAD_BARRIER
    __syncthreads();
#endif
    int rank = 0;
    for (int i = 0; i < 256; i++) rank += a[i] < mine || (a[i] == mine && i < t); // @NO_LOAD_BARRIER
    out[base + rank] = mine;
}
