/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A little of everything that programs do, to be timed on the CPU and in QEMU: sorting by a
 * function that is called, hashing of text, a chase of pointers and random updates beyond the
 * caches. Writes the CPU time that it took, in seconds, to the file that is named.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORDS (1u << 20)

static uint64_t words[WORDS];
static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

int main(int count, char **arguments)
{
	uint64_t at = 0, sum = 0;
	struct timespec time;
	char text[64];

	for (unsigned int i = 0; i < WORDS; i++)
		words[i] = next_random();
	for (unsigned int i = 0; i < 300000; i++)
		words[next_random() % WORDS] += i;
	for (unsigned int i = 0; i < 300000; i++)
		sum += at = words[(at + i) % WORDS];
	qsort(words, 60000, sizeof *words, compare);
	for (unsigned int i = 0; i < 60000; i++) {
		snprintf(text, sizeof text, "key:%lu:%u", words[i], i);
		sum += hash(text);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	FILE *out = count > 1 ? fopen(arguments[1], "w") : stdout;
	if (!out)
		return 1;
	fprintf(out, "%.9f %d\n", (double)time.tv_sec + (double)time.tv_nsec / 1e9, sum == 0);
	return fclose(out) ? 1 : 0;
}
