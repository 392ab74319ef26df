/* promotetool.c - prints the promotion tables, a line for each pair of types: what tests compare with NumPy.
 *
 *   promotetool numpy | numba
 *   + int8 float:weak float64        operator, left, right, the type it computes in; `-` where it is not defined
 *   ? int64 uint64 exact             comparison        : int8 int16 int16      join        neg int8 int8     unary */
#include "../../frontend/promote.h"

#include <string.h>

static const char *const operators[PYB__COUNT] = {
    [PYB_ADD] = "+", [PYB_AND] = "&",     [PYB_FLOORDIV] = "//", [PYB_LSHIFT] = "<<", [PYB_MATMUL] = "@",
    [PYB_MUL] = "*", [PYB_MOD] = "%",     [PYB_OR] = "|",        [PYB_POW] = "**",    [PYB_RSHIFT] = ">>",
    [PYB_SUB] = "-", [PYB_TRUEDIV] = "/", [PYB_XOR] = "^",
};
static const DType python_types[] = {DT_BOOL, DT_I64, DT_F64, DT_C128};

static void put(Scalar s) { printf(" %s%s", dtype_info[s.dtype].name, s.weak ? ":weak" : ""); }

static void put_result(bool defined, Scalar s) {
    if (defined) put(s);
    else printf(" -");
    putchar('\n');
}

static void pair(Dialect dialect, Scalar a, Scalar b) {
    for (int op = 0; op < PYB__COUNT; op++) {
        Scalar left, right, result = SCALAR(DT_BOOL, false);
        bool defined = promote_binary(dialect, (PyBinary)op, a, b, &left, &right, &result);
        printf("%s", operators[op]);
        put(a);
        put(b);
        put_result(defined, result);
    }
    bool exact;
    Scalar s;
    printf("?");
    put(a);
    put(b);
    if (promote_compare(dialect, a, b, &s, &exact) && exact) puts(" exact");
    else put_result(true, s);
    printf(":");
    put(a);
    put(b);
    bool joins = promote_join(dialect, a, b, &s);
    put_result(joins, s);
}

static void single(Dialect dialect, Scalar a) {
    static const char *const names[] = {"neg", "pos", "invert"};
    for (int op = 0; op < 3; op++) {
        Scalar operand, result = a;
        bool defined = promote_unary(dialect, (PyUnary)op, a, &operand, &result);
        printf("%s", names[op]);
        put(a);
        put_result(defined, result);
    }
}

int main(int argc, char **argv) {
    Scalar all[DT__COUNT + 4];
    int n = 0;
    if (argc != 2) return 2;
    Dialect dialect = strcmp(argv[1], "numba") == 0 ? DIALECT_NUMBA : DIALECT_NUMPY;
    for (int d = 0; d < DT__COUNT; d++) all[n++] = SCALAR(d, false);
    for (int i = 0; i < 4 && dialect == DIALECT_NUMPY; i++) all[n++] = SCALAR(python_types[i], true);
    for (int i = 0; i < n; i++) {
        single(dialect, all[i]);
        for (int j = 0; j < n; j++) pair(dialect, all[i], all[j]);
    }
    return 0;
}
