// A fast Walsh transform; the array is dynamic, its size the number of threads times two.
// block: 128
// args: f32[4096]
// grid: 16
// shared: 1024
// race NO_BARRIER: a stage reads points that the one before is still storing
extern "C" __global__ void walsh(float *data) {
    extern __shared__ float a[];
    int t = threadIdx.x, base = blockIdx.x * 256;
    a[t] = data[base + t]; // @NO_BARRIER
    a[t + 128] = data[base + t + 128]; // @NO_BARRIER
    for (int stride = 1; stride < 256; stride <<= 1) {
#ifndef NO_BARRIER
        __syncthreads();
#endif
        int low = t & (stride - 1), i = 2 * t - low, j = i + stride;
        float u = a[i], v = a[j]; // @NO_BARRIER
        a[i] = u + v; // @NO_BARRIER
        a[j] = u - v; // @NO_BARRIER
    }
    __syncthreads();
    data[base + t] = a[t];
    data[base + t + 128] = a[t + 128];
}
