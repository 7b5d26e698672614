// Inclusive scan in one array: a barrier behind the reads and one behind the writes of each step.
// block: 256
// args: i32[4096] i32[4096]
// grid: 16
// race NO_READ_BARRIER: a thread stores while its neighbour has yet to read
// race NO_WRITE_BARRIER: a thread reads what its neighbour has yet to store
extern "C" __global__ void scan_in_place(const int *in, int *out) {
    __shared__ int a[256];
    int t = threadIdx.x;
    a[t] = in[blockIdx.x * 256 + t]; // @NO_WRITE_BARRIER
    __syncthreads();
    for (int d = 1; d < blockDim.x; d <<= 1) {
        int v = t >= d ? a[t - d] : 0; // @NO_READ_BARRIER @NO_WRITE_BARRIER
#ifndef NO_READ_BARRIER
        __syncthreads();
#endif
        a[t] += v; // @NO_READ_BARRIER @NO_WRITE_BARRIER
#ifndef NO_WRITE_BARRIER
        __syncthreads();
#endif
    }
    out[blockIdx.x * 256 + t] = a[t];
}
