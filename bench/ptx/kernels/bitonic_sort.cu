// Bitonic sort of 512 elements by one block.
// block: 512
// args: i32[8192]
// grid: 16
// race NO_BARRIER: an exchange begins before the one before has ended
extern "C" __global__ void bitonic_sort(int *data) {
    __shared__ int a[512];
    int t = threadIdx.x;
    a[t] = data[blockIdx.x * 512 + t]; // @NO_BARRIER
    __syncthreads();
    for (int k = 2; k <= 512; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                int mine = a[t], theirs = a[other]; // @NO_BARRIER
                if ((mine > theirs) == ((t & k) == 0)) {
                    a[t] = theirs; // @NO_BARRIER
                    a[other] = mine; // @NO_BARRIER
                }
            }
#ifndef NO_BARRIER
            __syncthreads();
#endif
        }
    }
    data[blockIdx.x * 512 + t] = a[t]; // @NO_BARRIER
}
