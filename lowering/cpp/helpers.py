"""Small pieces of C++ that units paste in besides `kernels`: macros, integer helpers, thread launch, pairwise trees."""

from __future__ import annotations

BASE = """\
#if defined(__clang__)
#define NPC_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define NPC_IVDEP _Pragma("GCC ivdep")
#endif
/* Pairs of pointers that the host program packs into vectors would be saved and restored round each of its loops. */
#if defined(__clang__)
#define NPC_SEGMENT __attribute__((visibility("default")))
#else
#define NPC_SEGMENT __attribute__((visibility("default"), optimize("no-tree-slp-vectorize")))
#endif
"""

KERNEL = """\
#define NPC_KERNEL static __attribute__((noinline))
"""

FAST_KERNEL = """\
#if defined(__clang__)
#pragma clang fp contract(fast)
#define NPC_KERNEL static __attribute__((noinline))
#else
#define NPC_KERNEL static __attribute__((noinline, optimize("fp-contract=fast")))
#endif
"""

HELPERS = {
    "dims": """\
static inline npc_i64 npc_dim_floordiv(npc_i64 a, npc_i64 b) { npc_i64 q = a / b; return q - (a % b != 0 && (a ^ b) < 0); }
static inline npc_i64 npc_dim_max(npc_i64 a, npc_i64 b) { return a > b ? a : b; }
static inline npc_i64 npc_dim_min(npc_i64 a, npc_i64 b) { return a < b ? a : b; }
""",
    "trips": """\
static inline npc_i64 npc_trips(npc_i64 a, npc_i64 b, npc_i64 s) {
  return s > 0 ? (a < b ? (npc_i64)(((npc_u64)b - (npc_u64)a - 1) / (npc_u64)s) + 1 : 0)
               : (a > b ? (npc_i64)(((npc_u64)a - (npc_u64)b - 1) / (0 - (npc_u64)s)) + 1 : 0);
}
""",
    "index": """\
/* What an index means in an axis of length n >= 0, and whether that is out of range: one comparison for what is usual. */
NPC_FN npc_i64 npc_wrapped(npc_i64 i, npc_i64 n) { return __builtin_expect((npc_u64)i >= (npc_u64)n, 0) && i < 0 ? i + n : i; }
NPC_FN npc_bool npc_outside(npc_i64 i, npc_i64 n) { return (npc_bool)((npc_u64)i >= (npc_u64)n); }
""",
    "note": """\
/* Conditions of node k; element 0 is of all nodes together. */
NPC_COLD void npc_note_(npc_i64 *rep, npc_i64 k, npc_i64 m) {
  __atomic_fetch_or(rep + k, m, __ATOMIC_RELAXED);
  __atomic_fetch_or(rep, m, __ATOMIC_RELAXED);
}
NPC_FN void npc_note(npc_i64 *rep, npc_i64 k, npc_i64 m) { if (__builtin_expect(m != 0, 0)) npc_note_(rep, k, m); }
/* Is there a node that can meet one of some conditions and has not yet? */
NPC_COLD bool npc_open(const npc_i64 *rep, const npc_u8 *can, npc_i64 n, npc_i64 hit) {
  for (npc_i64 k = 0; k < n; ++k)
    if (can[k] & hit & ~__atomic_load_n(rep + k + 1, __ATOMIC_RELAXED)) return true;
  return false;
}
""",
    "met": """\
/* Conditions that NumPy's loop number k meets for numbers. */
template <class A, class B> NPC_COLD npc_i64 npc_met(npc_ctx *ctx, const npc_runtime *rt, npc_u16 k, A a, B b) {
  npc_u64 r[2];
  const npc_u16 loops[] = {k, 0, 0, 1, 2};
  char *const at[] = {(char *)&a, (char *)&b, (char *)r};
  const npc_i64 by[] = {sizeof a, sizeof b, sizeof r};
  return rt->ask(ctx, 1, loops, 1, at, by, 0);
}
template <class A> NPC_COLD npc_i64 npc_met(npc_ctx *ctx, const npc_runtime *rt, npc_u16 k, A a) {
  npc_u64 r[2];
  const npc_u16 loops[] = {k, 0, 0, 1, 1};
  char *const at[] = {(char *)&a, (char *)r};
  const npc_i64 by[] = {sizeof a, sizeof r};
  return rt->ask(ctx, 1, loops, 1, at, by, 0);
}
""",
    "asked": """\
template <class T> NPC_COLD T npc_more(npc_ctx *ctx, const npc_runtime *rt, npc_u16 k, T r, npc_i64 n, T *p, npc_i64 &mask) {
  const npc_u16 loops[] = {k, 0, 0, 1, 0};
  char *const at[] = {(char *)&r, (char *)p};
  const npc_i64 by[] = {0, sizeof r};
  mask |= rt->ask(ctx, 1, loops, n, at, by, 0);
  return r;
}
/* A sum in NumPy's pairwise order by NumPy's own loop number k, which adds a block to its operand when that is the result, too.
   The conditions that it meets are added to `mask`. zero : a negative one; parts : of a number. */
template <class T, class F> NPC_COLD T npc_asked(
    npc_ctx *ctx, const npc_runtime *rt, npc_u16 k, T zero, npc_i64 parts, npc_i64 start, npc_i64 n, npc_i64 &mask,
    const F &fill) {
  const npc_i64 size = 2048 / sizeof(T);
  T r = zero;
  if (n > size) {
    npc_i64 h = npc_pairwise_half(parts * n) / parts;
    r = npc_asked(ctx, rt, k, zero, parts, start, h, mask, fill);
    T more = npc_asked(ctx, rt, k, zero, parts, start + h, n - h, mask, fill);
    return npc_more(ctx, rt, k, r, 1, &more, mask);
  }
  alignas(64) T block[size];
  fill((T *)block, start, n);
  return npc_more(ctx, rt, k, r, n, block, mask);
}
""",
    "asked_f16": """\
template <class F> NPC_COLD float npc_asked_f16(
    npc_ctx *ctx, const npc_runtime *rt, npc_u16 k, float zero, npc_i64, npc_i64 start, npc_i64 n, npc_i64 &mask,
    const F &fill) {
  return npc_asked(ctx, rt, k, zero, 1, start, n, mask, [&](float *out, npc_i64 first, npc_i64 count) {
    alignas(64) npc_f16 block[512];
    fill((npc_f16 *)block, first, count);
    for (npc_i64 i = 0; i < count; i++) out[i] = npc_float(block[i]);
  });
}
""",
    "flags": """\
/* Conditions in the bits of `rt->report`. */
#if defined(__x86_64__)
NPC_FN unsigned npc_mxcsr(void) { unsigned x; __asm__ volatile("stmxcsr %0" : "=m"(x) : : "memory"); return x; }
NPC_FN void npc_flags_clear(void) {
  unsigned x = npc_mxcsr();
  if (x & 13) { x &= ~13u; __asm__ volatile("ldmxcsr %0" : : "m"(x) : "memory"); }
}
NPC_FN npc_i64 npc_flags(void) { unsigned x = npc_mxcsr(); return (x >> 2 & 3) | (x & 1) << 3; }
#elif defined(__aarch64__)
NPC_FN npc_u64 npc_fpsr(void) { npc_u64 x; __asm__ volatile("mrs %0, fpsr" : "=r"(x) : : "memory"); return x; }
NPC_FN void npc_flags_clear(void) { __asm__ volatile("msr fpsr, %0" : : "r"(npc_fpsr() & ~7ull) : "memory"); }
NPC_FN npc_i64 npc_flags(void) { npc_u64 x = npc_fpsr(); return (x >> 1 & 3) | (x & 1) << 3; }
#else
NPC_FN void npc_flags_clear(void) {}
NPC_FN npc_i64 npc_flags(void) { return 11; }
#endif
""",
    "parallel": """\
static __attribute__((noinline)) void npc_parallel(
    npc_ctx *ctx, const npc_runtime *rt, npc_i64 n, npc_i64 grain, void (*body)(void *, npc_i64, npc_i64), void *args) {
  rt->gil_release(ctx);
  rt->parallel_for(ctx, n, grain, body, args);
  rt->gil_acquire(ctx);
}
""",
    "parallel_until": """\
static __attribute__((noinline)) npc_i64 npc_parallel_until(
    npc_ctx *ctx, const npc_runtime *rt, npc_i64 n, npc_i64 grain, npc_i64 work, npc_i64 call,
    void (*body)(void *, npc_i64, npc_i64), void *args) {
  rt->gil_release(ctx);
  const npc_i64 left = rt->parallel_until(ctx, n, grain, work, call, body, args);
  rt->gil_acquire(ctx);
  return left;
}
""",
    "reports": """\
struct npc_noted { npc_u16 rep, slot, site; bool more; }; /* more: the next one belongs to the same operation */
NPC_COLD npc_i64 npc_reports(
    npc_ctx *ctx, const npc_runtime *rt, const npc_i64 *const *rep, const npc_noted *t, npc_i64 n) {
  npc_i64 mask = 0, first = 0;
  for (npc_i64 k = 0; k < n; ++k) {
    mask |= rep[t[k].rep][t[k].slot];
    if (t[k].more) continue;
    if (mask && rt->report(ctx, t[first].site, mask)) return 1;
    mask = 0;
    first = k + 1;
  }
  return 0;
}
""",
    "chunk": """\
template <class F> static void npc_chunk(void *f, npc_i64 lo, npc_i64 hi) { (*(const F *)f)(lo, hi); }
""",
    "room": """\
struct npc_room { /* scratch memory that grows when needed and is kept until the call ends */
  npc_ctx *ctx;
  const npc_runtime *rt;
  char *p;
  npc_i64 size;
  char *reserve(npc_i64 bytes) {
    if (p && size >= bytes) return p;
    if (p) rt->scratch_free(ctx, p);
    size = bytes;
    return p = (char *)rt->scratch(ctx, bytes);
  }
};
""",
    "tree": """\
template <class R, class F> static R npc_tree(npc_i64 lo, npc_i64 n, const F &leaf) {
  if (n <= 128) return leaf(lo, n);
  npc_i64 h = npc_pairwise_half(n);
  R left = npc_tree<R>(lo, h, leaf);
  return left.join(npc_tree<R>(lo + h, n - h, leaf));
}
template <class R> static R npc_tree_join(R *parts, npc_i64 depth) {
  for (npc_i64 n = (npc_i64)1 << depth; n > 1; n /= 2)
    for (npc_i64 i = 0; i < n / 2; i++) parts[i] = parts[2 * i].join(parts[2 * i + 1]);
  return parts[0];
}
""",
}


def helper_text(names: set[str], fastmath: bool) -> str:
    """The pieces asked for, in a fixed order. fastmath : products and sums of kernels may be fused."""
    unknown = names - HELPERS.keys()
    assert not unknown, unknown
    return BASE + (FAST_KERNEL if fastmath else KERNEL) + "".join(text for name, text in HELPERS.items() if name in names)
