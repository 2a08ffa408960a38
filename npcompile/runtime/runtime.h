/* What the dispatcher's files share: the structs of a jit object, its entries and one call, and who implements what. */
#ifndef NPC_RUNTIME_H
#define NPC_RUNTIME_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_25_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL npc_ARRAY_API
#ifndef NPC_IMPORT_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <pthread.h>
#include <stdint.h>

#include "../../kernels/cpp/abi.h" /* by path: kernels/cpp has names of system headers */

#define NPC_LIKELY(x) __builtin_expect(!!(x), 1)
#define NPC_UNLIKELY(x) __builtin_expect(!!(x), 0)

_Static_assert(sizeof(npy_intp) == sizeof(npc_i64), "npcompile needs a 64-bit platform");

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "small scalars are raw bits in the low bytes of a word");
#define NPC_MAXDIMS 64 /* NumPy's own limit */

typedef npc_i64 (*npc_segment)(npc_ctx *, const npc_runtime *, const npc_i64 *, npc_i64 *, void *const *);

/* ---- guards: a step fetches an object into a register or tests one; made once from plain data, never changed */

enum StepOp {
  /* fetches: dst <- ... */
  STEP_GLOBAL, STEP_CELL, STEP_FUNCTION, STEP_ATTR, STEP_ITEM, STEP_KEY, STEP_TYPE, STEP_CONST,
  /* tests of src */
  STEP_IS, STEP_IS_TYPE, STEP_EQUAL, STEP_CODE, STEP_LEN, STEP_ARRAY, STEP_INT, STEP_FLOAT, STEP_COMPLEX, STEP_BOOL, STEP_SCALAR,
  STEP_NAMES, /* many of STEP_IS at once */
  STEP_TENSOR, STEP_OPAQUE_TENSOR, STEP_TORCH,
  STEP_LOOKUP, STEP_DISTINCT, STEP_ABSENT, STEP_RANGE_ITER, STEP_SAME, STEP_RETURNS,
  STEP_SIZES, /* no src: the words of all inputs */
  STEP_LENGTH, STEP_UNEQUAL,
  STEP_COUNT
};

/* The pattern an array must have; ranks are small, so everything is inline. */
typedef struct {
  PyArray_Descr *descr; /* NumPy's own descriptor of the dtype, borrowed from a singleton */
  int typenum, rank, itemsize;
  int flag_mask, flag_want;
  int n_order;          /* axes in `order`: those with a stride, by growing layout */
  int strided;          /* contiguity does not give the strides: check layout, negative and unit */
  int writeable, overlaps, unit;
  int access;           /* 0 either, 1 read-only, 2 writeable: the flag alone */
  int contiguous;       /* of tensors: 0 neither, 1 C, 2 Fortran and not C */
  int library;          /* whose array it is, an index of npc_libraries */
  int device_type, device; /* of arrays of other libraries than NumPy, by DLPack's numbers */
  npc_i64 ones;         /* bit per axis of length 1 */
  unsigned char layout[NPC_MAXDIMS], negative[NPC_MAXDIMS], order[NPC_MAXDIMS];
} ArrayGuard;

typedef struct { PyObject *name, *expected; int guard; } Name; /* borrowed from Entry.refs */
typedef struct {
  PyObject *dict;       /* of a module that Entry.refs holds; NULL: the function's own globals, then builtins */
  PyObject *seen;       /* the namespace in which all names held last, and its stamp then */
  uint64_t stamp;
  int n;
  Name names[];
} Names;

typedef struct {
  int op, guard;        /* guard: index of the guard in the spec, for statistics */
  int reg, src;         /* registers: 0.. are the bound arguments, then the fetched objects; -1: none */
  PyObject *obj;        /* name, constant, type; borrowed from Entry.refs */
  npc_i64 a, b;
  ArrayGuard *array;
  Names *names;
  npc_i64 *program;
} Step;

/* One array's memory; strides in bytes. */
typedef struct { char *data; int rank, itemsize, typenum; const npc_i64 *dims, *strides; } View;

/* An array input: its pattern, and where its words (pointer, dims, strides) begin. */
typedef struct { const ArrayGuard *guard; int word; } ArrayInput;

enum AliasRelation { ALIAS_DISJOINT, ALIAS_SAME, ALIAS_OTHER };
typedef struct { int a, b, relation, guard; } AliasStep;

/* ---- exits: a postfix program that builds Python objects */

enum BuildOp {
  BUILD_INT, BUILD_FLOAT, BUILD_BOOL, BUILD_COMPLEX, BUILD_SCALAR, BUILD_ARRAY, /* a = capture, b = type number */
  BUILD_REG, BUILD_CONST, BUILD_NULL,                                           /* push */
  BUILD_TUPLE, BUILD_LIST, BUILD_SET, BUILD_DICT, BUILD_SLICE, BUILD_RANGE, BUILD_RANGE_ITER, BUILD_CELL,
  BUILD_FUNCTION, BUILD_METHOD, BUILD_CALL, BUILD_CHOOSE, BUILD_DEFINE, BUILD_SHARED,
  BUILD_OPEN, BUILD_FILL, /* an empty list, dict or cell that its own items may refer to; then its items */
  BUILD_DROP,            /* pop: what was built was an effect */
  BUILD_COUNT
};
typedef struct { int op; int a; int b; PyObject *obj; } Build;

typedef struct {
  Build *code;
  int n_code, depth, n_values, n_captures, n_shared;
  int array_capture;    /* the program is "return capture k, an array": k, else -1 */
  PyObject *resume;     /* borrowed from Entry.refs; NULL: the one value built is returned */
  int n_stored;         /* tensors whose versions count up: their slots */
  int *stored;
  unsigned long long taken;
} Exit;

typedef struct {
  PyObject *name, *file, *function, *module; /* borrowed from Entry.refs */
  int line;
  int warn;             /* conditions that may warn here, if they do by what errstate said at entry */
} ReportSite;

typedef struct {
  void (*run)(char **args, const npy_intp *n, const npy_intp *steps, void *data);
  void *data;
} Loop; /* the inner loop of a ufunc */

/* Machine code of a device kernel for one variant; see `launch` in abi.h. */
typedef struct DeviceVariant {
  struct DeviceVariant *next;
  npc_i64 kernel, variant;
  void *function;
  int threads, shared, hidden;
} DeviceVariant;

/* A library with arrays of its own. Functions of slots see the objects of one call; `whole` may be missing. */
typedef struct ArrayLibrary {
  int (*matches)(const ArrayGuard *, PyObject *, npc_i64 *words); /* 1, 0, or -1 with an exception */
  int (*is_opaque)(PyObject *);                                   /* one of its arrays, but of a kind that never matches? */
  PyObject *(*make)(npc_ctx *, npc_i64 typenum, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides);
  PyObject *(*view)(npc_ctx *, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides,
                    npc_i64 writeable);
  int (*is_all)(PyObject *, const View *);    /* is this view all of an object, in its order? */
  void *(*data)(PyObject *);                  /* where the elements of a new one are; NULL with an exception */
  int (*stored)(npc_ctx *, int slot);         /* its memory was stored to; 0 or -1 */
  PyObject *(*whole)(npc_ctx *, npc_i64 slot); /* what is handed back for the object in a slot */
} ArrayLibrary;
enum { LIBRARY_NUMPY, LIBRARY_TORCH, LIBRARY_CUPY, LIBRARY_COUNT };

/* Compiled code against the function itself (see trials.c). */
typedef struct {
  int decided, settled, pairs, lost, losses;
  npc_i64 ours, plain, best_ours, best_plain; /* nanoseconds: of all pairs, of the best calls, */
  npc_i64 last;                   /* and of a compiled call that waits for its plain one */
  unsigned long long again;       /* hits at which it is looked at again; 0: never */
  unsigned long long insertions;  /* of the process, when the last call was timed */
} Trial;

typedef struct {
  PyObject_HEAD
  npc_segment code;     /* NULL: arguments of this pattern run plain */
  PyObject *refs;       /* keeps all Python objects alive that the tables point to */
  PyObject *constants;  /* tuple: what guards and exits refer to */
  PyObject *calls;      /* tuple: what call_python calls, by number */
  PyObject *info;       /* whatever the maker wants to find again */
  PyObject *launcher;   /* makes or runs device kernels; NULL: there are none */
  PyObject *stream;     /* gives the stream to launch on; NULL: memory is the host's */
  const ArrayLibrary *library; /* whose arrays `alloc_tensor` makes */
  int device;           /* number of the CUDA device that memory is on; -1: the host's */
  int n_copies;         /* inputs that are copied to the device */
  DeviceVariant *variants;
  Step *steps;
  ArrayInput *arrays;
  AliasStep *aliases;
  Exit *exits;
  ReportSite *sites;
  int *objects;         /* registers of what `object` gives */
  Loop *loops;
  void **syms;
  unsigned long long *failures; /* by guard */
  int *refused;         /* by call of `calls`: how often in a row it was for nothing; below 0: so many more are not made */
  unsigned long long hits, graph_failures;
  npc_i64 gain;         /* nanoseconds that a call of it saves, about; 0: it has nothing to compute */
  int fruitless;        /* how often in a row nothing was computed from here on to the end of the call */
  int resting;          /* so many calls with arguments of this pattern run plain */
  int n_args, n_steps, n_regs, n_words, n_arrays, n_aliases, n_exits, n_sites, n_slots, n_captures, n_stack, n_shared, n_guards;
  int may_report;   /* has met conditions before */
  int stores_first; /* may store to the caller's arrays before it warns of something that comes earlier */
  Trial trial;
  int general;          /* takes what more special entries do better: stands behind them */
  int max_threads;
  int workspace;        /* words that one call needs */
} Entry;

typedef struct EntryList {
  Py_ssize_t n, walkers; /* a list is replaced, never changed, but for the order while one call walks it */
  Py_ssize_t users;
  Entry *items[];
} EntryList;

enum JitState { JIT_ACTIVE, JIT_FROZEN, JIT_PLAIN };

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *fn;         /* the function object */
  PyObject *code;       /* its code when it was wrapped */
  PyObject *names;      /* its co_varnames */
  PyObject *miss, *rebuild, *dict, *weakrefs;
  EntryList *entries;
  int n_args;           /* parameters, *args and **kwargs included */
  int n_simple;         /* calls with just so many positional arguments need no binding; -1: never */
  int state, run_traced;
  unsigned long compiling; /* fork generation + 1 while a thread is in `miss` */
  unsigned long long hits, misses, plain_calls;
  double waiting;       /* seconds in plain calls for which `miss` made no entry */
  PyObject *raiser;     /* of a continuation point: makes (stub, mark) that raise an exception there; else NULL */
  int n_stack, n_bound; /* of a continuation point: its values are so many stack entries, slots, then free variables */
  int tries;            /* entries are tried against the function itself */
  int on_trial;         /* one of them is not decided */
  int in_trial;         /* a call is being timed */
  int plain_turn;       /* it may be a plain one */
  int bypass;           /* it is: calls in it are plain, too */
  int rest;             /* so many calls go to the function at once */
  npc_i64 usual;        /* nanoseconds that it took during the trial */
  unsigned vain;        /* calls that entries without code took */
  int vain_rests;       /* rests because of them */
  int exhausted;        /* how often calls had made too many steps for what they computed when they came here */
  int resting;          /* so many frames go on plain here */
} Jit;

/* What follows when an entry has left: an object to call, with one value or a tuple of many. It is called when everything
   of the entry's call is gone, so that nothing is kept alive. */
typedef struct {
  PyObject *callee, *value;
  int many;
  Entry *entry;         /* that has left, or answered */
  int steps;            /* from segment to segment, in the whole call, */
  npc_i64 gained;       /* and what their segments are said to gain, in nanoseconds */
  Jit *plain;           /* a point that goes on plain: its time counts as waiting */
} Pending;

/* ---- one call */

typedef struct Scratch Scratch;
struct npc_ctx {
  npc_i64 warn;         /* conditions that errstate wants as warnings; generated code reads it */
  Jit *jit;
  Entry *entry;
  npc_i64 *in, *out;
  PyObject **slots;     /* 0 .. n_arrays-1 borrowed inputs, the rest owned */
  PyObject **captures;  /* owned */
  PyObject **regs;      /* owned */
  PyObject *const *args;
  PyObject **stack;
  PyObject **copies;    /* owned: what holds the device copies of inputs, when the library is `npc_copies_library` */
  PyThreadState *saved; /* while the GIL is released */
  int released;
  int fp_workers;       /* conditions that workers met since fp_clear */
  unsigned signals;     /* signals seen when the call began */
  int watched;          /* large nests of this call may be ended by Ctrl-C */
  int reported;         /* a condition has been reported */
  int polls_left, polls_between; /* until, and between, looks at the clock */
  npc_i64 last_clock;   /* what it said */
  npc_i64 last_look;    /* nanoseconds: when `poll` last looked closely; 0: not yet */
  Scratch *scratch;
  int scratch_lock;
  void *stream;         /* where device kernels run */
  int has_stream;
  int pushed;           /* a context was entered that is left at the end */
  int stored;           /* memory of the caller may have been stored to */
  int trial;            /* kernels are made ready, not launched: so many more; then, or when it needs a result, the trial stops (-1) */
  int tried;            /* there has been a trial of this call */
  int broken;           /* a kernel cannot be made */
  uint64_t drawing;     /* bits of generators of random numbers that nobody else uses while the GIL is held */
};

/* bind.c: bound arguments in co_varnames order, or NULL without an exception: the function itself will raise */
typedef struct { PyObject **values; PyObject *star_args, *star_kwargs; PyObject *inline_values[24]; } Binding;
int npc_bind(Jit *, PyObject *const *args, Py_ssize_t n, PyObject *kwnames, Binding *);
void npc_unbind(Binding *);

/* guards.c: 1 all hold, 0 one does not, -1 exception (only what is not an `Exception`, and out of memory) */
int npc_guards(npc_ctx *, Entry *, int *failed);
int npc_parse_steps(Entry *, PyObject *steps);
void npc_free_steps(Entry *);

int npc_layout_matches(const ArrayGuard *, const View *);

/* arrays.c */
extern const ArrayLibrary *const npc_libraries[LIBRARY_COUNT]; /* of NumPy's arrays: when they are copied to a device */
int npc_view_matches(const ArrayGuard *, const View *, npc_i64 *words); /* pattern and words of memory read from an object */
int npc_views_equal(const View *, const View *); /* strides of axes of length 1 apart */
PyObject *npc_int_tuple(npc_i64 n, const npc_i64 *values, npc_i64 divisor);
npc_i64 npc_itemsize(npc_i64 typenum);
void *npc_alloc_tensor(npc_ctx *, npc_i64, npc_i64, npc_i64, const npc_i64 *, const npc_i64 *);
npc_i64 npc_out_tensor(npc_ctx *, npc_i64, npc_i64, npc_i64, void *, npc_i64, const npc_i64 *, const npc_i64 *, npc_i64);
void npc_out_object(npc_ctx *, npc_i64 k, npc_i64 slot);
npc_i64 npc_call_library(npc_ctx *, npc_i64 fn, npc_i64 n, const npc_i64 *words, npc_i64 slot, npc_i64 n_out, void **data);

/* tensors.c */
extern const ArrayLibrary npc_torch_library;
int npc_torch_modes(int plain, int default_typenum, int device);
int npc_tensors_init(PyObject *module);

/* cupy.c */
extern const ArrayLibrary npc_cupy_library;
int npc_cupy_init(PyObject *module);

/* copies.c: NumPy's arrays on a device */
extern const ArrayLibrary npc_copies_library;
int npc_copy_inputs(npc_ctx *);
int npc_copies_init(void);
/* numpy_calls.c */
void npc_object(npc_ctx *, npc_i64 slot, npc_i64 k);
npc_i64 npc_lend(npc_ctx *, npc_i64, npc_i64, void *, npc_i64, const npc_i64 *, const npc_i64 *);
npc_i64 npc_call_numpy(npc_ctx *, npc_i64, npc_i64, const npc_i64 *, npc_i64, npc_i64, const npc_i64 *, npc_i64 *);

/* draws.c */
void *npc_generator(npc_ctx *, npc_i64 cls, npc_i64 k);
int npc_draws_init(PyObject *module);
int npc_chosen_init(PyObject *module);

/* ranges.c: where a range iterator that nobody else holds stands, as (next, stop, step); 0: it is something else */
int npc_range_position(PyObject *, npc_i64 *);
int npc_ranges_init(void);

/* names.c */
int npc_names_init(void);
int npc_names_hold(const npc_ctx *, Names *, int *failed);
Names *npc_parse_names(PyObject *spec, int n_guards);

/* sizes.c: conditions on sizes, of entries without code */
int npc_sizes_hold(const Step *, const npc_i64 *words);
npc_i64 *npc_parse_sizes(PyObject *program, int n_words, npc_i64 *n);

/* alias.c */
int npc_alias(const View *, const View *); /* an AliasRelation, or -1 with an exception */
int npc_overlaps_itself(const View *);
View npc_array_view(PyArrayObject *);
int npc_alias_init(void);

/* entry.c */
extern PyTypeObject *npc_entry_type, *npc_jit_type;
int npc_entry_init(PyObject *module);
/* Result of the call, or NULL: *outcome 0 = exception, 1 = the entry does not apply, 2 = it says "run plain", 3 = see Pending. */
PyObject *npc_entry_call(Jit *, Entry *, PyObject *const *args, int *outcome, Pending *);
int npc_try_kernels(npc_ctx *); /* make the kernels of a call ready, before it does anything; -1 with an exception if one cannot be */

/* exits.c */
int npc_parse_exits(Entry *, PyObject *exits);
void npc_free_exits(Entry *);
PyObject *npc_exit(npc_ctx *, Exit *, Pending *); /* the value returned, or NULL: an exception or something pending */

/* jit_object.c */
int npc_jit_init(PyObject *module);
npc_i64 npc_now(void);
extern unsigned long long npc_insertions; /* entries made in this process */
void npc_jit_rest(Jit *, int calls, npc_i64 usual); /* so many calls go to the function at once */
void npc_jit_wake(Jit *);

/* trials.c */
void npc_trial_look(Jit *);
void npc_in_vain(Jit *, npc_i64 ns); /* a call of the function, which took so long, after guards of an entry without code */
void npc_trial_ours(Jit *, Entry *, npc_i64 ns, int left, const Pending *);
void npc_trial_plain(Jit *, Entry *, npc_i64 ns);
int npc_trial_plain_next(const Entry *);
void npc_trial_again(Jit *, Entry *);
PyObject *npc_resting_call(Jit *, PyObject *const *args, size_t nargsf, PyObject *kwnames);
/* Run a continuation point with the frame that a stub handed back (taken over): a value, an exception, or something pending. */
PyObject *npc_point(Jit *, PyObject *frame, int allowed, Pending *);

/* points.c */
#define STEP_NS 500 /* what leaving a segment, a stub, and entering the next one cost together */
PyObject *npc_go_on(Pending *);
int npc_points_init(PyObject *module);

/* errstate.c: conditions that warn under the current errstate, -1: some need plain NumPy, -2: exception */
int npc_errstate(void);
int npc_errstate_init(void);

/* memory.c */
void *npc_alloc_array(npc_ctx *, npc_i64, npc_i64, npc_i64, const npc_i64 *, const npc_i64 *);
void *npc_scratch(npc_ctx *, npc_i64);
void npc_scratch_free(npc_ctx *, void *);
void npc_scratch_free_all(npc_ctx *);
npc_i64 npc_out_view(npc_ctx *, npc_i64, npc_i64, npc_i64, void *, npc_i64, const npc_i64 *, const npc_i64 *, npc_i64);
int npc_memory_init(PyObject *module);

/* blocks.c: bounded cache of large, huge-page-aligned blocks; thread-safe, no GIL needed */
#define NPC_LARGE ((size_t)32 << 20)
void *npc_block_alloc(size_t);
void npc_block_free(void *);
size_t npc_block_size(void *);
void npc_blocks_limit(size_t bytes);
size_t npc_blocks_trim(void);
void npc_blocks_stats(size_t *cached_bytes, size_t *reused, size_t *mapped);
int npc_blocks_init(void);

/* pool.c */
void npc_parallel_for(npc_ctx *, npc_i64, npc_i64, void (*)(void *, npc_i64, npc_i64), void *);
npc_i64 npc_pool_ready(npc_ctx *);
npc_i64 npc_parallel_until(npc_ctx *, npc_i64, npc_i64, npc_i64, npc_i64, void (*)(void *, npc_i64, npc_i64), void *);
npc_i64 npc_n_threads(npc_ctx *);
void npc_pool_resize(int threads);
int npc_pool_size(void);
int npc_pool_init(void);

/* reports.c */
npc_i64 npc_report(npc_ctx *, npc_i64, npc_i64);
int npc_find_loop(PyObject *ufunc, int k, Loop *);
npc_i64 npc_ask(npc_ctx *, npc_i64, const unsigned short *, npc_i64, char *const *, const npc_i64 *, npc_i64 *);
int npc_warnings_raise(void);
int npc_warnings_ignored(void);
void npc_fp_clear(npc_ctx *);
npc_i64 npc_fp_test(npc_ctx *);

/* signals.c */
extern volatile unsigned npc_signals;
npc_i64 npc_poll(npc_ctx *);
int npc_signals_watched(npc_ctx *);

/* ---- tools that watch Python code */

extern int npc_monitored;
int npc_tool_watches(PyObject *code);
int npc_tools_init(void);
int npc_signals_init(void);

/* runtime_table.c */
extern const npc_runtime npc_rt;
extern unsigned long npc_fork_generation;

/* device.c */
npc_i64 npc_launch(npc_ctx *, npc_i64, npc_i64, const npc_i64 *, npc_i64, const npc_i64 *);
npc_i64 npc_fetch(npc_ctx *, void *, const void *, npc_i64);
npc_i64 npc_put(npc_ctx *, void *, const void *, npc_i64);
void npc_free_variants(Entry *);
int npc_device_enter(npc_ctx *); /* the call's device becomes the current one, and its stream is found */
void npc_device_leave(npc_ctx *);
void *npc_device_alloc(npc_ctx *, npc_i64 bytes);
void npc_device_free(void *);
int npc_device_init(PyObject *module);

/* library.c */
int npc_library_init(PyObject *module);

static inline PyObject *npc_value(const npc_ctx *ctx, int reg) {
  int n = ctx->entry->n_args;
  return reg < n ? ctx->args[reg] : ctx->regs[reg - n];
}

#endif
