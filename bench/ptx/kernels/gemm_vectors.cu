// The same with accesses of 16 bytes.
// block: 256
// args: f32[16384] f32[16384] f32[16384] i32=128
// grid: 2x2
// race NO_LOAD_BARRIER: tiles are used before they are stored
// race NO_REUSE_BARRIER: the next tiles are stored while these are still used
extern "C" __global__ void gemm_vectors(const float4 *a, const float4 *b, float4 *c, int n) {
    __shared__ float4 as[64][4], bs[16][16];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int row0 = blockIdx.y * 64, col0 = blockIdx.x * 16, n4 = n / 4;
    float4 sum[4] = {};
    for (int k = 0; k < n; k += 16) {
        as[t / 4][t % 4] = a[(row0 + t / 4) * n4 + k / 4 + t % 4]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        bs[ty][tx] = b[(k + ty) * n4 + col0 + tx]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
#ifndef NO_LOAD_BARRIER
        __syncthreads();
#endif
        for (int i = 0; i < 4; i++)
            for (int y = 0; y < 4; y++) {
                float4 u = as[ty * 4 + y][i], v = bs[i * 4 + y][tx]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
                sum[y].x += u.x * v.x, sum[y].y += u.y * v.y, sum[y].z += u.z * v.z, sum[y].w += u.w * v.w;
            }
#ifndef NO_REUSE_BARRIER
        __syncthreads();
#endif
    }
    for (int y = 0; y < 4; y++) c[(row0 + ty * 4 + y) * n4 + col0 + tx] = sum[y];
}
