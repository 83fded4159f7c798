/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Time by instructions (QEMU's -icount): makes a vCPU spend more of its time than it runs
 * instructions. QEMU lets a vCPU run for as many instructions as there is time until the next
 * timer, and the guest's clock goes by how many of them are left. What is taken from these passes
 * at once, and timers are still in time.
 *
 * The plugin interface has nothing for that. QEMU's own functions are there where it was built
 * with modules, as Debian's is. Where a CPU's counts lie differs by version and is read from the
 * code of QEMU's icount_update(), which adds them up.
 */
#ifndef METER_ICOUNT_H
#define METER_ICOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of icount_update() that are looked at. */
#define ICOUNT_CODE 128

__attribute__((weak)) extern void icount_update(void *cpu);
__attribute__((weak)) extern void *qemu_get_cpu(int number);

/* Where a vCPU's instructions until the next timer are: those left now, and those after them. */
struct icount {
	unsigned int left, after;
};

/* The displacement in the first instruction that begins so and has %rdi, the CPU, for its base. */
static bool displacement(const unsigned char code[ICOUNT_CODE], const unsigned char opcode[3], unsigned int *found)
{
	for (int at = 0; at + 7 <= ICOUNT_CODE; at++)
		if (!memcmp(code + at, opcode, 3)) {
			memcpy(found, code + at + 3, sizeof *found);
			return true;
		}
	return false;
}

/* False: this QEMU is another one. */
static bool icount_find(struct icount *icount)
{
	/* mov budget(%rdi),%rax; movzwl left(%rdi),%edx; add after(%rdi),%rdx */
	static const unsigned char load[] = { 0x48, 0x8b, 0x87 }, widen[] = { 0x0f, 0xb7, 0x97 },
				   add[] = { 0x48, 0x03, 0x97 };
	unsigned char code[ICOUNT_CODE];
	unsigned int budget;

	if (!icount_update || !qemu_get_cpu)
		return false;
	memcpy(code, (const void *)icount_update, sizeof code);
	return displacement(code, load, &budget) && displacement(code, widen, &icount->left) &&
	       displacement(code, add, &icount->after) && icount->after == budget + 8;
}

/* Gives so many to the vCPU. */
static void icount_give(const struct icount *icount, void *cpu, uint64_t instructions)
{
	*(int64_t *)((char *)cpu + icount->after) += (int64_t)instructions;
}

/* So many are left in all. */
static int64_t icount_left(const struct icount *icount, void *cpu)
{
	return *(int64_t *)((char *)cpu + icount->after) + *(uint16_t *)((char *)cpu + icount->left);
}

/* Takes so many instructions from the vCPU that runs, or as many as there are; how many. */
static uint64_t icount_take(const struct icount *icount, void *cpu, uint64_t instructions)
{
	int64_t *after = (int64_t *)((char *)cpu + icount->after);
	uint16_t *left = (uint16_t *)((char *)cpu + icount->left);
	uint64_t of_after = *after > 0 ? (uint64_t)*after : 0, of_left = *left;

	if (of_after > instructions)
		of_after = instructions;
	if (of_left > instructions - of_after)
		of_left = instructions - of_after;
	*after -= (int64_t)of_after;
	*left -= (uint16_t)of_left;
	return of_after + of_left;
}

#endif
