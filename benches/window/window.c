/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How far a CPU runs on beyond loads that miss: times pointer chases over 512 MiB, whose loads do not need each other's.
 *
 * - "between KIND N NS": two of them in turn, N instructions after each load. They wait beside each other as long as both
 *   loads are in the window, and one after the other beyond.
 * - "beside load K NS": K of them in turn. Their round takes a load's time as long as each has a fill buffer.
 * - "stream line 1 NS": a line of all of them in order, which are fetched ahead.
 *
 * The method is H. Wong's (Measuring Reorder Buffer Capacity, 2013).
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LINE 64
#define LINES ((uint64_t)512 << 20 >> 6)
#define LOADS 20000
#define MOST_BESIDE 48

static char *memory;
static uint64_t random_state = 1;

static uint64_t below(uint64_t most)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint64_t)((unsigned __int128)random_state * most >> 64);
}

/* Each line names another one, all of them in one cycle (Sattolo). */
static void link_lines(void)
{
	uint32_t *next = malloc(LINES * sizeof *next);

	if (!next) {
		perror("window");
		exit(1);
	}
	for (uint32_t i = 0; i < LINES; i++)
		next[i] = i;
	for (uint64_t i = LINES - 1; i > 0; i--) {
		uint64_t other = below(i);
		uint32_t there = next[i];

		next[i] = next[other];
		next[other] = there;
	}
	for (uint64_t i = 0; i < LINES; i++)
		*(char **)(memory + i * LINE) = memory + (uint64_t)next[i] * LINE;
	free(next);
}

static char *anywhere(void)
{
	return memory + below(LINES) * LINE;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* nop; or one that writes a register, a different one each of four times. */
static const uint8_t NOP[] = { 0x90 }, ADDS[4][4] = {
	{ 0x41, 0x83, 0xc0, 1 }, { 0x41, 0x83, 0xc1, 1 }, { 0x41, 0x83, 0xc2, 1 }, { 0x41, 0x83, 0xc3, 1 },
};

static uint8_t *fill(uint8_t *to, int adds, int count)
{
	for (int i = 0; i < count; i++) {
		size_t bytes = adds ? sizeof ADDS[0] : sizeof NOP;

		memcpy(to, adds ? ADDS[i % 4] : NOP, bytes);
		to += bytes;
	}
	return to;
}

/* void code(void *, void *, long rounds): loads in turn, `count` instructions after each. */
static void write_code(uint8_t *code, int adds, int count)
{
	static const uint8_t first[] = { 0x48, 0x8b, 0x3f }, second[] = { 0x48, 0x8b, 0x36 };
	static const uint8_t again[] = { 0x48, 0xff, 0xca, 0x0f, 0x85 };
	uint8_t *to = code;

	memcpy(to, first, sizeof first);
	to = fill(to + sizeof first, adds, count);
	memcpy(to, second, sizeof second);
	to = fill(to + sizeof second, adds, count);
	memcpy(to, again, sizeof again);
	to += sizeof again;
	int32_t back = (int32_t)(code - (to + 4));

	memcpy(to, &back, sizeof back);
	to[4] = 0xc3;
}

static double between_ns(uint8_t *code)
{
	void (*run)(void *, void *, long);

	memcpy(&run, &code, sizeof run);
	double before = now_ns();

	run(anywhere(), anywhere(), LOADS);
	return (now_ns() - before) / LOADS;
}

static double beside_ns(int count)
{
	char *volatile sink;
	char *at[MOST_BESIDE];

	for (int i = 0; i < count; i++)
		at[i] = anywhere();
	double before = now_ns();

	for (int round = 0; round < LOADS / 2; round++)
		for (int i = 0; i < count; i++)
			at[i] = *(char **)at[i];
	double took = now_ns() - before;

	for (int i = 0; i < count; i++)
		sink = at[i];
	(void)sink;
	return took / (LOADS / 2);
}

static double stream_ns(void)
{
	uint64_t sum = 0;
	double before = now_ns();

	for (uint64_t line = 0; line < LINES; line++)
		sum += *(uint64_t *)(memory + line * LINE);
	double took = now_ns() - before;
	volatile uint64_t sink = sum;

	(void)sink;
	return took / (double)LINES;
}

int main(void)
{
	uint8_t *code = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memory = aligned_alloc(2 << 20, LINES * LINE);
	if (!memory || code == MAP_FAILED) {
		perror("window");
		return 1;
	}
	/* So that a load misses no translation. */
	madvise(memory, LINES * LINE, MADV_HUGEPAGE);
	link_lines();
	for (int adds = 0; adds < 2; adds++)
		for (int count = 16; count <= 640; count += 16) {
			write_code(code, adds, count);
			printf("between %s %d %.1f\n", adds ? "add" : "nop", count, between_ns(code));
		}
	for (int count = 1; count <= MOST_BESIDE; count++)
		printf("beside load %d %.1f\n", count, beside_ns(count));
	printf("stream line 1 %.2f\n", stream_ns());
	return 0;
}
