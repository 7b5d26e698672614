// Relaxation until nothing changes: __syncthreads_or ends a round and tells whether there was a change.
// block: 256
// args: i32[4096]
// grid: 16
// race NO_READ_BARRIER: labels are stored while neighbours still read the old ones
extern "C" __global__ void vote_loop(int *labels) {
    __shared__ int s[258];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t + 1] = labels[i];
    if (t < 2) s[t * 257] = 1 << 30;
    __syncthreads();
    int changed;
    do {
        int best = min(s[t + 1], min(s[t], s[t + 2])); // @NO_READ_BARRIER
        changed = best != s[t + 1];
#ifndef NO_READ_BARRIER
        __syncthreads();
#endif
        s[t + 1] = best; // @NO_READ_BARRIER
    } while (__syncthreads_or(changed));
    labels[i] = s[t + 1];
}
