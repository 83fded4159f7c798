/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which of a vCPU's loads that miss wait at the same time, as on a CPU that runs on beyond a miss: those within WINDOW
 * instructions of the first that waits, if they do not need what another of them brings (S. Eyerman et al., A
 * mechanistic performance model for superscalar out-of-order processors, TOCS 2009: misses within the reorder buffer
 * overlap unless they depend on each other). A load is taken to need another's value where its address is near that,
 * as a pointer's target is; one that goes by an index is not recognized.
 */
#ifndef METER_OVERLAP_H
#define METER_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

/* Instructions that wait to retire, and lines that are on their way to the first cache, at most: about as of AMD's Zen 3
 * and Intel's Golden Cove, the least of each. Not measured. */
#define WINDOW 256
#define AT_ONCE 16
/* A pointer's target, and fields of it. */
#define NEAR 4096

struct overlap {
	/* Instructions by the first miss. */
	uint64_t began;
	/* How long they wait. */
	int64_t waited_ns;
	/* What it and those beside it bring. */
	uint64_t values[AT_ONCE];
	unsigned int count;
};

/* Whether a miss waits by itself after so many instructions; if not, it does beside others. */
static bool waits_alone(struct overlap *overlap, uint64_t instructions, uint64_t vaddr, uint64_t value)
{
	bool alone = instructions - overlap->began >= WINDOW || overlap->count == AT_ONCE;

	for (unsigned int i = 0; i < overlap->count; i++)
		alone |= vaddr - overlap->values[i] + NEAR < 2 * NEAR;
	if (alone) {
		overlap->began = instructions;
		overlap->count = 0;
	}
	overlap->values[overlap->count++] = value;
	return alone;
}

#endif
