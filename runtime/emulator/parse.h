/* parse.h - PTX sources as they are written: names resolved, nothing has a place yet.
 *
 * One Load reads all sources of a module. Everything here lives in load->scratch and is gone when the module stands. */
#ifndef EMU_PARSE_H
#define EMU_PARSE_H

#include "emulator.h"
#include "lex.h"
#include "store.h"
#include "tables.h"

typedef struct Name Name;
typedef struct Symbol Symbol;
typedef struct Function Function;
typedef struct Binding Binding;

/* A word; equal words are the same Name, so that looking one up is reading a field. */
struct Name {
    const char *text; /* NUL-terminated; stays with the module */
    uint32_t length, hash;
    Name *chain; /* in the table of names */
    Name *stem;  /* %r of %r12; NULL: no number at the end */
    uint32_t number;
    Binding *binding;           /* a register, variable or function, of the innermost scope */
    Binding *range;             /* %r<100> */
    Symbol *linked;             /* the symbol of that name that other sources see */
    const char *string;         /* of a label in .debug_str */
    const Function *unknown_in; /* where an error said that it is unknown */
};

/* A register: 32 lanes of a type. A .v4 one is four in a row. */
typedef struct Reg {
    uint8_t type, vec;
    uint32_t off; /* in the frame: decode.c, at first use; UINT32_MAX: not yet */
} Reg;

typedef enum BindingKind { BIND_REG, BIND_RANGE, BIND_SYMBOL } BindingKind;
struct Binding {
    Name *name;
    Binding *outer; /* what it hides */
    Binding *next;  /* of the same scope */
    uint32_t depth;
    uint8_t kind, type; /* BindingKind; of a range's registers */
    uint8_t vec;
    uint32_t count;
    Reg *reg;
    Symbol *symbol;
};

/* Registers, variables and labels between braces. */
typedef struct Scope {
    struct Scope *parent;
    Binding *bindings;
    uint32_t depth, id;
    uint64_t local_at; /* of the function, where the scope began: scopes beside each other share the room */
} Scope;

/* ---- operands and statements -------------------------------------------------------------------- */

typedef enum ArgKind {
    ARG_NONE,
    ARG_REG,
    ARG_SPECIAL,
    ARG_INT,
    ARG_FLOAT,
    ARG_SYMBOL,
    ARG_NAME /* a label, or what is declared later */,
    ARG_VECTOR,
    ARG_SINK
} ArgKind;

typedef struct Arg {
    uint8_t kind;
    bool negated;  /* !%p */
    bool address;  /* in brackets */
    bool pair;     /* `|` and the next operand follow */
    uint8_t bytes; /* ARG_FLOAT: 4 (0f) or 8 */
    uint8_t part;  /* ARG_REG: Part */
    uint16_t special;
    uint32_t count; /* ARG_VECTOR */
    int64_t value;  /* ARG_INT, bits of ARG_FLOAT; of ARG_REG and ARG_SYMBOL what is added */
    union {
        Reg *reg;
        Symbol *symbol;
        Name *name;
        struct Arg *elements;
    };
} Arg;

/* An opcode with its modifiers, read once for each spelling. */
typedef struct Spelling {
    const char *text;
    uint32_t length, hash;
    struct Spelling *chain;
    const PtxOpcode *opcode; /* NULL: unknown, or a modifier is: `error` says it */
    const char *error;
    PtxForm form;
} Spelling;

typedef struct Call {
    Arg *results, *args;
    uint32_t nresults, nargs;
    Arg target;      /* ARG_SYMBOL, ARG_NAME or ARG_REG */
    Name *prototype; /* or NULL */
} Call;

typedef struct Stmt {
    struct Stmt *next;
    Spelling *op;
    Reg *guard;
    bool guard_not;
    uint32_t line, loc;
    Scope *scope;
    Arg *args;
    uint32_t nargs, used_bytes; /* used_bytes: of a load, a bit for each; 0: all */
    Call *call;
} Stmt;

typedef enum LabelKind { LABEL_CODE, LABEL_BRANCHTARGETS, LABEL_PROTOTYPE, LABEL_CALLTARGETS } LabelKind;
typedef struct Label {
    struct Label *chain, *next; /* in the function's table of labels; all of them */
    Name *name;
    Scope *scope;
    uint8_t kind;
    uint32_t line;
    uint32_t stmt;            /* LABEL_CODE: index of the statement behind it */
    Name **targets;           /* LABEL_BRANCHTARGETS */
    uint32_t ntargets, table; /* index into PtxCode.tables */
    Function *prototype;      /* LABEL_PROTOTYPE: parameters and result */
} Label;

/* ---- symbols ------------------------------------------------------------------------------------ */

typedef enum Linkage { LINK_STATIC, LINK_VISIBLE, LINK_WEAK, LINK_COMMON, LINK_EXTERN } Linkage;

/* A piece of an initialiser: a constant, or (part of) an address. */
typedef struct Init {
    struct Init *next;
    uint64_t at;          /* byte */
    uint64_t value;       /* bits, or what is added to the address */
    uint8_t bytes, shift; /* shift: 0xFF00(symbol) is the address >> 8 */
    uint64_t mask;
    Arg symbol; /* ARG_SYMBOL, ARG_NAME, or ARG_NONE */
    uint32_t line;
} Init;

struct Symbol {
    Name *name;
    Function *function; /* of a function's name; else it is a variable */
    uint8_t linkage, space, type;
    bool defined, used, managed, unsized /* x[] */, is_param, is_reg /* .reg parameter */, is_pointer;
    uint32_t align, line, source;
    uint64_t bytes;
    Init *init;
    Reg *reg;               /* is_reg */
    Symbol *real;           /* after linking: the definition; itself; NULL: there is none */
    Function *owner;        /* of a local variable, parameter */
    uint64_t place;         /* address, or offset in its space */
    Symbol *next;           /* of the source, of the function */
    uint32_t mark;          /* layout.c */
    Function *last_user;    /* use_symbol() */
    Symbol *alias_of;       /* of .alias */
    uint32_t address_taken; /* a function's: how often, other than by calls of it */
};

typedef struct SymbolList {
    Symbol **items;
    uint32_t count, room;
} SymbolList;

struct Function {
    Symbol *symbol;
    bool is_kernel, has_body;
    SymbolList params, results;
    Stmt *body, **end;
    uint32_t nstmts;
    Label **labels, *first_label; /* table, a power of two; all of them */
    uint32_t nlabels, label_slots;
    SymbolList variables; /* declared inside */
    SymbolList uses;      /* functions and shared variables that it names */
    uint32_t max_threads[3], required_threads[3], min_blocks, max_registers, cluster[3];
    uint32_t line, first_loc;
    uint32_t index; /* in PtxCode.funcs; UINT32_MAX: not in it */
    bool is_noreturn, calls_pointers;
    uint64_t local_at, local_max; /* bytes of local and ARG variables: of the open scopes; the most of all */
    uint32_t local_align, param_bytes;
};

/* ---- the load ----------------------------------------------------------------------------------- */

typedef struct SourceFile {
    const char *path;
    uint32_t length;
} SourceFile;
typedef struct PendingLoc {
    Name *function;
    uint32_t file;
    bool has_inline;
} PendingLoc;

typedef struct Source {
    const char *name;
    const char *text, *end; /* in the module's text */
    uint32_t first_line;    /* lines of the sources before it: instructions count through all */
    Symbol *symbols, **last_symbol;
    SourceFile *files;
    uint32_t nfiles, files_room;
    uint32_t first_loc;
    uint16_t sm, version;
} Source;

/* Device memory that the module holds. */
typedef struct Allocations {
    uint64_t *addresses;
    uint32_t count, room;
} Allocations;

typedef struct Load {
    PtxCode *code;
    Store *keep, scratch; /* the module's, and what is gone after the load */
    Memory *memory;
    Allocations *allocations;
    PtxLog *log;
    uint16_t sm;
    Spellings words;
    Name **names;
    uint32_t nnames, name_slots;
    Spelling *spellings[512];
    Source *sources;
    uint32_t nsources;
    SymbolList functions; /* all that have code or are provided, in order */
    PendingLoc *pending;  /* beside code->locs */
    uint32_t locs_room, globals_room;
} Load;

/* A source being read. */
typedef struct Parser {
    Load *load;
    Source *source;
    uint32_t source_index;
    Lexer lexer;
    Token token; /* the one to be read next */
    Scope *scope;
    uint32_t nscopes, nesting;
    Function *function; /* whose body is being read */
    uint32_t loc;       /* of the last .loc */
    uint32_t used_bytes; /* of the load that follows the last .pragma */
    bool parts;         /* the statement's operands may be parts of registers: %r1.b0 */
} Parser;

/* ---- log.c: messages as ptxas writes them ---- */
__attribute__((format(printf, 4, 5))) void load_error(Load *load, const Source *source, uint32_t line,
                                                      const char *format, ...);
__attribute__((format(printf, 2, 3))) void load_fatal(Load *load, const char *format, ...); /* without a line */
/* Enough errors: reading on is of no use. */
bool load_gives_up(const Load *load);

/* ---- names.c ---- */
Name *name_get(Load *load, const char *text, size_t n);
Spelling *spelling_get(Load *load, const char *text, size_t n); /* opcode with its modifiers */
void scope_enter(Parser *p);
void scope_leave(Parser *p);
/* NULL: nothing of that name. */
Binding *scope_find(Parser *p, Name *name);
/* The new binding; if the scope has one of that name already, that one with *old set. */
Binding *scope_bind(Parser *p, Name *name, BindingKind kind, bool *old);

/* ---- parse.c: the token stream, module-level directives ---- */
bool parse_source(Parser *p);
void next_token(Parser *p);
bool accept(Parser *p, uint16_t punct);
bool expect(Parser *p, uint16_t punct);
bool is_dot(const Parser *p, const char *word); /* the next token is `.word` */
bool accept_dot(Parser *p, const char *word);
bool is_punct(const Parser *p, uint16_t punct);
bool syntax_error(Parser *p, const char *expected); /* false */
bool parse_u32(Parser *p, uint32_t *value);
bool parse_loc(Parser *p);
bool parse_pragma(Parser *p);
bool parse_file(Parser *p);
bool parse_section(Parser *p);

/* ---- parse_vars.c ---- */
/* The declaration behind a state space: `.align 4 .b8 x[16] = {...}, y;` up to and with its end. `until` ';', or ','
 * and ')' of a parameter list. */
bool parse_variables(Parser *p, Space space, Linkage linkage, bool managed);
bool parse_registers(Parser *p);
bool parse_parameters(Parser *p, SymbolList *list, bool is_kernel);
/* Gives a variable the next place behind *at; false: too large. */
bool place_behind(Symbol *s, uint64_t *at);
void list_push(Load *load, SymbolList *list, Symbol *symbol);

/* ---- parse_expr.c ---- */
typedef struct Value {
    int64_t bits;
    bool is_unsigned, is_float;
    uint8_t bytes; /* of a float: 4 or 8 */
} Value;
bool parse_constant(Parser *p, Value *v);
bool parse_int(Parser *p, int64_t *value);
/* `= ...`: count is how many elements (inner ones for several dimensions) it gives. */
bool parse_initialiser(Parser *p, Symbol *symbol, const uint64_t *dims, uint32_t ndims, uint64_t *count);

/* ---- parse_body.c ---- */
bool parse_body(Parser *p, Function *f);
bool parse_arg(Parser *p, Arg *a);
/* Notes that the function names the symbol. */
void use_symbol(Load *load, Function *f, Symbol *s);
Label *find_label(const Function *f, Name *name, const Scope *scope);

/* ---- link.c, layout.c, decode.c ---- */
bool link_sources(Load *load);
bool layout_module(Load *load);
bool decode_functions(Load *load);

#endif
