/* x^N for a constant N > 1 by products, faster than pow. Floats carry every product as an unevaluated sum of two, so that
   the result is as good as correctly rounded (within 0.52 ulp where nothing underflows on the way). Integers wrap. */
//@ powi:f64+f32 < product
template <class T> struct npc_two { T h, l; };
template <class T> NPC_FN npc_two<T> npc_two_mul(npc_two<T> a, npc_two<T> b) {
  T h = a.h * b.h;
  return {h, npc_product_error(a.h, b.h, h) + (a.h * b.l + a.l * b.h)};
}
template <class T> NPC_FN npc_two<T> npc_two_mul(npc_two<T> a, T b) {
  T h = a.h * b;
  return {h, npc_product_error(a.h, b, h) + a.l * b};
}
template <int N, class T> NPC_FN npc_two<T> npc_two_pow(T x) {
  if constexpr (N == 2) return {x * x, npc_product_error(x, x, x * x)};
  else if constexpr (N % 2) return npc_two_mul(npc_two_pow<N - 1>(x), x);
  else {
    npc_two<T> r = npc_two_pow<N / 2>(x);
    return npc_two_mul(r, r);
  }
}
/* The correction is left out where it is 0 (it would lose the sign of zero) and where the product is infinite or NaN. */
template <class T> NPC_FN T npc_two_sum(npc_two<T> a) {
  T s = a.h + a.l;
  return (a.l != 0) & (a.h - a.h == 0) ? s : a.h;
}
template <int N> NPC_FN double npc_powi(double x) { return npc_two_sum(npc_two_pow<N>(x)); }
template <int N> NPC_FN float npc_powi(float x) { return npc_two_sum(npc_two_pow<N>(x)); }
//@ powi:f16 < half, powi:f32
template <int N> NPC_FN npc_f16 npc_powi(npc_f16 x) { return npc_half(npc_powi<N>(npc_float(x))); }
//@ powi_int < each_int
template <int N, class W> NPC_FN W npc_powi_wrap(W x) {
  if constexpr (N == 1) return x;
  else if constexpr (N % 2) return npc_powi_wrap<N - 1>(x) * x;
  else return npc_powi_wrap<N / 2>(x * x);
}
//@ powi:ints < powi_int
#define NPC_M(T, W) \
  template <int N> NPC_FN T npc_powi(T x) { return (T)npc_powi_wrap<N>((W)x); }
NPC_EACH_INT(NPC_M)
#undef NPC_M
