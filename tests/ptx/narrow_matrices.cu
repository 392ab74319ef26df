// mma and wmma of 4-bit and 1-bit integers, in all shapes.
// nvcc -arch=sm_80
/*
rng = np.random.default_rng(1)

def words(x, bits):
    places = np.arange(32 // bits, dtype=np.uint64) * np.uint64(bits)
    parts = (x & (1 << bits) - 1).astype(np.uint64).reshape(x.shape[0], -1, 32 // bits)
    return (parts << places).sum(-1).astype(np.uint32)

def check(name, m, k, bits, low_a, high_a, low_b, high_b, product=np.matmul):
    a, b = rng.integers(low_a, high_a, (m, k)), rng.integers(low_b, high_b, (8, k))
    c, out = rng.integers(-999, 999, (m, 8)).astype(np.int32), np.zeros((m, 8), np.int32)
    launch(name, 1, 32, out, words(a, bits), words(b, bits), c)
    same(out, (product(a, b.T) + c).astype(np.int32))

def differ(a, b):
    return (a[:, :, None] ^ b[None]).sum(1)

check("s4u4_8_32", 8, 32, 4, -8, 8, 0, 16)
check("s4_16_32", 16, 32, 4, -8, 8, -8, 8)
check("u4s4_16_64", 16, 64, 4, 0, 16, -8, 8)
check("xor_8_128", 8, 128, 1, 0, 2, 0, 2, differ)
check("and_16_128", 16, 128, 1, 0, 2, 0, 2)
check("xor_16_256", 16, 256, 1, 0, 2, 0, 2, differ)
check("wmma_s4", 8, 32, 4, -8, 8, -8, 8)
check("wmma_and", 8, 128, 1, 0, 2, 0, 2)
check("wmma_xor", 8, 128, 1, 0, 2, 0, 2, differ)
*/
#include <mma.h>
using namespace nvcuda;
using namespace nvcuda::wmma::experimental;

// Words of 4 or 8 for each row of a and column of b; lane i is in group i / 4.
#define MMA(name, text, tall, deep)                                                                      \
    extern "C" __global__ void name(int *out, const unsigned *a, const unsigned *b, const int *c) {      \
        int group = threadIdx.x / 4, t = threadIdx.x % 4, row = deep ? 8 : 4;                            \
        unsigned a0 = a[group * row + t], a1 = tall ? a[(group + 8) * row + t] : 0;                      \
        unsigned a2 = deep ? a[group * row + t + 4] : 0, a3 = deep ? a[(group + 8) * row + t + 4] : 0;   \
        unsigned b0 = b[group * row + t], b1 = deep ? b[group * row + t + 4] : 0;                        \
        int at = group * 8 + t * 2, d0 = c[at], d1 = c[at + 1];                                          \
        int d2 = tall ? c[at + 64] : 0, d3 = tall ? c[at + 65] : 0;                                      \
        asm volatile(text : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3)                                       \
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                            \
        out[at] = d0, out[at + 1] = d1;                                                                  \
        if (tall) out[at + 64] = d2, out[at + 65] = d3;                                                  \
    }
MMA(s4u4_8_32, "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32 {%0,%1}, {%4}, {%8}, {%0,%1};", 0, 0)
MMA(s4_16_32, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.s4.s32 {%0,%1,%2,%3}, {%4,%5}, {%8}, {%0,%1,%2,%3};", 1, 0)
MMA(u4s4_16_64, "mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};", 1, 1)
MMA(xor_8_128, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0,%1}, {%4}, {%8}, {%0,%1};", 0, 0)
MMA(and_16_128, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5}, {%8}, {%0,%1,%2,%3};", 1, 0)
MMA(xor_16_256, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};", 1, 1)

template <class T, int K> struct Fragments {
    wmma::fragment<wmma::matrix_a, 8, 8, K, T, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, K, T, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 8, 8, K, int> c;

    __device__ void load(const unsigned *pa, const unsigned *pb, const int *pc) {
        wmma::load_matrix_sync(a, pa, K);
        wmma::load_matrix_sync(b, pb, K);
        wmma::load_matrix_sync(c, pc, 8, wmma::mem_row_major);
    }
};

extern "C" __global__ void wmma_s4(int *out, const unsigned *a, const unsigned *b, const int *c) {
    Fragments<precision::s4, 32> f;
    f.load(a, b, c);
    wmma::mma_sync(f.c, f.a, f.b, f.c);
    wmma::store_matrix_sync(out, f.c, 8, wmma::mem_row_major);
}

template <bmmaBitOp op> __device__ void bits(int *out, const unsigned *a, const unsigned *b, const int *c) {
    Fragments<precision::b1, 128> f;
    f.load(a, b, c);
    wmma::bmma_sync(f.c, f.a, f.b, f.c, op, bmmaAccumulateOpPOPC);
    wmma::store_matrix_sync(out, f.c, 8, wmma::mem_row_major);
}

extern "C" __global__ void wmma_and(int *out, const unsigned *a, const unsigned *b, const int *c) {
    bits<bmmaBitOpAND>(out, a, b, c);
}
extern "C" __global__ void wmma_xor(int *out, const unsigned *a, const unsigned *b, const int *c) {
    bits<bmmaBitOpXOR>(out, a, b, c);
}
