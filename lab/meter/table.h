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

#define NODES 16
/* The last "node" takes what lies in none: firmware, devices' memory. */
#define ELSEWHERE NODES
#define UNIT_SHIFT 21
#define UNITS (1u << 16)

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

/* One 2 MiB region of user addresses in one node. Key 0: free. */
struct unit {
	counter key;
	counter misses[2];
};

struct table {
	struct node_counts nodes[NODES + 1];
	struct unit *units;
	/* Misses to units beyond the table's room. */
	counter lost;
};

static bool table_init(struct table *table)
{
	table->units = calloc(UNITS, sizeof *table->units);
	return table->units != NULL;
}

static inline uint64_t unit_key(uint64_t vaddr, unsigned int node)
{
	return (vaddr >> UNIT_SHIFT) << 8 | node | 0x80;
}

static void count_unit(struct table *table, uint64_t vaddr, unsigned int node, bool store)
{
	uint64_t key = unit_key(vaddr, node);
	uint64_t at = key * 0x9e3779b97f4a7c15u >> 48;

	for (unsigned int tries = 0; tries < 64; tries++, at++) {
		struct unit *unit = &table->units[at & (UNITS - 1)];
		uint64_t there = value_of(&unit->key);

		if (there == 0)
			atomic_store_explicit(&unit->key, key, memory_order_release);
		if (there == 0 || there == key) {
			count(&unit->misses[store]);
			return;
		}
	}
	count(&table->lost);
}

#endif
