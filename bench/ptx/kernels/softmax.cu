// Softmax of a row: the largest value, then the sum, with one array for both.
// block: 256
// args: f32[4096] f32[4096]
// grid: 16
// race NO_REUSE_BARRIER: sums are stored while the largest value is still read
// race NO_BROADCAST_BARRIER: the result is read before it is stored
extern "C" __global__ void softmax(const float *in, float *out) {
    __shared__ float a[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float v = in[i];
    a[t] = v; // @NO_BROADCAST_BARRIER
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) a[t] = fmaxf(a[t], a[t + s]); // @NO_BROADCAST_BARRIER
#ifdef NO_BROADCAST_BARRIER
        if (s > 1)
#endif
            __syncthreads();
    }
    float largest = a[0]; // @NO_REUSE_BARRIER @NO_BROADCAST_BARRIER
#ifndef NO_REUSE_BARRIER
    __syncthreads();
#endif
    float e = __expf(v - largest);
    a[t] = e; // @NO_REUSE_BARRIER
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s) a[t] += a[t + s];
        __syncthreads();
    }
    out[i] = e / a[0];
}
