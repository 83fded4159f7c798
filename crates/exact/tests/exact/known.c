/* A program whose accesses past the caches are known in closed form: see main.rs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE 64
#define SIZE ((size_t)32 << 20)
#define LINES (SIZE / LINE)

static volatile char *map(int flags)
{
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
}

/* Touches every line once, in order, as often as told. */
static void pass(volatile char *memory, int times, int store)
{
	for (int i = 0; i < times; i++)
		for (size_t line = 0; line < LINES; line++) {
			if (store)
				memory[line * LINE] = 1;
			else
				(void)memory[line * LINE];
		}
}

/* Adds one to every word, in order: the first of a line is read, which misses, then stored to. */
static void increment(volatile uint64_t *words, int times)
{
	for (int i = 0; i < times; i++)
		for (size_t word = 0; word < SIZE / sizeof *words; word++)
			words[word]++;
}

/* Every line once, each at least 17 lines from the ones before: 40503 is odd. */
static void scattered(volatile char *memory, int times)
{
	for (int i = 0; i < times; i++)
		for (size_t line = 0; line < LINES; line++)
			(void)memory[line * 40503 % LINES * LINE];
}

static void *read_all(void *memory)
{
	pass(memory, 5, 0);
	return NULL;
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "";

	if (!strcmp(mode, "stores")) {
		pass(map(MAP_PRIVATE), 10, 1);
	} else if (!strcmp(mode, "reads")) {
		pass(map(MAP_SHARED), 4, 0);
	} else if (!strcmp(mode, "increments")) {
		increment((volatile uint64_t *)map(MAP_SHARED), 4);
	} else if (!strcmp(mode, "later")) {
		/* What the cache holds is written, and goes epochs later, for what is read. */
		volatile char *memory = map(MAP_SHARED);

		for (size_t line = 0; line < LINES / 32; line++)
			memory[line * LINE]++;
		usleep(300000);
		for (size_t line = LINES / 32; line < LINES; line++)
			(void)memory[line * LINE];
		usleep(300000);
	} else if (!strcmp(mode, "scattered")) {
		scattered(map(MAP_PRIVATE), 10);
	} else if (!strcmp(mode, "small")) {
		/* 64 KiB and one line more than half of it at the filter's stride: the cache holds it. */
		volatile char *memory = map(MAP_PRIVATE);

		for (int i = 0; i < 100; i++)
			for (size_t line = 0; line < 4096; line++)
				(void)memory[line * LINE];
	} else if (!strcmp(mode, "split")) {
		/* Eight bytes that lie in two lines. */
		volatile char *memory = map(MAP_PRIVATE);

		for (size_t line = 1; line < LINES; line += 2)
			(void)*(volatile uint64_t *)(memory + line * LINE - 4);
	} else if (!strcmp(mode, "fork")) {
		volatile char *memory = map(MAP_SHARED);

		pass(memory, 1, 1);
		for (int i = 0; i < 3; i++)
			if (!fork()) {
				pass(memory, 5, 0);
				exit(0);
			}
		while (wait(NULL) > 0)
			;
	} else if (!strcmp(mode, "threads")) {
		volatile char *memory = map(MAP_PRIVATE);
		pthread_t threads[3];

		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], NULL, read_all, (void *)memory);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], NULL);
	} else if (!strcmp(mode, "unmap")) {
		volatile char *memory = map(MAP_PRIVATE);

		pass(memory, 1, 1);
		munmap((void *)(memory + SIZE / 4), SIZE / 4);
		madvise((void *)(memory + SIZE / 2), SIZE / 4, MADV_DONTNEED);
		/* Long enough to be seen. */
		for (int i = 0; i < 400; i++)
			for (size_t line = 0; line < LINES / 4; line++)
				(void)memory[line * LINE];
	} else if (!strcmp(mode, "execute")) {
		execlp(arguments[2], arguments[2], arguments[3], (char *)NULL);
	}
	return 7;
}
