/* Minimum, maximum and their places over contiguous memory or blocks of it, float types; NaN wins, the first place counts.
   Integers need no help: the plain loop vectorises. */
//@ extrema_block:floats
template <class T> struct npc_wide;
template <> struct npc_wide<double> {
  typedef double V __attribute__((vector_size(NPC_WIDTH), aligned(8), may_alias));
  typedef npc_i64 M __attribute__((vector_size(NPC_WIDTH)));
};
template <> struct npc_wide<float> {
  typedef float V __attribute__((vector_size(NPC_WIDTH), aligned(4), may_alias));
  typedef npc_i32 M __attribute__((vector_size(NPC_WIDTH)));
};
/* The larger (SIGN 1) or smaller (SIGN -1) of `acc` and p[0..n); NaN when any is one. */
template <int SIGN, class T> NPC_FN T npc_extremum(const T *p, npc_i64 n, T acc) {
  typedef typename npc_wide<T>::V V;
  typedef typename npc_wide<T>::M M;
  const npc_i64 W = sizeof(V) / sizeof(T);
  npc_i64 i = 0;
  bool nan = acc != acc;
  if (n >= 2 * W) {
    V a = *(const V *)p, b = *(const V *)(p + W);
    M bad = (a != a) | (b != b);
    for (i = 2 * W; i + 2 * W <= n; i += 2 * W) {
      V x = *(const V *)(p + i), y = *(const V *)(p + i + W);
      bad |= (x != x) | (y != y);
      a = SIGN > 0 ? (x > a ? x : a) : (x < a ? x : a);
      b = SIGN > 0 ? (y > b ? y : b) : (y < b ? y : b);
    }
    a = SIGN > 0 ? (b > a ? b : a) : (b < a ? b : a);
    for (int k = 0; k < W; k++) {
      acc = (SIGN > 0 ? a[k] > acc : a[k] < acc) ? a[k] : acc;
      nan |= bad[k] != 0;
    }
  }
  for (; i < n; i++) {
    T x = p[i];
    acc = (SIGN > 0 ? x > acc : x < acc) ? x : acc;
    nan |= x != x;
  }
  return nan ? (T)__builtin_nan("") : acc;
}
template <class T> NPC_FN T npc_max_block(const T *p, npc_i64 n, T acc) { return npc_extremum<1>(p, n, acc); }
template <class T> NPC_FN T npc_min_block(const T *p, npc_i64 n, T acc) { return npc_extremum<-1>(p, n, acc); }
//@ arg_block:floats+ints+bool < extrema_block:floats
/* Goes on with a search for the first largest (smallest) element or first NaN: *best is the value so far and *place its
   index; p[0..n) are elements base, base + 1, ... Start with *place = 0 and *best no better than element 0. Is it over? */
template <int SIGN, class T> NPC_FN bool npc_arg_block(const T *p, npc_i64 n, npc_i64 base, T *best, npc_i64 *place) {
  T m = *best;
  if (m != m) return true;
  if constexpr ((T)0.5 != 0) m = npc_extremum<SIGN>(p, n, m);
  else for (npc_i64 i = 0; i < n; i++) m = (SIGN > 0 ? p[i] > m : p[i] < m) ? p[i] : m;
  if (m == *best) return false;
  for (npc_i64 i = 0; i < n; i++)
    if (m != m ? p[i] != p[i] : p[i] == m) { *best = m; *place = base + i; break; }
  return m != m;
}
template <int SIGN> NPC_FN bool npc_arg_block(const npc_bool *p, npc_i64 n, npc_i64 base, npc_bool *best, npc_i64 *place) {
  npc_i64 i = 0;
  for (npc_u8 any = 0; i + 64 <= n; i += 64) {
    for (npc_i64 k = 0; k < 64; k++) any |= (p[i + k] != 0) == (SIGN > 0);
    if (any) break;
  }
  for (; i < n; i++)
    if ((p[i] != 0) == (SIGN > 0)) { *best = (npc_bool)(SIGN > 0); *place = base + i; return true; }
  return false;
}
template <class T> NPC_FN bool npc_argmax_block(const T *p, npc_i64 n, npc_i64 base, T *best, npc_i64 *place) {
  return npc_arg_block<1>(p, n, base, best, place);
}
template <class T> NPC_FN bool npc_argmin_block(const T *p, npc_i64 n, npc_i64 base, T *best, npc_i64 *place) {
  return npc_arg_block<-1>(p, n, base, best, place);
}
