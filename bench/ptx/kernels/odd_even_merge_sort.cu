// Batcher's odd-even merge sort.
// block: 256
// args: i32[8192]
// grid: 16
// race NO_BARRIER: an exchange begins before the one before has ended
extern "C" __global__ void odd_even_merge_sort(unsigned *data) {
    __shared__ unsigned a[512];
    unsigned t = threadIdx.x;
    a[t] = data[blockIdx.x * 512 + t]; // @NO_BARRIER
    a[t + 256] = data[blockIdx.x * 512 + 256 + t]; // @NO_BARRIER
    for (unsigned size = 2; size <= 512; size <<= 1) {
        unsigned stride = size / 2, offset = t & (stride - 1);
        {
#ifndef NO_BARRIER
            __syncthreads();
#endif
            unsigned i = 2 * t - (t & (stride - 1)), x = a[i], y = a[i + stride]; // @NO_BARRIER
            if (x > y) a[i] = y, a[i + stride] = x; // @NO_BARRIER
            stride >>= 1;
        }
        for (; stride > 0; stride >>= 1) {
#ifndef NO_BARRIER
            __syncthreads();
#endif
            unsigned i = 2 * t - (t & (stride - 1));
            if (offset >= stride) {
                unsigned x = a[i - stride], y = a[i]; // @NO_BARRIER
                if (x > y) a[i - stride] = y, a[i] = x; // @NO_BARRIER
            }
        }
    }
    __syncthreads();
    data[blockIdx.x * 512 + t] = a[t];
    data[blockIdx.x * 512 + 256 + t] = a[t + 256];
}
