/* Which floating-point conditions NumPy reports for operations that are no ufunc: bit 0 divide, 1 overflow, 2 underflow, 3 invalid.
   Predicates look at values only and never at hardware flags. `invalid` includes signalling NaN operands. */
//@ rep_base
NPC_FN bool npc_fin(float a) { return (npc_bits(a) & 0x7f800000u) != 0x7f800000u; }
NPC_FN bool npc_fin(double a) { return (npc_bits(a) & (0x7ffull << 52)) != 0x7ffull << 52; }
NPC_FN bool npc_nan(float a) { return (npc_bits(a) & 0x7fffffffu) > 0x7f800000u; }
NPC_FN bool npc_nan(double a) { return (npc_bits(a) & ~(1ull << 63)) > 0x7ffull << 52; }
NPC_FN bool npc_snan(float a) { return npc_nan(a) & !(npc_bits(a) & 0x00400000u); }
NPC_FN bool npc_snan(double a) { return npc_nan(a) & !(npc_bits(a) & (1ull << 51)); }
NPC_FN bool npc_small(float a) { return (npc_bits(a) & 0x7fffffffu) < 0x00800000u; }
NPC_FN bool npc_small(double a) { return (npc_bits(a) & ~(1ull << 63)) < 1ull << 52; }
NPC_FN unsigned npc_mask(bool divide, bool over, bool under, bool invalid) {
  return (unsigned)divide | (unsigned)over << 1 | (unsigned)under << 2 | (unsigned)invalid << 3;
}
//@ rep_add:f32 < rep_base
NPC_FN unsigned npc_rep_add(float a, float b, float r) {
  return npc_mask(0, npc_fin(a) & npc_fin(b) & !npc_fin(r), 0, (npc_nan(r) & !npc_nan(a) & !npc_nan(b)) | npc_snan(a) | npc_snan(b));
}
//@ rep_half < rep_base, half
/* What rounding x to float16 adds. */
NPC_FN unsigned npc_rep_half(float x) {
  float r = npc_float(npc_half(x));
  return npc_mask(0, npc_fin(x) & !npc_fin(r), (__builtin_fabsf(x) < 0x1p-14f) & (x != r) & !npc_nan(x), 0);
}
//@ rep_half_sum:f16 < rep_add:f32, rep_half
NPC_FN unsigned npc_rep_half_sum(npc_f16 a, float b, npc_f16) {
  float x = npc_float(a), r = x + b;
  return npc_rep_add(x, b, r) | npc_rep_half(r);
}
//@ rep_convert < convert, rep_base, rep_half
/* npc_rep_convert<D>(a): of npc_convert<D>(a). */
template <class D, class S> NPC_FN unsigned npc_rep_convert(S a) {
  if constexpr (__is_same(D, S) || __is_same(D, npc_bool)) return 0;
  else if constexpr (npc_kind<S>::complex && npc_kind<D>::complex) {
    typedef typename npc_kind<D>::part R;
    return npc_rep_convert<R>(a.re) | npc_rep_convert<R>(a.im);
  }
  else if constexpr (npc_kind<S>::complex) return npc_rep_convert<D>(a.re);
  else if constexpr (npc_kind<D>::complex) return npc_rep_convert<typename npc_kind<D>::part>(a);
  else if constexpr (__is_same(S, npc_f16)) return npc_kind<D>::real ? 0 : npc_rep_convert<D>(npc_float(a));
  else if constexpr (__is_same(D, npc_f16)) {
    if constexpr (!npc_kind<S>::real) return npc_mask(0, !npc_fin(npc_float(npc_half((float)a))), 0, 0);
    else {
      float r = npc_float(npc_half(a));
      return npc_mask(0, npc_fin(a) & !npc_fin(r), (a < 0x1p-14) & (a > -0x1p-14) & ((S)r != a), 0);
    }
  }
  else if constexpr (npc_kind<S>::real && npc_kind<D>::real) {
    D r = (D)a;
    return npc_mask(0, npc_fin(a) & !npc_fin(r), npc_small(r) & ((S)r != a) & !npc_nan(a), sizeof(D) < sizeof(S) && npc_snan(a));
  }
  else if constexpr (npc_kind<S>::real) {
    const S hi = (S)(__is_same(D, npc_u64) ? 0x1p64 : sizeof(D) == 8 || __is_same(D, npc_u32) ? 0x1p63 : 0x1p31);
    const S lo = (S)(sizeof(D) == 8 || __is_same(D, npc_u32) ? -0x1p63 : -0x1p31);
    return npc_mask(0, 0, 0, !((sizeof(S) == 8 && lo == (S)-0x1p31 ? a > lo - 1 : a >= lo) && a < hi));
  }
  else return 0;
}
