/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counters of one vCPU: written by its thread alone, read by others at any time, never reset;
 * who reads subtracts what it read before.
 */
#ifndef METER_TABLE_H
#define METER_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define NODES 16
/* The last "node" takes what lies in none: firmware, devices' memory. */
#define ELSEWHERE NODES

typedef _Atomic uint64_t counter;

static inline void count(counter *it)
{
	/* No locked instruction: there is one writer. */
	uint64_t value = atomic_load_explicit(it, memory_order_relaxed);

	atomic_store_explicit(it, value + 1, memory_order_relaxed);
}

static inline uint64_t value_of(counter *it)
{
	return atomic_load_explicit(it, memory_order_relaxed);
}

/* Indexed by [kernel][store]. */
struct node_counts {
	counter misses[2][2];
};

/* What the units of a table are: 2 MiB of user addresses each, or a base page; and how many it has room for. */
struct unit_size {
	unsigned int shift, bits;
};

#define HUGE_UNITS { .shift = 21, .bits = 16 }
#define BASE_UNITS { .shift = 12, .bits = 21 }

static inline uint64_t units_of(struct unit_size size)
{
	return (uint64_t)1 << size.bits;
}

/* One unit in one node. Key 0: free. */
struct unit {
	counter key;
	counter misses[2];
	/* Of these, those that no prefetcher can have fetched, and the first of each touch of a page. */
	counter leads, touches;
};

struct table {
	struct node_counts nodes[NODES + 1];
	struct unit *units;
	struct unit_size size;
	/* Misses to units beyond the table's room. */
	counter lost;
};

static bool table_init(struct table *table, struct unit_size size)
{
	size_t bytes = units_of(size) * sizeof *table->units;
	void *units = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (units == MAP_FAILED)
		return false;
	/* A place in a large one misses the caches and should not miss the translations, too. */
	madvise(units, bytes, MADV_HUGEPAGE);
	table->size = size;
	table->units = units;
	return true;
}

static void count_unit(struct table *table, uint64_t vaddr, unsigned int node, bool store,
		       bool touch, bool lead)
{
	uint64_t key = (vaddr >> table->size.shift) << 8 | node | 0x80;
	uint64_t at = key * 0x9e3779b97f4a7c15u >> (64 - table->size.bits);

	for (unsigned int tries = 0; tries < 64; tries++, at++) {
		struct unit *unit = &table->units[at & (units_of(table->size) - 1)];
		uint64_t there = value_of(&unit->key);

		if (there == 0)
			atomic_store_explicit(&unit->key, key, memory_order_release);
		if (there == 0 || there == key) {
			count(&unit->misses[store]);
			if (lead)
				count(&unit->leads);
			if (touch)
				count(&unit->touches);
			return;
		}
	}
	count(&table->lost);
}

#endif
