/* sin, cos, tan: x = k pi + r, where k pi is subtracted in parts with fused multiply-add, so that r is right to the last bit
   as an unevaluated sum. That holds for |x| below a limit: `npc_far_P(x)` tells what lies above it, where `npc_near_P(x)` is
   undefined; `npc_P(x)` is right everywhere but does not vectorise. A nest should compute with the near functions, gather the
   far predicates and run again with the others when one was true. Polynomials: tools/. */
//@ fused
/* c + a b with one rounding, or as good as. */
#if defined(__FMA__) || defined(__aarch64__)
NPC_FN double npc_fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
NPC_FN float npc_fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
NPC_FN double npc_fused(double a, double b, double c) {
  double p = a * b, s = a * 0x1.0000002p27, t = b * 0x1.0000002p27, ah = s - (s - a), bh = t - (t - b), al = a - ah, bl = b - bh;
  double e = ((ah * bh - p) + ah * bl + al * bh) + al * bl, r = c + p, v = r - c;
  return r + (((c - (r - v)) + (p - v)) + e);
}
NPC_FN float npc_fused(float a, float b, float c) { return (float)((double)a * (double)b + (double)c); }
#endif
//@ pi_subtract < fused, product
/* r + rl = x - k pi for |x| < 2^44 and 2 k the integer nearest to 2 x / pi or a neighbour. x - k P1 is exact; it is a
   multiple of ulp(k P2), hence so is the error of the next difference. */
struct npc_angle64 { double r, rl; npc_u64 odd; };
NPC_FN npc_angle64 npc_pi_subtract(double x, double k) {
  double a = npc_fused(k, -0x1.921fb54442d18p+1, x), p = k * 0x1.1a62633145c07p-53, r = a - p;
  double e = ((a - r) - p) - npc_product_error(k, 0x1.1a62633145c07p-53, p);
  return npc_angle64{r, NPC_FMA(k, 0x1.f1976b7ed8fbcp-109, e), 0};
}
/* For float x one double is enough. */
NPC_FN double npc_pi_subtract_double(double x, double k) {
  return npc_fused(k, -0x1.1a62633145c07p-53, npc_fused(k, -0x1.921fb54442d18p+1, x));
}
//@ pi_reduce:f64 < pi_subtract
/* The nearest k = n + shift; `odd` has bit 63 set for odd n. */
NPC_FN npc_angle64 npc_pi_reduce(double x, double shift) {
  double t = NPC_FMA(x, 0x1.45f306dc9c883p-2, -shift) + 0x1.8p52;
  npc_angle64 a = npc_pi_subtract(x, (t - 0x1.8p52) + shift);
  return npc_angle64{a.r, a.rl, npc_bits(t) << 63};
}
/* sin of r + rl, |r| <= pi / 2. */
NPC_FN double npc_sin_poly(double r, double rl) {
  double z = r * r;
  double q = 0x1.88247d0041729p-49;
  q = NPC_FMA(q, z, -0x1.ae430658dd00cp-41);
  q = NPC_FMA(q, z, 0x1.6123cb3af8120p-33);
  q = NPC_FMA(q, z, -0x1.ae6454cd71774p-26);
  q = NPC_FMA(q, z, 0x1.71de3a5290bf0p-19);
  q = NPC_FMA(q, z, -0x1.a01a01a014ac0p-13);
  q = NPC_FMA(q, z, 0x1.11111111110c4p-7);
  q = NPC_FMA(q, z, -0x1.5555555555555p-3);
  return r + NPC_FMA(q, r * z, rl * NPC_FMA(z, -0x1.9fp-2, 1.0)); /* rl cos r, roughly */
}
//@ pi_reduce:f32 < fused, fma
/* For |x| < 2^19: k, an integer plus shift, is within 0.52 of x / pi, and x - k P1 is exact but where |x| < 1. */
struct npc_angle32 { float r; npc_u32 odd; };
NPC_FN npc_angle32 npc_pi_reduce(float x, float shift) {
  float t = npc_fused(x, 0x1.45f306p-2f, -shift) + 0x1.8p23f, k = (t - 0x1.8p23f) + shift;
  float r = npc_fused(k, 0x1.777a5cp-24f, npc_fused(k, -0x1.921fb6p+1f, x));
  return npc_angle32{npc_fused(k, 0x1.ee59dap-49f, r), npc_bits(t) << 31};
}
/* sin r, |r| <= 1.63 */
NPC_FN float npc_sin_poly(float r) {
  float z = r * r;
  float q = 0x1.5c7722p-19f;
  q = NPC_FMAF(q, z, -0x1.9f596ep-13f);
  q = NPC_FMAF(q, z, 0x1.110e56p-7f);
  q = NPC_FMAF(q, z, -0x1.555548p-3f);
  return NPC_FMAF(q, r * z, r);
}
//@ far_reduce < product, pi_reduce:f64
/* The same for any finite x >= 2^32: 192 bits of 1/pi, placed so that whole turns drop out, times the 53 bits of x. */
static const npc_u64 npc_inverse_pi[21] = {
    0x0000000000000000ull, 0x517cc1b727220a94ull, 0xfe13abe8fa9a6ee0ull, 0x6db14acc9e21c820ull,
    0xff28b1d5ef5de2b0ull, 0xdb92371d2126e970ull, 0x0324977504e8c90eull, 0x7f0ef58e5894d39full,
    0x74411afa975da242ull, 0x74ce38135a2fbf20ull, 0x9cc8eb1cc1a99cfaull, 0x4e422fc5defc941dull,
    0x8ffc4bffef02cc07ull, 0xf79788c5ad05368full, 0xb69b3f6793e584dbull, 0xa7a31fb34f2ff516ull,
    0xba93dd63f5f2f8bdull, 0x9e839cfbc5294975ull, 0x35fdafd88fc6ae84ull, 0x2b0198237e3db5d5ull,
    0xf867de104d7a1b0eull};
NPC_COLD npc_angle64 npc_far_reduce(double x, bool half) {
  npc_u64 b = npc_bits(x), m = (b & 0x000fffffffffffffull) | (1ull << 52);
  int start = (int)(b >> 52) - 1075 + 63, w = start >> 6, s = start & 63;
  npc_u64 v[3];
  for (int i = 0; i < 3; i++) v[i] = s ? npc_inverse_pi[w + i] << s | npc_inverse_pi[w + i + 1] >> (64 - s) : npc_inverse_pi[w + i];
  unsigned __int128 lo = (unsigned __int128)m * v[2], mid = (unsigned __int128)m * v[1] + (npc_u64)(lo >> 64);
  npc_u64 f0 = m * v[0] + (npc_u64)(mid >> 64), f1 = (npc_u64)mid, f2 = (npc_u64)lo; /* bit 63: odd; below: fraction */
  f0 -= half ? 1ull << 62 : 0;
  npc_u64 odd = f0 >> 63;
  f0 <<= 1;
  f0 |= f1 >> 63, f1 = f1 << 1 | f2 >> 63, f2 <<= 1;
  bool neg = f0 >> 63; /* a fraction of a half or more: the next multiple is nearer */
  if (neg) f0 = ~f0, f1 = ~f1, f2 = ~f2, odd ^= 1;
  double scale = 0x1p-64;
  if (f0 == 0) f0 = f1, f1 = f2, f2 = 0, scale = 0x1p-128;
  int z = __builtin_clzll(f0 | 1);
  if (z) f0 = f0 << z | f1 >> (64 - z), f1 = f1 << z | f2 >> (64 - z);
  scale *= npc_f64_of((npc_u64)(1023 - z) << 52);
  double h = (double)(f0 >> 11) * 0x1p11 * scale, l = (double)((f0 & 0x7ff) << 42 | f1 >> 22) * 0x1p-42 * scale;
  double p = h * 0x1.921fb54442d18p+1, e = npc_product_error(h, 0x1.921fb54442d18p+1, p);
  e += h * 0x1.1a62633145c07p-53 + l * 0x1.921fb54442d18p+1;
  double r = p + e;
  e += p - r;
  return npc_angle64{neg ? -r : r, neg ? -e : e, odd << 63};
}
//@ far_sin:floats, far_cos:floats, far_tan:floats
/* Top bit set for arguments at which the near functions are undefined: words to be gathered by `|`. */
NPC_FN npc_u64 npc_beyond(double x, npc_u64 limit) { return (npc_bits(x) & ~(1ull << 63)) + (0x8000000000000000ull - limit); }
NPC_FN npc_u32 npc_beyond(float x, npc_u32 limit) { return (npc_bits(x) & ~(1u << 31)) + (0x80000000u - limit); }
NPC_FN npc_u64 npc_far_sin(double x) { return npc_beyond(x, 0x42b0000000000000ull); } /* 2^44 */
NPC_FN npc_u64 npc_far_cos(double x) { return npc_far_sin(x); }
NPC_FN npc_u64 npc_far_tan(double x) { return npc_far_sin(x); }
NPC_FN npc_u32 npc_far_sin(float x) { return npc_beyond(x, 0x49000000u); } /* 2^19 */
NPC_FN npc_u32 npc_far_cos(float x) { return npc_far_sin(x); }
NPC_FN npc_u32 npc_far_tan(float x) { return npc_beyond(x, 0x55800000u); } /* 2^44 */
//@ near_sin:f64 < pi_reduce:f64
NPC_FN double npc_near_sin(double x) {
  npc_angle64 a = npc_pi_reduce(x, 0.0);
  return x == 0 ? x : npc_f64_of(npc_bits(npc_sin_poly(a.r, a.rl)) ^ a.odd);
}
//@ near_cos:f64 < pi_reduce:f64
NPC_FN double npc_near_cos(double x) {
  npc_angle64 a = npc_pi_reduce(__builtin_fabs(x), 0.5);
  return npc_f64_of(npc_bits(npc_sin_poly(-a.r, -a.rl)) ^ a.odd);
}
//@ near_sin:f32 < pi_reduce:f32
NPC_FN float npc_near_sin(float x) {
  npc_angle32 a = npc_pi_reduce(x, 0.0f);
  return x == 0 ? x : npc_f32_of(npc_bits(npc_sin_poly(a.r)) ^ a.odd);
}
//@ near_cos:f32 < pi_reduce:f32
NPC_FN float npc_near_cos(float x) {
  npc_angle32 a = npc_pi_reduce(__builtin_fabsf(x), 0.5f);
  return npc_f32_of(npc_bits(npc_sin_poly(-a.r)) ^ a.odd);
}
//@ tan_parts:f64 < fma
/* sin and cos of r + rl for |r| <= pi / 4; their quotient, or minus its inverse. */
NPC_FN double npc_tan_parts(double r, double rl, bool inverse) {
  double z = r * r, s = 0x1.5d866b623936bp-33, c = -0x1.8fa0d266e6fa9p-37;
  s = NPC_FMA(s, z, -0x1.ae5e3bfae8f9fp-26);
  c = NPC_FMA(c, z, 0x1.1ee9d2088996dp-29);
  s = NPC_FMA(s, z, 0x1.71de3543629aap-19);
  c = NPC_FMA(c, z, -0x1.27e4f7e5127dap-22);
  s = NPC_FMA(s, z, -0x1.a01a019bd7592p-13);
  c = NPC_FMA(c, z, 0x1.a01a019c80857p-16);
  s = NPC_FMA(s, z, 0x1.111111110f6bbp-7);
  c = NPC_FMA(c, z, -0x1.6c16c16c14f9ap-10);
  s = NPC_FMA(s, z, -0x1.5555555555548p-3);
  c = NPC_FMA(c, z, 0x1.555555555554bp-5);
  s = r + NPC_FMA(s, r * z, rl);
  double h = 0.5 * z, w = 1.0 - h;
  c = w + (((1.0 - w) - h) + NPC_FMA(c, z * z, -r * rl));
  return (inverse ? -c : s) / (inverse ? s : c);
}
//@ tan_parts:f32 < fma
NPC_FN float npc_tan_parts(float r, float rl, bool inverse) {
  float z = r * r, s = -0x1.993618p-13f, c = 0x1.99ec96p-16f;
  s = NPC_FMAF(s, z, 0x1.11071ap-7f);
  c = NPC_FMAF(c, z, -0x1.6c0c42p-10f);
  s = NPC_FMAF(s, z, -0x1.555544p-3f);
  c = NPC_FMAF(c, z, 0x1.55554ap-5f);
  s = r + NPC_FMAF(s, r * z, rl);
  float h = 0.5f * z, w = 1.0f - h;
  c = w + (((1.0f - w) - h) + NPC_FMAF(c, z * z, -r * rl));
  return (inverse ? -c : s) / (inverse ? s : c);
}
//@ near_tan:f64 < tan_parts:f64, pi_subtract
NPC_FN double npc_near_tan(double x) {
  double t = NPC_FMA(x, 0x1.45f306dc9c883p-1, 0x1.8p52);
  npc_angle64 a = npc_pi_subtract(x, (t - 0x1.8p52) * 0.5);
  return x == 0 ? x : npc_tan_parts(a.r, a.rl, npc_bits(t) & 1);
}
//@ near_tan:f32 < tan_parts:f32, pi_subtract
NPC_FN float npc_near_tan(float x) {
  double t = NPC_FMA((double)x, 0x1.45f306dc9c883p-1, 0x1.8p52);
  double d = npc_pi_subtract_double(x, (t - 0x1.8p52) * 0.5);
  float r = (float)d;
  return x == 0 ? x : npc_tan_parts(r, (float)(d - (double)r), npc_bits(t) & 1);
}
//@ sin:f64 < near_sin:f64, far_sin:f64, far_reduce
NPC_COLD double npc_any_sin(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return x - x;
  npc_angle64 a = npc_far_reduce(__builtin_fabs(x), false);
  return npc_f64_of(npc_bits(npc_sin_poly(a.r, a.rl)) ^ a.odd ^ (npc_bits(x) & 1ull << 63));
}
NPC_FN double npc_sin(double x) { return npc_top(npc_far_sin(x)) ? npc_any_sin(x) : npc_near_sin(x); }
//@ cos:f64 < near_cos:f64, far_cos:f64, far_reduce
NPC_COLD double npc_any_cos(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return x - x;
  npc_angle64 a = npc_far_reduce(__builtin_fabs(x), true);
  return npc_f64_of(npc_bits(npc_sin_poly(-a.r, -a.rl)) ^ a.odd);
}
NPC_FN double npc_cos(double x) { return npc_top(npc_far_cos(x)) ? npc_any_cos(x) : npc_near_cos(x); }
//@ tan:f64 < near_tan:f64, far_tan:f64, far_reduce, near_sin:f64
/* From x = k pi + r, |r| <= pi / 2, to the nearest multiple of pi / 2: exact subtraction near it, then the low part. */
NPC_COLD double npc_any_tan(double x) {
  if (!(__builtin_fabs(x) < __builtin_inf())) return x - x;
  npc_angle64 a = npc_far_reduce(__builtin_fabs(x), false);
  double s = a.r < 0 ? -1.0 : 1.0, r = a.r * s, rl = a.rl * s, t;
  if (r > 0x1.921fb54442d18p-1) {
    npc_angle64 b = npc_far_reduce(__builtin_fabs(x), true);
    t = npc_tan_parts(b.r, b.rl, true);
  } else t = s * npc_tan_parts(r, rl, false);
  return x < 0 ? -t : t;
}
NPC_FN double npc_tan(double x) { return npc_top(npc_far_tan(x)) ? npc_any_tan(x) : npc_near_tan(x); }
//@ sin:f32 < near_sin:f32, sin:f64
NPC_COLD float npc_any_sin(float x) { return (float)npc_sin((double)x); }
NPC_FN float npc_sin(float x) { return npc_top(npc_far_sin(x)) ? npc_any_sin(x) : npc_near_sin(x); }
//@ cos:f32 < near_cos:f32, cos:f64
NPC_COLD float npc_any_cos(float x) { return (float)npc_cos((double)x); }
NPC_FN float npc_cos(float x) { return npc_top(npc_far_cos(x)) ? npc_any_cos(x) : npc_near_cos(x); }
//@ tan:f32 < near_tan:f32, tan:f64
NPC_COLD float npc_any_tan(float x) { return (float)npc_tan((double)x); }
NPC_FN float npc_tan(float x) { return npc_top(npc_far_tan(x)) ? npc_any_tan(x) : npc_near_tan(x); }
