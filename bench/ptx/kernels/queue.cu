// A queue in shared memory: an atomic counter gives every element a place of its own.
// block: 128
// args: i32[2048] i32[2048] i32[16]
// grid: 16
// expect: proven
// race NO_BARRIER: the queue is read before all elements are in it
extern "C" __global__ void queue(const int *in, int *out, int *counts) {
    __shared__ int items[128], size;
    int t = threadIdx.x, v = in[blockIdx.x * 128 + t];
    if (t == 0) size = 0;
    __syncthreads();
    if (v > 0) items[atomicAdd(&size, 1) & 127] = v; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    if (t < size) out[blockIdx.x * 128 + t] = items[t]; // @NO_BARRIER
    if (t == 0) counts[blockIdx.x] = size; // @NO_BARRIER
}
