// A maximum found by compare-and-swap, and another one by atomicMax.
// block: 256
// args: i32[4096] i32[32]
// grid: 16
// race NO_BARRIER: the result is read before all threads have taken part
extern "C" __global__ void shared_atomics(const int *in, int *out) {
    __shared__ int largest, smallest;
    int v = in[blockIdx.x * 256 + threadIdx.x];
    if (threadIdx.x == 0) largest = -2147483647, smallest = 2147483647;
    __syncthreads();
    atomicMax(&largest, v); // @NO_BARRIER
    int seen = atomicAdd(&smallest, 0); // @NO_BARRIER
    while (v < seen) {
        int before = atomicCAS(&smallest, seen, v); // @NO_BARRIER
        if (before == seen) break;
        seen = before;
    }
#ifndef NO_BARRIER
    __syncthreads();
#endif
    if (threadIdx.x == 0) out[2 * blockIdx.x] = largest, out[2 * blockIdx.x + 1] = smallest; // @NO_BARRIER
}
