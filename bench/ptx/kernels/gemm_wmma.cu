// Tensor cores through wmma: four warps share a tile of each matrix.
// block: 128
// args: f16[16384] f16[16384] f32[16384] i32=128
// grid: 4x4
// race NO_LOAD_BARRIER: fragments are loaded before the tiles are stored
// race NO_REUSE_BARRIER: the next tiles are stored while fragments are still loaded
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void gemm_wmma(const half *a, const half *b, float *c, int n) {
    __shared__ __align__(32) half as[32 * 16], bs[16 * 32];
    int t = threadIdx.x, warp = t / 32, wy = warp / 2, wx = warp % 2;
    int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        for (int e = t; e < 512; e += 128) {
            as[e] = a[(row0 + e / 16) * n + k + e % 16]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
            bs[e] = b[(k + e / 32) * n + col0 + e % 32]; // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        }
#ifndef NO_LOAD_BARRIER
        __syncthreads();
#endif
        wmma::load_matrix_sync(fa, &as[wy * 16 * 16], 16); // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        wmma::load_matrix_sync(fb, &bs[wx * 16], 32); // @NO_LOAD_BARRIER @NO_REUSE_BARRIER
        wmma::mma_sync(sum, fa, fb, sum);
#ifndef NO_REUSE_BARRIER
        __syncthreads();
#endif
    }
    wmma::store_matrix_sync(&c[(row0 + wy * 16) * n + col0 + wx * 16], sum, n, wmma::mem_row_major);
}
