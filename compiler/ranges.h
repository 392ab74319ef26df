/* ranges.h - what ranges.c finds out and narrow.c acts on. */
#ifndef GPU_RANGES_H
#define GPU_RANGES_H

#include "ir.h"

/* The values that an integer or bool may have, both ends included; empty when lo > hi. A u64 above
 * INT64_MAX can't be written: its range is then the whole of int64_t, which means "not known". */
typedef struct Range {
    int64_t lo, hi;
} Range;

typedef struct Refined {
    Ref r;
    Range before;
} Refined;

typedef struct Sum {
    Ref base;
    int64_t plus;
} Sum;

/* least.base + least.plus <= most.base + most.plus, where the walk stands. */
typedef struct Relation {
    Sum least, most;
    uint32_t mark; /* of `refined`: undone with it */
} Relation;

/* What the last walk finds out about an instruction, for narrow.c. */
enum {
    NARROW_VALUE = 1, /* an i64 that fits i32 where it stands, as its operands do */
    NARROW_USE = 2,   /* its i64 operands fit i32 where it stands */
    NARROW_INDEX = 3, /* an ADDR whose index may be computed in i32, since the access is in bounds */
    NARROW_MODULO = 4, /* the same, and sums on the way may wrap */
    NARROW_UNSIGNED = 5,    /* as NARROW_VALUE, for what fits u32 alone: where a loop over the grid's threads ends */
    NARROW_UNSIGNED_USE = 6 /* as NARROW_USE, of i64 and u64 operands */
};

typedef struct Ranges {
    IrModule *m;
    const DomTree *dominators;
    Range *now;      /* of each Ref, where the walk stands */
    uint32_t *edges; /* of each PHI: where its operands' ranges start in edge_ranges */
    VEC(Range) edge_ranges;
    VEC(Refined) refined; /* undone when the walk leaves a block */
    VEC(Relation) relations;
    uint8_t *found;       /* NARROW_* of each Ref */
    bool *whole;          /* this part of an index was taken as it is, not as a sum of parts */
    uint32_t size;        /* Refs that these arrays have room for */
    int look_back;        /* how far conditions look */
    bool widening, deciding, changed;
    Ref truth[2]; /* the constants false and true, once needed */
} Ranges;

static inline bool range_in_i32(Range r) { return r.lo >= INT32_MIN && r.hi <= INT32_MAX && r.lo <= r.hi; }
static inline bool range_in_u32(Range r) { return r.lo >= 0 && r.hi <= UINT32_MAX && r.lo <= r.hi; }

Range range_at(Ranges *R, Ref r, int depth); /* where the walk stands; looks `depth` operations back */
Range *ir_ranges(IrModule *m);               /* of each Ref, wherever it is used; changes nothing */
int64_t ranges_least_difference(const Ranges *R, Ref a, Ref b); /* of a - b, by what was compared; INT64_MIN: not known */
bool sizes_bound(const Ranges *R, Ref r, Range *out); /* sizes.c: what a sum or product can be by the sizes of arrays */
void ranges_find_narrow(Ranges *R, Ref r);   /* narrow.c: sets found[r] */
void ranges_narrow(Ranges *R);               /* narrow.c: rewrites what was found */
Ref ranges_entry_const(Ranges *R, Type t, uint64_t bits);

#endif
