// Reverses the elements of each block, in shared memory whose size the launch decides.
// block: 256
// args: i32[4096]
// grid: 16
// shared: 1024
// race NO_BARRIER: elements are read before their threads have stored them
extern "C" __global__ void reverse_dynamic(int *data) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * blockDim.x + t]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    data[blockIdx.x * blockDim.x + t] = s[blockDim.x - 1 - t]; // @NO_BARRIER
}
