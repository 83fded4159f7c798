/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which misses a prefetcher cannot have fetched: those that are not next to (one line before or
 * after) one of the thread's last RECENT misses. Lines are of virtual addresses, whole pages apart
 * as well: next-page prefetchers are taken for granted.
 */
#ifndef EXACT_LEADS_H
#define EXACT_LEADS_H

#include <stdbool.h>
#include <stdint.h>

#define RECENT 16

struct leads {
	uint64_t recent[RECENT];
	unsigned int next;
};

/* Whether this miss leads; remembers it. */
static bool leads(struct leads *leads, uint64_t line)
{
	bool near = false;

	for (unsigned int i = 0; i < RECENT; i++) {
		uint64_t distance = line - leads->recent[i];

		near |= distance + 1 <= 2 && distance;
	}
	leads->recent[leads->next++ % RECENT] = line;
	return !near;
}

#endif
