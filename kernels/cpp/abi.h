/* ABI between generated segments and the runtime. Pasted into generated code and compiled into the dispatcher.
   No header may be included here. All callbacks need the GIL unless they say otherwise. */
#define NPC_ABI_VERSION 7
#define NPC_GUARD_FAILED (-1) /* graph guards do not hold: nothing has been done */
#define NPC_ERROR (-2)        /* a Python exception is set */
#define NPC_ORIGINAL (-3)        /* nothing has been done that shows: run the original */
typedef long long npc_i64;
typedef struct npc_ctx npc_ctx; /* one call; opaque to generated code but for its first word: the conditions, as in the mask of
                                   `report`, that it warns about */

typedef struct npc_runtime {
  npc_i64 version;
  /* A fresh, owned, uninitialised ndarray into object slot `slot` (what was there is released): its data pointer, or 0
     with MemoryError set. strides in bytes. */
  void *(*alloc_array)(npc_ctx *, npc_i64 slot, npc_i64 typenum, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides);
  /* 64-byte aligned scratch, no GIL needed; what is still held is freed at the end of the call. 0 when out of memory. */
  void *(*scratch)(npc_ctx *, npc_i64 bytes);
  void (*scratch_free)(npc_ctx *, void *);
  void (*no_memory)(npc_ctx *); /* sets MemoryError */
  /* Capture k of the exit being taken is the object in `slot` itself. Scalars are written to out[2k], out[2k+1]. */
  void (*out_object)(npc_ctx *, npc_i64 k, npc_i64 slot);
  /* Capture k is a new view on the object in `slot`; 0 on success, else an exception is set. */
  npc_i64 (*out_view)(npc_ctx *, npc_i64 k, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims,
                      const npc_i64 *strides, npc_i64 writeable);
  /* body(env, lo, hi) over chunks of [0, n), no GIL needed. Chunk borders are multiples of `grain` (the last one excepted). */
  void (*parallel_for)(npc_ctx *, npc_i64 n, npc_i64 grain, void (*body)(void *env, npc_i64 lo, npc_i64 hi), void *env);
  npc_i64 (*n_threads)(npc_ctx *); /* upper bound on threads that parallel_for uses, no GIL needed */
  void (*gil_release)(npc_ctx *);  /* nests are counted: may be called when already released */
  void (*gil_acquire)(npc_ctx *);
  npc_i64 (*poll)(npc_ctx *); /* nonzero: a signal waits to be handled; no GIL needed, but only from the calling thread, not
                                 from a body; cheap (a flag and a coarse clock), now and then lets other threads run */
  /* Floating-point conditions `mask` (bit 0 divide, 1 overflow, 2 underflow, 3 invalid) of report site `site` occurred:
     warns as NumPy does; nonzero: the warning became an exception, return NPC_ERROR. */
  npc_i64 (*report)(npc_ctx *, npc_i64 site, npc_i64 mask);
  void (*fp_clear)(npc_ctx *);   /* clear the hardware flags (parallel_for gathers its workers' flags) */
  npc_i64 (*fp_test)(npc_ctx *); /* hardware flags since fp_clear, as in `mask` */
  /* Call the unit's Python callable number fn with the arrays/objects in slots args[0..n); its result, which must be an
     ndarray or a NumPy scalar (made a 0-d array), goes into `slot`. Data pointer, or 0 with an exception set. */
  void *(*call_python)(npc_ctx *, npc_i64 fn, npc_i64 n, const npc_i64 *args, npc_i64 slot);
  /* As alloc_array and out_view, but a tensor of the segment's library, on the device of its tensor inputs. The object in
     `slot` of out_tensor may be an ndarray, and that of out_view a tensor. */
  void *(*alloc_tensor)(npc_ctx *, npc_i64 slot, npc_i64 typenum, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides);
  npc_i64 (*out_tensor)(npc_ctx *, npc_i64 k, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims,
                        const npc_i64 *strides, npc_i64 writeable);
  /* As parallel_for, but it stops between chunks when a signal comes that `poll` would tell of; nonzero: not all was done.
     work: estimated picoseconds of it all. call: what follows is NPC_ORIGINAL, so it does not stop once a condition was reported. */
  npc_i64 (*parallel_until)(npc_ctx *, npc_i64 n, npc_i64 grain, npc_i64 work, npc_i64 call,
                            void (*body)(void *env, npc_i64 lo, npc_i64 hi), void *env);
  /* Is it worth while to split some ten microseconds of work? Yes while workers look for jobs, or when such work keeps coming. */
  npc_i64 (*ready)(npc_ctx *);
  /* Launch device kernel number k of the unit over grid[0] x grid[1] programs, on the stream of the call. args: one word each.
     grid[2]: it stores to the caller's arrays. variant: bit 0 sizes are 64 bits wide, 1 all memory is accessed in aligned pieces; from bit 2, 5 bits each: log2 of ROWS,
     of COLS, of warps. Nonzero: an exception is set. */
  npc_i64 (*launch)(npc_ctx *, npc_i64 k, npc_i64 variant, const npc_i64 *grid, npc_i64 n, const npc_i64 *args);
  /* Copy between host and device memory, after all that was launched before; waits. Nonzero: an exception is set. */
  npc_i64 (*fetch)(npc_ctx *, void *host, const void *device, npc_i64 bytes);
  npc_i64 (*put)(npc_ctx *, void *device, const void *host, npc_i64 bytes);
  /* Call the unit's Python callable number fn with n arrays of the segment's library: views that words describe, for each
     slot, type number, pointer, rank, dims, strides. Its n_out results, of the same library, go into slots from `slot` on, and
     their pointers into data. Nonzero: an exception is set. */
  npc_i64 (*call_library)(npc_ctx *, npc_i64 fn, npc_i64 n, const npc_i64 *words, npc_i64 slot, npc_i64 n_out, void **data);
  /* Object number k of the segment's (a generator of random numbers, say) into `slot`. */
  void (*object)(npc_ctx *, npc_i64 slot, npc_i64 k);
  /* An ndarray on memory that is not its own into `slot`, for the time of a library call. strides in bytes. Nonzero: an
     exception is set. */
  npc_i64 (*lend)(npc_ctx *, npc_i64 slot, npc_i64 typenum, void *data, npc_i64 nd, const npc_i64 *dims, const npc_i64 *strides);
  /* Call the unit's Python callable number fn, a function of NumPy or SciPy, with the objects in slots args[0..n). It returns
     one result, or a tuple of all n_out; None if that is 0 (then it may change arguments in place). Each must be as `pattern`
     says: type number, box (0 an array, 1 a NumPy scalar, 2 a Python number), rank, and for each axis its place among the strides
     from the smallest (1), 0 for length 1. They go into slots `slot` and following; words gets the data pointer and the dims of
     each. 1: done; 0: it raised, or returned something else (then nothing is known of slots and words); NPC_ERROR: an exception
     that is no `Exception` is set. */
  npc_i64 (*call_numpy)(npc_ctx *, npc_i64 fn, npc_i64 n, const npc_i64 *args, npc_i64 n_out, npc_i64 slot,
                          const npc_i64 *pattern, npc_i64 *words);
  /* The `bitgen_t` in object number k of the segment, a generator of random numbers of class `cls` (0 Generator, 1 RandomState;
     k -1: NumPy's global one). Nobody else draws from it until a function of this table is called that may let other Python
     threads run. 0: an exception is set. */
  void *(*generator)(npc_ctx *, npc_i64 cls, npc_i64 k);
  /* Run inner loops of NumPy's ufuncs on n elements each, one after another. Five numbers for each: which loop of the unit, the
     element of rep that its conditions are added to (and to element 0; 0: none), and places among `at` (pointers) and `by` (steps in
     bytes) of its operands and its result; the second operand of a loop with one is its result. The conditions that all of them
     met, as in the mask of `report`, but for underflow. No GIL needed. */
  npc_i64 (*ask)(npc_ctx *, npc_i64 count, const unsigned short *loops, npc_i64 n, char *const *at, const npc_i64 *by, npc_i64 *rep);
} npc_runtime;

/* The one exported symbol of a unit holding several segments is looked up by name, "npc_segment_<hash>":
     npc_i64 seg(npc_ctx *ctx, const npc_runtime *rt, const npc_i64 *in, npc_i64 *out, void *const *syms);
   in   : input words in guard order (array: pointer, dims..., strides...; int/bool: value; float: bits; ...)
   out  : 2 words for each capture of the exit taken (scalars only; float32 etc. as raw bits in the low bytes)
   syms : addresses of the external symbols that the unit asks for, in order
   result: the number of the exit taken, NPC_GUARD_FAILED, NPC_ERROR or NPC_ORIGINAL.
   Object slots: 0 .. n_array_inputs-1 hold the input arrays, in guard order, and are never written; the unit says how many
   it needs in all. */
