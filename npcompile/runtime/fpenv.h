/* The hardware's floating-point flags and control word, without <fenv.h>'s cost where the processor is known. */
#ifndef NPC_FPENV_H
#define NPC_FPENV_H

/* Bits of a condition mask, as in abi.h. */
enum { FP_DIVIDE = 1, FP_OVERFLOW = 2, FP_UNDERFLOW = 4, FP_INVALID = 8 };

#if defined(__x86_64__)
typedef unsigned npc_fpcontrol; /* rounding, flush-to-zero, masks */
static inline npc_fpcontrol npc_fp_get_control(void) { return __builtin_ia32_stmxcsr() & ~0x3fu; }
static inline void npc_fp_set_control(npc_fpcontrol c) { __builtin_ia32_ldmxcsr(c); } /* clears the flags, too */
static inline void npc_fp_reset(void) { __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~0x3fu); }
static inline int npc_fp_flags(void) {
  unsigned f = __builtin_ia32_stmxcsr();
  return (f & 4 ? FP_DIVIDE : 0) | (f & 8 ? FP_OVERFLOW : 0) | (f & 16 ? FP_UNDERFLOW : 0) | (f & 1 ? FP_INVALID : 0);
}
typedef unsigned npc_fpstate; /* what a run of foreign code is to leave as it was, flags included */
static inline npc_fpstate npc_fp_save(void) { return __builtin_ia32_stmxcsr(); }
static inline void npc_fp_restore(npc_fpstate s) { __builtin_ia32_ldmxcsr(s); }
/* Some functions of the C library raise flags of the x87, too. */
static inline unsigned npc_x87_flags(void) {
  unsigned short f;
  __asm__ volatile("fnstsw %0" : "=a"(f));
  return f;
}
static inline void npc_fp_reset_all(void) {
  if (npc_x87_flags() & 0x3f) __asm__ volatile("fnclex");
  if (__builtin_ia32_stmxcsr() & 0x3f) npc_fp_reset();
}
static inline int npc_fp_flags_all(void) {
  unsigned f = npc_x87_flags();
  return npc_fp_flags() | (f & 4 ? FP_DIVIDE : 0) | (f & 8 ? FP_OVERFLOW : 0) | (f & 16 ? FP_UNDERFLOW : 0) | (f & 1 ? FP_INVALID : 0);
}
#elif defined(__aarch64__)
typedef unsigned long npc_fpcontrol;
static inline npc_fpcontrol npc_fp_get_control(void) {
  unsigned long c;
  __asm__ volatile("mrs %0, fpcr" : "=r"(c));
  return c;
}
static inline void npc_fp_reset(void) { __asm__ volatile("msr fpsr, %0" : : "r"(0UL)); }
static inline void npc_fp_set_control(npc_fpcontrol c) {
  __asm__ volatile("msr fpcr, %0" : : "r"(c));
  npc_fp_reset();
}
static inline int npc_fp_flags(void) {
  unsigned long f;
  __asm__ volatile("mrs %0, fpsr" : "=r"(f));
  return (f & 2 ? FP_DIVIDE : 0) | (f & 4 ? FP_OVERFLOW : 0) | (f & 8 ? FP_UNDERFLOW : 0) | (f & 1 ? FP_INVALID : 0);
}
typedef unsigned long npc_fpstate;
static inline npc_fpstate npc_fp_save(void) {
  unsigned long s;
  __asm__ volatile("mrs %0, fpsr" : "=r"(s));
  return s;
}
static inline void npc_fp_restore(npc_fpstate s) { __asm__ volatile("msr fpsr, %0" : : "r"(s)); }
#else
#include <fenv.h>
typedef int npc_fpcontrol; /* the rounding mode is all that can be carried over portably */
static inline npc_fpcontrol npc_fp_get_control(void) { return fegetround(); }
static inline void npc_fp_reset(void) { feclearexcept(FE_ALL_EXCEPT); }
static inline void npc_fp_set_control(npc_fpcontrol c) {
  fesetround(c);
  npc_fp_reset();
}
static inline int npc_fp_flags(void) {
  int f = fetestexcept(FE_ALL_EXCEPT);
  return (f & FE_DIVBYZERO ? FP_DIVIDE : 0) | (f & FE_OVERFLOW ? FP_OVERFLOW : 0) | (f & FE_UNDERFLOW ? FP_UNDERFLOW : 0) |
         (f & FE_INVALID ? FP_INVALID : 0);
}
typedef fexcept_t npc_fpstate;
static inline npc_fpstate npc_fp_save(void) {
  fexcept_t s;
  fegetexceptflag(&s, FE_ALL_EXCEPT);
  return s;
}
static inline void npc_fp_restore(npc_fpstate s) { fesetexceptflag(&s, FE_ALL_EXCEPT); }
#endif

#if !defined(__x86_64__)
static inline void npc_fp_reset_all(void) { npc_fp_reset(); }
static inline int npc_fp_flags_all(void) { return npc_fp_flags(); }
#endif

#endif
