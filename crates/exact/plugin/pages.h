/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From a page's number to its place in a thread's table: a hash table of places with open
 * addressing, at most half full, behind a small cache of the pages used last.
 */
#ifndef EXACT_PAGES_H
#define EXACT_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "shared.h"

#define NEAR 512
#define NO_PAGE UINT32_MAX

struct pages {
	struct { uint64_t number; uint32_t at; } near[NEAR];
	/* Place + 1; 0: free. */
	uint32_t *places;
	uint64_t mask;
	uint32_t count;
	/* The table that is shared. */
	struct page *table;
};

static uint64_t pages_hash(uint64_t number)
{
	return number * 0x9e3779b97f4a7c15u >> 20;
}

static bool pages_init(struct pages *pages, struct page *table)
{
	pages->table = table;
	pages->mask = 4095;
	pages->places = calloc(pages->mask + 1, sizeof *pages->places);
	for (unsigned int i = 0; i < NEAR; i++)
		pages->near[i].number = UINT64_MAX;
	return pages->places != NULL;
}

static bool pages_grow(struct pages *pages)
{
	uint64_t mask = pages->mask * 2 + 1;
	uint32_t *places = calloc(mask + 1, sizeof *places);

	if (!places)
		return false;
	for (uint32_t at = 0; at < pages->count; at++) {
		uint64_t slot = pages_hash(pages->table[at].number) & mask;

		while (places[slot])
			slot = (slot + 1) & mask;
		places[slot] = at + 1;
	}
	free(pages->places);
	pages->places = places;
	pages->mask = mask;
	return true;
}

/* The place of a page, a new one if need be; NO_PAGE: there is no room. */
static uint32_t pages_find_far(struct pages *pages, uint64_t number, struct cpu_head *head)
{
	uint64_t slot = pages_hash(number) & pages->mask;

	for (; pages->places[slot]; slot = (slot + 1) & pages->mask)
		if (pages->table[pages->places[slot] - 1].number == number)
			return pages->places[slot] - 1;
	if (pages->count == MAX_PAGES)
		return NO_PAGE;
	if (pages->count >= pages->mask / 2) {
		if (!pages_grow(pages))
			return NO_PAGE;
		for (slot = pages_hash(number) & pages->mask; pages->places[slot];)
			slot = (slot + 1) & pages->mask;
	}
	pages->table[pages->count].number = number;
	pages->places[slot] = ++pages->count;
	__atomic_store_n(&head->pages, pages->count, __ATOMIC_RELEASE);
	return pages->count - 1;
}

static inline uint32_t pages_find(struct pages *pages, uint64_t number, struct cpu_head *head)
{
	unsigned int near = (number ^ number >> 9) & (NEAR - 1);

	if (pages->near[near].number == number)
		return pages->near[near].at;
	uint32_t at = pages_find_far(pages, number, head);
	if (at != NO_PAGE) {
		pages->near[near].number = number;
		pages->near[near].at = at;
	}
	return at;
}

#endif
