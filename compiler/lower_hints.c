/* lower_hints.c - accesses with a hint for the caches, which LLVM has no word for: ld.global.cs.b32.
 *
 * A value of 1 to 16 bytes goes through PTX's registers: the smallest has 16 bits, and 16 bytes take two. */
#include "lower.h"

#include <stdio.h>
#include <string.h>

typedef struct Form {
    const char *load, *load_constraints, *store, *store_constraints;
} Form;

/* By size; %s: the hint. */
static const Form *form_of(unsigned bytes) {
    static const Form forms[] = {
        {"ld.global.%s.u8 $0, [$1];", "=h,l,~{memory}", "st.global.%s.u8 [$0], $1;", "l,h,~{memory}"},
        {"ld.global.%s.b16 $0, [$1];", "=h,l,~{memory}", "st.global.%s.b16 [$0], $1;", "l,h,~{memory}"},
        {"ld.global.%s.b32 $0, [$1];", "=r,l,~{memory}", "st.global.%s.b32 [$0], $1;", "l,r,~{memory}"},
        {"ld.global.%s.b64 $0, [$1];", "=l,l,~{memory}", "st.global.%s.b64 [$0], $1;", "l,l,~{memory}"},
        {"ld.global.%s.v2.b64 {$0,$1}, [$2];", "=l,=l,l,~{memory}", "st.global.%s.v2.b64 [$0], {$1,$2};",
         "l,l,l,~{memory}"},
    };
    const Form *form = forms;
    for (; bytes > 1; bytes /= 2) form++;
    return form;
}

bool ll_hinted(const Lower *L, uint16_t sub, Val at) {
    return sub & MEM_HINTS && !(sub & (MEM_VOLATILE | MEM_UNALIGNED)) && L->o->target == TARGET_PTX &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(at)) == L->target->address_space[T_PTR];
}

static Val call(Lower *L, uint16_t sub, const char *format, const char *constraints, Ty result, unsigned n, Val *args) {
    char text[64];
    Ty types[3];
    const char *hint = sub & MEM_L2 ? "cg" : sub & MEM_STREAM ? "cs" : "lu";
    int length = snprintf(text, sizeof text, format, hint);
    for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    Ty type = LLVMFunctionType(result, types, n, false);
    Val code = LLVMGetInlineAsm(type, text, (size_t)length, constraints, strlen(constraints), true, false,
                                LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(L->b, type, code, args, n, "");
}

Val ll_load_hinted(Lower *L, uint16_t sub, Ty memory, unsigned bytes, Val at) {
    const Form *f = form_of(bytes);
    Ty two[2] = {L->i64, L->i64};
    Ty held = bytes == 16  ? LLVMStructTypeInContext(L->ctx, two, 2, false)
              : bytes == 1 ? L->i16
                           : LLVMIntTypeInContext(L->ctx, bytes * 8);
    Val v = call(L, sub, f->load, f->load_constraints, held, 1, &at);
    if (bytes == 1) v = LLVMBuildTrunc(L->b, v, L->i8, "v");
    if (bytes == 16) {
        Val low = LLVMBuildExtractValue(L->b, v, 0, "v"), high = LLVMBuildExtractValue(L->b, v, 1, "v");
        v = LLVMBuildInsertElement(L->b, LLVMGetUndef(LLVMVectorType(L->i64, 2)), low, ll_int(L, L->i32, 0), "v");
        v = LLVMBuildInsertElement(L->b, v, high, ll_int(L, L->i32, 1), "v");
    }
    return LLVMTypeOf(v) == memory ? v : LLVMBuildBitCast(L->b, v, memory, "v");
}

void ll_store_hinted(Lower *L, uint16_t sub, unsigned bytes, Val at, Val v) {
    const Form *f = form_of(bytes);
    Val args[3] = {at, v, NULL};
    if (bytes == 1) {
        args[1] = LLVMBuildZExt(L->b, v, L->i16, "v");
    } else if (bytes == 16) {
        v = LLVMBuildBitCast(L->b, v, LLVMVectorType(L->i64, 2), "v");
        for (unsigned i = 0; i < 2; i++) args[1 + i] = LLVMBuildExtractElement(L->b, v, ll_int(L, L->i32, i), "v");
    } else {
        args[1] = LLVMBuildBitCast(L->b, v, LLVMIntTypeInContext(L->ctx, bytes * 8), "v");
    }
    call(L, sub, f->store, f->store_constraints, L->void_, bytes == 16 ? 3 : 2, args);
}
