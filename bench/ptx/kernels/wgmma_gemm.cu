// A tile of a product by wgmma: threads store both operands, the matrix unit reads them through descriptors.
// block: 128
// args: f16[65536] f16[65536] f32[4096] i32=16
// target: sm_90a
// race NO_STORE_BARRIER: the matrix unit reads rows that other warps still store
// race WEAK_WAIT: the next tile is stored while the matrix unit still reads this one
// race NO_WAIT_BARRIER: other warps store the next tile before all have waited for the matrix unit
// fence NO_FENCE: the stores are not made visible to the matrix unit
extern "C" __global__ void wgmma_gemm(const uint4 *a, const uint4 *b, float *c, int steps) {
    __shared__ __align__(1024) uint4 as[64 * 8], bs[8 * 8];
    int t = threadIdx.x;
    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    unsigned long long base = (1ull << 62) | (64ull << 32) | (1ull << 16);
    unsigned long long da = base | ((unsigned)__cvta_generic_to_shared(as) & 0x3FFFF) >> 4;
    unsigned long long db = base | ((unsigned)__cvta_generic_to_shared(bs) & 0x3FFFF) >> 4;
    for (int k = 0; k < steps; k++) {
        for (int e = t; e < 512; e += 128) as[e ^ (e / 8 % 8)] = a[k * 512 + e]; // @NO_STORE_BARRIER @WEAK_WAIT @NO_WAIT_BARRIER @NO_FENCE
        if (t < 64) bs[t ^ (t / 8 % 8)] = b[k * 64 + t]; // @NO_STORE_BARRIER @WEAK_WAIT @NO_WAIT_BARRIER @NO_FENCE
#ifndef NO_FENCE
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
#ifndef NO_STORE_BARRIER
        __syncthreads();
#endif
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int part = 0; part < 4; part++)
            asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }" // @NO_STORE_BARRIER @WEAK_WAIT @NO_WAIT_BARRIER @NO_FENCE
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "l"(da + 2 * part), "l"(db + 2 * part));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#ifdef WEAK_WAIT
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
#else
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
#ifndef NO_WAIT_BARRIER
        __syncthreads();
#endif
    }
    for (int r = 0; r < 4; r++) c[t * 4 + r] = d[r];
}
