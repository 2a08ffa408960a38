/* float16 transcendentals: NumPy computes them in float32 and rounds once. */
//@ exp:f16 < half, exp:f32
NPC_FN npc_f16 npc_exp(npc_f16 x) { return npc_half(npc_exp(npc_float(x))); }
//@ log:f16 < half, log:f32
NPC_FN npc_f16 npc_log(npc_f16 x) { return npc_half(npc_log(npc_float(x))); }
//@ exp2:f16 < half, exp2:f32
NPC_FN npc_f16 npc_exp2(npc_f16 x) { return npc_half(npc_exp2(npc_float(x))); }
//@ expm1:f16 < half, expm1:f32
NPC_FN npc_f16 npc_expm1(npc_f16 x) { return npc_half(npc_expm1(npc_float(x))); }
//@ log2:f16 < half, log2:f32
NPC_FN npc_f16 npc_log2(npc_f16 x) { return npc_half(npc_log2(npc_float(x))); }
//@ log10:f16 < half, log10:f32
NPC_FN npc_f16 npc_log10(npc_f16 x) { return npc_half(npc_log10(npc_float(x))); }
//@ log1p:f16 < half, log1p:f32
NPC_FN npc_f16 npc_log1p(npc_f16 x) { return npc_half(npc_log1p(npc_float(x))); }
//@ sin:f16 < half, sin:f32
NPC_FN npc_f16 npc_sin(npc_f16 x) { return npc_half(npc_sin(npc_float(x))); }
//@ cos:f16 < half, cos:f32
NPC_FN npc_f16 npc_cos(npc_f16 x) { return npc_half(npc_cos(npc_float(x))); }
//@ tan:f16 < half, tan:f32
NPC_FN npc_f16 npc_tan(npc_f16 x) { return npc_half(npc_tan(npc_float(x))); }
//@ asin:f16 < half, asin:f32
NPC_FN npc_f16 npc_asin(npc_f16 x) { return npc_half(npc_asin(npc_float(x))); }
//@ acos:f16 < half, acos:f32
NPC_FN npc_f16 npc_acos(npc_f16 x) { return npc_half(npc_acos(npc_float(x))); }
//@ atan:f16 < half, atan:f32
NPC_FN npc_f16 npc_atan(npc_f16 x) { return npc_half(npc_atan(npc_float(x))); }
//@ sinh:f16 < half, sinh:f32
NPC_FN npc_f16 npc_sinh(npc_f16 x) { return npc_half(npc_sinh(npc_float(x))); }
//@ cosh:f16 < half, cosh:f32
NPC_FN npc_f16 npc_cosh(npc_f16 x) { return npc_half(npc_cosh(npc_float(x))); }
//@ tanh:f16 < half, tanh:f32
NPC_FN npc_f16 npc_tanh(npc_f16 x) { return npc_half(npc_tanh(npc_float(x))); }
//@ asinh:f16 < half, asinh:f32
NPC_FN npc_f16 npc_asinh(npc_f16 x) { return npc_half(npc_asinh(npc_float(x))); }
//@ acosh:f16 < half, acosh:f32
NPC_FN npc_f16 npc_acosh(npc_f16 x) { return npc_half(npc_acosh(npc_float(x))); }
//@ atanh:f16 < half, atanh:f32
NPC_FN npc_f16 npc_atanh(npc_f16 x) { return npc_half(npc_atanh(npc_float(x))); }
//@ cbrt:f16 < half, cbrt:f32
NPC_FN npc_f16 npc_cbrt(npc_f16 x) { return npc_half(npc_cbrt(npc_float(x))); }
//@ erf:f16 < half, erf:f32
NPC_FN npc_f16 npc_erf(npc_f16 x) { return npc_half(npc_erf(npc_float(x))); }
//@ lgamma:f16 < half, lgamma:f32
NPC_FN npc_f16 npc_lgamma(npc_f16 x) { return npc_half(npc_lgamma(npc_float(x))); }
//@ atan2:f16 < half, atan2:f32
NPC_FN npc_f16 npc_atan2(npc_f16 x, npc_f16 y) { return npc_half(npc_atan2(npc_float(x), npc_float(y))); }
//@ hypot:f16 < half, hypot:f32
NPC_FN npc_f16 npc_hypot(npc_f16 x, npc_f16 y) { return npc_half(npc_hypot(npc_float(x), npc_float(y))); }
//@ pow:f16 < half, pow:f32
NPC_FN npc_f16 npc_pow(npc_f16 x, npc_f16 y) { return npc_half(npc_pow(npc_float(x), npc_float(y))); }
//@ fmod:f16 < half, fmod:f32
NPC_FN npc_f16 npc_fmod(npc_f16 x, npc_f16 y) { return npc_half(npc_fmod(npc_float(x), npc_float(y))); }
//@ logaddexp:f16 < half, logaddexp:f32
NPC_FN npc_f16 npc_logaddexp(npc_f16 x, npc_f16 y) { return npc_half(npc_logaddexp(npc_float(x), npc_float(y))); }
//@ logaddexp2:f16 < half, logaddexp2:f32
NPC_FN npc_f16 npc_logaddexp2(npc_f16 x, npc_f16 y) { return npc_half(npc_logaddexp2(npc_float(x), npc_float(y))); }
//@ floordiv:f16 < half, floordiv:f32
NPC_FN npc_f16 npc_floordiv(npc_f16 x, npc_f16 y) { return npc_half(npc_floordiv(npc_float(x), npc_float(y))); }
//@ mod:f16 < half, mod:f32
NPC_FN npc_f16 npc_mod(npc_f16 x, npc_f16 y) { return npc_half(npc_mod(npc_float(x), npc_float(y))); }
//@ heaviside:f16 < half, heaviside:f32
NPC_FN npc_f16 npc_heaviside(npc_f16 x, npc_f16 y) { return npc_half(npc_heaviside(npc_float(x), npc_float(y))); }
//@ deg2rad:f16, rad2deg:f16 < half, deg2rad:f32
NPC_FN npc_f16 npc_deg2rad(npc_f16 x) { return npc_half(npc_deg2rad(npc_float(x))); }
NPC_FN npc_f16 npc_rad2deg(npc_f16 x) { return npc_half(npc_rad2deg(npc_float(x))); }
