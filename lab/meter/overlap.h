/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How a vCPU's loads that miss wait beside each other, as on a CPU that runs on beyond a miss and retires in order. A load
 * is let in when the instruction WINDOW before it has retired; it sets out when what it needs is there and a fill buffer is
 * free; it retires when it and all before it are there (S. Eyerman et al., A mechanistic performance model for superscalar
 * out-of-order processors, TOCS 2009). What a full window cost is found at the next miss.
 *
 * A load is taken to need another's value where its address is near that, as a pointer's target is; one that goes by an
 * index is not recognized.
 */
#ifndef METER_OVERLAP_H
#define METER_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

/* Instructions and loads that wait to retire, and lines that are on their way to the first cache, at most. WINDOW lies between
 * what benches/window.py finds for instructions that write registers and for others; AT_ONCE is Intel's Golden Cove's. */
#define WINDOW 256
#define LOADS 64
#define AT_ONCE 16
/* A pointer's target, and fields of it. */
#define NEAR 4096

/* A load that missed. `computed`: when it was let in, less all that the vCPU had been held up for. */
struct under_way {
	uint64_t ran, value;
	int64_t computed, arrives, retires;
};

struct overlap {
	struct under_way loads[LOADS];
	unsigned int first, count;
	/* When each fill buffer is free. */
	int64_t buffers[AT_ONCE];
	/* For how long the vCPU was held up so far, and when the last load retires. */
	int64_t held_up, retires;
};

/* A load comes after so many instructions, at `present` if nothing holds it up. For how long those before it do. */
static int64_t held_up(struct overlap *overlap, uint64_t ran, int64_t present)
{
	int64_t before = overlap->held_up, computed = present - before;

	while (overlap->count) {
		const struct under_way *oldest = &overlap->loads[overlap->first];
		uint64_t since = ran - oldest->ran;
		int64_t full = computed;

		if (since >= WINDOW) {
			double part = (double)WINDOW / (double)since;

			full = oldest->computed + (int64_t)((double)(computed - oldest->computed) * part);
		} else if (overlap->count < LOADS) {
			break;
		}
		int64_t late = oldest->retires - (full + overlap->held_up);

		overlap->held_up += late > 0 ? late : 0;
		overlap->first = (overlap->first + 1) % LOADS;
		overlap->count--;
	}
	return overlap->held_up - before;
}

static int64_t *next_buffer(struct overlap *overlap)
{
	int64_t *next = overlap->buffers;

	for (unsigned int i = 1; i < AT_ONCE; i++)
		if (overlap->buffers[i] < *next)
			next = &overlap->buffers[i];
	return next;
}

/* When a load that was let in at `present` sets out. */
static int64_t sets_out(struct overlap *overlap, uint64_t vaddr, int64_t present)
{
	int64_t start = *next_buffer(overlap);

	if (start < present)
		start = present;
	for (unsigned int i = 0; i < overlap->count; i++) {
		const struct under_way *load = &overlap->loads[(overlap->first + i) % LOADS];
		bool needs = vaddr - load->value + NEAR < 2 * NEAR;

		if (needs && load->arrives > start)
			start = load->arrives;
	}
	return start;
}

/* It arrives then, with `value`. */
static void set_out(struct overlap *overlap, uint64_t ran, int64_t present, int64_t arrives, uint64_t value)
{
	struct under_way *load = &overlap->loads[(overlap->first + overlap->count++) % LOADS];

	*next_buffer(overlap) = arrives;
	if (arrives > overlap->retires)
		overlap->retires = arrives;
	*load = (struct under_way){ ran, value, present - overlap->held_up, arrives, overlap->retires };
}

#endif
