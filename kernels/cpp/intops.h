/* Integer division, power, gcd, checked arithmetic, with NumPy's (and, py_*, Python's) rules. */
//@ floordiv:ints, mod:ints, fmod:ints < each_int
#define NPC_M(T, W) \
  NPC_FN T npc_floordiv(T a, T b) { \
    bool odd = (b == 0) | (b == -1); \
    T d = odd ? (T)1 : b, q = (T)(a / d), r = (T)(a - q * d); \
    q = (T)(q - ((r != 0) & ((r ^ d) < 0))); \
    return b == 0 ? (T)0 : b == -1 ? (T)(-(W)a) : q; \
  } \
  NPC_FN T npc_mod(T a, T b) { \
    T d = (b == 0) | (b == -1) ? (T)1 : b, r = (T)(a % d); \
    return (T)(r + ((r != 0) & ((r ^ d) < 0) ? d : (T)0)); \
  } \
  NPC_FN T npc_fmod(T a, T b) { T d = (b == 0) | (b == -1) ? (T)1 : b; return (T)(a % d); }
NPC_EACH_SIGNED(NPC_M)
#undef NPC_M
#define NPC_M(T, W) \
  NPC_FN T npc_floordiv(T a, T b) { return b == 0 ? (T)0 : (T)(a / (b == 0 ? (T)1 : b)); } \
  NPC_FN T npc_mod(T a, T b) { return (T)(a % (b == 0 ? (T)1 : b)); } \
  NPC_FN T npc_fmod(T a, T b) { return (T)(a % (b == 0 ? (T)1 : b)); }
NPC_EACH_UNSIGNED(NPC_M)
#undef NPC_M
//@ pow:ints < each_int
#define NPC_M(T, W) \
  NPC_FN T npc_pow(T a, T b) { \
    W r = 1, x = (W)a; \
    for (W e = (W)b; e != 0; e >>= 1) { r = e & 1 ? r * x : r; x *= x; } \
    return (T)r; \
  }
NPC_EACH_INT(NPC_M)
#undef NPC_M
//@ gcd:ints, lcm:ints < each_int
#define NPC_M(T, W) \
  NPC_FN W npc_gcd_(W x, W y) { while (x != 0) { W t = y % x; y = x; x = t; } return y; } \
  NPC_FN W npc_lcm_(W x, W y) { W g = npc_gcd_(x, y); return g == 0 ? 0 : x / g * y; }
NPC_M(npc_u32, npc_u32)
NPC_M(npc_u64, npc_u64)
#undef NPC_M
#define NPC_M(T, W) \
  NPC_FN T npc_gcd(T a, T b) { return (T)npc_gcd_(a < 0 ? -(W)a : (W)a, b < 0 ? -(W)b : (W)b); } \
  NPC_FN T npc_lcm(T a, T b) { return (T)npc_lcm_(a < 0 ? -(W)a : (W)a, b < 0 ? -(W)b : (W)b); }
NPC_EACH_SIGNED(NPC_M)
#undef NPC_M
#define NPC_M(T, W) \
  NPC_FN T npc_gcd(T a, T b) { return (T)npc_gcd_((W)a, (W)b); } \
  NPC_FN T npc_lcm(T a, T b) { return (T)npc_lcm_((W)a, (W)b); }
NPC_EACH_UNSIGNED(NPC_M)
#undef NPC_M
//@ add_checked, sub_checked, mul_checked, neg_checked
NPC_FN npc_i64 npc_add_checked(npc_i64 a, npc_i64 b, npc_bool *over) {
  npc_i64 r;
  *over = (npc_bool)__builtin_add_overflow(a, b, &r);
  return r;
}
NPC_FN npc_i64 npc_sub_checked(npc_i64 a, npc_i64 b, npc_bool *over) {
  npc_i64 r;
  *over = (npc_bool)__builtin_sub_overflow(a, b, &r);
  return r;
}
NPC_FN npc_i64 npc_mul_checked(npc_i64 a, npc_i64 b, npc_bool *over) {
  npc_i64 r;
  *over = (npc_bool)__builtin_mul_overflow(a, b, &r);
  return r;
}
NPC_FN npc_i64 npc_neg_checked(npc_i64 a, npc_bool *over) {
  npc_i64 r;
  *over = (npc_bool)__builtin_sub_overflow((npc_i64)0, a, &r);
  return r;
}
//@ shl_checked
NPC_FN npc_i64 npc_shl_checked(npc_i64 a, npc_i64 b, npc_bool *over) {
  bool wide = (b < 0) | (b > 63);
  npc_i64 r = wide ? 0 : (npc_i64)((npc_u64)a << (b & 63));
  *over = (npc_bool)((b < 0) | ((a != 0) & (wide | ((r >> (b & 63)) != a))));
  return r;
}
//@ pow_checked
/* Python's int power; a negative exponent (a float in Python) counts as overflow. */
static inline npc_i64 npc_pow_checked(npc_i64 a, npc_i64 b, npc_bool *over) {
  npc_i64 r = 1, x = a;
  bool bad = b < 0;
  for (npc_u64 e = bad ? 0 : (npc_u64)b; e != 0;) {
    if (e & 1) bad |= __builtin_mul_overflow(r, x, &r);
    e >>= 1;
    bool o = __builtin_mul_overflow(x, x, &x);
    if (e != 0) {
      bad |= o;
      if (bad) break;
    }
  }
  *over = (npc_bool)bad;
  return r;
}
//@ py_floordiv:i64, py_mod:i64 < floordiv:i64, mod:i64
NPC_FN npc_i64 npc_py_floordiv(npc_i64 a, npc_i64 b) { return npc_floordiv(a, b); }
NPC_FN npc_i64 npc_py_mod(npc_i64 a, npc_i64 b) { return npc_mod(a, b); }
