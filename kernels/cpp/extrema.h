/* Minimum, maximum and their places over contiguous memory or blocks of it: NaN wins, the first place counts. Extrema of
   integers that are not searched for need no help: the plain loop vectorises. */
//@ wide
/* V: a vector of T; M: of the results of its comparisons. */
template <class T> struct npc_wide;
#define NPC_W(T, I, N) \
  template <> struct npc_wide<T> { \
    typedef T V __attribute__((vector_size(NPC_WIDTH), aligned(N), may_alias)); \
    typedef I M __attribute__((vector_size(NPC_WIDTH))); \
  };
NPC_W(double, npc_i64, 8)
NPC_W(float, npc_i32, 4)
NPC_W(npc_i64, npc_i64, 8)
NPC_W(npc_u64, npc_i64, 8)
NPC_W(npc_i32, npc_i32, 4)
NPC_W(npc_u32, npc_i32, 4)
NPC_W(npc_i16, short, 2)
NPC_W(npc_u16, short, 2)
NPC_W(npc_i8, signed char, 1)
NPC_W(npc_u8, signed char, 1)
#undef NPC_W
/* Is an element of a comparison true? */
template <class M> NPC_FN bool npc_any(M c) {
  typedef npc_i64 L __attribute__((vector_size(NPC_WIDTH)));
  L v = (L)c;
#if defined(__AVX__) && !defined(__AVX512F__) && !defined(__clang__)
  return !__builtin_ia32_ptestz256(v, v);
#else
  npc_i64 any = 0;
  for (int k = 0; k < NPC_WIDTH / 8; k++) any |= v[k];
  return any != 0;
#endif
}
//@ extrema_block:floats+ints < wide
template <class T> NPC_FN T npc_no_number() { return (T)0; } /* of integers: never asked for */
template <> inline double npc_no_number<double>() { return __builtin_nan(""); }
template <> inline float npc_no_number<float>() { return __builtin_nanf(""); }
/* The larger (SIGN 1) or smaller (SIGN -1) of `acc` and p[0..n); NaN when any is one. The last vectors may take elements twice. */
template <int SIGN, class T> NPC_FN T npc_extremum(const T *p, npc_i64 n, T acc) {
  typedef typename npc_wide<T>::V V;
  typedef typename npc_wide<T>::M M;
  const npc_i64 W = sizeof(V) / sizeof(T);
  bool nan = acc != acc;
  if (n < W) {
    for (npc_i64 i = 0; i < n; i++) {
      T x = p[i];
      acc = (SIGN > 0 ? x > acc : x < acc) ? x : acc;
      nan |= x != x;
    }
    return nan ? npc_no_number<T>() : acc;
  }
  V a = *(const V *)p, b = a, c = a, d = a;
  M bad = a != a;
  npc_i64 i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    V x = *(const V *)(p + i), y = *(const V *)(p + i + W), z = *(const V *)(p + i + 2 * W), w = *(const V *)(p + i + 3 * W);
    bad |= (x != x) | (y != y) | (z != z) | (w != w);
    a = SIGN > 0 ? (x > a ? x : a) : (x < a ? x : a);
    b = SIGN > 0 ? (y > b ? y : b) : (y < b ? y : b);
    c = SIGN > 0 ? (z > c ? z : c) : (z < c ? z : c);
    d = SIGN > 0 ? (w > d ? w : d) : (w < d ? w : d);
  }
  for (; i < n; i += W) {
    V x = *(const V *)(p + (i + W <= n ? i : n - W));
    bad |= x != x;
    a = SIGN > 0 ? (x > a ? x : a) : (x < a ? x : a);
  }
  a = SIGN > 0 ? (b > a ? b : a) : (b < a ? b : a);
  c = SIGN > 0 ? (d > c ? d : c) : (d < c ? d : c);
  a = SIGN > 0 ? (c > a ? c : a) : (c < a ? c : a);
  for (int k = 0; k < W; k++) {
    acc = (SIGN > 0 ? a[k] > acc : a[k] < acc) ? a[k] : acc;
    nan |= bad[k] != 0;
  }
  return nan ? npc_no_number<T>() : acc;
}
template <class T> NPC_FN T npc_max_block(const T *p, npc_i64 n, T acc) { return npc_extremum<1>(p, n, acc); }
template <class T> NPC_FN T npc_min_block(const T *p, npc_i64 n, T acc) { return npc_extremum<-1>(p, n, acc); }
//@ arg_block:floats+ints < extrema_block:floats
/* Where `x` is first in p[0..n), which holds it; with NaN, where the first NaN is. */
template <class T> NPC_FN npc_i64 npc_first(const T *p, npc_i64 n, T x) {
  typedef typename npc_wide<T>::V V;
  const npc_i64 W = sizeof(V) / sizeof(T);
  npc_i64 i = 0;
  if (x == x) {
    const V *v = (const V *)p;
    for (; i + 4 * W <= n; i += 4 * W, v += 4)
      if (npc_any((v[0] == x) | (v[1] == x) | (v[2] == x) | (v[3] == x))) break;
    for (; i + W <= n && !npc_any(*v == x); i += W) v++;
  }
  while (x == x ? p[i] != x : p[i] == p[i]) i++;
  return i;
}
/* Goes on with a search for the first largest (smallest) element or first NaN: *best is the value so far and *place its
   index; p[0..n) are elements base, base + 1, ... Start with *place = 0 and *best no better than element 0. Is it over? */
template <int SIGN, class T> NPC_FN bool npc_arg_block(const T *p, npc_i64 n, npc_i64 base, T *best, npc_i64 *place) {
  T m = *best;
  if (m != m) return true;
  m = npc_extremum<SIGN>(p, n, m);
  if (m == *best) return false;
  *best = m;
  *place = base + npc_first(p, n, m);
  return m != m;
}
template <class T> NPC_FN bool npc_argmax_block(const T *p, npc_i64 n, npc_i64 base, T *best, npc_i64 *place) {
  return npc_arg_block<1>(p, n, base, best, place);
}
template <class T> NPC_FN bool npc_argmin_block(const T *p, npc_i64 n, npc_i64 base, T *best, npc_i64 *place) {
  return npc_arg_block<-1>(p, n, base, best, place);
}
//@ arg_block:bool
template <int SIGN> NPC_FN bool npc_arg_bools(const npc_bool *p, npc_i64 n, npc_i64 base, npc_bool *best, npc_i64 *place) {
  npc_i64 i = 0;
  for (npc_u8 any = 0; i + 64 <= n; i += 64) {
    for (npc_i64 k = 0; k < 64; k++) any |= (p[i + k] != 0) == (SIGN > 0);
    if (any) break;
  }
  for (; i < n; i++)
    if ((p[i] != 0) == (SIGN > 0)) { *best = (npc_bool)(SIGN > 0); *place = base + i; return true; }
  return false;
}
NPC_FN bool npc_argmax_block(const npc_bool *p, npc_i64 n, npc_i64 base, npc_bool *best, npc_i64 *place) {
  return npc_arg_bools<1>(p, n, base, best, place);
}
NPC_FN bool npc_argmin_block(const npc_bool *p, npc_i64 n, npc_i64 base, npc_bool *best, npc_i64 *place) {
  return npc_arg_bools<-1>(p, n, base, best, place);
}
