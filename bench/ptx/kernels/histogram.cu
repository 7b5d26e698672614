// A histogram of 256 bins in shared memory, added to the global one at the end.
// block: 256
// args: u8[16384] i32[256] i32=16384
// grid: 4
// race NO_INIT_BARRIER: values are counted before the bin is cleared
// race NO_MERGE_BARRIER: bins are added to the result before all values are counted
// race PLAIN_INCREMENT: ++ is a load and a store; counts get lost
extern "C" __global__ void histogram(const unsigned char *in, int *out, int n) {
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0; // @NO_INIT_BARRIER
#ifndef NO_INIT_BARRIER
    __syncthreads();
#endif
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) {
#ifdef PLAIN_INCREMENT
        bins[in[i]]++; // @PLAIN_INCREMENT
#else
        atomicAdd(&bins[in[i]], 1); // @NO_INIT_BARRIER @NO_MERGE_BARRIER
#endif
    }
#ifndef NO_MERGE_BARRIER
    __syncthreads();
#endif
    atomicAdd(&out[t], bins[t]); // @NO_MERGE_BARRIER
}
