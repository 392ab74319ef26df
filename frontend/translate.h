/* translate.h - what the parts of the translation share: the mind's stack, and how operations are added.
 *
 * Only translate.c, pystack.c and pycalls.c include it. A function that fails has reported it and set
 * t->c->failed; what it returns then is not used. */
#ifndef GPU_TRANSLATE_H
#define GPU_TRANSLATE_H

#include "pycode.h"

typedef enum EntryKind { E_VALUE, E_SLOT, E_NULL } EntryKind;

/* One place of the stack: a value of this block, what the block found in place `at` on entry, or an empty half
 * of a callable. `made`: the FUNCTION that it is, also from an earlier block; 0: something else. */
typedef struct Entry { EntryKind kind; uint32_t at; PyRef made; } Entry;

/* The stack on entry of a block: its depth, and which places are empty halves. */
typedef struct StackShape { bool known; uint32_t depth; bool *empty; PyRef *made; } StackShape;

/* Where a slot of the code object lives: a variable, or a free variable of the outermost function. */
typedef struct Place { uint32_t var; const char *free; } Place;

enum { MAX_DEPTH = 4096, MAX_NESTING = 16 };

typedef struct Frame {
    CCode code;
    Flow flow;
    Place *places;          /* by slot */
    VEC(uint32_t) stackvar; /* by depth */
    PyBlockId *block_of;    /* by flow block */
    StackShape *shapes;     /* by flow block */
    VEC(uint32_t) todo;
    PyBlockId return_to;    /* a comprehension: where it goes on, and the variable that takes its value */
    uint32_t return_var, nesting;
    bool guarded;           /* a comprehension: it is in a `try` that has a `finally` */
    bool generator;         /* a generator expression: `items` has what was made of its items, for `consumer` */
    uint32_t items, consumer, start;    /* start: the GEN_START */
} Frame;

typedef struct Translator {
    PyCtx *c;
    PyFunc *f;
    PyVars *vars;
    PyBlockId cur;
    VEC(Entry) stack;
    PySpan span;
    bool guarded;           /* the instruction is in a `try` that has a `finally` */
    bool initialiser;       /* an __init__, which returns its instance */
} Translator;

/* pystack.c */
void tr_bad(Translator *t, const char *why);
PyBlockId tr_new_block(Translator *t);
uint32_t tr_new_var(Translator *t, const char *name, uint32_t frame, uint32_t depth);
PyRef tr_emit_n(Translator *t, unsigned op, uint32_t nargs, const PyRef *args);
PyRef tr_emit0(Translator *t, unsigned op);
PyRef tr_emit1(Translator *t, unsigned op, PyRef a);
PyRef tr_emit2(Translator *t, unsigned op, PyRef a, PyRef b);
PyRef tr_emit3(Translator *t, unsigned op, PyRef a, PyRef b, PyRef c);
PyRef tr_with_imm(Translator *t, PyRef r, uint32_t imm);
PyRef tr_with_name(Translator *t, PyRef r, const char *name);
PyRef tr_emit_const(Translator *t, HostRef obj);
PyRef tr_load_var(Translator *t, uint32_t var);
void tr_store_var(Translator *t, uint32_t var, PyRef v);
void tr_terminate(Translator *t, PyTerm term, PyRef arg, uint32_t nsucc, PyBlockId a, PyBlockId b);
PyInstr *tr_made_here(Translator *t, PyRef r, PyOp op);
uint32_t tr_stack_var(Translator *t, Frame *fr, uint32_t depth);
void tr_push_entry(Translator *t, Entry e);
void tr_push(Translator *t, PyRef v);
Entry *tr_peek(Translator *t, uint32_t n);
PyRef tr_value_of(Translator *t, Frame *fr, Entry *e);
PyRef tr_pop(Translator *t, Frame *fr);
PyRef tr_top(Translator *t, Frame *fr, uint32_t n);
PyRef *tr_pop_n(Translator *t, Frame *fr, uint32_t n);
void tr_spill(Translator *t, Frame *fr);
PyBlockId tr_enter(Translator *t, Frame *fr, uint32_t instr_index, uint32_t depth);
PyInstr *tr_instr(Translator *t, PyRef r);
bool tr_host_info(Translator *t, HostRef obj, HostInfo *info);

/* pycalls.c */
void tr_function(Translator *t, Frame *fr, uint32_t flags, bool named);
void tr_func_attr(Translator *t, Frame *fr, uint32_t flag);
void tr_call(Translator *t, Frame *fr, const CInstr *in);
void tr_call_ex(Translator *t, Frame *fr, bool with_map, bool halves);
void tr_import(Translator *t, Frame *fr, const char *name);
PyRef tr_cell(Translator *t, PyRef value, uint32_t var);
PyRef tr_super(Translator *t, PyRef super, PyRef cls, PyRef self);
void tr_end_generator(Translator *t, Frame *fr);

/* translate.c: decodes nothing, translates fr->code from block `entry` on */
void tr_code(Translator *t, Frame *fr, PyBlockId entry);

#endif
