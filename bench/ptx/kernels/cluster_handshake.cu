// The barrier of a cluster, split into arrival and wait: work on the block's own tile goes on between them.
// block: 96
// grid: 4
// args: f32[768] f32[384] i32=8
// target: sm_90
// race RELAXED: a relaxed arrival does not hand on what the thread has stored
// race EARLY_ARRIVAL: the arrival comes before the store that it is to hand on
// race ONE_TILE: the next tile is stored while the other block may still read the last one
// phase NO_WAIT: threads arrive again without having waited
// phase HALF_ARRIVE: the threads of one warp wait without having arrived
extern "C" __global__ void __cluster_dims__(2, 2, 1) cluster_handshake(const float *in, float *out, int rounds) {
    __shared__ float s[2][96];
    int t = threadIdx.x;
    unsigned rank, x, y;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
    unsigned peer = (x ^ 1) + 2 * y;
    float sum = 0.0f;
    for (int k = 0; k < rounds; k++) {
#ifdef ONE_TILE
        float *tile = s[0];
#else
        float *tile = s[k & 1];
#endif
#ifndef EARLY_ARRIVAL
        tile[t] = in[(k * 4 + rank) * 96 + t]; // @RELAXED @ONE_TILE
#endif
#if defined(RELAXED)
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#elif defined(HALF_ARRIVE)
        if (t < 64) asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); // @HALF_ARRIVE
#else
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); // @NO_WAIT
#endif
#ifdef EARLY_ARRIVAL
        tile[t] = in[(k * 4 + rank) * 96 + t]; // @EARLY_ARRIVAL
#endif
        sum += tile[t] * 0.5f;
#ifdef NO_WAIT
        __syncthreads();
#else
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); // @HALF_ARRIVE
#endif
        const float *there = tile;
        unsigned at = (unsigned)__cvta_generic_to_shared(there + 95 - t), far;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at), "r"(peer));
        float v;
        asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(far) : "memory"); // @RELAXED @EARLY_ARRIVAL @ONE_TILE @NO_WAIT
        sum += v;
    }
    out[rank * 96 + t] = sum;
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
