// Reverses the elements of each block.
// block: 256
// args: i32[4096]
// grid: 16
// race NO_BARRIER: elements are read before their threads have stored them
extern "C" __global__ void reverse(int *data) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * 256 + t]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    data[blockIdx.x * 256 + t] = s[255 - t]; // @NO_BARRIER
}
