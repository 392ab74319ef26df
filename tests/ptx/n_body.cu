// Forces between all pairs of bodies, by tiles in shared memory.
/*
rng = np.random.default_rng(30)
p = rng.standard_normal((128, 4)).astype(np.float32)
out = np.zeros((128, 4), np.float32)
launch("k", 4, 32, out, p, np.int32(128))
d = p[None, :, :3].astype(np.float64) - p[:, None, :3]
r2 = (d * d).sum(2) + 0.01
want = (d * (abs(p[None, :, 3:].astype(np.float64)) / r2[..., None] ** 1.5)).sum(1)
assert np.allclose(out[:, :3], want, rtol=2e-4, atol=2e-4)
*/
extern "C" __global__ void k(float4 *out, const float4 *p, int n) {
    __shared__ float4 tile[32];
    float4 me = p[blockIdx.x * 32 + threadIdx.x];
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += 32) {
        tile[threadIdx.x] = p[base + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = fabsf(tile[j].w) * inv * inv * inv;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    out[blockIdx.x * 32 + threadIdx.x] = make_float4(ax, ay, az, 0);
}
