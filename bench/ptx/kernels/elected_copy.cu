// The elected lane of a warp fetches each tile and the warp meets before it reads.
// block: 32
// args: f32[1024] f32[32] i32=16
// target: sm_90
// race NO_WAIT: the tile is read before its copy has arrived
// race NO_MEETING: the copy overwrites the tile while other lanes still read it
extern "C" __global__ void elected_copy(const float *in, float *out, int tiles) {
    __shared__ __align__(16) float tile[32];
    __shared__ unsigned long long full;
    int t = threadIdx.x;
    unsigned bar = (unsigned)__cvta_generic_to_shared(&full), to = (unsigned)__cvta_generic_to_shared(tile);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    __syncwarp();
    float sum = 0.0f;
    for (int k = 0; k < tiles; k++) {
        unsigned elected;
        asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
        if (elected) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(bar) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" // @NO_WAIT @NO_MEETING
                         ::"r"(to), "l"(in + k * 32), "r"(bar)
                         : "memory");
        }
#ifndef NO_WAIT
        asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }"
                     ::"r"(bar), "r"(k & 1)
                     : "memory");
#endif
        sum += tile[31 - t]; // @NO_WAIT @NO_MEETING
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#ifndef NO_MEETING
        __syncwarp();
#endif
    }
    out[t] = sum;
}
