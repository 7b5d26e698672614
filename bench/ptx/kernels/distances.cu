// Distances between all pairs of two sets of points, tiles in structures of arrays.
// block: 16x16
// args: f32[768] f32[768] f32[65536] i32=256
// grid: 16x16
// race NO_BARRIER: points are used before they are stored
struct Points {
    float x[16], y[16], z[16];
};
extern "C" __global__ void distances(const float *a, const float *b, float *out, int n) {
    __shared__ Points pa, pb;
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + x, j = blockIdx.x * 16 + x;
    if (y == 0) pa.x[x] = a[i], pa.y[x] = a[i + n], pa.z[x] = a[i + 2 * n]; // @NO_BARRIER
    if (y == 1) pb.x[x] = b[j], pb.y[x] = b[j + n], pb.z[x] = b[j + 2 * n]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    float dx = pa.x[y] - pb.x[x], dy = pa.y[y] - pb.y[x], dz = pa.z[y] - pb.z[x]; // @NO_BARRIER
    out[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sqrtf(dx * dx + dy * dy + dz * dz);
}
