// A histogram of more bins than threads.
// block: 128
// args: i32[8192] i32[1000] i32=8192
// grid: 4
// race NO_INIT_BARRIER: values are counted before the bin is cleared
// race OVERLAPPING_CLEAR: some bins are cleared a second time while others count already
extern "C" __global__ void histogram_large(const int *in, int *out, int n) {
    __shared__ int bins[1000];
    for (int b = threadIdx.x; b < 1000; b += blockDim.x) bins[b] = 0; // @NO_INIT_BARRIER
#if !defined(NO_INIT_BARRIER) && !defined(OVERLAPPING_CLEAR)
    __syncthreads();
#endif
#ifdef OVERLAPPING_CLEAR
    __syncthreads();
    if (threadIdx.x < 64) bins[threadIdx.x] = 0; // @OVERLAPPING_CLEAR
#endif
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
        atomicAdd(&bins[(unsigned)in[i] % 1000u], 1); // @NO_INIT_BARRIER @OVERLAPPING_CLEAR
    __syncthreads();
    for (int b = threadIdx.x; b < 1000; b += blockDim.x) atomicAdd(&out[b], bins[b]);
}
