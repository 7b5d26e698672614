// All pairs of bodies, in tiles of a block.
// block: 128
// args: f32[4096] f32[4096] i32=1024
// grid: 8
// race NO_LOAD_BARRIER: bodies are used before they are stored
// race NO_REUSE_BARRIER: the next tile is stored while this one is still used
extern "C" __global__ void nbody(const float4 *bodies, float4 *forces, int n) {
    __shared__ float4 tile[128];
    float4 me = bodies[blockIdx.x * 128 + threadIdx.x], f = make_float4(0, 0, 0, 0);
    for (int i = 0; i < n; i += 128) {
        tile[threadIdx.x] = bodies[i + threadIdx.x]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
#ifndef NO_LOAD_BARRIER
        __syncthreads();
#endif
        for (int j = 0; j < 128; j++) {
            float4 other = tile[j]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f), s = other.w * inverse * inverse * inverse;
            f.x += dx * s, f.y += dy * s, f.z += dz * s;
        }
#ifndef NO_REUSE_BARRIER
        __syncthreads();
#endif
    }
    forces[blockIdx.x * 128 + threadIdx.x] = f;
}
