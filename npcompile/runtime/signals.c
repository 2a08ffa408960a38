/* Tells a long-running segment that a signal waits for its Python handler. Only detects: the segment leaves by an exit and
   the interpreter runs the handler at the right line.
   CPython's own "tripped" flag is private, so once a call has polled for some milliseconds our C handler is put in front of
   CPython's for every signal that has one (for SIGINT before the first large nest): it counts and calls on. SIGINT raised without a signal (`_thread.interrupt_main`)
   is found by taking and putting back CPython's mark, at long intervals. */
#include "runtime.h"
#include <signal.h>
#include <time.h>

#define LOOK_NS 4000000LL   /* between close looks: re-arm, let other threads run */
#define MAX_BETWEEN 32      /* polls between looks at the clock while it does not move */
#define MAX_SIGNAL 65

volatile unsigned npc_signals;
static struct sigaction next_action[MAX_SIGNAL];
static void (*python_handler)(int);
static unsigned long main_thread;

static npc_i64 now_ns(void) {
  struct timespec t;
#ifdef CLOCK_MONOTONIC_COARSE
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
#else
  clock_gettime(CLOCK_MONOTONIC, &t);
#endif
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void count_and_call_on(int signum) {
  __atomic_fetch_add(&npc_signals, 1, __ATOMIC_RELAXED);
  next_action[signum].sa_handler(signum);
}

/* CPython has one C handler for all signals with Python handlers: look for a signal that has one (SIGINT, as a rule). */
static void learn_python_handler(void) {
  static const int candidates[] = {SIGINT, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGVTALRM, SIGPROF, SIGCHLD};
  if (python_handler) return;
  PyObject *module = PyImport_ImportModule("signal");
  for (size_t i = 0; module && !python_handler && i < sizeof candidates / sizeof *candidates; i++) {
    struct sigaction a;
    if (sigaction(candidates[i], NULL, &a) || (a.sa_flags & SA_SIGINFO)) continue;
    if (a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN) continue;
    PyObject *handler = PyObject_CallMethod(module, "getsignal", "i", candidates[i]);
    if (handler && PyCallable_Check(handler)) python_handler = a.sa_handler;
    Py_XDECREF(handler);
  }
  Py_XDECREF(module);
  PyErr_Clear();
}

static void arm_signal(int s) {
  struct sigaction a;
  if (sigaction(s, NULL, &a) || (a.sa_flags & SA_SIGINFO) || a.sa_handler != python_handler) return;
  next_action[s] = a;
  a.sa_handler = count_and_call_on;
  sigaction(s, &a, NULL);
}

static void arm(void) {
  for (int s = 1; python_handler && s < MAX_SIGNAL; s++) arm_signal(s);
}

/* With the GIL, in the main thread. */
static int interrupt_waits(void) {
  if (!PyOS_InterruptOccurred()) return 0;
  PyErr_SetInterrupt();
  return 1;
}

/* Own function, so that the common case of `npc_poll` saves no registers. */
static __attribute__((noinline)) npc_i64 look(npc_ctx *ctx) {
  if (npc_signals != ctx->signals) {
    if (PyThread_get_thread_ident() == main_thread) return 1;
    ctx->signals = npc_signals;
  }
  npc_i64 now = now_ns();
  if (!ctx->last_look) ctx->last_look = now; /* a short call never gets further */
  ctx->polls_between = now != ctx->last_clock ? 1 : ctx->polls_between < MAX_BETWEEN ? 2 * ctx->polls_between : MAX_BETWEEN;
  ctx->polls_left = ctx->polls_between;
  ctx->last_clock = now;
  if (NPC_LIKELY(now - ctx->last_look < LOOK_NS)) return 0;
  ctx->last_look = now;
  int waits = 0, released = ctx->released;
  if (!released) ctx->saved = PyEval_SaveThread(); /* a turn for other Python threads */
  PyEval_RestoreThread(ctx->saved);
  ctx->drawing = 0;
  if (PyThread_get_thread_ident() == main_thread) {
    learn_python_handler();
    arm();
    waits = interrupt_waits() || npc_signals != ctx->signals;
  }
  if (released) ctx->saved = PyEval_SaveThread();
  return waits;
}

npc_i64 npc_poll(npc_ctx *ctx) {
  if (NPC_LIKELY(npc_signals == ctx->signals && --ctx->polls_left > 0)) return 0;
  return look(ctx);
}

/* Before a large nest, which may be the first of the call: will signals be counted that end it? Ctrl-C at least. */
int npc_signals_watched(npc_ctx *ctx) {
  if (PyThread_get_thread_ident() != main_thread) return 0;
  if (!ctx->watched && python_handler) arm_signal(SIGINT);
  ctx->watched = 1;
  return 1;
}

static void learn_main_thread(void) { main_thread = PyThread_get_thread_ident(); }

int npc_signals_init(void) {
  PyObject *threading = PyImport_ImportModule("threading");
  PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
  PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
  if (ident) main_thread = PyLong_AsUnsignedLong(ident);
  Py_XDECREF(threading);
  Py_XDECREF(thread);
  Py_XDECREF(ident);
  pthread_atfork(NULL, NULL, learn_main_thread); /* the thread that forks is the child's main thread */
  if (PyErr_Occurred()) return -1;
  learn_python_handler();
  return 0;
}
