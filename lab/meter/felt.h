/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes memory as slow as a machine's, in the guest's own clock, by holding up the vCPU.
 *
 * All times are nanoseconds of the guest's clock, which is the host's: those of the machine times
 * the dilation, how many times longer the emulated CPU takes for the same computation.
 *
 * - A load that continues no stream waits for its line: others may depend on it.
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

#include "table.h"

#define STREAMS 32
#define MOST_OUTSTANDING 256
/* Debts below this are not worth a system call. */
#define SLEEP_NS 100000
/* What a sleep took too long is made up for later, up to this. */
#define CREDIT_NS 50000000

struct felt_node {
	double latency_ns;
	double line_ns;
	unsigned int outstanding;
	/* When its channel is free. */
	_Atomic int64_t busy_until;
};

struct felt {
	struct felt_node nodes[NODES + 1];
	/* The emulated CPU's own time for a load that misses, which a wait already contains. */
	double own_ns;
	_Atomic bool on;
};

struct felt_cpu {
	/* What this vCPU has still to wait; below 0 what it has waited too long. */
	int64_t debt;
	uint64_t streams[STREAMS];
	unsigned int next_stream;
	/* When the lines that are on their way arrive, by node. */
	int64_t slots[NODES + 1][MOST_OUTSTANDING];
	unsigned int next_slot;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
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

/* Takes the channel for one line, from `from` at the earliest; when it is through. */
static int64_t take_channel(struct felt_node *node, int64_t from)
{
	int64_t busy = atomic_load_explicit(&node->busy_until, memory_order_relaxed);
	int64_t until;

	do {
		until = (busy > from ? busy : from) + (int64_t)node->line_ns;
	} while (!atomic_compare_exchange_weak_explicit(&node->busy_until, &busy, until,
							memory_order_relaxed, memory_order_relaxed));
	return until;
}

static void pay(struct felt_cpu *cpu)
{
	int64_t before = now_ns();
	struct timespec time = { cpu->debt / 1000000000, cpu->debt % 1000000000 };

	nanosleep(&time, NULL);
	cpu->debt -= now_ns() - before;
	if (cpu->debt < -CREDIT_NS)
		cpu->debt = -CREDIT_NS;
}

/* One miss: charges its time to the vCPU and holds it up when it owes enough. */
static void feel(struct felt *felt, struct felt_cpu *cpu, unsigned int number, uint64_t vaddr,
		 bool store)
{
	struct felt_node *node = &felt->nodes[number];
	bool stream = continues_stream(cpu, vaddr >> 6);
	int64_t present = now_ns() + cpu->debt;
	int64_t start = present;

	if (stream || store) {
		int64_t *slot = &cpu->slots[number][cpu->next_slot++ % node->outstanding];

		if (*slot > start)
			start = *slot;
		int64_t line = start + (int64_t)node->latency_ns;
		int64_t through = take_channel(node, start);
		*slot = line > through ? line : through;
		cpu->debt += start - present;
	} else {
		int64_t line = start + (int64_t)(node->latency_ns - felt->own_ns);
		int64_t through = take_channel(node, start);
		int64_t done = line > through ? line : through;
		if (done > present)
			cpu->debt += done - present;
	}
	if (cpu->debt > SLEEP_NS)
		pay(cpu);
}

#endif
