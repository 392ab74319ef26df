/* opkit.h - one PTX instruction on many inputs, compared with an independent oracle.
 *
 * The instruction is text with the registers %d (result), %a, %b, %c (sources); a result of type `pred` may be %d|%q
 * and counts as %d + 2 * %q. It runs on full warps, under a guard that leaves some lanes out, and with %d the same
 * register as %a. Several instructions stand in braces, and run on full warps only. */
#ifndef TEST_OPKIT_H
#define TEST_OPKIT_H

#include "launch.h"

typedef struct Inputs {
    uint64_t (*x)[3];
    size_t n, room;
} Inputs;

typedef struct Op Op;
typedef uint64_t (*Oracle)(const Op *op, const uint64_t *x);

struct Op {
    const char *text;  /* "add.u32 %d, %a, %b;" */
    const char *types; /* of %d, %a, %b, %c: "u32 u32 u32" */
    Oracle oracle;
    unsigned mode, flags; /* for the oracle */
    /* Whether a result is right, where that isn't a matter of equal bits; NULL: it is. */
    bool (*same)(const Op *op, uint64_t got, uint64_t wanted);
};

void op_run(const Op *op, const Inputs *in);
/* The instruction must be refused when the module is read. */
void op_refused(const char *text, const char *types);
void op_end(void);

/* ---- inputs ------------------------------------------------------------------------------------- */

uint64_t random_bits(void);
/* What is special for integers and floats of all widths, and its neighbours. */
extern const uint64_t special_ints[], special_f32[], special_f64[], special_f16[], special_bf16[];
extern const size_t n_special_ints, n_special_f32, n_special_f64, n_special_f16, n_special_bf16;

void inputs_add(Inputs *in, uint64_t a, uint64_t b, uint64_t c);
/* All pairs (or, with `three`, many triples) of the list, then `n` random ones. */
void inputs_cross(Inputs *in, const uint64_t *list, size_t count, bool three);
void inputs_random(Inputs *in, size_t n);
void inputs_free(Inputs *in);

/* ---- comparisons of floats ---------------------------------------------------------------------- */

/* PTX's names, and whether the one with this number holds: the last two ask whether both are numbers, or one is none. */
extern const char *const float_relations[14];
bool float_relation_holds(unsigned relation, double a, double b);

#endif
