/* Casts between any two dtypes with the values NumPy's C casts give on x86-64, spelled out where C leaves them undefined.
   `npc_convert<T>(x)` for every T; the source is the argument's type. */
//@ convert < half, truth
NPC_FN npc_i32 npc_trunc_i32(float a) { return a >= -0x1p31f && a < 0x1p31f ? (npc_i32)a : (npc_i32)0x80000000u; }
NPC_FN npc_i32 npc_trunc_i32(double a) { return a > -0x1.00000002p31 && a < 0x1p31 ? (npc_i32)a : (npc_i32)0x80000000u; }
NPC_FN npc_i64 npc_trunc_i64(float a) { return a >= -0x1p63f && a < 0x1p63f ? (npc_i64)a : (npc_i64)(1ull << 63); }
NPC_FN npc_i64 npc_trunc_i64(double a) { return a >= -0x1p63 && a < 0x1p63 ? (npc_i64)a : (npc_i64)(1ull << 63); }
template <class T> struct npc_kind { enum { real = 0, complex = 0 }; };
template <> struct npc_kind<float> { enum { real = 1, complex = 0 }; };
template <> struct npc_kind<double> { enum { real = 1, complex = 0 }; };
template <> struct npc_kind<npc_c64> { enum { real = 0, complex = 1 }; typedef float part; };
template <> struct npc_kind<npc_c128> { enum { real = 0, complex = 1 }; typedef double part; };
template <class D, class S> NPC_FN D npc_convert(S a) {
  if constexpr (__is_same(D, S)) return a;
  else if constexpr (__is_same(D, npc_bool)) return (npc_bool)npc_truth(a);
  else if constexpr (__is_same(S, npc_bool)) return npc_convert<D>((npc_u8)npc_truth(a)); /* a view of bytes holds any */
  else if constexpr (npc_kind<D>::complex) {
    typedef typename npc_kind<D>::part R;
    if constexpr (npc_kind<S>::complex) return D{(R)a.re, (R)a.im};
    else return D{npc_convert<R>(a), 0};
  }
  else if constexpr (npc_kind<S>::complex) return npc_convert<D>(a.re);
  else if constexpr (__is_same(S, npc_f16)) return npc_convert<D>(npc_float(a));
  else if constexpr (__is_same(D, npc_f16)) {
    if constexpr (__is_same(S, double)) return npc_half(a);
    else return npc_half((float)a);
  }
  else if constexpr (npc_kind<S>::real && !npc_kind<D>::real) {
    if constexpr (__is_same(D, npc_u64)) {
      S big = (S)0x1p63;
      return a >= big ? (npc_u64)npc_trunc_i64(a - big) ^ (1ull << 63) : (npc_u64)npc_trunc_i64(a);
    }
    else if constexpr (sizeof(D) == 8 || __is_same(D, npc_u32)) return (D)npc_trunc_i64(a);
    else return (D)npc_trunc_i32(a);
  }
  else return (D)a;
}
//@ bitcast
template <class D, class S> NPC_FN D npc_bitcast(S a) { return __builtin_bit_cast(D, a); }
