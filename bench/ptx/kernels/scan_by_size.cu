// Many short scans in one block, each over as many elements as the caller says: a power of two.
// block: 128
// args: i32[128] i32[128] i32=32
// grid: 1
// race NO_READ_BARRIER: a sum is stored before its old value has been read by the thread above
// race NO_STORE_BARRIER: a sum is read before it is stored
extern "C" __global__ void scan_by_size(const int *in, int *out, int size) {
    __shared__ int s[256];
    int t = threadIdx.x, at = 2 * t - (t & (size - 1)), own = in[t];
    s[at] = 0;
    at += size;
    s[at] = own; // @NO_STORE_BARRIER
    for (int step = 1; step < size; step <<= 1) {
#ifndef NO_STORE_BARRIER
        __syncthreads();
#endif
        int sum = s[at] + s[at - step]; // @NO_READ_BARRIER @NO_STORE_BARRIER
#ifndef NO_READ_BARRIER
        __syncthreads();
#endif
        s[at] = sum; // @NO_READ_BARRIER @NO_STORE_BARRIER
    }
    out[t] = s[at] - own;
}
