/* A bounded cache of large memory blocks, aligned for huge pages. Page faults dominate large fresh results; a block that
   was freed a moment ago has none. Thread-safe, no GIL needed; blocks survive fork as ordinary private memory. */
#include "runtime.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE ((size_t)2 << 20)
#define MAX_CACHED 16

typedef struct { char *at; size_t bytes; } Block;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Block *live;       /* in use */
static size_t n_live, live_room;
static Block kept[MAX_CACHED]; /* free, oldest first */
static size_t n_kept, kept_bytes, limit, n_reused, n_mapped;

static void unmap_oldest(void) {
  munmap(kept[0].at, kept[0].bytes);
  kept_bytes -= kept[0].bytes;
  memmove(kept, kept + 1, --n_kept * sizeof *kept);
}

static char *map(size_t bytes) {
  char *p = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  size_t head = (HUGE - (uintptr_t)p % HUGE) % HUGE;
  if (head) munmap(p, head);
  if (HUGE - head) munmap(p + head + bytes, HUGE - head);
#ifdef MADV_HUGEPAGE
  madvise(p + head, bytes, MADV_HUGEPAGE);
#endif
  return p + head;
}

/* The smallest kept block that fits without wasting more than a quarter, or one from the system. */
static Block take(size_t bytes) {
  size_t best = n_kept;
  for (size_t i = 0; i < n_kept; i++)
    if (kept[i].bytes >= bytes && kept[i].bytes <= bytes + bytes / 4 && (best == n_kept || kept[i].bytes < kept[best].bytes)) best = i;
  if (best < n_kept) {
    Block b = kept[best];
    memmove(kept + best, kept + best + 1, (--n_kept - best) * sizeof *kept);
    kept_bytes -= b.bytes;
    n_reused++;
    return b;
  }
  Block b = {map(bytes), bytes};
  while (!b.at && n_kept) { /* memory is short: the cache goes first */
    unmap_oldest();
    b.at = map(bytes);
  }
  n_mapped += b.at != NULL;
  return b;
}

void *npc_block_alloc(size_t bytes) {
  if (bytes > (size_t)1 << 47) return NULL;
  bytes = (bytes + HUGE - 1) / HUGE * HUGE;
  if (!bytes) bytes = HUGE;
  pthread_mutex_lock(&mutex);
  Block b = {NULL, 0};
  if (n_live == live_room) {
    Block *more = realloc(live, (2 * live_room + 16) * sizeof *live);
    if (more) {
      live = more;
      live_room = 2 * live_room + 16;
    }
  }
  if (n_live < live_room && (b = take(bytes)).at) live[n_live++] = b;
  pthread_mutex_unlock(&mutex);
  return b.at;
}

static size_t index_of(const void *p) { /* n_live when it is none of ours */
  size_t i = n_live;
  while (i-- > 0)
    if (live[i].at == p) return i;
  return n_live;
}

void npc_block_free(void *p) {
  if (!p) return;
  pthread_mutex_lock(&mutex);
  size_t i = index_of(p);
  if (i < n_live) {
    Block b = live[i];
    live[i] = live[--n_live];
    while (n_kept && (n_kept == MAX_CACHED || kept_bytes + b.bytes > limit)) unmap_oldest();
    if (b.bytes <= limit) {
      kept[n_kept++] = b;
      kept_bytes += b.bytes;
    } else {
      munmap(b.at, b.bytes);
    }
  }
  pthread_mutex_unlock(&mutex);
}

size_t npc_block_size(void *p) {
  pthread_mutex_lock(&mutex);
  size_t i = index_of(p), bytes = i < n_live ? live[i].bytes : 0;
  pthread_mutex_unlock(&mutex);
  return bytes;
}

void npc_blocks_limit(size_t bytes) {
  pthread_mutex_lock(&mutex);
  limit = bytes;
  while (n_kept && kept_bytes > limit) unmap_oldest();
  pthread_mutex_unlock(&mutex);
}

size_t npc_blocks_trim(void) {
  pthread_mutex_lock(&mutex);
  size_t bytes = kept_bytes;
  while (n_kept) unmap_oldest();
  pthread_mutex_unlock(&mutex);
  return bytes;
}

void npc_blocks_stats(size_t *cached_bytes, size_t *reused, size_t *mapped) {
  pthread_mutex_lock(&mutex);
  *cached_bytes = kept_bytes;
  *reused = n_reused;
  *mapped = n_mapped;
  pthread_mutex_unlock(&mutex);
}

static void before_fork(void) { pthread_mutex_lock(&mutex); }
static void after_fork(void) { pthread_mutex_unlock(&mutex); }

int npc_blocks_init(void) {
  size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  limit = memory / 8 < (size_t)512 << 20 ? memory / 8 : (size_t)512 << 20;
  pthread_atfork(before_fork, after_fork, after_fork);
  return 0;
}
