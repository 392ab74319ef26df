/* warpfns.h - what warpfns.c, collectives.c and groups.c share: operations on the lanes of a warp. */
#ifndef GPU_WARPFNS_H
#define GPU_WARPFNS_H

#include "devfns.h"
#include "evaluator.h"

enum { WARP = 32 };

/* ---- warpfns.c: false or POISON: reported ---- */
bool warp_mask(Eval *e, const CallSite *site, Val v, Ref *out);      /* absent: all lanes; a u32 */
bool warp_width(Eval *e, const CallSite *site, Val v, Wide *out);    /* absent: 32 */
Val warp_shuffle(Eval *e, Shuffle mode, Ref mask, Val v, Ref lane, Wide width);   /* lane: i32 */
Val warp_vote(Eval *e, const CallSite *site, Vote vote, Ref mask, Val predicate);
Val warp_match(Eval *e, const CallSite *site, Match match, uint32_t at, Ref mask, Val v);

/* ---- collectives.c ---- */

/* Lanes that reduce or scan together: those of `mask` in segments of `width`; `rank` (i32) is this thread's place. `count`
 * (i32): how many lanes there are, or REF_NONE: as many as the width. */
typedef struct Lanes {
    Ref mask, rank, count;
    Wide width;
} Lanes;

Val lanes_reduce(Eval *e, const CallSite *site, const Lanes *l, Val v, Val op);
Val lanes_scan(Eval *e, const CallSite *site, const Lanes *l, Val v, Val op, bool exclusive, Val initial);

/* A shared array of the place that makes the call (sharedfns.c). */
Val shared_array(Eval *e, const CallSite *site, DType d, uint32_t ndim, const Val *shape);

/* The thread's number in its block, x fastest, and how many the block has: i32. */
Ref block_rank(Eval *e);
Ref block_threads(Eval *e);

#endif
