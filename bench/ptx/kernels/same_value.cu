// All threads store the same constant into a flag: no race, whoever comes last.
// block: 128
// args: i32[2048] i32[16]
// grid: 16
// race OWN_VALUE: each thread stores a value of its own
// race NO_BARRIER: the flag is read before it is stored
extern "C" __global__ void same_value(const int *in, int *out) {
    __shared__ int found;
    int t = threadIdx.x, v = in[blockIdx.x * 128 + t];
    if (t == 0) found = 0;
    __syncthreads();
#ifdef OWN_VALUE
    if (v > 0) found = t; // @OWN_VALUE
#else
    if (v > 0) found = 1; // @NO_BARRIER
#endif
#ifndef NO_BARRIER
    __syncthreads();
#endif
    if (t == 0) out[blockIdx.x] = found; // @NO_BARRIER
}
