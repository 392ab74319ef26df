// Structs by value: as arguments of the kernel and of functions, and as results.
/*
s = np.array([(7, 1.5, b"abcde", 1 << 40)], np.dtype([("a", "i4"), ("b", "f8"), ("c", "S5"), ("d", "i8")], align=True))
out = np.zeros(32)
launch("k", 1, 32, out, s[0], np.int8(-3))
i = np.arange(32)
same(out, (7 + i) + 1.5 * 2 + np.array([ord("abcde"[k % 5]) for k in i]) + float(1 << 40) - 3.0 + (i % 2 == 0))
*/
struct S {
    int a;
    double b;
    char c[5];
    long long d;
};
struct Pair {
    double sum;
    bool even;
};
__device__ __noinline__ S changed(S s, int k) {
    s.a += k;
    s.b *= 2;
    return s;
}
__device__ __noinline__ Pair add(S s, int k) { return {s.a + s.b + s.c[k % 5] + (double)s.d, k % 2 == 0}; }
extern "C" __global__ void k(double *out, S s, signed char last) {
    int i = threadIdx.x;
    Pair p = add(changed(s, i), i);
    out[i] = p.sum + last + p.even;
}
