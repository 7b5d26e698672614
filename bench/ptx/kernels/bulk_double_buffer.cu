// All threads compute; one of them fetches the next tile with a bulk copy while they do.
// block: 128
// args: f32[8192] f32[128] i32=16
// target: sm_90
// race NO_BARRIER: the next copy overwrites a tile that is still read
// race NO_WAIT: a tile is read before its copy has arrived
// race ONE_BUFFER: the next tile is fetched into the one that is read
// phase WRONG_PARITY: the parity is one round ahead
// warning NO_FENCE: no fence between the reads and the copy that overwrites what was read
extern "C" __global__ void bulk_double_buffer(const float *in, float *out, int tiles) {
    __shared__ __align__(16) float tile[2][128];
    __shared__ unsigned long long full[2];
    int t = threadIdx.x;
    unsigned bars = (unsigned)__cvta_generic_to_shared(full), data = (unsigned)__cvta_generic_to_shared(tile);
    auto fetch = [&](int k) {
#ifdef ONE_BUFFER
        unsigned to = data;
#else
        unsigned to = data + k % 2 * 512;
#endif
        unsigned bar = bars + k % 2 * 8;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(bar) : "memory"); // @WRONG_PARITY @NO_WAIT
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" // @NO_BARRIER @NO_WAIT @ONE_BUFFER @WRONG_PARITY @NO_FENCE
                     ::"r"(to), "l"(in + k * 128), "r"(bar)
                     : "memory");
    };
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bars)); // @WRONG_PARITY
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bars + 8));
    }
    __syncthreads();
    if (t == 0 && tiles > 0) fetch(0);
    float sum = 0.0f;
    for (int k = 0; k < tiles; k++) {
        if (t == 0 && k + 1 < tiles) fetch(k + 1);
#ifdef WRONG_PARITY
        unsigned parity = (k / 2 + 1) & 1;
        if (k >= 2) parity = 1;
#else
        unsigned parity = k / 2 & 1;
#endif
#ifndef NO_WAIT
        asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" // @WRONG_PARITY
                     ::"r"(bars + k % 2 * 8), "r"(parity)
                     : "memory");
#endif
#ifdef ONE_BUFFER
        sum += tile[0][127 - t]; // @ONE_BUFFER
#else
        sum += tile[k % 2][127 - t]; // @NO_BARRIER @NO_WAIT @NO_FENCE
#endif
#ifndef NO_FENCE
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
#ifndef NO_BARRIER
        __syncthreads();
#endif
    }
    out[t] = sum;
}
