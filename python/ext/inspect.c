/* inspect.c - the text of each stage of a compilation, and PTX with its parameter layout for the command line. */
#include "core.h"

#include "../../frontend/devfn.h"

#include <stdlib.h>

enum { USUAL_FACTS = -1 /* what most launches have */ };

/* ---- types ------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    const PySpan *x = &((const TypedSpan *)a)->span, *y = &((const TypedSpan *)b)->span;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->col != y->col) return x->col < y->col ? -1 : 1;
    return x->end_col < y->end_col ? -1 : x->end_col > y->end_col;
}

/* Where the n-th character (from 1) of a UTF-8 line begins. */
static const char *character(const char *line, uint32_t n) {
    while (*line && n > 1) {
        line++;
        if (((unsigned char)*line & 0xC0) != 0x80) n--;
    }
    return line;
}

static int line_of_type(Arena *a, const TypedSpan *s, const char *source, PyObject *parts) {
    const char *text = "";
    if (source && s->span.col && s->span.end_line == s->span.line) {
        const char *from = character(source, s->span.col), *to = character(source, s->span.end_col);
        text = arena_strndup(a, from, (size_t)(to - from));
    }
    PyObject *line = PyUnicode_FromString(arena_printf(a, "     |   %-32s %s\n", text, s->type));
    int status = line ? PyList_Append(parts, line) : -1;
    Py_XDECREF(line);
    return status;
}

/* Makes what allocates in the compilation's arena, where running out of memory raises MemoryError. */
static PyObject *in_arena(Compilation *c, PyObject *(*make)(Compilation *c, const void *of), const void *of) {
    jmp_buf on_oom;
    PyObject *made = NULL;
    c->arena.on_oom = &on_oom;
    if (setjmp(on_oom) == 0) made = make(c, of);
    else PyErr_NoMemory();
    c->arena.on_oom = NULL;
    return made;
}

/* Each line of the source, then its expressions with their types. */
static PyObject *types_text(Compilation *c, const void *of) {
    const char *file = of;
    uint32_t n = c->spans.at.n, last = 0;
    TypedSpan *at = c->spans.at.at;
    if (n) qsort(at, n, sizeof *at, by_place);
    PyObject *parts = PyList_New(0), *empty = PyUnicode_FromString(""), *text = NULL;
    const char *source = NULL;
    for (uint32_t i = 0; parts && empty && i < n; i++) {
        if (i > 0 && by_place(&at[i], &at[i - 1]) == 0 && strcmp(at[i].type, at[i - 1].type) == 0) continue;
        if (at[i].span.line != last) {
            last = at[i].span.line;
            source = c->host->host.source_line(c->host, file, last);
            PyObject *line = PyUnicode_FromString(arena_printf(&c->arena, "%4u | %s\n", last, source ? source : ""));
            if (!line || PyList_Append(parts, line) < 0) Py_CLEAR(parts);
            Py_XDECREF(line);
        }
        if (parts && line_of_type(&c->arena, &at[i], source, parts) < 0) Py_CLEAR(parts);
    }
    if (parts && empty) text = PyUnicode_Join(empty, parts);
    Py_XDECREF(parts);
    Py_XDECREF(empty);
    return text;
}

/* ---- stages ------------------------------------------------------------------------------------ */

static PyObject *bytecode_text(const KernelObject *k) {
    PyObject *dis = PyImport_ImportModule("dis");
    PyObject *listing = dis ? PyObject_CallMethod(dis, "Bytecode", "O", k->function) : NULL;
    PyObject *text = listing ? PyObject_CallMethod(listing, "dis", NULL) : NULL;
    Py_XDECREF(dis);
    Py_XDECREF(listing);
    return text;
}

static PyObject *ir_text(Compilation *c, const void *of) {
    (void)of;
    pipeline_run(c->module, pipeline_passes);
    return PyUnicode_FromString(ir_to_string(c->module, false));
}

static PyObject *stage_text(Compilation *c, const Options *options, Stage stage, const char *arch) {
    CompileOptions o;
    if (compile_options(&o, options, arch ? TARGET_PTX : TARGET_CPU, arch) < 0) return NULL;
    char *text = compilation_text(c, &o, stage);
    PyObject *result = text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : NULL;
    free(text);
    return result;
}

/* The kernel's own variables, a line each: the name, a tab, the type. */
static PyObject *variables_text(Compilation *c, const void *unused) {
    const IrModule *m = c->module;
    const char *text = "";
    (void)unused;
    for (uint32_t i = 0; i < m->vars.n; i++)
        if (!m->spans.at[m->vars.at[i].span].inlined_at)
            text = arena_printf(&c->arena, "%s%s\t%s\n", text, m->vars.at[i].name, m->vars.at[i].type->name);
    return PyUnicode_FromString(text);
}

static PyObject *text_of(Compilation *c, const KernelObject *k, const char *what, const char *arch) {
    if (strcmp(what, "types") == 0) {
        const char *file = c->module->funcs.n ? c->module->funcs.at[0].file : "";
        return in_arena(c, types_text, file);
    }
    if (strcmp(what, "ir") == 0) return in_arena(c, ir_text, NULL);
    if (strcmp(what, "variables") == 0) return in_arena(c, variables_text, NULL);
    if (strcmp(what, "llvm") == 0) return stage_text(c, &k->opt, STAGE_LLVM, arch);
    if (strcmp(what, "llvm_opt") == 0) return stage_text(c, &k->opt, STAGE_LLVM_OPT, arch);
    if (strcmp(what, "asm") == 0) return stage_text(c, &k->opt, STAGE_ASM, arch);
    if (strcmp(what, "ptx") == 0) return stage_text(c, &k->opt, STAGE_ASM, arch ? arch : "sm_80");
    return PyErr_Format(PyExc_ValueError, "inspect: unknown stage '%s'", what);
}

static int open_types(Compilation *c, KernelObject *k, PyObject *types, const Options *options, bool host_function,
                      bool self_contained, bool variables, int facts, uint8_t **key) {
    uint32_t size;
    *key = key_from_types(k, types, &size);
    if (!*key) {
        memset(c, 0, sizeof *c);
        arena_init(&c->arena, NULL);
        return -1;
    }
    CompileRequest r = {.kernel = k,
                        .key = *key,
                        .key_size = size,
                        .facts = host_function          ? 0
                                 : facts == USUAL_FACTS ? key_usual_facts(*key, size)
                                                        : (uint32_t)facts,
                        .host_function = host_function,
                        .self_contained = self_contained,
                        .want_spans = true,
                        .variables = variables,
                        .options = options};
    return compilation_open(c, &r);
}

PyObject *inspect_text(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"kernel", "types", "what", "arch", NULL};
    KernelObject *k;
    PyObject *types;
    const char *what, *arch = NULL;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!Os|z:inspect", names, &Kernel_Type, &k, &types, &what, &arch))
        return NULL;
    if (strcmp(what, "bytecode") == 0) return bytecode_text(k);
    Compilation c;
    uint8_t *key;
    bool gpu_code = arch || strcmp(what, "ptx") == 0;
    bool variables = (gpu_code && k->opt.debug && k->opt.opt == 0) || strcmp(what, "variables") == 0;
    PyObject *text =
        open_types(&c, k, types, &k->opt, k->opt.device && !gpu_code, false, variables, USUAL_FACTS, &key) < 0
            ? NULL
            : text_of(&c, k, what, arch);
    compilation_close(&c);
    PyMem_Free(key);
    return text;
}

/* The type of what a function returns for arguments of these types. The frontend alone runs: nothing is generated. */
PyObject *inspect_result(PyObject *module, PyObject *args) {
    KernelObject *k;
    PyObject *types;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O:result_type", &Kernel_Type, &k, &types)) return NULL;
    Compilation c;
    uint8_t *key;
    int status = open_types(&c, k, types, &k->opt, true, true, false, 0, &key);
    PyObject *result = status < 0 ? NULL : type_from_argtype(&c.result);
    compilation_close(&c);
    PyMem_Free(key);
    return result;
}

/* ---- PTX --------------------------------------------------------------------------------------- */

/* The name of each leaf: the parameter's, with the item's number or field in a tuple. */
static void name_leaves(Arena *a, const ArgType *t, const char *name, const char **out, uint32_t *n) {
    if (t->kind == ARG_NONE || t->kind == ARG_OBJECT) return;
    if (t->kind != ARG_TUPLE) {
        out[(*n)++] = name;
        return;
    }
    for (uint32_t i = 0; i < t->nitems; i++)
        name_leaves(a, &t->items[i],
                    t->fields ? arena_printf(a, "%s_%s", name, t->fields[i]) : arena_printf(a, "%s_%u", name, i), out,
                    n);
}

static const char **leaf_names(Compilation *c, const KernelObject *k, uint32_t *n) {
    const char **names = ARENA_ARRAY(&c->arena, const char *, key_leaves(c->types, c->ntypes) + 1);
    *n = 0;
    for (uint32_t i = 0; i < c->ntypes; i++) {
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(k->params, i));
        name_leaves(&c->arena, &c->types[i], name ? name : "?", names, n);
    }
    PyErr_Clear();
    return names;
}

/* Where the hidden parameters of a kernel that raises or prints lie: after the others. */
#define HIDDEN_OFFSET(image) (((image)->params_bytes + 7) & ~7u)

static PyObject *param_dict(const char *kind, const char *name, const ImageParam *p) {
    PyObject *readonly =
        p->flags & PARAM_READONLY || (p->kind == PARAM_DATA && !(p->flags & PARAM_WRITTEN)) ? Py_True : Py_False;
    return Py_BuildValue("{s:s, s:s, s:i, s:s, s:i, s:I, s:i, s:O}", "kind", kind, "name", name, "axis", p->axis,
                         "type", type_info[p->type].text, "bytes", p->bytes, "offset", p->offset, "leaf", p->leaf,
                         "readonly", readonly);
}

/* What a layout is made of. */
typedef struct Exported {
    const KernelObject *kernel;
    const Image *image;
} Exported;

static PyObject *layout_list(Compilation *c, const void *of) {
    const KernelObject *k = ((const Exported *)of)->kernel;
    const Image *image = ((const Exported *)of)->image;
    static const char *const kinds[] = {[PARAM_DATA] = "data",
                                        [PARAM_SHAPE] = "shape",
                                        [PARAM_STRIDE] = "stride",
                                        [PARAM_SCALAR] = "scalar",
                                        [PARAM_RECORD] = "record"};
    uint32_t nleaves;
    const char **names = leaf_names(c, k, &nleaves);
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < image->nparams; i++) {
        const ImageParam *p = &image->params[i];
        PyObject *dict = param_dict(kinds[p->kind], p->leaf < nleaves ? names[p->leaf] : "?", p);
        if (!dict || PyList_Append(list, dict) < 0) Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    static const char *const hidden[] = {"error", "print_log", "print_owner", "print_launch"};
    uint32_t offset = HIDDEN_OFFSET(image);
    for (int i = image->raises ? 0 : 1; list && i < (image->prints ? 4 : 1); i++, offset += 8) {
        ImageParam p = {.type = i < 2 ? T_PTR : T_U64, .bytes = 8, .offset = offset, .flags = PARAM_WRITTEN};
        PyObject *dict = param_dict(hidden[i], hidden[i], &p);
        if (!dict || PyList_Append(list, dict) < 0) Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    return list;
}

PyObject *inspect_ptx(PyObject *module, PyObject *args) {
    KernelObject *k;
    PyObject *types, *dict, *result = NULL;
    const char *arch;
    Options options;
    unsigned facts = 0; /* an exported kernel may be launched with anything, unless its user says otherwise */
    int function = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!OsO|Ip:ptx", &Kernel_Type, &k, &types, &arch, &dict, &facts, &function) ||
        kernel_read_options(dict, &options) < 0)
        return NULL;
    Compilation c;
    CompileOptions o;
    uint8_t *key;
    Image *image = NULL;
    int status =
        open_types(&c, k, types, &options, function, true, options.debug && options.opt == 0, (int)facts, &key);
    if (status == 0 && function && c.result.kind == ARG_TEXT)
        status = errors_raise("TypingError",
                              "%s returns more than numbers and tuples: as a device function for other "
                              "code it can't",
                              c.module->name);
    if (status == 0 && compile_options(&o, &options, TARGET_PTX, arch) == 0) image = compilation_image(&c, &o);
    PyObject *layout = image ? in_arena(&c, layout_list, &(Exported){k, image}) : NULL;
    uint32_t bytes = image ? image->params_bytes : 0;
    if (layout && (image->raises || image->prints))
        bytes = HIDDEN_OFFSET(image) + (image->raises ? 8 : 0) + (image->prints ? (uint32_t)sizeof(PrintTarget) : 0);
    if (layout) result = Py_BuildValue("(ssOI)", image->ptx, image->entry, layout, bytes);
    Py_XDECREF(layout);
    gpu_image_free(image);
    compilation_close(&c);
    PyMem_Free(key);
    return result;
}

/* ---- what there is ----------------------------------------------------------------------------- */

PyObject *inspect_devfns(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    size_t n;
    const DevFn *table = devfn_table(&n);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *row = Py_BuildValue("(sss)", table[i].path, table[i].signature ? table[i].signature : "",
                                      table[i].doc ? table[i].doc : "");
        if (!row) Py_CLEAR(list);
        else PyList_SET_ITEM(list, (Py_ssize_t)i, row);
    }
    return list;
}

PyObject *inspect_compiler(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    const CompilerApi *api = compiler_api();
    PyObject *path = api ? compiler_path() : NULL;
    return path ? Py_BuildValue("{s:s, s:N}", "llvm", api->llvm_version, "path", path) : NULL;
}
