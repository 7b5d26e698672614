// Two arrays in one piece of dynamic shared memory; the second begins where the first ends.
// block: 128
// args: f32[2048] f32[2048] f32[2048]
// grid: 16
// shared: 1024
// race OVERLAP: the second array begins in the middle of the first
// race NO_BARRIER: neighbours are read before they are stored
extern "C" __global__ void split_arrays(const float *a, const float *b, float *out) {
    extern __shared__ float memory[];
#ifdef OVERLAP
    float *first = memory, *second = memory + blockDim.x / 2;
#else
    float *first = memory, *second = memory + blockDim.x;
#endif
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    first[t] = a[i]; // @OVERLAP @NO_BARRIER
    second[t] = b[i]; // @OVERLAP @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    out[i] = first[blockDim.x - 1 - t] * second[t ^ 1]; // @NO_BARRIER
}
