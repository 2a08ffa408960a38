/* Does compiled code pay? The first calls of an entry are timed, by turns with calls of the function itself, everything included
   that a call costs: guards, steps, exits. An entry that loses rests, longer each time; while nothing is left that pays, a call
   costs little more than the function. Where estimates say that plain Python takes many times as long there is no trial. */
#include "runtime.h"

#define SETTLED 3             /* calls without a compile before a trial: the first ones are slower */
#define STRAY 4               /* calls in a row that must seem too long for a trial: some are slow by chance */
#define PAIRS 7               /* calls of each kind that decide */
#define ENOUGH 300000         /* nanoseconds: short calls are compared so long, */
#define MOST_PAIRS 40         /* but not more often */
#define SURE 10               /* an estimate is no more than that wrong */
#define LONG 1000000000LL     /* what takes so long is not tried in plain Python */
#define SHORT_ENOUGH 20000000 /* unless it consists of steps */
#define DEAR 100              /* a step may cost so many times what it should: many guards, many objects to make */
#define QUICK 100000          /* nanoseconds: after so short a call one in plain Python is no matter, whatever it takes */
#define FIRST_REST 1000       /* calls; sixteen times as many after each further loss */
#define AGAIN 4096            /* hits until a close decision is looked at again */
#define MOST_VAIN 3           /* rests for guards alone grow so often: to 256,000 calls, beside which those before the next are nothing */
#define SHORT 2000            /* nanoseconds: of functions so short only some calls are timed while they rest */

static int rest_of(int losses) { return FIRST_REST << (losses < 5 ? 4 * (losses - 1) : 20); }

static int undecided(const Jit *self) {
  for (Py_ssize_t i = 0; i < self->entries->n; i++) {
    const Entry *e = self->entries->items[i];
    if (e->code && !e->trial.decided && !e->resting) return 1;
  }
  return 0;
}

static int may_pay(const Jit *self) {
  for (Py_ssize_t i = 0; i < self->entries->n; i++)
    if (self->entries->items[i]->code && !self->entries->items[i]->resting) return 1;
  return 0;
}

void npc_trial_look(Jit *self) { self->on_trial = self->tries && undecided(self); }

static void decide(Jit *self, Entry *e, int pays) {
  Trial *t = &e->trial;
  npc_i64 usual = t->pairs ? t->plain / t->pairs : 0;
  int close = t->pairs && t->plain < 2 * t->ours;
  if (pays) {
    t->losses = 0;
    t->again = close ? e->hits + AGAIN : 0;
  } else {
    e->resting = rest_of(++t->losses);
  }
  t->decided = 1;
  t->settled = t->pairs = t->lost = 0;
  t->ours = t->plain = t->last = 0;
  npc_trial_look(self);
  if (!pays && !may_pay(self)) npc_jit_rest(self, e->resting, usual);
}

/* Does plain Python take so long that it is not to be asked? What an entry is said to gain holds for one that has answered; one
   that has left may have done less. Loops in Python, a hundred times as slow, may be what lies between steps; where little
   does, for all that is known, steps have been dear. */
static int sure(const Entry *e, npc_i64 ns, int left, const Pending *p) {
  if (!left) return ns > LONG || (ns > QUICK && e->gain > SURE * ns);
  npc_i64 steps = (npc_i64)p->steps * STEP_NS;
  int of_steps = 2 * steps > ns || (DEAR * steps > ns && p->gained < SURE * ns);
  return ns > (of_steps ? LONG : SHORT_ENOUGH);
}

/* Compiled code has run a call. left: it went on after the entry, in so many steps. */
void npc_trial_ours(Jit *self, Entry *e, npc_i64 ns, int left, const Pending *p) {
  Trial *t = &e->trial;
  if (t->decided || e->device >= 0 || !e->code) return;
  if (t->insertions != npc_insertions) { /* something was compiled meanwhile */
    t->insertions = npc_insertions;
    t->settled = 0;
    return;
  }
  if (++t->settled <= SETTLED) return;
  if (!t->pairs && sure(e, ns, left, p)) {
    if (!left || t->settled > SETTLED + STRAY) decide(self, e, 1);
    return;
  }
  t->last = ns;
}

/* Is it the turn of a plain call? */
int npc_trial_plain_next(const Entry *e) { return e->trial.last && !e->trial.decided; }

/* The function itself has run a call. */
void npc_trial_plain(Jit *self, Entry *e, npc_i64 ns) {
  Trial *t = &e->trial;
  if (t->decided || !t->last) return;
  t->ours += t->last;
  t->plain += ns;
  t->lost += t->last > ns;
  if (!t->pairs || t->last < t->best_ours) t->best_ours = t->last;
  if (!t->pairs || ns < t->best_plain) t->best_plain = ns;
  t->last = 0;
  t->pairs++;
  if (t->plain > SURE * t->ours || (t->pairs >= PAIRS && (t->plain + t->ours > ENOUGH || t->pairs >= MOST_PAIRS))) {
    int alike = 3 * t->lost > 2 * t->pairs && 100 * t->best_ours > 103 * t->best_plain; /* calls are alike: a stray one says nothing */
    int unlike = 2 * t->lost > t->pairs && 2 * t->ours > 3 * t->plain;
    decide(self, e, !alike && !unlike);
  }
}

void npc_in_vain(Jit *self, npc_i64 ns) {
  if (!self->tries || may_pay(self)) return;
  int calls = 0; /* until the first of those with code is tried again */
  for (Py_ssize_t i = 0; i < self->entries->n; i++) {
    const Entry *e = self->entries->items[i];
    if (e->code && (!calls || e->resting < calls)) calls = e->resting;
  }
  if (!calls && self->vain_rests < MOST_VAIN) self->vain_rests++;
  npc_jit_rest(self, calls ? calls : rest_of(self->vain_rests), ns);
}

/* The rest of an entry is over, or a decision was close and some time has passed. */
void npc_trial_again(Jit *self, Entry *e) {
  if (!self->tries) return;
  e->trial.decided = 0;
  e->trial.again = 0;
  self->on_trial = 1;
}

/* A call while everything rests. */
PyObject *npc_resting_call(Jit *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  vectorcallfunc fn = ((PyFunctionObject *)self->fn)->vectorcall;
  self->plain_calls++;
  if (--self->rest <= 0) npc_jit_wake(self);
  if (self->usual < SHORT && self->rest & 15) return fn(self->fn, args, nargsf, kwnames);
  npc_i64 start = npc_now();
  PyObject *r = fn(self->fn, args, nargsf, kwnames);
  npc_i64 ns = npc_now() - start;
  if (ns > 8 * self->usual + 20000) npc_jit_wake(self); /* other arguments than those of the trial */
  return r;
}
