// Bytes, shorts and structs of odd size in memory.
/*
n = 100
t = np.dtype([("a", "i1"), ("b", "i2"), ("c", "u1"), ("d", "i4"), ("e", "u1")], align=True)
x = np.zeros(n, t)
rng = np.random.default_rng(29)
for name in t.names: x[name] = rng.integers(0, 100, n)
y = np.zeros(n, t)
launch("k", 1, n, y, x)
want = x.copy()
want["a"], want["b"], want["c"], want["d"], want["e"] = -x["a"], x["b"] * 3, x["c"] + 200, x["d"] - x["b"], x["e"] ^ 0xff
for name in t.names: same(y[name].copy(), want[name].copy())
*/
struct T {
    signed char a;
    short b;
    unsigned char c;
    int d;
    unsigned char e;
};
extern "C" __global__ void k(T *y, const T *x) {
    int i = threadIdx.x;
    y[i].a = -x[i].a;
    y[i].b = x[i].b * 3;
    y[i].c = x[i].c + 200;
    y[i].d = x[i].d - x[i].b;
    y[i].e = ~x[i].e;
}
