// Each warp transposes a tile of its own: __syncwarp is enough.
// block: 128
// args: f32[16384] f32[16384]
// grid: 4
// race NO_SYNCWARP: lanes of one warp are not ordered by themselves
// race SHARED_TILE: two warps use one tile
extern "C" __global__ void warp_tiles(const float *in, float *out) {
    __shared__ float tile[4][32][33];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, base = (blockIdx.x * 4 + warp) * 1024;
#ifdef SHARED_TILE
    float(*mine)[33] = tile[warp / 2];
#else
    float(*mine)[33] = tile[warp];
#endif
    for (int i = 0; i < 32; i++) mine[i][lane] = in[base + i * 32 + lane]; // @NO_SYNCWARP @SHARED_TILE
#ifndef NO_SYNCWARP
    __syncwarp();
#endif
    for (int i = 0; i < 32; i++) out[base + i * 32 + lane] = mine[lane][i]; // @NO_SYNCWARP @SHARED_TILE
}
