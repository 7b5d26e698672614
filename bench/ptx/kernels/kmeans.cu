// Distances to centres in shared memory; the sums of the nearest ones are collected by atomics.
// block: 128
// args: f32[4096] f32[32] f32[32] i32[16] i32=2048
// grid: 16
// race NO_INIT_BARRIER: values are added before the sums are cleared
// race NO_MERGE_BARRIER: sums are added to the result before all threads have added to them
extern "C" __global__ void kmeans(const float2 *points, const float2 *centres, float *sums, int *sizes, int n) {
    __shared__ float2 centre[16];
    __shared__ float sum[32];
    __shared__ int size[16];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (t < 16) centre[t] = centres[t], size[t] = 0; // @NO_INIT_BARRIER
    if (t < 32) sum[t] = 0.0f; // @NO_INIT_BARRIER
#ifndef NO_INIT_BARRIER
    __syncthreads();
#endif
    if (i < n) {
        float2 p = points[i];
        int best = 0;
        float least = 1e30f;
        for (int k = 0; k < 16; k++) {
            float dx = p.x - centre[k].x, dy = p.y - centre[k].y, d = dx * dx + dy * dy; // @NO_INIT_BARRIER
            if (d < least) least = d, best = k;
        }
        atomicAdd(&sum[2 * best], p.x); // @NO_MERGE_BARRIER @NO_INIT_BARRIER
        atomicAdd(&sum[2 * best + 1], p.y); // @NO_MERGE_BARRIER @NO_INIT_BARRIER
        atomicAdd(&size[best], 1); // @NO_MERGE_BARRIER @NO_INIT_BARRIER
    }
#ifndef NO_MERGE_BARRIER
    __syncthreads();
#endif
    if (t < 32) atomicAdd(&sums[t], sum[t]); // @NO_MERGE_BARRIER
    if (t < 16) atomicAdd(&sizes[t], size[t]); // @NO_MERGE_BARRIER
}
