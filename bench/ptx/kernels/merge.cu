// Two sorted halves merged: every element finds its place by a binary search in the other half.
// block: 128
// args: i32[4096] i32[4096]
// grid: 16
// race NO_BARRIER: the search reads elements that are not stored yet
extern "C" __global__ void merge(const int *in, int *out) {
    __shared__ int a[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    a[t] = in[base + t]; // @NO_BARRIER
    a[t + 128] = in[base + 128 + t]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    for (int half = 0; half < 2; half++) {
        int mine = a[half * 128 + t], low = 0, high = 128; // @NO_BARRIER
        while (low < high) {
            int middle = (low + high) / 2, other = a[(1 - half) * 128 + middle]; // @NO_BARRIER
            if (other < mine || (half == 1 && other == mine)) low = middle + 1;
            else high = middle;
        }
        out[base + t + low] = mine;
    }
}
