// Objects with virtual functions that live in local memory.
/*
out = np.zeros(64, np.float32)
launch("k", 1, 64, out)
i = np.arange(64, dtype=np.float32)
same(out, np.where(np.arange(64) % 2, i * 2 + 1, i * i).astype(np.float32))
*/
struct Shape {
    __device__ virtual float area(float s) const = 0;
};
struct Square : Shape {
    __device__ float area(float s) const override { return s * s; }
};
struct Strip : Shape {
    float width;
    __device__ Strip(float w) : width(w) {}
    __device__ float area(float s) const override { return s * width + 1; }
};
__device__ __noinline__ float measure(const Shape *s, float v) { return s->area(v); }
extern "C" __global__ void k(float *out) {
    int i = threadIdx.x;
    Square square;
    Strip strip(2);
    out[i] = measure(i % 2 ? (const Shape *)&strip : &square, (float)i);
}
