/* The claim pool: workers and the caller claim chunks of a range from atomic counters, each from its own share first.
   The caller never waits for a worker that has not joined, so a worker the scheduler has not run costs nothing.
   One job at a time: a nested job, or one from a second Python thread meanwhile, runs serially. No GIL needed. */
#include "runtime.h"
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fpenv.h"

#define MAX_THREADS 256
#define CHUNKS 4            /* per thread */
#define PIECE_PS 5000000000LL /* a nest that signals end is cut into pieces of about that many picoseconds */
#define SPIN_NS 60000LL     /* a worker looks for the next job that long before it sleeps */
#define OFTEN_NS 100000LL   /* small jobs that follow each other within that time are worth waking a worker for */
#define STALL_NS 4000LL     /* a worker that keeps the caller waiting longer than that, and than the job took, has lost its processor */
#define AVOID_NS 2000000LL  /* for how long small jobs are not split then */
#define CALLER_SPINS 2000   /* pauses before the caller yields while workers finish their last chunk */

typedef struct {
  _Alignas(64) atomic_llong next;
  npc_i64 end;
} Share;

typedef struct {
  _Alignas(64) pthread_mutex_t mutex;
  pthread_cond_t wake;
  atomic_int sleeping;
} Worker;

/* state = generation << 32 | threads << 16 | open << 15 | workers inside */
#define OPEN (1ULL << 15)
#define INSIDE(s) ((s) & (OPEN - 1))
#define THREADS(s) (((s) >> 16) & 0xffff)
#define GENERATION(s) ((s) >> 32)

static _Alignas(64) atomic_ullong state;
static atomic_flag busy = ATOMIC_FLAG_INIT;
static Share shares[MAX_THREADS];
static Worker workers[MAX_THREADS]; /* 0 is the caller: unused */
static int n_started = 1, n_wanted = 1;
static struct {
  npc_i64 chunk;
  void (*body)(void *, npc_i64, npc_i64);
  void *env;
  npc_fpcontrol control;
  atomic_int conditions;
  atomic_int cpu;       /* the caller's processor, -1 if unknown */
  int until;            /* stop when the number of signals is not `seen` */
  unsigned seen;
  atomic_int left;      /* it stopped before the end */
} job;

static inline void pause_cpu(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static npc_i64 now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void work(int me, int threads) {
  for (int k = 0; k < threads; k++) {
    Share *s = &shares[(me + k) % threads];
    while (1) {
      npc_i64 lo = atomic_load_explicit(&s->next, memory_order_relaxed);
      if (lo >= s->end) break;
      if (job.until && npc_signals != job.seen) {
        atomic_store(&job.left, 1);
        return;
      }
      if ((lo = atomic_fetch_add(&s->next, job.chunk)) >= s->end) break;
      npc_i64 hi = lo + job.chunk < s->end ? lo + job.chunk : s->end;
      job.body(job.env, lo, hi);
    }
  }
}

/* ------------------------------------------------------------------------------------------------ workers */

/* A worker that was woken on the caller's own processor would only take turns with it: it moves to another one. */
#ifdef __linux__
static cpu_set_t allowed; /* of the thread that started the workers */
static int this_cpu(void) { return sched_getcpu(); }

static int keep_off(int cpu) {
  cpu_set_t others = allowed;
  CPU_CLR(cpu, &others);
  return CPU_COUNT(&others) && sched_setaffinity(0, sizeof others, &others) == 0;
}
#else
static int this_cpu(void) { return -1; }
static int keep_off(int cpu) { return 0 * cpu; }
#endif

static int wanted(unsigned long long s, int me, unsigned long long last) {
  return (s & OPEN) && GENERATION(s) != last && me < (int)THREADS(s);
}

/* A worker that comes too late for the job that woke it looks for the next one before it sleeps again: waking is dear. */
static void sleep_until_woken(int me, unsigned long long last) {
  Worker *w = &workers[me];
  pthread_mutex_lock(&w->mutex);
  atomic_store(&w->sleeping, 1);
  if (!wanted(atomic_load(&state), me, last)) pthread_cond_wait(&w->wake, &w->mutex);
  atomic_store(&w->sleeping, 0);
  pthread_mutex_unlock(&w->mutex);
}

static void *worker(void *arg) {
  int me = (int)(intptr_t)arg;
  unsigned long long last = 0, s;
  while (1) {
    npc_i64 until = now() + SPIN_NS;
    for (int i = 1; !wanted(s = atomic_load_explicit(&state, memory_order_relaxed), me, last); i++) {
      pause_cpu();
      if (i % 64 == 0 && now() > until) {
        sleep_until_woken(me, last);
        until = now() + SPIN_NS;
      }
    }
    int cpu = atomic_load_explicit(&job.cpu, memory_order_relaxed);
    if (cpu >= 0 && cpu == this_cpu() && keep_off(cpu)) continue;
    if (!atomic_compare_exchange_strong(&state, &s, s + 1)) continue;
    last = GENERATION(s);
    npc_fp_set_control(job.control);
    work(me, (int)THREADS(s));
    atomic_fetch_or(&job.conditions, npc_fp_flags());
    atomic_fetch_sub(&state, 1);
  }
  return NULL;
}

/* Start workers up to `threads` in all; how many there are then. Called by the one that holds `busy`. */
static int start(int threads) {
  sigset_t all, before;
#ifdef __linux__
  if (n_started < threads && sched_getaffinity(0, sizeof allowed, &allowed)) CPU_ZERO(&allowed);
#endif
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are Python's */
  for (; n_started < threads; n_started++) {
    Worker *w = &workers[n_started];
    pthread_t thread;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->wake, NULL);
    atomic_init(&w->sleeping, 0);
    if (pthread_create(&thread, NULL, worker, (void *)(intptr_t)n_started)) break;
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return n_started < threads ? n_started : threads;
}

/* ------------------------------------------------------------------------------------------------ the caller */

static void publish(npc_i64 n, npc_i64 chunk, npc_i64 grain, int threads) {
  npc_i64 units = (n + grain - 1) / grain;
  for (int i = 0; i < threads; i++) {
    npc_i64 hi = units * (i + 1) / threads * grain;
    atomic_store_explicit(&shares[i].next, units * i / threads * grain, memory_order_relaxed);
    shares[i].end = hi < n ? hi : n;
  }
  job.chunk = chunk;
  job.control = npc_fp_get_control();
  atomic_store_explicit(&job.cpu, this_cpu(), memory_order_relaxed);
  atomic_store_explicit(&job.conditions, 0, memory_order_relaxed);
  unsigned long long generation = GENERATION(atomic_load(&state)) + 1;
  if (generation > 0xffffffff) generation = 1;
  atomic_store(&state, generation << 32 | (unsigned long long)threads << 16 | OPEN);
  for (int i = 1; i < threads; i++) {
    Worker *w = &workers[i];
    if (!atomic_load(&w->sleeping)) continue;
    pthread_mutex_lock(&w->mutex);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mutex);
  }
}

static atomic_llong avoid; /* until then small jobs are not split */

/* started: when the job was. */
static void finish(npc_i64 started) {
  npc_i64 since = 0, t, worked;
  atomic_fetch_and(&state, ~OPEN);
  for (int i = 0; INSIDE(atomic_load(&state)); i++) {
    if (i == 16) since = now();
    if (i < CALLER_SPINS) pause_cpu();
    else sched_yield();
  }
  if (!since) return;
  t = now(), worked = since - started;
  if (t - since > (worked > STALL_NS ? worked : STALL_NS)) atomic_store_explicit(&avoid, t + AVOID_NS, memory_order_relaxed);
}

/* In this thread alone; nonzero when it stopped before the end. pieces: 0 when signals do not end it. */
static npc_i64 serial(npc_ctx *ctx, npc_i64 n, npc_i64 grain, void (*body)(void *, npc_i64, npc_i64), void *env, npc_i64 pieces) {
  npc_i64 units = (n + grain - 1) / grain, chunk = pieces > 1 ? (units + pieces - 1) / pieces * grain : n;
  for (npc_i64 lo = 0; lo < n; lo += chunk) {
    if (pieces && npc_signals != ctx->signals) return 1;
    body(env, lo, n - lo < chunk ? n : lo + chunk);
  }
  return 0;
}

static npc_i64 run(npc_ctx *ctx, npc_i64 n, npc_i64 grain, void (*body)(void *, npc_i64, npc_i64), void *env, npc_i64 pieces) {
  if (n <= 0) return 0;
  if (grain < 1) grain = 1;
  npc_i64 units = (n + grain - 1) / grain, threads = npc_n_threads(ctx);
  if (threads > units) threads = units;
  if (threads <= 1 || atomic_flag_test_and_set(&busy)) return serial(ctx, n, grain, body, env, pieces);
  threads = start((int)threads);
  if (threads <= 1) {
    atomic_flag_clear(&busy);
    return serial(ctx, n, grain, body, env, pieces);
  }
  npc_i64 chunks = threads * CHUNKS, per_chunk = units / (chunks > pieces ? chunks : pieces);
  job.body = body;
  job.env = env;
  job.until = pieces != 0;
  job.seen = ctx->signals;
  atomic_store_explicit(&job.left, 0, memory_order_relaxed);
  npc_i64 started = now();
  publish(n, (per_chunk ? per_chunk : 1) * grain, grain, (int)threads);
  work(0, (int)threads);
  finish(started);
  ctx->fp_workers |= atomic_load(&job.conditions);
  npc_i64 left = atomic_load(&job.left);
  atomic_flag_clear(&busy);
  return left;
}

void npc_parallel_for(npc_ctx *ctx, npc_i64 n, npc_i64 grain, void (*body)(void *, npc_i64, npc_i64), void *env) {
  run(ctx, n, grain, body, env, 0);
}

npc_i64 npc_parallel_until(npc_ctx *ctx, npc_i64 n, npc_i64 grain, npc_i64 work, npc_i64 call, void (*body)(void *, npc_i64, npc_i64),
                           void *env) {
  return run(ctx, n, grain, body, env, npc_signals_watched(ctx) && !(call && ctx->reported) ? 1 + work / PIECE_PS : 0);
}

npc_i64 npc_pool_ready(npc_ctx *ctx) {
  static atomic_llong asked;
  if (npc_n_threads(ctx) <= 1) return 0;
  npc_i64 t = now(), often = t - atomic_exchange_explicit(&asked, t, memory_order_relaxed) < OFTEN_NS;
  if (t < atomic_load_explicit(&avoid, memory_order_relaxed)) return 0;
  for (int i = 1; i < n_started; i++)
    if (!atomic_load_explicit(&workers[i].sleeping, memory_order_relaxed)) return 1;
  return often;
}

npc_i64 npc_n_threads(npc_ctx *ctx) {
  int own = ctx->entry->max_threads;
  return own > 0 && own < n_wanted ? own : n_wanted;
}

void npc_pool_resize(int threads) { n_wanted = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads; }
int npc_pool_size(void) { return n_wanted; }

/* ------------------------------------------------------------------------------------------------ start and fork */

/* OMP_NUM_THREADS (its first number), else the processors that this process may use. */
static int default_threads(void) {
  const char *text = getenv("OMP_NUM_THREADS");
  long n = text ? strtol(text, NULL, 10) : 0;
  if (n > 0) return (int)(n < MAX_THREADS ? n : MAX_THREADS);
  n = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
  FILE *f = fopen("/sys/fs/cgroup/cpu.max", "r"); /* a container's quota */
  long quota, period;
  if (f && fscanf(f, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0 && (quota + period - 1) / period < n)
    n = (quota + period - 1) / period;
  if (f) fclose(f);
#endif
  return (int)n;
}

/* The child has no workers, and whoever was in a job is gone. */
static void after_fork(void) {
  n_started = 1;
  atomic_store(&state, 0);
  atomic_flag_clear(&busy);
}

int npc_pool_init(void) {
  npc_pool_resize(default_threads());
  pthread_atfork(NULL, NULL, after_fork);
  return 0;
}
