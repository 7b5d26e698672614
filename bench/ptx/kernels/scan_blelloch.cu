// Exclusive scan by Blelloch: up-sweep and down-sweep over a tree.
// block: 128
// args: i32[4096] i32[4096]
// grid: 16
// race NO_UP_BARRIER: a level of the up-sweep begins before the one below has ended
// race NO_DOWN_BARRIER: a level of the down-sweep begins before the one above has ended
// race NO_ROOT_BARRIER: the root is cleared by one thread and read by another
extern "C" __global__ void scan_blelloch(const int *in, int *out) {
    __shared__ int a[256];
    int t = threadIdx.x, offset = 1;
    a[2 * t] = in[blockIdx.x * 256 + 2 * t]; // @NO_UP_BARRIER
    a[2 * t + 1] = in[blockIdx.x * 256 + 2 * t + 1]; // @NO_UP_BARRIER
    for (int d = 128; d > 0; d >>= 1) {
#ifndef NO_UP_BARRIER
        __syncthreads();
#endif
        if (t < d) { // @NO_UP_BARRIER
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            a[j] += a[i]; // @NO_UP_BARRIER @NO_ROOT_BARRIER @NO_DOWN_BARRIER
        }
        offset *= 2;
    }
#ifdef NO_ROOT_BARRIER
    if (t == 127) a[255] = 0; // @NO_ROOT_BARRIER
#else
    if (t == 0) a[255] = 0; // @NO_DOWN_BARRIER @NO_UP_BARRIER
#endif
    for (int d = 1; d < 256; d *= 2) {
        offset >>= 1;
#ifndef NO_DOWN_BARRIER
        __syncthreads();
#endif
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            int v = a[i]; // @NO_DOWN_BARRIER @NO_UP_BARRIER
            a[i] = a[j]; // @NO_DOWN_BARRIER @NO_UP_BARRIER
            a[j] += v; // @NO_DOWN_BARRIER @NO_UP_BARRIER
        }
    }
    __syncthreads();
    out[blockIdx.x * 256 + 2 * t] = a[2 * t];
    out[blockIdx.x * 256 + 2 * t + 1] = a[2 * t + 1];
}
