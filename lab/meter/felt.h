/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes memory as slow as a machine's, in the guest's own clock, by holding up the vCPU.
 *
 * All times are nanoseconds of the guest's clock: those of the machine times the dilation, how
 * many times longer the emulated CPU takes for the same computation. That clock is the host's, or
 * goes by instructions; then a vCPU is held up by taking instructions from it (icount.h).
 *
 * - A load that continues no stream waits for its line: others may depend on it. Where time goes by instructions, the CPU
 *   runs on meanwhile as far as its window reaches, and such loads wait beside each other (overlap.h).
 * - A load that continues a stream (the line after or before one of the last STREAMS misses, as a
 *   prefetcher would see it) and a store wait for a free slot only: `outstanding` lines per vCPU
 *   are on their way at a time.
 * - Every line occupies its node's channel for 64 bytes' time. All vCPUs share it.
 */
#ifndef METER_FELT_H
#define METER_FELT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "icount.h"
#include "overlap.h"
#include "table.h"

#define STREAMS 16
#define MOST_OUTSTANDING 256
/* Of a nanosecond, in which a line's time on a channel is counted: a fast one's is 0.3 ns. */
#define PARTS 1024
/* Debts below this are let grow. */
#define PAY_NS 2000
/* What waiting took too long is made up for later, up to this; not what others had the CPU for,
 * which stretches all that the guest does. */
#define CREDIT_NS 10000

/* What one vCPU's misses in one node take, indexed by [store]. All 0 where nothing is to be felt
 * (yet): so what feeling itself takes is part of what is measured before. */
struct felt_times {
	double latency_ns[2];
	double line_ns[2];
	unsigned int outstanding;
};

struct felt {
	/* When the nodes' channels are free, in parts of a nanosecond. */
	_Atomic int64_t busy_until[NODES + 1];
	/* The emulated CPU's own time for a load that misses, which a wait already contains. */
	double own_ns;
	/* Time by instructions: how many of QEMU's passed, what is taken among them and what is given
	 * back not, and what each takes. 0: by the host's clock. */
	uint64_t instructions;
	unsigned int instruction_ns;
	/* Those that the guest ran. */
	uint64_t ran;
	/* Where a part of them takes no time: how many were left when a block had begun. */
	int64_t left;
	struct icount icount;
};

struct felt_cpu {
	/* QEMU's. */
	void *cpu;
	struct felt_times times[NODES + 1];
	/* What this vCPU has still to wait; below 0 what it has waited too long. */
	int64_t debt;
	uint64_t streams[STREAMS];
	unsigned int next_stream;
	struct overlap overlap;
	/* When the lines that are on their way arrive, by node. */
	int64_t slots[NODES + 1][MOST_OUTSTANDING];
	unsigned int next_slot[NODES + 1];
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The CPU's own counter as nanoseconds: a miss cannot afford to ask the kernel. */
static struct {
	int64_t start_ns;
	uint64_t start_ticks;
	double ns_per_tick;
} ticks;

static void start_ticks(void)
{
	ticks.start_ns = now_ns();
	ticks.start_ticks = __builtin_ia32_rdtsc();
	struct timespec time = { 0, 20000000 };

	nanosleep(&time, NULL);
	double ns = (double)(now_ns() - ticks.start_ns);
	ticks.ns_per_tick = ns / (double)(__builtin_ia32_rdtsc() - ticks.start_ticks);
}

static int64_t fast_now_ns(void)
{
	uint64_t since = __builtin_ia32_rdtsc() - ticks.start_ticks;

	return (int64_t)((double)since * ticks.ns_per_tick);
}

/* Whether `line` is next to a line that missed lately; remembers it. */
static bool continues_stream(struct felt_cpu *cpu, uint64_t line)
{
	for (unsigned int i = 0; i < STREAMS; i++) {
		uint64_t distance = line - cpu->streams[i];

		if (distance == 1 || distance == UINT64_MAX) {
			cpu->streams[i] = line;
			return true;
		}
	}
	cpu->streams[cpu->next_stream++ % STREAMS] = line;
	return false;
}

/* Takes a channel for `line_ns`, from `from` at the earliest; when the line is through. */
static int64_t take_channel(_Atomic int64_t *busy_until, int64_t from, double line_ns)
{
	int64_t busy = atomic_load_explicit(busy_until, memory_order_relaxed);
	int64_t until;

	from *= PARTS;
	do {
		until = (busy > from ? busy : from) + (int64_t)(line_ns * PARTS);
	} while (!atomic_compare_exchange_weak_explicit(busy_until, &busy, until,
							memory_order_relaxed, memory_order_relaxed));
	return until / PARTS;
}

static int64_t guest_now_ns(const struct felt *felt)
{
	return felt->instruction_ns ? (int64_t)(felt->instructions * felt->instruction_ns) : fast_now_ns();
}

/* Takes what the vCPU owes from its time. What is left when a timer is due it owes on. */
static void pay_instructions(struct felt *felt, struct felt_cpu *cpu)
{
	uint64_t owed = (uint64_t)cpu->debt / felt->instruction_ns;
	uint64_t taken = icount_take(&felt->icount, cpu->cpu, owed);

	felt->instructions += taken;
	felt->left -= (int64_t)taken;
	cpu->debt -= (int64_t)(taken * felt->instruction_ns);
}

/* Holds the vCPU up for what it owes. Spins: after a sleep the emulation itself is slower for
 * some microseconds, and other vCPUs' interrupts would wait for its end. */
static void pay(struct felt_cpu *cpu)
{
	int64_t before = fast_now_ns(), now;

	do {
		__builtin_ia32_pause();
		now = fast_now_ns();
	} while (now - before < cpu->debt);
	cpu->debt -= now - before;
	if (cpu->debt < -CREDIT_NS)
		cpu->debt = -CREDIT_NS;
}

/* When a line arrives that sets out at `start`. */
static int64_t arrival(struct felt *felt, const struct felt_times *times, unsigned int node, bool store, int64_t start)
{
	int64_t through = take_channel(&felt->busy_until[node], start, times->line_ns[store]);
	int64_t arrives = start + (int64_t)times->latency_ns[store];

	return through > arrives ? through : arrives;
}

/* A load that continues no stream, at `present`; what it brings is `value`. For how long it holds the vCPU up. */
static int64_t feel_lead(struct felt *felt, struct felt_cpu *cpu, unsigned int node, uint64_t vaddr, uint64_t value,
			 int64_t present)
{
	const struct felt_times *times = &cpu->times[node];

	if (!felt->instruction_ns)
		return arrival(felt, times, node, false, present) - present - (int64_t)felt->own_ns;

	int64_t wait = held_up(&cpu->overlap, felt->ran, present);
	int64_t start = sets_out(&cpu->overlap, vaddr, present + wait);

	set_out(&cpu->overlap, felt->ran, present + wait, arrival(felt, times, node, false, start), value);
	return wait;
}

/* A line that none waits for sets out when a slot is free. For how long that holds the vCPU up. */
static int64_t feel_beside(struct felt *felt, struct felt_cpu *cpu, unsigned int node, bool store, int64_t present)
{
	const struct felt_times *times = &cpu->times[node];
	int64_t *slot = &cpu->slots[node][cpu->next_slot[node]];
	int64_t start = *slot > present ? *slot : present;

	*slot = arrival(felt, times, node, store, start);
	if (++cpu->next_slot[node] >= times->outstanding)
		cpu->next_slot[node] = 0;
	return start - present;
}

/* One miss: charges its time to the vCPU and holds it up when it owes enough. `value`: what a load brings. */
static void feel(struct felt *felt, struct felt_cpu *cpu, unsigned int node, uint64_t vaddr,
		 bool store, uint64_t value)
{
	int64_t present = guest_now_ns(felt) + cpu->debt;

	if (continues_stream(cpu, vaddr >> 6) || store)
		cpu->debt += feel_beside(felt, cpu, node, store, present);
	else
		cpu->debt += feel_lead(felt, cpu, node, vaddr, value, present);
	if (felt->instruction_ns)
		pay_instructions(felt, cpu);
	else if (cpu->debt > PAY_NS)
		pay(cpu);
}

#endif
