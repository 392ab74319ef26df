/* decode.h - what decode.c, operands.c and calls.c share while they make a function's instructions. */
#ifndef EMU_DECODE_H
#define EMU_DECODE_H

#include "parse.h"

/* A constant in PtxCode.constants, by value and width, so that equal ones are one. */
typedef struct Constant {
    uint64_t bits;
    uint32_t off, next;
    uint8_t bytes;
} Constant;

enum { CONSTANT_SLOTS = 1024 };

typedef struct Decoder {
    Load *load;
    PtxCode *code;
    const Source *source;
    Function *f;
    PtxFunc *func;
    PtxInst *insts;
    uint32_t ninsts, insts_room;
    Label **fixups; /* by instruction: where it jumps to */
    uint32_t fixups_room;
    uint32_t *stmt_pc;
    /* Registers of the function. */
    uint64_t frame_at;
    uint32_t pred_line, preds; /* the 64 bytes that predicates are put in, and how many are */
    uint32_t sinks[17];        /* by bytes: one more than the offset of the register that nobody reads; 0: predicates */
    /* Of the module. */
    uint8_t *constants;
    uint32_t constants_bytes, constants_room;
    Constant *constant_list;
    uint32_t nconstants, constant_list_room, constant_slots[CONSTANT_SLOTS];
    PtxOperand *vectors;
    uint32_t nvectors, vectors_room, tables_room, calls_room, ncalls, ntables;
} Decoder;

/* ---- operands.c ---- */
uint32_t frame_register(Decoder *d, uint32_t bytes);
uint32_t frame_predicate(Decoder *d);
PtxOperand constant_operand(Decoder *d, uint64_t bits, uint32_t bytes);
PtxOperand register_operand(Decoder *d, Reg *r);
/* Fills in in->o and disp from the statement, by the opcode's rules; the form gets the space of `.param` and of generic
 * accesses to a symbol; *target is the label. False: the error is told. */
bool decode_operands(Decoder *d, const Stmt *s, PtxForm *f, PtxInst *in, Label **target);
/* Tells what is wrong with the statement's operands; false. */
bool operand_error(Decoder *d, const Stmt *s, const char *what);

/* ---- decode.c ---- */
bool decode_statement(Decoder *d, const Stmt *s);
/* Guard, types and function of an instruction whose operands are there; appends it. */
bool decode_plain(Decoder *d, const Stmt *s, PtxInst *in, PtxForm *form, Label *target);
/* An instruction that the text doesn't have, at the place and under the guard of `s`. */
bool emit(Decoder *d, const Stmt *s, const char *spelling, const Arg *args, uint32_t nargs);

/* ---- live.c: func->registers ---- */
void estimate_registers(Decoder *d);

/* ---- calls.c ---- */
bool decode_call(Decoder *d, const Stmt *s);
bool load_register_parameters(Decoder *d);
bool store_register_results(Decoder *d, const Stmt *ret);

#endif
