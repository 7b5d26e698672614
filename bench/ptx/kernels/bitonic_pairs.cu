// Bitonic sort with half as many threads as elements: the pair is computed from the thread.
// block: 256
// args: i32[8192]
// grid: 16
// race NO_BARRIER: an exchange begins before the one before has ended
extern "C" __global__ void bitonic_pairs(unsigned *data) {
    __shared__ unsigned a[512];
    unsigned t = threadIdx.x;
    a[t] = data[blockIdx.x * 512 + t]; // @NO_BARRIER
    a[t + 256] = data[blockIdx.x * 512 + 256 + t]; // @NO_BARRIER
    for (unsigned size = 2; size <= 512; size <<= 1) {
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
#ifndef NO_BARRIER
            __syncthreads();
#endif
            unsigned i = 2 * t - (t & (stride - 1)), j = i + stride;
            bool up = (t & (size / 2)) == 0;
            unsigned x = a[i], y = a[j]; // @NO_BARRIER
            if ((x > y) == up) {
                a[i] = y; // @NO_BARRIER
                a[j] = x; // @NO_BARRIER
            }
        }
    }
    __syncthreads();
    data[blockIdx.x * 512 + t] = a[t];
    data[blockIdx.x * 512 + 256 + t] = a[t + 256];
}
