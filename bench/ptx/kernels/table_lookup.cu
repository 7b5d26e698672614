// A table in shared memory, looked up by data.
// block: 256
// args: i32[256] u8[4096] i32[4096]
// grid: 16
// race NO_BARRIER: entries are looked up before they are stored
extern "C" __global__ void table_lookup(const int *table, const unsigned char *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = table[t]; // @NO_BARRIER
#ifndef NO_BARRIER
    __syncthreads();
#endif
    int v = in[i];
    for (int round = 0; round < 4; round++) v = s[v & 255] ^ v >> 3; // @NO_BARRIER
    out[i] = v;
}
