/* float16 by conversion: exact to float and double, one rounding (half to even) back, subnormals included, no table. */
//@ half
NPC_FN float npc_float(npc_f16 h) {
  npc_u32 o = (npc_u32)(h.bits & 0x7fffu) << 13, e = o & 0x0f800000u, s = (npc_u32)(h.bits & 0x8000u) << 16;
  npc_u32 n = o + 0x38000000u + (e == 0x0f800000u ? 0x38000000u : 0u);
  npc_u32 d = npc_bits(npc_f32_of(o + 0x38800000u) - 0x1p-14f);
  return npc_f32_of((e == 0 ? d : n) | s);
}
NPC_FN npc_f16 npc_half(float x) {
  npc_u32 b = npc_bits(x), s = (b >> 16) & 0x8000u, a = b & 0x7fffffffu;
  npc_u32 tiny = npc_bits(npc_f32_of(a) + 0.5f) - 0x3f000000u; /* the addition rounds to the spacing of subnormals */
  npc_u32 normal = (a + 0xc8000fffu + ((a >> 13) & 1u)) >> 13;
  npc_u32 huge = a > 0x7f800000u ? 0x7e00u | ((a >> 13) & 0x3ffu) : 0x7c00u;
  npc_u32 r = a < 0x38800000u ? tiny : a < 0x47800000u ? normal : huge;
  return npc_f16{(npc_u16)(r | s)};
}
NPC_FN npc_f16 npc_half(double x) {
  float f = (float)x; /* made round-to-odd, so that the second rounding is the only one that counts */
  npc_u32 b = npc_bits(f), inexact = (double)f != x, above = __builtin_fabs((double)f) > __builtin_fabs(x);
  return npc_half(npc_f32_of((b - above) | inexact));
}
//@ is_nan_half
NPC_FN bool npc_is_nan(npc_f16 h) { return (h.bits & 0x7fff) > 0x7c00; }
