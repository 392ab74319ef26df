// Conversions to integers: rounding modes, saturation, NaN.
/*
a = np.array([0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e9, -1e9, 3e9, -3e9, 1e20, -1e20, np.inf, -np.inf, np.nan, 7.99, -7.99], np.float32)
n = a.size
i32, i64, u32 = np.zeros((4, n), np.int32), np.zeros((2, n), np.int64), np.zeros(n, np.uint32)
launch("k", 1, n, i32, i64, u32, a, a.astype(np.float64))
def to(f, t):
    info = np.iinfo(t)
    return np.array([0 if np.isnan(x) else max(info.min, min(info.max, int(x) if np.isfinite(x) else (info.max if x > 0 else info.min)))
                     for x in f.astype(np.float64)], t)
same(i32[0], to(np.rint(a), np.int32))
same(i32[1], to(np.trunc(a), np.int32))
same(i32[2], to(np.floor(a), np.int32))
same(i32[3], to(np.ceil(a), np.int32))
wide = lambda r: np.array([-2**63 if np.isnan(x) else to(np.array([x]), np.int64)[0] for x in r], np.int64)
same(i64[0], wide(np.rint(a)))
same(i64[1], wide(np.trunc(a)))
same(u32, to(np.trunc(a), np.uint32))
*/
extern "C" __global__ void k(int *i32, long long *i64, unsigned *u32, const float *a, const double *b) {
    int i = threadIdx.x, n = blockDim.x;
    i32[i] = __float2int_rn(a[i]);
    i32[n + i] = __float2int_rz(a[i]);
    i32[2 * n + i] = __float2int_rd(a[i]);
    i32[3 * n + i] = __float2int_ru(a[i]);
    i64[i] = __float2ll_rn(a[i]);
    i64[n + i] = __double2ll_rz(b[i]);
    u32[i] = __float2uint_rz(a[i]);
}
