// Rows are staged in shared memory and stored by bulk copies, two rows in flight.
// block: 128
// args: f32[2048] f32[2048] i32=16
// target: sm_90
// race NO_BARRIER: the copy reads a row that other threads still write
// race WEAK_WAIT: a row is overwritten while the copy before the last still reads it
// race NO_WAIT_BARRIER: other threads overwrite a row before the one that waits for its copy knows it is free
// race NO_LAST_WAIT: the block ends while copies still read its rows
// fence NO_FENCE: the stores are not made visible to the copy engine
extern "C" __global__ void bulk_store(const float *in, float *out, int rows) {
    __shared__ __align__(16) float row[2][128];
    int t = threadIdx.x;
    for (int k = 0; k < rows; k++) {
        if (t == 0) {
#ifdef WEAK_WAIT
            asm volatile("cp.async.bulk.wait_group.read 2;" ::: "memory");
#else
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
#endif
        }
#ifndef NO_WAIT_BARRIER
        __syncthreads();
#endif
        row[k % 2][t] = 2.0f * in[k * 128 + t]; // @NO_BARRIER @WEAK_WAIT @NO_WAIT_BARRIER @NO_FENCE
#ifndef NO_FENCE
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
#ifndef NO_BARRIER
        __syncthreads();
#endif
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" // @NO_BARRIER @WEAK_WAIT @NO_WAIT_BARRIER @NO_FENCE @NO_LAST_WAIT
                         ::"l"(out + k * 128), "r"((unsigned)__cvta_generic_to_shared(row[k % 2]))
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
#ifndef NO_LAST_WAIT
    if (t == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}
