// SPDX-License-Identifier: Apache-2.0
// The protocol of the ring (docs/protocol.md) as a Spin model: producers, the supervisor that sweeps after them, ranks
// with their releasing threads and their restarts, over the words of runtime/contract.hpp. Beside each step stands the
// function that it mirrors. tests/model/spin_test.sh runs it; docs/model.md says what that proves and what it does not.
//
// Rules of the model
//  - One step, one access to shared memory; sequentially consistent. What only the process itself sees rides along.
//    Some reads are merged with others or with the next write; each such place says why that loses nothing.
//  - A process may die (kill -9) before every write and while it sleeps. A death before a read leaves the same memory
//    as a death after the write before it, so it has no step of its own.
//  - Sleeping has no time-outs: a lost wake-up is a sleeper that sleeps for ever, which Spin finds as an invalid end
//    state, for no process has an end label.
//  - Choices that only decide which work comes first (chooser.cpp's ranks, where a producer starts among the tasks) are
//    made by nobody: any order is tried.
//  - Ghosts (did, expect and the payload's marks) are what the checks need; no step of the protocol reads them.

// ── sizes: the defaults, for a syntax check; spin_test.sh sets them ────────────────────────────────────────────────
#ifndef RINGS
#define RINGS 1
#endif
#ifndef SLOTS
#define SLOTS 1          // of each ring
#endif
#ifndef TASKS
#define TASKS 1          // of each slot
#endif
#ifndef PRODUCERS
#define PRODUCERS 2      // at most 3
#endif
#ifndef BATCHES
#define BATCHES 2        // batches 0 … BATCHES-1 are the feed (repeat = false)
#endif
#ifndef DEATHS
#define DEATHS 0         // deaths of producers, all together
#endif
#ifndef RDEATHS
#define RDEATHS 0        // deaths of ranks, all together
#endif
#ifndef SEEKS
#define SEEKS 0          // seeks of the user, all together
#endif
#ifndef HOLD
#define HOLD 0           // batches that the user may hold while it asks for the next; < SLOTS
#endif
// RDEATH_AT_REST: ranks die only between calls.
#ifndef FINE
#define FINE 1           // 0: a scan, and W3 to futex_wake, are one step each, so that more fits in
#endif
#ifndef STALLS
#define STALLS 0         // decodes that take until nothing else moves
#endif

#ifdef SWEEP_UNCONFIRMED_TURN_UNCHECKED
#define SWEEP_UNCONFIRMED
#define TURN_UNCHECKED
#endif

#define NSLOT (RINGS * SLOTS)
#define NTASK (NSLOT * TASKS)
#define FULL ((1 << TASKS) - 1)
#define NOBODY 0                 // contract::kNobody
#define OWNER (PRODUCERS + 1)    // contract::kOwner
#define T(c, k) ((c) * TASKS + (k))
#define RING_OF(c) ((c) / SLOTS)
#define BIT(p) (1 << (p))

// What is violated is named in Spin's message: assertion violated (… || name).
#define CHECK(name, condition) assert((condition) || name)
hidden byte write_without_claim, finish_without_claim, task_done_twice, lease_of_missing_rows, lease_of_torn_rows,
    lease_of_other_rows, batch_out_of_order, move_from_wrong_phase, view_changed, slot_lost, task_lost,
    two_slots_for_one_batch, ticket_behind_next, work_waits_for_a_sleeper, owner_sleeps_on_news;

// ── shared memory ──────────────────────────────────────────────────────────────────────────────────────────────────
#define IDLE 0
#define OFFERED 1
#define LEASED 2
byte turn[NSLOT]; byte phase[NSLOT]; byte done[NSLOT];          // the slot word: one access reads or writes all three
byte tk_batch[NSLOT]; byte tk_seq[NSLOT]; byte tk_plan[NSLOT];  // the ticket
byte tdone[NTASK]; byte claimant[NTASK];                        // the task word: likewise
byte plan[RINGS];                                               // header.plan
// Event counts. The sequence is seen only through futex_wait's comparison, so it is kept as "no notify since I read it"
// per sleeper: exact, and it never wraps.
byte work_waiters, work_fresh, work_asleep;                     // pool.work; a bit for each producer
bool ready_waiter[RINGS], ready_fresh[RINGS], ready_asleep[RINGS];  // header.ready; the owner alone sleeps there
// The payload of a task: what its rows and status bytes hold.
#define NOTHING 0
#define ROWS_OF(batch) ((batch) + 1)
#define CANCELLED 14
#define TORN 15
byte payload[NTASK];
bool did[NTASK];        // ghost: in this turn the rows were written to their end, and nobody opened the task again

// ── what processes know of each other without the ring ─────────────────────────────────────────────────────────────
byte dead;              // producers whose pidfd has fired; the supervisor takes the bit away when it starts a successor
byte deaths = DEATHS; byte rdeaths = RDEATHS; byte seeks = SEEKS; byte stalls = STALLS;
bool rank_dead[RINGS];  // stops the releasing thread, which dies with its process
byte saved[RINGS];      // the trainer's checkpoint: the batch that a restarted rank goes on with
byte expect[RINGS];     // ghost: the batch that this life of the trainer has to get next
byte ranks_over = 0; byte producers_over = 0;
#define OVER (ranks_over == RINGS)

// ── in the rank's process: SlotTable's entries and RingMemory's holders (the releasing thread sees the latter) ─────
#define FREE 0
#define OFFER 1         // Use::kOffered
#define STALE 2
#define LENT 3
#define DOOMED 4        // about to become STALE: retire() has not come to it yet
byte use[NSLOT]; bool adopted[NSLOT]; byte bk_batch[NSLOT]; byte bk_seq[NSLOT];
#define IN_USE 1        // Holder::kUser
#define ON_DEVICE 2     // Holder::kDevice; 0: Holder::kNobody
byte holder[NSLOT]; bool device_busy[RINGS];

// ── moves on words that several actors make ────────────────────────────────────────────────────────────────────────
// Ring::claim: one compare-and-swap.
#ifdef TURN_LEFT_OUT
#define OPEN(c, k, n) (claimant[T(c, k)] == NOBODY)
#else
#define OPEN(c, k, n) (tdone[T(c, k)] == (n) - 1 && claimant[T(c, k)] == NOBODY)
#endif

// EventCount::notify. W3, the addition, is a step; W4, the read of the waiters, and futex_wake are one: who falls
// asleep between them compared the sequence after W3, so it scanned after the change.
#define WORK_W3 work_fresh = 0
#define READY_W3(r) ready_fresh[r] = false
#define WORK_WAKE_ONE \
  if \
  :: work_waiters == 0 || work_asleep == 0 -> skip \
  :: work_waiters != 0 && (work_asleep & BIT(1)) -> work_asleep = work_asleep & ~BIT(1) \
  :: work_waiters != 0 && (work_asleep & BIT(2)) -> work_asleep = work_asleep & ~BIT(2) \
  :: work_waiters != 0 && (work_asleep & BIT(3)) -> work_asleep = work_asleep & ~BIT(3) \
  fi
#define WORK_WAKE_ALL if :: work_waiters != 0 -> work_asleep = 0 :: else -> skip fi
#define READY_WAKE(r) if :: ready_waiter[r] -> ready_asleep[r] = false :: else -> skip fi

// ── producer: Worker::run ──────────────────────────────────────────────────────────────────────────────────────────

#define ME BIT(p)
// kill -9. The kernel forgets its sleep; its bit among the waiters and its claim stay.
#ifdef SWEEP_UNCONFIRMED
#define DIE skip
#else
#define DIE \
  if \
  :: deaths > 0 -> deaths--; dead = dead | ME; work_asleep = work_asleep & ~ME; work_fresh = work_fresh & ~ME; \
    goto gone \
  :: true \
  fi
#endif
#define ANY_OPEN(c, n) (OPEN(c, 0, n) || (TASKS > 1 && OPEN(c, 1, n)) || (TASKS > 2 && OPEN(c, 2, n)))
#define SEEN(i) (i < NSLOT && phase[i] == OFFERED && done[i] != FULL && ANY_OPEN(i, turn[i]))
#define CLAIM(task) \
  task < TASKS && OPEN(c, task, n) -> DIE; k = task; claimant[T(c, k)] = p
#ifdef TURN_UNCHECKED
#define SAME_TURN true
#else
#define SAME_TURN (turn[c] == n)
#endif
#define HOLDS (claimant[T(c, k)] == p && tdone[T(c, k)] == n - 1 && turn[c] == n && phase[c] == OFFERED)
// Ring::finish_a: the loop around the compare-and-swap ends with one that succeeds, in one step.
#define FINISH_A \
  atomic { DIE; \
    if :: SAME_TURN -> CHECK(finish_without_claim, HOLDS); done[c] = done[c] | BIT(k); last = done[c] == FULL \
       :: else -> last = false fi }
// Ring::finish_b: a store.
#define FINISH_B atomic { DIE; CHECK(finish_without_claim, claimant[T(c, k)] == p); tdone[T(c, k)] = n; \
    claimant[T(c, k)] = NOBODY }

// choose(): looks at each slot's word and, where it is offered and not full, at its task words, until one is open.
inline scan() {
#if FINE
  atomic { i = 0; q = TASKS; found = false }
  do
  :: atomic { !found && i < NSLOT && q == TASKS ->              // Ring::slot, A1
       if :: phase[i] == OFFERED && done[i] != FULL -> m = turn[i]; q = 0
          :: else -> i++ fi }
  :: atomic { !found && i < NSLOT && q < TASKS ->               // Ring::open_hint
       if :: OPEN(i, q, m) -> found = true
          :: else -> q++; if :: q == TASKS -> i++ :: else -> skip fi fi }
  :: atomic { found || i == NSLOT -> i = 0; q = 0; m = 0; break }
  od
#else
  found = SEEN(0) || SEEN(1) || SEEN(2) || SEEN(3)
#endif
}

inline notify_work() {
#ifdef WAKE_BEFORE_SEQUENCE
  atomic { DIE; WORK_WAKE_ONE }
  atomic { DIE; WORK_W3 }
#else
#if FINE
  atomic { DIE; WORK_W3 }
  atomic { DIE; WORK_WAKE_ONE }
#else
  atomic { DIE; WORK_W3; WORK_WAKE_ONE }
#endif
#endif
}

// A decode may take long. While one does, and everything else has come to rest, nobody sleeps beside open work, and no
// owner beside what it waits for.
inline quiet() {
  i = 0;
  do
  :: i < NSLOT ->
     q = 0;
     do
     :: q < TASKS ->
        CHECK(work_waits_for_a_sleeper, !(phase[i] == OFFERED && OPEN(i, q, turn[i])) || work_asleep == 0);
        q++
     :: else -> break
     od;
     CHECK(owner_sleeps_on_news, !(use[i] == STALE && done[i] == FULL) &&
       !(use[i] == LENT && holder[i] == 0 && phase[i] == IDLE));
     i++
  :: else -> break
  od;
  i = 0; q = 0
}

proctype producer(byte p) {
  byte c, k, n;             // the choice: slot, task, turn of the word seen
  byte i, q, m;             // scan()
  byte batch, pl;           // the ticket
  bool last, woken, found;
begin:
  do
  :: atomic { OVER -> goto out }
  // choose(), where it finds something, and work_on(). Only the look at the slot word matters, A1; what else is read
  // on the way decides which slot it is. A look that leads to a claim can be put off until a task is open: the claim
  // succeeds in no other turn than the one that was seen.
  :: atomic { SEEN(0) || SEEN(1) || SEEN(2) || SEEN(3) ->
       if :: SEEN(0) -> c = 0 :: SEEN(1) -> c = 1 :: SEEN(2) -> c = 2 :: SEEN(3) -> c = 3 fi;
       n = turn[c] }
#ifdef TICKET_BEFORE_CLAIM
     atomic { batch = tk_batch[c]; pl = tk_plan[c] }
#endif
     do
     // open_task() is a hint: a claim that fails changes nothing, so only those that succeed have a step.
     :: atomic { CLAIM(0) }
        goto task
#if TASKS > 1
     :: atomic { CLAIM(1) }
        goto task
#endif
#if TASKS > 2
     :: atomic { CLAIM(2) }
        goto task
#endif
     :: atomic { !ANY_OPEN(c, n) -> c = 0; k = 0; n = 0; batch = 0; pl = 0; break }
task:                                                           // Worker::do_task
        if
        :: woken ->
           woken = false;
           scan();
           if
           :: found -> found = false;
#ifndef NO_CHAIN
              notify_work()
#endif
           :: else
           fi
        :: else
        fi;
#ifndef TICKET_BEFORE_CLAIM
        atomic { batch = tk_batch[c]; pl = tk_plan[c] }         // Ring::ticket: stable, so one step reads it all
#endif
#ifdef BIT_BEFORE_SAMPLES
        FINISH_A;
#endif
        if                                                      // Worker::write_rows
        :: atomic { plan[RING_OF(c)] > pl ->                    // Ring::stale
             DIE; CHECK(write_without_claim, HOLDS); payload[T(c, k)] = CANCELLED; did[T(c, k)] = true }
        :: atomic { plan[RING_OF(c)] <= pl -> DIE; CHECK(write_without_claim, HOLDS); payload[T(c, k)] = TORN }
#if STALLS > 0
           if
           :: atomic { stalls > 0 -> stalls-- }
              atomic { timeout -> quiet() }
           :: skip
           fi;
#endif
           atomic { DIE; CHECK(write_without_claim, HOLDS); CHECK(task_done_twice, !did[T(c, k)]);
             payload[T(c, k)] = ROWS_OF(batch); did[T(c, k)] = true }
        fi;
#ifdef BIT_BEFORE_SAMPLES
        FINISH_B;
#else
#ifdef FINISH_SWAPPED
        FINISH_B;
        FINISH_A;
#else
        FINISH_A;
        FINISH_B;
#endif
#endif
        if
        :: last ->
           last = false;
#ifndef NO_WAKE_OF_OWNER
#if FINE
           atomic { DIE; READY_W3(RING_OF(c)) }
           atomic { DIE; READY_WAKE(RING_OF(c)) }
#else
           atomic { DIE; READY_W3(RING_OF(c)); READY_WAKE(RING_OF(c)) }
#endif
#endif
        :: else
        fi;
#ifndef NO_WAKE_AFTER_FINISH
        notify_work();
#endif
        atomic { k = 0; batch = 0; pl = 0 }
#ifdef TICKET_BEFORE_CLAIM
        atomic { batch = tk_batch[c]; pl = tk_plan[c] }
#endif
     od
  // Worker::wait_for_work, after a choose() that found nothing.
  :: atomic { !OVER && !SEEN(0) && !SEEN(1) && !SEEN(2) && !SEEN(3) -> DIE;
#ifndef NO_WAITER_BIT
       work_waiters = work_waiters | ME                         // W1
#endif
     }
#ifndef SEQUENCE_AFTER_SCAN
     work_fresh = work_fresh | ME;                              // W2
     scan();
#else
     scan();
     work_fresh = work_fresh | ME;
#endif
     if
     :: found -> found = false
     :: else ->
        atomic { if :: work_fresh & ME -> work_asleep = work_asleep | ME :: else fi }   // futex_wait compares
        do
        :: atomic { OVER || !(work_asleep & ME) -> break }
        :: atomic { deaths > 0 -> DIE }
        od
     fi;
     atomic { DIE; work_waiters = work_waiters & ~ME; work_fresh = work_fresh & ~ME; work_asleep = work_asleep & ~ME;
       woken = true }                                           // EventCount::forget
  od;
gone:
  atomic { !(dead & ME) -> c = 0; k = 0; n = 0; i = 0; q = 0; m = 0; batch = 0; pl = 0;
    last = false; woken = false; found = false; goto begin }    // a successor under the same number
out:
  producers_over++
}

// ── supervisor: ProducerSet::bury, ProducerSet::sweep, Ring::sweep ─────────────────────────────────────────────────

proctype supervisor() {
  byte d, t, r; bool reopen;
  do
  :: atomic { OVER && producers_over == PRODUCERS -> break }
  :: atomic {
#ifdef SWEEP_UNCONFIRMED
       deaths > 0 && !OVER -> deaths--;                         // somebody who is only stopped
       if :: d = 1 :: PRODUCERS > 1 -> d = 2 fi;
#else
       dead != 0 ->
       if
       :: dead & BIT(1) -> d = 1
       :: dead & BIT(2) -> d = 2
       :: dead & BIT(3) -> d = 3
       fi;
#endif
       t = 0 }
#ifdef ID_REUSED
     atomic { dead = dead & ~BIT(d) }
#endif
     do
     // Nobody else writes a word that a dead claimant holds, and nobody claims for it: words of others need no step.
     :: atomic {
          do :: t < NTASK && claimant[t] != d -> t++ :: else -> break od;
          if :: t == NTASK -> t = 0; break :: else fi;
          reopen = turn[t / TASKS] == tdone[t] + 1 && !(done[t / TASKS] & BIT(t % TASKS));
#ifdef SWEEP_REOPENS
          reopen = true;
#endif
#ifdef SWEEP_COUNTS
          reopen = false;
#endif
        }
        atomic {                                                // R4
          if :: reopen -> did[t] = false; reopen = false :: else -> tdone[t] = tdone[t] + 1 fi;
          claimant[t] = NOBODY; t++ }
     od;
#ifndef SWEEP_UNCONFIRMED
     work_waiters = work_waiters & ~BIT(d);                     // EventCount::forget
#endif
#ifndef NO_WAKE_OF_PRODUCERS_AFTER_DEATH
     WORK_W3;
     atomic { WORK_WAKE_ALL }
#endif
#ifndef NO_WAKE_OF_OWNERS_AFTER_DEATH
     do
     :: r < RINGS -> READY_W3(r); atomic { READY_WAKE(r); r++ }
     :: else -> break
     od;
#endif
     atomic { r = 0; dead = dead & ~BIT(d); d = 0 }             // ProducerSet::spawn
  od
}

#define OFFER_WORD(c) \
  CHECK(move_from_wrong_phase, phase[c] == IDLE); \
  turn[c] = turn[c] + 1; phase[c] = OFFERED; OFFER_CLEARS(c); i0 = 0; \
  do :: i0 < TASKS -> did[T(c, i0)] = false; i0++ :: else -> i0 = 0; break od
#ifdef BITS_CLEARED_BY_RELEASE
#define OFFER_CLEARS(c) skip
#else
#define OFFER_CLEARS(c) done[c] = 0
#endif
hidden byte i0;
#ifdef OFFER_BY_RELEASER
byte next_ticket[RINGS];
#endif

// ── the releasing thread of a rank: RingMemory::release, in any order of the slots ─────────────────────────────────

#define ALIVE if :: rank_dead[r] -> goto stopped :: else fi
#define LET_GO(i) (i < SLOTS && holder[r * SLOTS + i] == ON_DEVICE)

proctype device(byte r) {
  byte c;
begin:
  do
  :: atomic { OVER -> goto out }
  :: atomic { !rank_dead[r] && (LET_GO(0) || LET_GO(1) || LET_GO(2)) ->
       if :: LET_GO(0) -> c = 0 :: LET_GO(1) -> c = 1 :: LET_GO(2) -> c = 2 fi;
       c = r * SLOTS + c;
       device_busy[r] = true }
     atomic { ALIVE; CHECK(move_from_wrong_phase, phase[c] == LEASED); phase[c] = IDLE;   // Ring::release, R3
#ifdef BITS_CLEARED_BY_RELEASE
       done[c] = 0;
#endif
     }
#ifdef OFFER_BY_RELEASER
     atomic { ALIVE; tk_batch[c] = next_ticket[r]; tk_seq[c] = next_ticket[r]; tk_plan[c] = plan[r];
       bk_batch[c] = tk_batch[c]; bk_seq[c] = tk_seq[c] }
     if
     :: atomic { tk_batch[c] < BATCHES -> ALIVE; next_ticket[r] = tk_batch[c] + 1; OFFER_WORD(c); use[c] = OFFER }
        atomic { ALIVE; WORK_W3 }
        atomic { ALIVE; WORK_WAKE_ONE }
     :: else
     fi;
#endif
     atomic { ALIVE; holder[c] = 0 }
#ifndef RELEASE_WITHOUT_WAKE
     atomic { ALIVE; READY_W3(r) }
     atomic { ALIVE; READY_WAKE(r) }
#endif
stopped:
     atomic { device_busy[r] = false; c = 0 }
  od;
out:
  skip
}

// ── rank: FeedOwner and SlotTable ──────────────────────────────────────────────────────────────────────────────────

#define RDEATH rdeaths--; rank_dead[r] = true; ready_asleep[r] = false; ready_fresh[r] = false; goto gone
#ifdef RDEATH_AT_REST
#define RDIE skip
#else
#define RDIE if :: rdeaths > 0 -> RDEATH :: true fi
#endif
#define B (r * SLOTS)
#define HELD(i) (i < SLOTS && holder[B + i] == IN_USE)
// SlotTable::fits, and the sequence of the next batch that a slot's entry implies.
#define NEXT_OF(c) (bk_seq[c] - bk_batch[c] + pos)
#define FITS(c, n) (bk_batch[c] >= pos && bk_batch[c] - pos < SLOTS && bk_seq[c] >= bk_batch[c] - pos && \
  NEXT_OF(c) == (n))
// SlotTable::can_take_back of a stale slot, and SlotTable::ready.
#ifdef DROP_EARLY
#define DROPPABLE(c) (use[c] == STALE)
#else
#define DROPPABLE(c) (use[c] == STALE && done[c] == FULL)
#endif
#define RELEASED(c) (use[c] == LENT && holder[c] == 0 && phase[c] == IDLE)
#ifdef LEASE_EARLY
#define LEASABLE(c) (done[c] != 0)
#else
#define LEASABLE(c) (done[c] == FULL)
#endif

proctype rank(byte r) {
  byte pos;                 // Cursor: want(ahead) is batch pos + ahead, while there is one
  byte nxt, unused, pln;    // SlotTable: next_, unused_, plan_
  byte c, e, k, x, y; bool any, has;
  bool asking, ending;      // inside next(); after the last batch
  byte held;                // batches that the user holds
  byte back;                // where retiring goes on

  // FeedOwner::FeedOwner. pristine(): a word that is not zero never becomes zero again, so one step reads them all.
begin:
  if
  :: atomic { plan[r] == 0 &&
#if SLOTS > 1
       turn[B + 1] == 0 &&
#endif
#if SLOTS > 2
       turn[B + 2] == 0 &&
#endif
       turn[B] == 0 -> goto align }
  :: else
  fi;
  // SlotTable::adopt. Ring::take_over: sweep(kOwner). Only the dead predecessor claimed as owner, and what its claims
  // hold stands still, so that only the stores need steps.
#ifndef TAKE_OVER_KEEPS_CLAIMS
  do
  :: atomic {
       x = B * TASKS;
       do :: x < (B + SLOTS) * TASKS && claimant[x] != OWNER -> x++ :: else -> break od;
       if :: x == (B + SLOTS) * TASKS -> x = 0; break :: else fi;
       RDIE;
       if :: turn[x / TASKS] == tdone[x] + 1 && !(done[x / TASKS] & BIT(x % TASKS)) -> did[x] = false
          :: else -> tdone[x] = tdone[x] + 1 fi;
       claimant[x] = NOBODY; x = 0 }
  od;
#endif
  do
  :: atomic {
       c = B;
       do :: c < B + SLOTS && phase[c] != LEASED -> c++ :: else -> break od;
#ifdef TAKE_OVER_KEEPS_LEASES
       c = B + SLOTS;
#endif
       if :: c == B + SLOTS -> c = 0; break :: else fi;
       RDIE; phase[c] = IDLE; c = 0 }
  od;
  // The plan, the phases and the tickets are the owner's own: they stand still, so one step reads them all.
  atomic {
    pln = plan[r]; c = B;
    do
    :: c < B + SLOTS ->
       if
       :: phase[c] == OFFERED ->
          use[c] = (tk_plan[c] == pln -> OFFER : DOOMED);
          adopted[c] = true; bk_batch[c] = tk_batch[c]; bk_seq[c] = tk_seq[c];
          unused = (unused > tk_seq[c] + 1 -> unused : tk_seq[c] + 1);
#ifdef BEHIND_HIGHEST_TICKET
          pos = (pos > tk_batch[c] + 1 -> pos : tk_batch[c] + 1)
#endif
       :: else
       fi;
       c++
    :: else -> c = 0; break
    od
  }
  back = 0;
  goto retire;
adopted_all:
#ifndef NO_WAKE_AFTER_TAKE_OVER
  atomic { RDIE; WORK_W3 }
  atomic { RDIE; WORK_WAKE_ALL }
#endif

  // SlotTable::align, SlotTable::best_alignment. Two entries fit together where seq - batch is the same; of the ways to
  // lay the wants over them the best has the next batch, then most others, then the lowest sequence.
align:
  atomic {
    x = 0; y = 0; has = false; c = B;                  // x: the best merit, y: its `next`
    do
    :: c < B + SLOTS ->
       if
       :: use[c] == OFFER && FITS(c, NEXT_OF(c)) ->
          k = 0; any = false; e = B;
          do
          :: e < B + SLOTS ->
             if
             :: use[e] == OFFER && FITS(e, NEXT_OF(c)) -> k++; any = any || bk_seq[e] == NEXT_OF(c)
             :: else
             fi;
             e++
          :: else -> break
          od;
          k = (any -> k + 8 : k);
          if
          :: k > x || (k == x && NEXT_OF(c) < y) -> x = k; y = NEXT_OF(c); has = true
          :: else
          fi
       :: else
       fi;
       c++
    :: else -> break
    od;
    nxt = y; x = 0; y = 0; any = false; k = 0;
    c = B;
    do                                                 // those that do not fit are retired
    :: has && c < B + SLOTS ->
       if
       :: use[c] == OFFER && !FITS(c, nxt) -> use[c] = DOOMED
       :: else
       fi;
       c++
    :: else -> break
    od;
#ifndef TWINS_KEPT
    c = B;                                             // of two slots for one batch the first stays
    do
    :: has && c < B + SLOTS ->
       e = B;
       do
       :: e < c -> if :: use[e] == OFFER && use[c] == OFFER && bk_seq[e] == bk_seq[c] -> use[c] = DOOMED :: else fi; e++
       :: else -> break
       od;
       c++
    :: else -> break
    od;
#endif
    c = 0; e = 0; back = 1;
    if
    :: has -> has = false; goto retire
    :: else -> goto raise
    fi
  }

  // SlotTable::raise_plan.
raise:
  atomic {
    c = B; any = false;
    do
    :: c < B + SLOTS -> any = any || use[c] == OFFER; use[c] = (use[c] == OFFER -> DOOMED : use[c]); c++
    :: else -> c = 0; break
    od;
    nxt = unused;
    if :: any -> RDIE; any = false; pln++; plan[r] = pln :: else fi
  }

  // SlotTable::retire of each slot that is doomed.
retire:
  do
  :: atomic {
       c = B;
       do :: c < B + SLOTS && use[c] != DOOMED -> c++ :: else -> break od;
       if :: c == B + SLOTS -> c = 0; break :: else fi;
       do :: k < TASKS && !OPEN(c, k, turn[c]) -> k++ :: else -> break od;   // a claim that fails changes nothing
       if :: k == TASKS -> use[c] = STALE; k = 0; c = 0; goto retire :: else fi;
       RDIE; claimant[T(c, k)] = OWNER }                                                 // Ring::claim
#ifndef CANCELLED_UNMARKED
     atomic { RDIE; CHECK(write_without_claim, claimant[T(c, k)] == OWNER); payload[T(c, k)] = CANCELLED;
       did[T(c, k)] = true }
#endif
     atomic { RDIE; done[c] = done[c] | BIT(k) }                                         // Ring::finish_a
     atomic { RDIE; tdone[T(c, k)] = turn[c]; claimant[T(c, k)] = NOBODY; k++ }          // Ring::finish_b
  od;
  if
  :: back == 0 -> goto adopted_all
  :: else -> back = 0
  fi;

  // SlotTable::tend. What it looks at happens once and stays until the owner itself moves on, so that one step reads
  // all of it; the same for the other looks of the owner below.
tend:
  do
  :: atomic {
       c = B;
       do
       :: c < B + SLOTS ->
          if
          :: RELEASED(c) -> use[c] = FREE; adopted[c] = false; bk_batch[c] = 0; bk_seq[c] = 0
          :: else
          fi;
          c++
       :: else -> c = B; break
       od;
       do :: c < B + SLOTS && !DROPPABLE(c) -> c++ :: else -> break od;
       if :: c == B + SLOTS -> c = 0; break :: else fi;
       RDIE; CHECK(move_from_wrong_phase, phase[c] == OFFERED);
       phase[c] = IDLE; use[c] = FREE; adopted[c] = false; bk_batch[c] = 0; bk_seq[c] = 0; c = 0 }   // Ring::drop
  od;
  // SlotTable::offer_missing: the lowest batch that is missing, into the free slot with the lowest number.
  do
  :: atomic {
       c = B; k = 0; x = 0;                            // k: a bit for each distance that is offered
       do
       :: c < B + SLOTS ->
          if
          :: use[c] == OFFER ->
             CHECK(ticket_behind_next, bk_seq[c] >= nxt && bk_seq[c] - nxt < SLOTS);
             CHECK(two_slots_for_one_batch, !(k & BIT(bk_seq[c] - nxt)));
             k = k | BIT(bk_seq[c] - nxt)
          :: else
          fi;
          c++
       :: else -> break
       od;
       do
       :: x < SLOTS && (k & BIT(x)) -> x++
       :: else -> break
       od;
       c = B;
       do
       :: c < B + SLOTS && use[c] != FREE -> c++
       :: else -> break
       od;
       has = c < B + SLOTS && x < SLOTS && pos + x < BATCHES;
       k = 0;
       if :: !has -> c = 0; x = 0; break :: else -> has = false fi;
#ifdef TICKET_AFTER_WORD
       RDIE; OFFER_WORD(c) }
     atomic {
#endif
#ifdef WAITERS_READ_BEFORE_CHANGE
       y = y | work_waiters }
     atomic {
#endif
       // The seven words of the ticket: whoever reads them now has no claim, so one step writes them.
       RDIE; use[c] = OFFER; bk_batch[c] = pos + x; bk_seq[c] = nxt + x;
       tk_batch[c] = pos + x; tk_seq[c] = nxt + x; tk_plan[c] = pln;
       unused = (unused > nxt + x + 1 -> unused : nxt + x + 1); x = 0; any = true
#ifdef OFFER_BY_RELEASER
       ; next_ticket[r] = bk_batch[c] + 1
#endif
#ifdef TICKET_AFTER_WORD
       ; c = 0 }
#else
     }
     atomic { RDIE; OFFER_WORD(c); c = 0 }                                               // R1
#endif
  od;
  if
  :: any ->
#ifdef WAITERS_READ_BEFORE_CHANGE
     atomic { RDIE; WORK_W3; any = false }
     atomic { if :: y != 0 -> WORK_WAKE_ONE :: else fi; y = 0 }
#else
#ifdef WAITERS_READ_BEFORE_SEQUENCE
     atomic { y = work_waiters }
     atomic { RDIE; WORK_W3; any = false }
     atomic { if :: y != 0 -> WORK_WAKE_ONE :: else fi; y = 0 }
#else
#ifdef WAKE_BEFORE_SEQUENCE
     atomic { RDIE; WORK_WAKE_ONE }
     atomic { RDIE; WORK_W3; any = false }
#else
#ifdef OFFER_WITHOUT_WAKE
     any = false
#else
     atomic { RDIE; WORK_W3; any = false }
     atomic { RDIE; WORK_WAKE_ONE }
#endif
#endif
#endif
#endif
  :: else
  fi;

  // FeedOwner::wait_for_next, FeedOwner::sleep_until_ready: ready() (A2) of the slot that was offered for `nxt`.
  atomic {
    if :: !asking && !ending -> goto checkpoint :: else fi;
    c = B; x = SLOTS; any = true;                      // x: the slot; any: none is in use; y: those of blocked_by_later
    do
    :: c < B + SLOTS ->
       if :: use[c] == OFFER && bk_seq[c] == nxt && x == SLOTS -> x = c - B :: else fi;
       any = any && use[c] == FREE;
       if :: use[c] == OFFER || (use[c] == LENT && holder[c] == IN_USE) -> y++ :: else fi;
       c++
    :: else -> c = 0; break
    od;
    if
    :: ending && any -> any = false; x = 0; y = 0; ending = false; nxt = 0; unused = 0; ranks_over++; goto out
    :: asking && x == SLOTS && y == SLOTS -> any = false; x = 0; y = 0; back = 1; goto raise
    :: asking && x < SLOTS && LEASABLE(B + x) -> any = false; c = B + x; x = 0; y = 0; goto deliver
    :: else -> any = false; x = 0; y = 0
    fi;
    RDIE; ready_waiter[r] = true                                                         // W1
  }
  atomic { ready_fresh[r] = true }                                                       // W2
  atomic {                                             // ready_slot() || something_to_take_back(), then futex_wait
    c = B; any = false;
    do
    :: c < B + SLOTS ->
       any = any || (asking && use[c] == OFFER && bk_seq[c] == nxt && done[c] == FULL) || DROPPABLE(c) || RELEASED(c);
       c++
    :: else -> c = 0; break
    od;
    if :: any -> any = false; goto awake :: else fi
  }
  atomic { if :: ready_fresh[r] -> ready_asleep[r] = true :: else fi }                   // compares
  do
  :: atomic { !ready_asleep[r] -> break }
#if RDEATHS > 0 && !defined(RDEATH_AT_REST)
  :: atomic { rdeaths > 0 -> RDIE }
#endif
  od;
awake:
  atomic { RDIE; ready_waiter[r] = false; ready_fresh[r] = false }                       // EventCount::forget
  goto tend;

  // FeedOwner::deliver. All bits are set, so the rows stand still.
deliver:
  atomic {
    do
    :: k < TASKS ->
       CHECK(lease_of_torn_rows, payload[T(c, k)] != TORN);
       if :: payload[T(c, k)] == CANCELLED -> any = true :: else fi;
       k++
    :: else -> k = 0; break
    od;
    RDIE;
#ifdef ADOPTED_TRUSTED
    any = false;
#endif
    if
    :: any && adopted[c] -> any = false; phase[c] = IDLE; use[c] = FREE; adopted[c] = false;
       bk_batch[c] = 0; bk_seq[c] = 0; c = 0; goto tend                                  // SlotTable::reoffer
    :: else
    fi;
    CHECK(move_from_wrong_phase, phase[c] == OFFERED && done[c] == FULL);
    CHECK(batch_out_of_order, pos == expect[r]);
    do
    :: k < TASKS ->
       CHECK(lease_of_missing_rows, payload[T(c, k)] != CANCELLED && payload[T(c, k)] != NOTHING && did[T(c, k)]);
       CHECK(lease_of_other_rows, payload[T(c, k)] == ROWS_OF(pos));
       k++
    :: else -> k = 0; break
    od;
    phase[c] = LEASED; use[c] = LENT; adopted[c] = false; holder[c] = IN_USE;            // Ring::lease, hand_out
    nxt++; pos++; expect[r] = pos; asking = false; held++; c = 0
  }
checkpoint:
  if
  :: atomic { saved[r] != pos -> RDIE; saved[r] = pos } // the trainer's: it may die before it has saved where it is
  :: else
  fi;

  // The user: lets batches go in any order, seeks, asks for the next.
user:
  do
  :: atomic { held > 0 ->
       if :: HELD(0) -> c = 0 :: HELD(1) -> c = 1 :: HELD(2) -> c = 2 fi;
       c = B + c;
       do
       :: k < TASKS -> CHECK(view_changed, phase[c] == LEASED && payload[T(c, k)] == ROWS_OF(bk_batch[c])); k++
       :: else -> k = 0; break
       od;
       holder[c] = ON_DEVICE; c = 0; held-- }          // RingMemory::let_go
  :: atomic { pos < BATCHES && held <= HOLD -> asking = true }
     goto tend
  :: atomic { seeks > 0 -> seeks--;                    // FeedOwner::seek
       if
       :: pos = 0
#if BATCHES > 1
       :: pos = 1
#endif
#if BATCHES > 2
       :: pos = 2
#endif
       fi;
       expect[r] = pos }
     goto align
#ifdef RDEATH_AT_REST
  :: atomic { rdeaths > 0 -> RDEATH }
#endif
  :: atomic { pos == BATCHES && held == 0 -> ending = true }
     goto tend
  od;
gone:
  atomic {                                             // the next process of the rank
    !device_busy[r] ->
    rank_dead[r] = false;
    c = B;
    do
    :: c < B + SLOTS -> use[c] = FREE; adopted[c] = false; bk_batch[c] = 0; bk_seq[c] = 0; holder[c] = 0; c++
    :: else -> break
    od;
    c = 0; e = 0; k = 0; x = 0; y = 0; any = false; has = false; asking = false; ending = false; held = 0; back = 0;
    nxt = 0; unused = 0; pln = 0;
    pos = saved[r]; expect[r] = pos;
    goto begin
  }
out:
  skip
}

init {
  byte t;
  atomic {
    run supervisor();
    t = 0;
    do :: t < RINGS -> run rank(t); run device(t); t++ :: else -> break od;
    t = 1;
    do :: t <= PRODUCERS -> run producer(t); t++ :: else -> break od;
    t = 0
  }
  // Everything was delivered; every slot and every task is accounted for.
  atomic {
    _nr_pr == 1 ->
    do
    :: t < NTASK ->
       CHECK(slot_lost, phase[t / TASKS] == IDLE);
       CHECK(task_lost, claimant[t] == NOBODY && tdone[t] == turn[t / TASKS]);
       t++
    :: else -> break
    od
  }
}
