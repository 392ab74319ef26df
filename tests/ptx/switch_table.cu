// A dense switch, which becomes brx.idx over a table of labels.
/*
x = np.arange(-2, 30, dtype=np.int32)
out = np.zeros(32, np.float32)
launch("k", 1, 32, out, x)
def f(x):
    fs = [lambda v: v + 1, lambda v: v * v, lambda v: v - 7, lambda v: v * 0.5, lambda v: -v, lambda v: v * v * v, lambda v: 1 / v, lambda v: v + 100,
          lambda v: v * 3, lambda v: v - 0.25, lambda v: v * 8, lambda v: 42.0]
    return fs[x](float(x)) if 0 <= x < 12 else -1.0
same(out, np.array([f(int(v)) for v in x], np.float32))
*/
extern "C" __global__ void k(float *out, const int *x) {
    int i = threadIdx.x;
    float v = (float)x[i], r;
    switch (x[i]) {
    case 0: asm volatile("// 0"); r = v + 1; break;
    case 1: asm volatile("// 1"); r = v * v; break;
    case 2: asm volatile("// 2"); r = v - 7; break;
    case 3: asm volatile("// 3"); r = v * 0.5f; break;
    case 4: asm volatile("// 4"); r = -v; break;
    case 5: asm volatile("// 5"); r = v * v * v; break;
    case 6: asm volatile("// 6"); r = 1 / v; break;
    case 7: asm volatile("// 7"); r = v + 100; break;
    case 8: asm volatile("// 8"); r = v * 3; break;
    case 9: asm volatile("// 9"); r = v - 0.25f; break;
    case 10: asm volatile("// 10"); r = v * 8; break;
    case 11: asm volatile("// 11"); r = 42; break;
    default: r = -1;
    }
    out[i] = r;
}
