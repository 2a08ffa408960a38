/* Types and bit helpers every unit starts with. npc_bool and npc_f16 are types of their own, so that overloads can tell
   them from the integers that store them; an npc_bool holds 0 or 1 and is made by (npc_bool)(condition). */
typedef signed char npc_i8;
typedef short npc_i16;
typedef int npc_i32;
typedef long long npc_i64;
typedef unsigned char npc_u8;
typedef unsigned short npc_u16;
typedef unsigned int npc_u32;
typedef unsigned long long npc_u64;
enum npc_bool : npc_u8 {};
struct npc_f16 {
  npc_u16 bits;
  npc_f16 &operator=(npc_f16 x) { bits = x.bits; return *this; } /* loops that copy a struct as a whole do not vectorise */
};
struct npc_c64 { float re, im; };
struct npc_c128 { double re, im; };
/* Bytes of the processor's vectors: of wider ones GCC makes code that is slower than scalars. */
#if defined(__AVX512F__)
#define NPC_WIDTH 64
#elif defined(__AVX__)
#define NPC_WIDTH 32
#else
#define NPC_WIDTH 16
#endif
#define NPC_FN static inline __attribute__((always_inline))
#define NPC_COLD static __attribute__((noinline, cold))
NPC_FN npc_u32 npc_bits(float x) { return __builtin_bit_cast(npc_u32, x); }
NPC_FN npc_u64 npc_bits(double x) { return __builtin_bit_cast(npc_u64, x); }
NPC_FN float npc_f32_of(npc_u32 x) { return __builtin_bit_cast(float, x); }
NPC_FN double npc_f64_of(npc_u64 x) { return __builtin_bit_cast(double, x); }
NPC_FN bool npc_top(npc_u64 w) { return __builtin_expect((npc_i64)w < 0, 0); }
NPC_FN bool npc_top(npc_u32 w) { return __builtin_expect((npc_i32)w < 0, 0); }
NPC_FN bool npc_top(npc_u16 w) { return __builtin_expect((short)w < 0, 0); }
NPC_FN bool npc_top(npc_u8 w) { return __builtin_expect((signed char)w < 0, 0); }
