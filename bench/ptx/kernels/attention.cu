// Attention of a query for each thread over tiles of keys and values, with a running softmax.
// block: 64
// args: f32[8192] f32[8192] f32[8192] f32[8192] i32=256
// grid: 4
// race NO_LOAD_BARRIER: the tile is used before it is stored
// race NO_REUSE_BARRIER: the next tile is stored while this one is still used
extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *out, int n) {
    __shared__ float ks[64][32], vs[64][32];
    int t = threadIdx.x, row = blockIdx.x * 64 + t;
    float query[32], sum[32] = {}, largest = -1e30f, total = 0.0f;
    for (int d = 0; d < 32; d++) query[d] = q[row * 32 + d];
    for (int tile = 0; tile < n; tile += 64) {
        for (int e = t; e < 64 * 32; e += 64) {
            ks[e / 32][e % 32] = k[tile * 32 + e]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
            vs[e / 32][e % 32] = v[tile * 32 + e]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        }
#ifndef NO_LOAD_BARRIER
        __syncthreads();
#endif
        for (int j = 0; j < 64; j++) {
            float score = 0.0f;
            for (int d = 0; d < 32; d++) score += query[d] * ks[j][d]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
            float m = fmaxf(largest, score), old = __expf(largest - m), p = __expf(score - m);
            total = total * old + p;
            for (int d = 0; d < 32; d++) sum[d] = sum[d] * old + p * vs[j][d]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
            largest = m;
        }
#ifndef NO_REUSE_BARRIER
        __syncthreads();
#endif
    }
    for (int d = 0; d < 32; d++) out[row * 32 + d] = sum[d] / total;
}
