// Odd-even transposition sort: neighbours are exchanged, first even pairs, then odd ones.
// block: 128
// args: i32[4096]
// grid: 16
// race NO_EVEN_BARRIER: odd pairs begin before even ones have ended
// race NO_ODD_BARRIER: even pairs begin before odd ones have ended
extern "C" __global__ void odd_even_sort(int *data) {
    __shared__ int a[256];
    int t = threadIdx.x;
    a[t] = data[blockIdx.x * 256 + t];
    a[t + 128] = data[blockIdx.x * 256 + 128 + t];
    __syncthreads();
    for (int round = 0; round < 128; round++) {
        int x = a[2 * t], y = a[2 * t + 1]; // @NO_EVEN_BARRIER @NO_ODD_BARRIER
        a[2 * t] = min(x, y); // @NO_EVEN_BARRIER @NO_ODD_BARRIER
        a[2 * t + 1] = max(x, y); // @NO_EVEN_BARRIER @NO_ODD_BARRIER
#ifndef NO_EVEN_BARRIER
        __syncthreads();
#endif
        if (t < 127) {
            x = a[2 * t + 1], y = a[2 * t + 2]; // @NO_EVEN_BARRIER @NO_ODD_BARRIER
            a[2 * t + 1] = min(x, y); // @NO_EVEN_BARRIER @NO_ODD_BARRIER
            a[2 * t + 2] = max(x, y); // @NO_EVEN_BARRIER @NO_ODD_BARRIER
        }
#ifndef NO_ODD_BARRIER
        __syncthreads();
#endif
    }
    data[blockIdx.x * 256 + t] = a[t]; // @NO_ODD_BARRIER
    data[blockIdx.x * 256 + 128 + t] = a[t + 128]; // @NO_ODD_BARRIER
}
