// A bulk copy by the copy engine that arrives at an mbarrier with its bytes.
// block: 128
// args: f32[2048] f32[2048]
// grid: 16
// target: sm_90
// race NO_WAIT: the tile is read before the copy has arrived
extern "C" __global__ void bulk_copy(const float *in, float *out) {
    __shared__ __align__(16) float s[128];
    __shared__ unsigned long long barrier;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), to = (unsigned)__cvta_generic_to_shared(s);
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" // @NO_WAIT
                     ::"r"(to), "l"(in + blockIdx.x * 128), "r"(at)
                     : "memory");
    }
#ifndef NO_WAIT
    unsigned done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(at)
                     : "memory");
    } while (!done);
#endif
    out[i] = s[127 - t]; // @NO_WAIT
}
