// A stencil that marches through z; planes stay in registers, the current one in shared memory.
// block: 16x16
// args: f32[65536] f32[65536] i32=64 i32=64 i32=16
// grid: 4x4
// race NO_LOAD_BARRIER: neighbours are read before they are stored
// race NO_REUSE_BARRIER: the next plane is stored while neighbours still read this one
extern "C" __global__ void stencil_3d(const float *in, float *out, int w, int h, int d) {
    __shared__ float plane[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    float below = 0.0f, here = in[y * w + x];
    for (int z = 0; z < d; z++) {
        float above = z + 1 < d ? in[((z + 1) * h + y) * w + x] : 0.0f;
        plane[ty][tx] = here; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        if (threadIdx.x == 0) plane[ty][0] = x > 0 ? in[(z * h + y) * w + x - 1] : 0.0f; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        if (threadIdx.x == 15) plane[ty][17] = x + 1 < w ? in[(z * h + y) * w + x + 1] : 0.0f; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        if (threadIdx.y == 0) plane[0][tx] = y > 0 ? in[(z * h + y - 1) * w + x] : 0.0f; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        if (threadIdx.y == 15) plane[17][tx] = y + 1 < h ? in[(z * h + y + 1) * w + x] : 0.0f; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
#ifndef NO_LOAD_BARRIER
        __syncthreads();
#endif
        float v = below + above - 6.0f * here;
        v += plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        out[(z * h + y) * w + x] = v;
#ifndef NO_REUSE_BARRIER
        __syncthreads();
#endif
        below = here;
        here = above;
    }
}
