/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Feeds loads to the meter's overlap.h, which come as fast as the CPU computes and is not held up. Lines of the input:
 * "INSTRUCTIONS ADDRESS VALUE LATENCY_NS", of a load each, with all instructions before it. Argument: how many instructions
 * take a nanosecond. Prints when the last load was let in.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "overlap.h"

int main(int count, char **arguments)
{
	static struct overlap overlap;
	uint64_t per_ns = count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
	uint64_t ran, vaddr, value;
	int64_t latency, present = 0, waited = 0;

	while (scanf("%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNd64, &ran, &vaddr, &value, &latency) == 4) {
		present = (int64_t)(ran / per_ns) + waited;
		int64_t wait = held_up(&overlap, ran, present);

		waited += wait;
		present += wait;
		set_out(&overlap, ran, present, sets_out(&overlap, vaddr, present) + latency, value);
	}
	printf("%" PRId64 "\n", present);
	return 0;
}
