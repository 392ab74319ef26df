// A loop that every lane leaves at another time.
/*
x = np.arange(1, 257, dtype=np.uint32)
out = np.zeros(256, np.int32)
launch("k", 2, 128, out, x)
def steps(n):
    count = 0
    while n != 1:
        n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
    return count
same(out, np.array([steps(int(n)) for n in x], np.int32))
*/
extern "C" __global__ void k(int *out, const unsigned *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    for (unsigned n = x[i]; n != 1; count++) n = n % 2 ? 3 * n + 1 : n / 2;
    out[i] = count;
}
