/* ops_matrix.c - products of small matrices by a warp: ldmatrix, stmatrix, movmatrix, mma, wmma; and createpolicy.
 *
 * The elements of a matrix are spread over the registers of all lanes. For mma the manual says how: lane i is in group
 * i / 4 and t = i % 4; a register of A holds E neighbours in a row (E: elements of 32 bits), registers alternate
 * between row `group` and `group + 8`, then go 4 * E columns on; B is the same with rows and columns exchanged; C and D
 * hold pairs of a row. The fragments of wmma have a layout of the implementation's own: element after element.
 *
 * Sums of floats are computed in double precision and rounded once, which is within what tensor cores do. */
#include "half.h"
#include "locate.h"

#include <string.h>

enum { MAX_SIDE = 32, MAX_DEPTH = 256 };

/* Sizes by MF_SHAPE. */
typedef struct Shape {
    uint16_t m, n, k;
} Shape;
static const Shape shapes[] = {
    [SHAPE_M8N8K4] = {8, 8, 4},       [SHAPE_M8N8K16] = {8, 8, 16},     [SHAPE_M16N8K4] = {16, 8, 4},
    [SHAPE_M16N8K8] = {16, 8, 8},     [SHAPE_M16N8K16] = {16, 8, 16},   [SHAPE_M16N8K32] = {16, 8, 32},
    [SHAPE_M16N16K16] = {16, 16, 16}, [SHAPE_M16N16K8] = {16, 16, 8},   [SHAPE_M32N8K16] = {32, 8, 16},
    [SHAPE_M8N32K16] = {8, 32, 16},   [SHAPE_M8N8K32] = {8, 8, 32},     [SHAPE_M16N8K64] = {16, 8, 64},
    [SHAPE_M8N8K128] = {8, 8, 128},   [SHAPE_M16N8K128] = {16, 8, 128}, [SHAPE_M16N8K256] = {16, 8, 256}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A matrix while it is computed with: one of the two is used. B stands here transposed. */
typedef struct Matrix {
    double f[MAX_SIDE][MAX_SIDE];
    int32_t i[MAX_SIDE][MAX_DEPTH];
} Matrix;

/* ---- elements ---------------------------------------------------------------------------------- */

static bool is_int8(unsigned type) { return type == PT_S8 || type == PT_U8; }
static bool is_int4(unsigned type) { return type == PT_S4 || type == PT_U4; }
static bool is_small(unsigned type) { return is_int4(type) || type == PT_B1; }
static bool is_integer(unsigned type) { return is_int8(type) || is_small(type) || type == PT_S32; }

static void set_element(Matrix *x, uint32_t row, uint32_t col, unsigned type, uint64_t bits) {
    float f;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case PT_F16: x->f[row][col] = (double)half_to_float((uint16_t)bits); break;
    case PT_BF16: x->f[row][col] = (double)bf16_to_float((uint16_t)bits); break;
    case PT_TF32: low &= ~UINT32_C(0x1fff); /* 10 bits of the fraction count */ /* fall through */
    case PT_F32:
        memcpy(&f, &low, 4);
        x->f[row][col] = (double)f;
        break;
    case PT_F64: memcpy(&x->f[row][col], &bits, 8); break;
    case PT_U8: x->i[row][col] = (uint8_t)bits; break;
    case PT_S8: x->i[row][col] = (int8_t)bits; break;
    case PT_S4: x->i[row][col] = (int32_t)(low << 28) >> 28; break;
    case PT_U4: x->i[row][col] = (int32_t)(low & 15); break;
    case PT_B1: x->i[row][col] = (int32_t)(low & 1); break;
    default: x->i[row][col] = (int32_t)bits; break;
    }
}

static uint64_t get_element(const Matrix *x, uint32_t row, uint32_t col, unsigned type) {
    float f = (float)x->f[row][col];
    uint64_t bits = 0;
    switch (type) {
    case PT_F16: return half_from_float(f);
    case PT_BF16: return bf16_from_float(f);
    case PT_TF32:
    case PT_F32: memcpy(&bits, &f, 4); return bits;
    case PT_F64: memcpy(&bits, &x->f[row][col], 8); return bits;
    default: return (uint32_t)x->i[row][col];
    }
}

static uint32_t register_count(const PtxOperand *o) { return o->flags & OPERAND_VECTOR ? o->bytes : 1; }

static const PtxOperand *register_of(const Warp *w, const PtxOperand *o, uint32_t k) {
    return o->flags & OPERAND_VECTOR ? &w->run->code->vectors[o->off + k] : o;
}

/* Elements in a register: several of a narrow type. */
static uint32_t bits_of(unsigned type) { return is_int4(type) ? 4 : type == PT_B1 ? 1 : 8u * ptx_types[type].bytes; }
static uint32_t packed(unsigned type) { return bits_of(type) < 32 ? 32 / bits_of(type) : 1; }

/* ---- where elements lie ------------------------------------------------------------------------ */

typedef enum Role { ROLE_A, ROLE_B, ROLE_C } Role;
typedef struct Place {
    uint32_t row, col;
} Place;

/* mma: element e of register r in a lane. */
static Place mma_place(Role role, uint32_t lane, uint32_t r, uint32_t e, uint32_t each, bool tall) {
    uint32_t group = lane / 4, t = lane % 4;
    if (role == ROLE_B) return (Place){t * each + e + 4 * each * r, group};
    if (role == ROLE_A) {
        if (!tall) return (Place){group, t * each + e + 4 * each * r};
        return (Place){group + 8 * (r & 1), t * each + e + 4 * each * (r >> 1)};
    }
    uint32_t i = r * each + e;
    return (Place){group + 8 * (i >> 1), t * 2 + (i & 1)};
}

/* wmma: the elements of a matrix of `cols` columns in order; what is too much repeats them. */
static Place wmma_place(uint32_t lane, uint32_t r, uint32_t e, uint32_t each, uint32_t registers, uint32_t cols,
                        uint32_t size) {
    uint32_t i = (lane * registers * each + r * each + e) % size;
    return (Place){i / cols, i % cols};
}

/* How a fragment is to be gone through. */
typedef struct Fragments {
    bool wmma, tall;
    Role role;
    uint32_t rows, cols;
    unsigned type;
} Fragments;

static Place place(const Fragments *g, uint32_t lane, uint32_t r, uint32_t e, uint32_t registers) {
    uint32_t each = packed(g->type), size = g->rows * g->cols;
    if (!g->wmma) return mma_place(g->role, lane, r, e, each, g->tall);
    if (!is_small(g->type) || g->role != ROLE_B) return wmma_place(lane, r, e, each, registers, g->cols, size);
    Place p = wmma_place(lane, r, e, each, registers, g->rows, size); /* a register's elements are a column's */
    return (Place){p.col, p.row};
}

static void gather(const Warp *w, const PtxOperand *o, const Fragments *g, Matrix *x) {
    uint32_t n = register_count(o), each = packed(g->type), bits = bits_of(g->type);
    for (uint32_t r = 0; r < n; r++)
        for (int lane = 0; lane < WARP; lane++) {
            uint64_t v = lane_get(w, register_of(w, o, r), lane);
            for (uint32_t e = 0; e < each; e++) {
                Place p = place(g, (uint32_t)lane, r, e, n);
                if (g->role == ROLE_B) p = (Place){p.col, p.row};
                set_element(x, p.row, p.col, g->type, each == 1 ? v : v >> bits * e);
            }
        }
}

static void scatter(const Warp *w, const PtxOperand *o, const Fragments *g, const Matrix *x, uint32_t mask) {
    uint32_t n = register_count(o), each = packed(g->type), bits = bits_of(g->type);
    for (uint32_t r = 0; r < n; r++)
        EACH_LANE(mask, lane, {
            uint64_t v = 0;
            for (uint32_t e = 0; e < each; e++) {
                Place p = place(g, (uint32_t)lane, r, e, n);
                v |= get_element(x, p.row, p.col, g->type) << (each == 1 ? 0 : bits * e);
            }
            lane_set(w, register_of(w, o, r), (int)lane, v);
        });
}

/* ---- products ---------------------------------------------------------------------------------- */

static int32_t sum_int(const Matrix *a, const Matrix *b, int32_t c, uint32_t row, uint32_t col, uint32_t k,
                       bool saturate) {
    int64_t sum = c;
    for (uint32_t i = 0; i < k; i++) sum += (int64_t)a->i[row][i] * b->i[col][i];
    if (saturate) sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
    return (int32_t)(uint32_t)(uint64_t)sum;
}

static int32_t sum_bits(const Matrix *a, const Matrix *b, int32_t c, uint32_t row, uint32_t col, uint32_t k,
                        bool differ) {
    uint32_t sum = (uint32_t)c;
    for (uint32_t i = 0; i < k; i++)
        sum += (uint32_t)(differ ? a->i[row][i] ^ b->i[col][i] : a->i[row][i] & b->i[col][i]);
    return (int32_t)sum;
}

/* in->sub: the shape; in->sem: of single bits, BOOL_AND or BOOL_XOR; in->vec: types of C (low bits) and whether it is
 * wmma and saturates. */
enum { VEC_TYPE = 63, VEC_WMMA = 64, VEC_SATURATES = 128 };

static void multiply(Warp *w, const PtxInst *in, uint32_t mask) {
    Matrix a, b, c;
    Shape s = shapes[in->sub];
    bool wmma = in->vec & VEC_WMMA, integers = is_integer(in->type[1]);
    Fragments fa = {wmma, s.m == 16, ROLE_A, s.m, s.k, in->type[1]}, fb = {wmma, false, ROLE_B, s.k, s.n, in->type[2]};
    Fragments fc = {wmma, s.m == 16, ROLE_C, s.m, s.n, in->vec & VEC_TYPE}, fd = fc;
    fd.type = in->type[0];
    gather(w, &in->o[1], &fa, &a);
    gather(w, &in->o[2], &fb, &b);
    gather(w, &in->o[3], &fc, &c);
    for (uint32_t row = 0; row < s.m; row++)
        for (uint32_t col = 0; col < s.n; col++) {
            if (in->type[1] == PT_B1) {
                c.i[row][col] = sum_bits(&a, &b, c.i[row][col], row, col, s.k, in->sem == BOOL_XOR);
                continue;
            }
            if (integers) {
                c.i[row][col] = sum_int(&a, &b, c.i[row][col], row, col, s.k, in->vec & VEC_SATURATES);
                continue;
            }
            double sum = c.f[row][col];
            for (uint32_t i = 0; i < s.k; i++) sum += a.f[row][i] * b.f[col][i];
            c.f[row][col] = sum;
        }
    scatter(w, &in->o[0], &fd, &c, mask);
}

/* Registers of a lane for a matrix: each element once, or for wmma's a and b of halves as often as they repeat. */
static bool fits(const PtxOperand *o, unsigned type, uint32_t elements, bool may_repeat) {
    uint32_t held = register_count(o) * packed(type) * WARP;
    return held == elements || (may_repeat && held > elements && held % elements == 0);
}

static bool product_types(unsigned d, unsigned a, unsigned b, unsigned c) {
    bool sums = d == PT_S32 && c == PT_S32;
    if (is_int8(a)) return is_int8(b) && sums;
    if (is_int4(a)) return is_int4(b) && sums;
    if (a == PT_B1) return b == PT_B1 && sums;
    if (a != b) return false;
    if (a == PT_F16) return (d == PT_F16 || d == PT_F32) && (c == PT_F16 || c == PT_F32);
    if (a == PT_F64) return d == PT_F64 && c == PT_F64;
    return (a == PT_BF16 || a == PT_TF32) && d == PT_F32 && c == PT_F32;
}

/* Narrow types have deeper shapes. */
static bool depth_fits(unsigned a, uint32_t k) {
    return a == PT_B1 ? k >= 128 : is_int4(a) ? k == 32 || k == 64 : k <= 32;
}

/* `bits`: what is done to single bits; BOOL_NONE for other types. */
static bool select_product(const PtxForm *f, PtxInst *in, bool wmma, unsigned bits) {
    uint32_t shape = f->field[MF_SHAPE], k;
    unsigned d = f->types[0], a = f->types[1], b = f->types[2], c = f->types[3];
    if (wmma && f->ntypes == 2) a = b = PT_F16, c = f->types[1];
    else if (f->ntypes != 4) return false;
    if (!shape || shape >= SHAPES || !shapes[shape].m || !product_types(d, a, b, c)) return false;
    if (f->field[MF_ROUND] != ROUND_NONE && !(a == PT_F64 && f->field[MF_ROUND] == ROUND_RN)) return false;
    Shape s = shapes[shape];
    bool narrow = s.n == 8 && s.m != 32;
    if (wmma == narrow && !(wmma && s.m == 8 && (a == PT_F64 || is_small(a)))) return false;
    if (!depth_fits(a, s.k) || (a == PT_B1) != (bits != BOOL_NONE)) return false;
    if (s.m == 8 && s.n == 8 && s.k == 4 && a != PT_F64) return false; /* of old GPUs, with a layout of its own */
    k = s.k;
    if (!fits(&in->o[0], d, s.m * s.n, false) || !fits(&in->o[3], c, s.m * s.n, false)) return false;
    if (!fits(&in->o[1], a, s.m * k, wmma) || !fits(&in->o[2], b, k * s.n, wmma)) return false;
    in->type[0] = (uint8_t)d, in->type[1] = (uint8_t)a, in->type[2] = (uint8_t)b;
    in->sub = (uint8_t)shape;
    in->sem = (uint8_t)bits;
    in->vec = (uint8_t)(c | (wmma ? VEC_WMMA : 0) | (has(f, FLAG_SATFINITE) ? VEC_SATURATES : 0));
    in->mask_operand = 4;
    in->fn = multiply;
    return true;
}

bool select_mma(const PtxForm *f, PtxInst *in) {
    unsigned bits = f->field[MF_BOOL];
    if (bits == BOOL_OR || has(f, FLAG_POPC) != (bits != BOOL_NONE)) return false;
    return has(f, FLAG_ROW) && has(f, FLAG_COL) && select_product(f, in, false, bits);
}
bool select_wmma_mma(const PtxForm *f, PtxInst *in) { return select_product(f, in, true, BOOL_NONE); }
bool select_wmma_xor(const PtxForm *f, PtxInst *in) { return select_product(f, in, true, BOOL_XOR); }
bool select_wmma_and(const PtxForm *f, PtxInst *in) { return select_product(f, in, true, BOOL_AND); }

/* ---- wmma.load, wmma.store --------------------------------------------------------------------- */

/* Bytes of the element that is e-th in register r of each lane. */
static void element_addresses(const Warp *w, const PtxInst *in, const uint64_t *base, const Fragments *g, uint32_t r,
                              uint32_t e, uint32_t registers, uint32_t mask, uint64_t *address) {
    uint64_t stride = in->vec & VEC_WMMA ? g->cols : g->rows; /* VEC_WMMA: by rows */
    EACH_LANE(mask, i, {
        Place p = place(g, (uint32_t)i, r, e, registers);
        uint64_t step = in->o[2].file == FILE_NONE ? stride : lane_get(w, &in->o[2], (int)i);
        uint64_t at = in->vec & VEC_WMMA ? p.row * step + p.col : p.col * step + p.row;
        address[i] = base[i] + at * bits_of(g->type) / 8;
    });
}

static Fragments loaded(const PtxInst *in) {
    Shape s = shapes[in->sub];
    Role role = (Role)(in->vec & 3);
    return (Fragments){true, false, role, role == ROLE_B ? s.k : s.m, role == ROLE_A ? s.k : s.n, in->type[0]};
}

static void move_matrix(Warp *w, const PtxInst *in, uint32_t mask, const PtxOperand *values, const PtxOperand *address,
                        unsigned how) {
    Fragments g = loaded(in);
    bool small = is_small(g.type); /* whole registers are moved */
    uint32_t n = register_count(values), each = small ? 1 : packed(g.type), bytes = small ? 4 : ptx_types[g.type].bytes;
    uint64_t base[WARP], v[WARP];
    Access a;
    all_addresses(w, address, in->disp, base);
    for (uint32_t r = 0; r < n; r++) {
        EACH_LANE(mask, i, v[i] = how & ACCESS_WRITE ? lane_get(w, register_of(w, values, r), (int)i) : 0);
        for (uint32_t e = 0; e < each; e++) {
            element_addresses(w, in, base, &g, r, e, n, mask, a.address);
            locate_lanes(w, in, (Space)in->space, mask, bytes, how, &a);
            if (w->watching) watch(w, in, (Space)in->space, mask, bytes, how, &a, NULL);
            uint32_t shift = each == 1 ? 0 : 8 * bytes * e;
            EACH_LANE(mask, i, {
                uint64_t one = v[i] >> shift;
                if (how & ACCESS_WRITE) memcpy(a.host[i], &one, bytes);
                else one = 0, memcpy(&one, a.host[i], bytes), v[i] |= one << shift;
            });
        }
        if (!(how & ACCESS_WRITE)) EACH_LANE(mask, i, lane_set(w, register_of(w, values, r), (int)i, v[i]));
    }
}

static void wmma_load(Warp *w, const PtxInst *in, uint32_t mask) {
    move_matrix(w, in, mask, &in->o[0], &in->o[1], ACCESS_READ);
}
static void wmma_store(Warp *w, const PtxInst *in, uint32_t mask) {
    move_matrix(w, in, mask, &in->o[1], &in->o[0], ACCESS_WRITE);
}

static bool select_move(const PtxForm *f, PtxInst *in, Role role, LaneFn fn, const PtxOperand *values) {
    uint32_t shape = f->field[MF_SHAPE];
    if (f->ntypes != 1 || has(f, FLAG_ROW) == has(f, FLAG_COL) || !shape || shape >= SHAPES || !shapes[shape].m)
        return false;
    if (in->space != SPACE_GENERIC && in->space != SPACE_GLOBAL && in->space != SPACE_SHARED) return false;
    in->sub = (uint8_t)shape;
    in->vec = (uint8_t)(role | (has(f, FLAG_ROW) ? VEC_WMMA : 0));
    Fragments g = loaded(in);
    in->mask_operand = 3;
    in->fn = fn;
    if (is_small(g.type) && (role == ROLE_C || has(f, FLAG_ROW) != (role == ROLE_A))) return false;
    return fits(values, g.type, g.rows * g.cols, role != ROLE_C);
}

bool select_wmma_load_a(const PtxForm *f, PtxInst *in) { return select_move(f, in, ROLE_A, wmma_load, &in->o[0]); }
bool select_wmma_load_b(const PtxForm *f, PtxInst *in) { return select_move(f, in, ROLE_B, wmma_load, &in->o[0]); }
bool select_wmma_load_c(const PtxForm *f, PtxInst *in) { return select_move(f, in, ROLE_C, wmma_load, &in->o[0]); }
bool select_wmma_store(const PtxForm *f, PtxInst *in) { return select_move(f, in, ROLE_C, wmma_store, &in->o[1]); }

/* ---- ldmatrix, stmatrix ------------------------------------------------------------------------ */

/* Matrices of 8 rows of 16 bytes: lane 8 m + r has the address of row r of matrix m. Lane i gets elements 2 t and 2 t +
 * 1 of row i / 4, of each matrix in one register; with .trans of the column instead. in->sub: .trans. */
static void move_rows(Warp *w, const PtxInst *in, uint32_t mask, const PtxOperand *values, const PtxOperand *address,
                      unsigned how) {
    uint32_t n = register_count(values), addressed = n == 4 ? UINT32_MAX : (1u << 8 * n) - 1;
    Access a;
    if (addressed & ~mask) fault(w, in, __builtin_ctz(mask), FAULT_WARP_MASK, SPACE_GENERIC, addressed, 0);
    locate(w, in, address, in->disp, (Space)in->space, addressed, 16, how, &a);
    if (w->watching) watch(w, in, (Space)in->space, addressed, 16, how, &a, NULL);
    for (uint32_t m = 0; m < n; m++) {
        const PtxOperand *o = register_of(w, values, m);
        EACH_LANE(mask, i, {
            uint32_t line = (uint32_t)i / 4, at = (uint32_t)i % 4 * 2,
                     v = how & ACCESS_WRITE ? (uint32_t)lane_get(w, o, (int)i) : 0;
            for (uint32_t e = 0; e < 2; e++) {
                uint8_t *p = in->sub ? a.host[8 * m + at + e] + 2 * line : a.host[8 * m + line] + 2 * (at + e);
                uint16_t half = (uint16_t)(v >> 16 * e);
                if (how & ACCESS_WRITE) memcpy(p, &half, 2);
                else memcpy(&half, p, 2), v |= (uint32_t)half << 16 * e;
            }
            if (!(how & ACCESS_WRITE)) lane_set(w, o, (int)i, v);
        });
    }
}

static void ldmatrix(Warp *w, const PtxInst *in, uint32_t mask) {
    move_rows(w, in, mask, &in->o[0], &in->o[1], ACCESS_READ);
}
static void stmatrix(Warp *w, const PtxInst *in, uint32_t mask) {
    move_rows(w, in, mask, &in->o[1], &in->o[0], ACCESS_WRITE);
}

static bool select_rows(const PtxForm *f, PtxInst *in, LaneFn fn) {
    if (f->ntypes != 1 || f->types[0] != PT_B16 || f->field[MF_SHAPE] != SHAPE_M8N8 || !f->field[MF_VEC]) return false;
    if (in->space != SPACE_GENERIC && in->space != SPACE_SHARED) return false;
    in->sub = has(f, FLAG_TRANS);
    in->mask_operand = 2;
    in->fn = fn;
    return has(f, FLAG_SYNC);
}

bool select_ldmatrix(const PtxForm *f, PtxInst *in) { return select_rows(f, in, ldmatrix); }
bool select_stmatrix(const PtxForm *f, PtxInst *in) { return select_rows(f, in, stmatrix); }

/* Row i / 4 of the result is that column of the source. */
static void movmatrix(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t a[WARP], d[WARP];
    memcpy(a, lanes(w, &in->o[1]), sizeof a);
    for (uint32_t i = 0; i < WARP; i++) {
        uint32_t column = i / 4, row = i % 4 * 2, shift = column % 2 * 16;
        d[i] = (a[row * 4 + column / 2] >> shift & 0xffff) | (a[(row + 1) * 4 + column / 2] >> shift & 0xffff) << 16;
    }
    uint32_t *to = lanes(w, &in->o[0]);
    EACH_LANE(mask, i, to[i] = d[i]);
}

bool select_movmatrix(const PtxForm *f, PtxInst *in) {
    in->mask_operand = 2;
    in->fn = movmatrix;
    return f->ntypes == 1 && f->types[0] == PT_B16 && f->field[MF_SHAPE] == SHAPE_M8N8 && has(f, FLAG_TRANS) &&
           has(f, FLAG_SYNC);
}

/* ---- createpolicy ------------------------------------------------------------------------------ */

/* A policy of the cache changes no result: all are 0. */
static void no_policy(Warp *w, const PtxInst *in, uint32_t mask) {
    uint64_t *d = lanes(w, &in->o[0]);
    EACH_LANE(mask, i, d[i] = 0);
}

bool select_createpolicy(const PtxForm *f, PtxInst *in) {
    in->fn = no_policy;
    return f->ntypes == 1 && f->types[0] == PT_B64 && in->o[0].bytes == 8;
}
