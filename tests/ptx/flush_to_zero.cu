// Subnormals count as zeros when compiled so.
// nvcc -ftz=true
/*
a = np.array([1e-45, -1e-45, 1e-39, 1e-38, 2e-38, 1.0, -1.5e-38, 0], np.float32)
out = np.zeros((3, 8), np.float32)
launch("k", 1, 8, out, a)
small = np.float32(1.17549435e-38)
f = lambda x: np.where(abs(x) < small, np.copysign(np.float32(0), x), x).astype(np.float32)
same(out[0], f(f(a) + f(a)))
same(out[1], f(f(a) * np.float32(0.5)))
same(out[2], f(a) - np.float32(1))
*/
extern "C" __global__ void k(float *out, const float *a) {
    int i = threadIdx.x;
    out[i] = a[i] + a[i];
    out[8 + i] = a[i] * 0.5f;
    out[16 + i] = a[i] - 1.0f;
}
