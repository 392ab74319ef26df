/* interrupt.h - generated code is left from outside, at any instruction, without looking for it.
 *
 * A signal of ours (SIGURG) reaches the thread that runs the code. Its handler asks whether to leave, and if so jumps
 * out of the code. That is allowed because generated code holds no lock and owns no memory, and what it calls (libm,
 * memcpy) doesn't either. A function of ours that such code calls and that locks or allocates would break this.
 *
 * An access to memory that isn't there (SIGSEGV, SIGBUS) leaves it, too: the process goes on. */
#ifndef GPU_INTERRUPT_H
#define GPU_INTERRUPT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* An access to memory that isn't there. */
typedef struct MemoryFault {
    bool happened;
    bool is_write; /* said on x86-64 alone */
    uintptr_t address;
} MemoryFault;

/* How a call may be left. */
typedef struct Guard {
    /* Asked in the calling thread every INTERRUPT_NS while the code runs, on the stack of the code; it may do what
     * ordinary code may. True: leave. NULL: nobody is asked. One thread at a time is watched like that. */
    bool (*ask)(void *arg);
    void *arg;
    const bool *stop; /* becomes true before interrupt_thread() is called: leave. May be NULL */

    MemoryFault fault; /* out: what ended the last call */

    bool watched; /* interrupt.c's */
    unsigned modes;
    sigjmp_buf env;
} Guard;

enum { INTERRUPT_NS = 25 * 1000 * 1000 };

/* Calls code(arg); false if it was left before its end: g->fault says whether by a fault. */
bool guard_call(Guard *g, void (*code)(void *arg), void *arg);

/* Makes a thread of this process look at its Guard, if it has one. A thread that blocks SIGURG doesn't hear of it. */
void interrupt_thread(pid_t tid);
pid_t interrupt_self(void); /* the calling thread */

#endif
