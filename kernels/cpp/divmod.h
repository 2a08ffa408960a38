/* Floor division, remainder and the like on floats, as NumPy's npy_divmod, and Python's number operators. */
//@ mod:floats, floordiv:floats < fmod:floats, round_base, each_int
#define NPC_M(T, ABS, SIGN) \
  NPC_FN T npc_mod(T a, T b) { \
    T m = npc_fmod(a, b), s = m + b; \
    T r = m == 0 ? SIGN((T)0, b) : ((b < 0) != (m < 0) ? s : m); \
    return b == 0 ? m : r; \
  } \
  NPC_FN T npc_floordiv(T a, T b) { \
    T m = npc_fmod(a, b), d = (a - m) / b; \
    d = m != 0 && (b < 0) != (m < 0) ? d - (T)1 : d; \
    T f = npc_floor_(d); \
    f = d - f > (T)0.5 ? f + (T)1 : f; \
    f = d != 0 ? f : SIGN((T)0, a / b); \
    return b == 0 ? a / b : f; \
  }
NPC_M(float, __builtin_fabsf, __builtin_copysignf)
NPC_M(double, __builtin_fabs, __builtin_copysign)
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
