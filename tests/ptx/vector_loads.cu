// Two and four elements in one access, of several types.
/*
f = np.arange(512, dtype=np.float32)
c = np.arange(512).astype(np.uint8)
d = np.arange(256, dtype=np.float64)
fo, co, do = np.zeros_like(f), np.zeros_like(c), np.zeros_like(d)
launch("k", 1, 128, fo, co, do, f, c, d)
same(fo, f.reshape(-1, 4)[:, ::-1].ravel() * 2)
same(co, c.reshape(-1, 4)[:, ::-1].ravel())
same(do, d.reshape(-1, 2)[:, ::-1].ravel())
*/
extern "C" __global__ void k(float4 *fo, uchar4 *co, double2 *dout, const float4 *f, const uchar4 *c, const double2 *d) {
    int i = threadIdx.x;
    float4 v = f[i];
    fo[i] = make_float4(v.w * 2, v.z * 2, v.y * 2, v.x * 2);
    uchar4 b = c[i];
    co[i] = make_uchar4(b.w, b.z, b.y, b.x);
    double2 w = d[i];
    dout[i] = make_double2(w.y, w.x);
}
