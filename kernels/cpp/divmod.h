/* fmod, floor division, remainder on floats, as NumPy's npy_divmod, and Python's number operators. The remainder of near
   operands is one exact fused step after the truncated quotient; where the quotient has more bits than that can hold (`far`)
   it is libm's. As in trig.h, `npc_near_P` vectorises, `npc_far_P` says where it is undefined, `npc_P` is right everywhere. */
//@ far_fmod:floats, far_mod:floats, far_floordiv:floats < each_int
NPC_FN npc_u64 npc_far_fmod(double a, double b) { return __builtin_fabs(a) >= 0x1p53 * __builtin_fabs(b) ? 1ull << 63 : 0; }
NPC_FN npc_u32 npc_far_fmod(float a, float b) { return __builtin_fabsf(a) >= 0x1p53f * __builtin_fabsf(b) ? 1u << 31 : 0; }
#define NPC_M(T, U) \
  NPC_FN U npc_far_mod(T a, T b) { return npc_far_fmod(a, b); } \
  NPC_FN U npc_far_floordiv(T a, T b) { return npc_far_fmod(a, b); }
NPC_M(double, npc_u64)
NPC_M(float, npc_u32)
#undef NPC_M
//@ near_fmod:floats < round_base
extern "C" double fmod(double, double) noexcept;
extern "C" float fmodf(float, float) noexcept;
#if defined(__FMA__) || defined(__aarch64__)
NPC_FN double npc_near_fmod(double a, double b) {
  double x = __builtin_fabs(a), y = __builtin_fabs(b), r = __builtin_fma(-npc_trunc_(x / y), y, x);
  r = r < 0 ? r + y : r; /* the quotient had been rounded up to an integer */
  r = (y == __builtin_inf()) & (x < y) ? x : r;
  return __builtin_copysign(r, a);
}
NPC_FN float npc_near_fmod(float a, float b) {
  double x = __builtin_fabs((double)a), y = __builtin_fabs((double)b), r = __builtin_fma(-npc_trunc_(x / y), y, x);
  r = r < 0 ? r + y : r;
  r = (y == __builtin_inf()) & (x < y) ? x : r;
  return __builtin_copysignf((float)r, a);
}
#else
NPC_FN double npc_near_fmod(double a, double b) { return fmod(a, b); }
NPC_FN float npc_near_fmod(float a, float b) { return fmodf(a, b); }
#endif
//@ fmod:floats < near_fmod:floats, far_fmod:floats
NPC_FN double npc_fmod(double a, double b) { return npc_top(npc_far_fmod(a, b)) ? fmod(a, b) : npc_near_fmod(a, b); }
NPC_FN float npc_fmod(float a, float b) { return npc_top(npc_far_fmod(a, b)) ? fmodf(a, b) : npc_near_fmod(a, b); }
//@ divmod_parts:floats < round_base
/* From m = fmod(a, b). */
#define NPC_M(T, SIGN) \
  NPC_FN T npc_mod_of(T m, T b) { \
    T r = m == 0 ? SIGN((T)0, b) : ((b < 0) != (m < 0) ? m + b : m); \
    return b == 0 ? m : r; \
  } \
  NPC_FN T npc_floordiv_of(T m, T a, T b) { \
    T d = (a - m) / b; \
    d = m != 0 && (b < 0) != (m < 0) ? d - (T)1 : d; \
    T f = npc_floor_(d); \
    f = d - f > (T)0.5 ? f + (T)1 : f; \
    f = d != 0 ? f : SIGN((T)0, a / b); \
    return b == 0 ? a / b : f; \
  }
NPC_M(float, __builtin_copysignf)
NPC_M(double, __builtin_copysign)
#undef NPC_M
//@ mod:floats, floordiv:floats < fmod:floats, divmod_parts:floats, each_int
#define NPC_M(T, W) \
  NPC_FN T npc_mod(T a, T b) { return npc_mod_of(npc_fmod(a, b), b); } \
  NPC_FN T npc_floordiv(T a, T b) { return npc_floordiv_of(npc_fmod(a, b), a, b); }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ near_mod:floats, near_floordiv:floats < near_fmod:floats, divmod_parts:floats, each_int
#define NPC_M(T, W) \
  NPC_FN T npc_near_mod(T a, T b) { return npc_mod_of(npc_near_fmod(a, b), b); } \
  NPC_FN T npc_near_floordiv(T a, T b) { return npc_floordiv_of(npc_near_fmod(a, b), a, b); }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ py_floordiv:f64, py_mod:f64 < floordiv:f64, mod:f64
NPC_FN double npc_py_floordiv(double a, double b) { return npc_floordiv(a, b); }
NPC_FN double npc_py_mod(double a, double b) { return npc_mod(a, b); }
//@ py_round:f64 < round_base
NPC_FN double npc_py_round(double a) { return npc_rint_(a); }
//@ py_pow:f64
extern "C" double pow(double, double) noexcept;
NPC_FN double npc_py_pow(double a, double b) { return pow(a, b); }
//@ logaddexp:f64 < exp:f64, log1p:f64
NPC_FN double npc_logaddexp(double a, double b) {
  double d = a - b, t = npc_log1p(npc_exp(-__builtin_fabs(d)));
  return a == b ? a + 0x1.62e42fefa39efp-1 : d > 0 ? a + t : d <= 0 ? b + t : d;
}
//@ logaddexp:f32 < exp:f32, log1p:f32
NPC_FN float npc_logaddexp(float a, float b) {
  float d = a - b, t = npc_log1p(npc_exp(-__builtin_fabsf(d)));
  return a == b ? a + 0x1.62e43p-1f : d > 0 ? a + t : d <= 0 ? b + t : d;
}
//@ logaddexp2:f64 < exp2:f64, log1p:f64
NPC_FN double npc_logaddexp2(double a, double b) {
  double d = a - b, t = 0x1.71547652b82fep0 * npc_log1p(npc_exp2(-__builtin_fabs(d)));
  return a == b ? a + 1.0 : d > 0 ? a + t : d <= 0 ? b + t : d;
}
//@ logaddexp2:f32 < exp2:f32, log1p:f32
NPC_FN float npc_logaddexp2(float a, float b) {
  float d = a - b, t = 0x1.715476p0f * npc_log1p(npc_exp2(-__builtin_fabsf(d)));
  return a == b ? a + 1.0f : d > 0 ? a + t : d <= 0 ? b + t : d;
}
