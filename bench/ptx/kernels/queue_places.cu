// A queue in shared memory with room for all: places come from an atomic counter that is read after a barrier.
// block: 128
// args: i32[2048] i32[2048] i32[16]
// grid: 16
// race NO_BARRIER: the queue is read before all elements are in it
// race SET_BACK: the counter is set back while others still draw places, so that two may get the same
extern "C" __global__ void queue_places(const int *in, int *out, int *counts) {
    __shared__ int items[128], size;
    int t = threadIdx.x, v = in[blockIdx.x * 128 + t];
    if (t == 0) size = 0; // @SET_BACK
#ifndef SET_BACK
    __syncthreads();
#endif
    if (v > 0) items[atomicAdd(&size, 1)] = v; // @NO_BARRIER @SET_BACK
#ifndef NO_BARRIER
    __syncthreads();
#endif
    if (t < size) out[blockIdx.x * 128 + t] = items[t]; // @NO_BARRIER
    if (t == 0) counts[blockIdx.x] = size; // @NO_BARRIER
}
