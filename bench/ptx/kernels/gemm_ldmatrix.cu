// ldmatrix on a tile whose rows of 16 bytes are swizzled by xor; cp.async fills it.
// block: 128
// args: f16[16384] f16[16384] i32=128
// grid: 4
// race NO_WAIT: fragments are loaded before the copies have arrived
// race NO_BARRIER: fragments are loaded before the copies of other threads have arrived
extern "C" __global__ void gemm_ldmatrix(const unsigned short *a, unsigned *out, int n) {
    __shared__ __align__(16) unsigned short tile[64 * 64];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned base = (unsigned)__cvta_generic_to_shared(tile);
    for (int i = 0; i < 4; i++) {
        int chunk = t + i * 128, row = chunk / 8, column = chunk % 8;
        unsigned to = base + row * 128 + ((column ^ (row & 7)) * 16);
        const unsigned short *from = a + (blockIdx.x * 64 + row) * n + column * 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)); // @NO_WAIT @NO_BARRIER
    }
    asm volatile("cp.async.commit_group;");
#ifndef NO_WAIT
    asm volatile("cp.async.wait_group 0;");
#endif
#ifndef NO_BARRIER
    __syncthreads();
#endif
    for (int k = 0; k < 4; k++) {
        int row = warp * 16 + lane % 16, column = k * 2 + lane / 16;
        unsigned at = base + row * 128 + ((column ^ (row & 7)) * 16), r0, r1, r2, r3;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" // @NO_WAIT @NO_BARRIER
                     : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
                     : "r"(at));
        out[((blockIdx.x * 4 + k) * 4 + warp) * 32 + lane] = r0 + r1 + r2 + r3;
    }
}
