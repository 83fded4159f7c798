/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which accesses miss the caches. Two levels, each vCPU has its own:
 *
 * - a filter by virtual address, one entry per place, so that nearly all accesses are done with
 *   after one comparison. What it lets through is looked up in the cache, so its conflicts cost
 *   time and change nothing. It knows no address spaces: after a switch it may take a line of
 *   one process for that of another, at most FILTER times.
 * - the last-level cache by physical address: WAYS ways, least recently used goes first.
 */
#ifndef METER_CACHE_H
#define METER_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SHIFT 6
#define FILTER 1024
#define WAYS 16

struct cache {
	uint64_t filter[FILTER];
	/* The most recently used way of a set comes first. 0: empty. */
	uint32_t (*sets)[WAYS];
	uint32_t set_mask;
};

static void cache_flush(struct cache *cache)
{
	memset(cache->filter, 0xff, sizeof cache->filter);
	memset(cache->sets, 0, ((size_t)cache->set_mask + 1) * sizeof *cache->sets);
}

/* `bytes` is rounded down to a power of two of sets. False: out of memory. */
static bool cache_init(struct cache *cache, uint64_t bytes)
{
	uint64_t sets = 1;

	while (sets * 2 * WAYS << LINE_SHIFT <= bytes)
		sets *= 2;
	cache->set_mask = (uint32_t)(sets - 1);
	cache->sets = aligned_alloc(64, sets * sizeof *cache->sets);
	if (!cache->sets)
		return false;
	cache_flush(cache);
	return true;
}

/* Whether the line was there; it is now, as the most recently used. */
static bool cache_access(struct cache *cache, uint64_t line)
{
	/* Neighbouring lines go to neighbouring sets; the fold keeps large strides apart. */
	uint32_t *set = cache->sets[(line ^ line >> 15) & cache->set_mask];
	uint32_t tag = (uint32_t)line + 1, newer = tag;

	for (int way = 0; way < WAYS; way++) {
		uint32_t there = set[way];

		set[way] = newer;
		if (there == tag)
			return true;
		newer = there;
	}
	return false;
}

#endif
