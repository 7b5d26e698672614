// No shared memory at all: there is nothing to order.
// block: 256
// args: f32[4096] f32[4096] f32=2.0 i32=4096
// grid: 16
extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
