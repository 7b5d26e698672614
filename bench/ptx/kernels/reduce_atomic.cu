// Sum of a block by one shared atomic counter.
// block: 256
// args: i32[4096] i32[16]
// grid: 16
// race NO_INIT_BARRIER: an atomic of another warp may come before the store of zero
// race NO_FINAL_BARRIER: thread 0 reads the sum before all threads have added
// race PLAIN_ADD: += is a load and a store; updates get lost
extern "C" __global__ void reduce_atomic(const int *in, int *out) {
    __shared__ int sum;
    int v = in[blockIdx.x * 256 + threadIdx.x];
    if (threadIdx.x == 0) sum = 0; // @NO_INIT_BARRIER
#ifndef NO_INIT_BARRIER
    __syncthreads();
#endif
#ifdef PLAIN_ADD
    sum += v; // @PLAIN_ADD
#else
    atomicAdd(&sum, v); // @NO_INIT_BARRIER @NO_FINAL_BARRIER
#endif
#ifndef NO_FINAL_BARRIER
    __syncthreads();
#endif
    if (threadIdx.x == 0) out[blockIdx.x] = sum; // @NO_FINAL_BARRIER
}
