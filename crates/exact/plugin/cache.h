/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A thread's cache: sets of ways, of which the least recently used goes first. A line is named by
 * its page's place in the table (from 0) * 64 + its place in the page, so that a tag is exact.
 */
#ifndef EXACT_CACHE_H
#define EXACT_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define LINE_SHIFT 6
#define MAX_WAYS 64

struct cache {
	/* (line + 1) * 2, +1 if it was written since it came; 0: empty. The most recently used
	 * comes first. */
	uint64_t *tags;
	uint64_t set_mask;
	unsigned int ways;
};

/* `sets` is a power of two. False: out of memory. */
static bool cache_init(struct cache *cache, uint64_t sets, unsigned int ways)
{
	cache->ways = ways;
	cache->set_mask = sets - 1;
	cache->tags = calloc(sets * ways, sizeof *cache->tags);
	return cache->tags != NULL;
}

/* Neighbouring lines go to neighbouring sets; the fold keeps large strides apart. */
static uint64_t *cache_set(struct cache *cache, uint64_t address)
{
	uint64_t line = address >> LINE_SHIFT;

	return cache->tags + ((line ^ line >> 15) & cache->set_mask) * cache->ways;
}

/* Whether the line was there; it is now, as the most recently used. If not, *evicted is the tag
 * of what went for it. `tag` says whether the line is written now. */
static inline __attribute__((always_inline)) bool cache_access_ways(
	uint64_t *set, uint64_t tag, unsigned int ways, uint64_t *evicted)
{
	uint64_t newer = tag;

	for (unsigned int way = 0; way < ways; way++) {
		uint64_t there = set[way];

		set[way] = newer;
		if ((there | 1) == (tag | 1)) {
			set[0] |= there & 1;
			return true;
		}
		newer = there;
	}
	*evicted = newer;
	return false;
}

/* *written: in, whether the line is written now; out, whether it was since it came. */
static bool cache_access(struct cache *cache, uint64_t address, uint64_t line, bool *written,
			 uint64_t *evicted)
{
	uint64_t *set = cache_set(cache, address), tag = (line + 1) << 1 | *written;
	/* The usual number of ways as a constant: the loop is unrolled. */
	bool there = cache->ways == 16 ? cache_access_ways(set, tag, 16, evicted)
				       : cache_access_ways(set, tag, cache->ways, evicted);

	*written = set[0] & 1;
	return there;
}

/* Notes that a line is written, without an access. False: it is not there. */
static bool cache_written(struct cache *cache, uint64_t address, uint64_t line)
{
	uint64_t *set = cache_set(cache, address), tag = (line + 1) << 1;

	for (unsigned int way = 0; way < cache->ways; way++)
		if ((set[way] | 1) == (tag | 1)) {
			set[way] |= 1;
			return true;
		}
	return false;
}

#endif
