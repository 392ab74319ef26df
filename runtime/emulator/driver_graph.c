/* driver_graph.c - graphs: what is submitted to streams under capture is kept, and submitted again at each launch.
 *
 * A device does all work in the order in which it was submitted, so a graph is a list in the order of the capture, and
 * events between captured streams only say which streams belong to it. Graphs that programs build node by node are
 * refused. What a graph runs may go before the graph does: launching it is an error then. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* CUgraph and CUgraphExec alike. */
struct CUgraph_st {
    Graph *next;
    Context *context; /* NULL: of nothing yet, or gone */
    Work *first, **end;
    Kept *kept;
    size_t n;
    uint64_t id;
    bool executable, capturing;
    bool broken; /* capturing: something couldn't be captured; else: what it runs is gone */
};

/* ---- graphs ------------------------------------------------------------------------------------ */

static Graph *make(Context *c, bool executable) {
    Graph *g = calloc(1, sizeof *g);
    if (!g || !handle_add(executable ? HANDLE_GRAPH_EXEC : HANDLE_GRAPH, g)) {
        free(g);
        return NULL;
    }
    g->context = c;
    g->end = &g->first;
    g->id = ++driver.ids;
    g->executable = executable;
    g->next = driver.graphs;
    driver.graphs = g;
    return g;
}

static void drop(Graph *g) {
    Graph **at = &driver.graphs;
    while (*at != g) at = &(*at)->next;
    *at = g->next;
    handle_remove(g->executable ? HANDLE_GRAPH_EXEC : HANDLE_GRAPH, g);
    while (g->first) {
        Work *w = g->first;
        g->first = w->next;
        free(w);
    }
    kept_drop(&g->kept);
    free(g);
}

static void append(Graph *g, Work *w) {
    w->next = NULL;
    *g->end = w;
    g->end = &w->next;
    g->n++;
}

static Work *copy_work(const Work *w) {
    Work *copy = malloc(w->bytes);
    if (copy) memcpy(copy, w, w->bytes);
    return copy;
}

static Graph *copy(const Graph *g, bool executable) {
    Graph *out = make(g->context, executable);
    for (const Work *w = g->first; w && out; w = w->next) {
        Work *c = copy_work(w);
        if (c) append(out, c);
        else drop(out), out = NULL;
    }
    if (out && !kept_copy(g->kept, &out->kept)) drop(out), out = NULL;
    if (out) out->broken = g->broken;
    return out;
}

void graphs_forget(const Context *c, const PtxCode *code) {
    for (Graph *g = driver.graphs; g; g = g->next) {
        if (c && g->context == c) g->broken = true, g->context = NULL;
        for (const Work *w = g->first; w && code; w = w->next) g->broken |= w->code == code;
    }
}

/* ---- capture ----------------------------------------------------------------------------------- */

/* All streams of a context that can be captured, one after the other; NULL first. */
static Stream *next_stream(Context *c, const Stream *s) {
    return !s ? &c->per_thread : s == &c->per_thread ? c->streams : s->next;
}

static void begin(Stream *s, Graph *g, bool origin) {
    s->capture = g;
    s->captures = (Captures){.origin = origin};
}

/* Its streams go on as usual; true: all that was captured in others was waited for. */
static bool leave(Graph *g, Context *c) {
    bool joined = true;
    for (Stream *s = next_stream(c, NULL); s; s = next_stream(c, s)) {
        if (s->capture != g) continue;
        joined &= s->captures.origin || s->captures.joined >= s->captures.n;
        s->capture = NULL;
    }
    g->capturing = false;
    return joined;
}

CUresult graph_refuse(Stream *s) {
    s->capture->broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

uint64_t graph_add(Work *w, Stream *s) {
    append(s->capture, w);
    s->captures.n++;
    return s->last;
}

void graph_record(Event *e, const Stream *s) {
    e->captured_in = s->capture->id;
    e->captured_stream = s->id;
    e->captured_at = s->captures.n;
}

CUresult graph_wait(Stream *s, const Event *e) {
    Graph *g = driver.graphs;
    if (!e->captured_in) {
        if (!e->recorded) return CUDA_SUCCESS;
        s->capture->broken = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    while (g && !(g->capturing && g->id == e->captured_in)) g = g->next;
    if (!g || g->context != s->context) return CUDA_ERROR_INVALID_VALUE;
    if (s->capture && s->capture != g) {
        s->capture->broken = g->broken = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!s->capture) begin(s, g, false);
    for (Stream *from = next_stream(s->context, NULL); from; from = next_stream(s->context, from))
        if (from->capture == g && from->id == e->captured_stream && from->captures.joined < e->captured_at)
            from->captures.joined = e->captured_at;
    return CUDA_SUCCESS;
}

void graph_stream_gone(Stream *s) {
    Graph *g = s->capture;
    if (!g) return;
    g->broken |= s->captures.joined < s->captures.n;
    if (!s->captures.origin) return;
    leave(g, s->context);
    drop(g);
}

static CUresult begin_capture(Entry entry, CUstream handle, CUstreamCaptureMode mode) {
    Stream *s;
    CUresult r = stream_begin(entry, handle, &s);
    if (r) return r;
    if (mode < 0 || mode > 2) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (s == &s->context->legacy) return call_end(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (s->capture) return call_end(CUDA_ERROR_ILLEGAL_STATE);
    Graph *g = make(s->context, false);
    if (!g) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    g->capturing = true;
    begin(s, g, true);
    return call_end(CUDA_SUCCESS);
}

CUresult cuStreamBeginCapture(CUstream s) { return begin_capture(ENTRY_cuStreamBeginCapture, s, 0); }
CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode) {
    return begin_capture(ENTRY_cuStreamBeginCapture_v2, s, mode);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *out) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamEndCapture, handle, &s);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    *out = NULL;
    if (!s->capture) return call_end(CUDA_ERROR_ILLEGAL_STATE);
    if (!s->captures.origin) return call_end(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    Graph *g = s->capture;
    bool joined = leave(g, s->context);
    if (joined && !g->broken) *out = g;
    else r = g->broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    if (r) drop(g);
    return call_end(r);
}

/* ---- what is known of a capture ---------------------------------------------------------------- */

enum { STATUS_NONE, STATUS_ACTIVE, STATUS_INVALIDATED };

static CUresult capture_info(Entry entry, CUstream handle, CUstreamCaptureStatus *status, uint64_t *id,
                             CUgraph *graph) {
    Stream *s;
    CUresult r = stream_begin(entry, handle, &s);
    if (r) return r;
    if (!status) return call_end(CUDA_ERROR_INVALID_VALUE);
    Graph *g = s->capture;
    *status = !g ? STATUS_NONE : g->broken ? STATUS_INVALIDATED : STATUS_ACTIVE;
    if (g && id) *id = g->id;
    if (g && graph) *graph = g;
    return call_end(CUDA_SUCCESS);
}

CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status) {
    return capture_info(ENTRY_cuStreamIsCapturing, s, status, NULL, NULL);
}
CUresult cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, uint64_t *id) {
    return capture_info(ENTRY_cuStreamGetCaptureInfo, s, status, id, NULL);
}

/* Which nodes work would depend on isn't told: none. */
CUresult cuStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                                   const CUgraphNode **nodes, size_t *n) {
    if (nodes) *nodes = NULL;
    if (n) *n = 0;
    return capture_info(ENTRY_cuStreamGetCaptureInfo_v2, s, status, id, graph);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream s, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph,
                                   const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *n) {
    if (nodes) *nodes = NULL;
    if (edges) *edges = NULL;
    if (n) *n = 0;
    return capture_info(ENTRY_cuStreamGetCaptureInfo_v3, s, status, id, graph);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    static _Thread_local CUstreamCaptureMode mine;
    CUresult r = call_check(ENTRY_cuThreadExchangeStreamCaptureMode, NEEDS_INIT);
    if (r) return r;
    if (!mode || *mode < 0 || *mode > 2) return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode before = mine;
    mine = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* ---- graphs as programs have them -------------------------------------------------------------- */

/* call_begin() and a graph that isn't being captured. */
static CUresult begin_graph(Entry entry, Graph *g, HandleKind kind) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(kind, g)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    return g->capturing ? call_end(CUDA_ERROR_ILLEGAL_STATE) : CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph *out, uint32_t flags) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuGraphCreate, NEEDS_WORKING, &c);
    if (r) return r;
    if (!out || flags) return call_end(CUDA_ERROR_INVALID_VALUE);
    *out = make(c, false);
    return call_end(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuGraphClone(CUgraph *out, CUgraph g) {
    CUresult r = begin_graph(ENTRY_cuGraphClone, g, HANDLE_GRAPH);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    *out = copy(g, false);
    return call_end(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

static CUresult destroy(Entry entry, Graph *g, HandleKind kind) {
    CUresult r = begin_graph(entry, g, kind);
    if (r) return r;
    drop(g);
    return call_end(CUDA_SUCCESS);
}

CUresult cuGraphDestroy(CUgraph g) { return destroy(ENTRY_cuGraphDestroy, g, HANDLE_GRAPH); }
CUresult cuGraphExecDestroy(CUgraphExec g) { return destroy(ENTRY_cuGraphExecDestroy, g, HANDLE_GRAPH_EXEC); }

/* A graph may be captured meanwhile. */
static CUresult change_kept(Entry entry, Graph *g, CUuserObject o, uint32_t count, bool add, uint32_t flags) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_GRAPH, g)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    return call_end(flags > 1 || count > INT32_MAX ? CUDA_ERROR_INVALID_VALUE
                                                   : kept_change(&g->kept, o, count, add, flags));
}

CUresult cuGraphRetainUserObject(CUgraph g, CUuserObject o, uint32_t count, uint32_t flags) {
    return change_kept(ENTRY_cuGraphRetainUserObject, g, o, count, true, flags);
}
CUresult cuGraphReleaseUserObject(CUgraph g, CUuserObject o, uint32_t count) {
    return change_kept(ENTRY_cuGraphReleaseUserObject, g, o, count, false, 0);
}

/* As many as there is room for. */
CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *nodes, size_t *n) {
    CUresult r = begin_graph(ENTRY_cuGraphGetNodes, g, HANDLE_GRAPH);
    if (r) return r;
    if (!n) return call_end(CUDA_ERROR_INVALID_VALUE);
    size_t k = 0;
    for (Work *w = g->first; w && nodes && k < *n; w = w->next) nodes[k++] = (CUgraphNode)w;
    for (size_t i = k; nodes && i < *n; i++) nodes[i] = NULL;
    *n = nodes ? k : g->n;
    return call_end(CUDA_SUCCESS);
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *out) {
    CUresult r = call_begin(ENTRY_cuGraphNodeGetType, NEEDS_INIT, NULL);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    for (const Graph *g = driver.graphs; g; g = g->next)
        for (const Work *w = g->first; w; w = w->next)
            if (w == (const Work *)node) {
                *out = w->node;
                return call_end(CUDA_SUCCESS);
            }
    return call_end(CUDA_ERROR_INVALID_HANDLE);
}

/* ---- execution --------------------------------------------------------------------------------- */

static CUresult instantiate(Entry entry, CUgraphExec *out, CUgraph g) {
    CUresult r = begin_graph(entry, g, HANDLE_GRAPH);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    *out = copy(g, true);
    return call_end(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph g, CUgraphNode *bad, char *log, size_t size) {
    if (bad) *bad = NULL;
    if (log && size) *log = 0;
    return instantiate(ENTRY_cuGraphInstantiate_v2, out, g);
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, uint64_t flags) {
    (void)flags; /* about priorities and where it is uploaded */
    return instantiate(ENTRY_cuGraphInstantiateWithFlags, out, g);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p) {
    CUresult r = instantiate(ENTRY_cuGraphInstantiateWithParams, p ? out : NULL, g);
    if (!p) return r;
    p->hErrNode_out = NULL;
    p->result_out = r ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return r;
}

static CUresult begin_launch(Entry entry, Graph *g, CUstream handle, Stream **s) {
    CUresult r = stream_begin(entry, handle, s);
    if (r) return r;
    if (!handle_is(HANDLE_GRAPH_EXEC, g) || g->broken) return call_end(CUDA_ERROR_INVALID_HANDLE);
    return g->context == (*s)->context ? CUDA_SUCCESS : call_end(CUDA_ERROR_INVALID_CONTEXT);
}

/* All of it or nothing. */
CUresult cuGraphLaunch(CUgraphExec g, CUstream handle) {
    Stream *s;
    CUresult r = begin_launch(ENTRY_cuGraphLaunch, g, handle, &s);
    if (r) return r;
    Work *first = NULL, **end = &first;
    for (const Work *w = g->first; w && !r; w = w->next) {
        *end = copy_work(w);
        if (!*end) r = CUDA_ERROR_OUT_OF_MEMORY;
        else end = &(*end)->next;
    }
    *end = NULL;
    while (first) {
        Work *w = first;
        first = w->next;
        if (r) free(w);
        else launch_again(w), work_submit(w, s);
    }
    return call_end(r ? r : work_finish(s));
}

CUresult cuGraphUpload(CUgraphExec g, CUstream handle) {
    Stream *s;
    CUresult r = begin_launch(ENTRY_cuGraphUpload, g, handle, &s);
    return r ? r : call_end(CUDA_SUCCESS);
}
