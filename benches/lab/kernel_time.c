/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the kernel does over and over, in data that fit the caches: name, how often, and seconds. Run on the host and in a
 * guest by instruction_time.sh. The first ones change no page table, which may be dear in a virtual machine.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES ((size_t)8 << 20)
#define PAGES (BYTES >> 12)
#define TRIES 7

static char *memory;
static int zero, null, pagemap;

static void must(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Each of these does so many things. */
static size_t calls(void)
{
	for (int i = 0; i < 20000; i++)
		syscall(SYS_getppid);
	return 20000;
}

static size_t reads_and_writes(void)
{
	char byte;

	for (int i = 0; i < 10000; i++)
		must(read(zero, &byte, 1) == 1 && write(null, &byte, 1) == 1, "read, write");
	return 10000;
}

static size_t reads_pagemap(void)
{
	static uint64_t entries[PAGES];

	for (int i = 0; i < 20; i++)
		must(pread(pagemap, entries, sizeof entries, (off_t)((uintptr_t)memory >> 12) * 8) == sizeof entries, "pagemap");
	return 20 * PAGES;
}

static size_t asks_what_is_resident(void)
{
	static unsigned char resident[PAGES];

	for (int i = 0; i < 100; i++)
		must(!mincore(memory, BYTES, resident), "mincore");
	return 100 * PAGES;
}

/* All is cold already but for the first time. */
static size_t walks_what_is_cold(void)
{
	for (int i = 0; i < 20; i++)
		must(!madvise(memory, BYTES, MADV_COLD), "MADV_COLD");
	return 20 * PAGES;
}

static size_t maps_and_touches(void)
{
	char *fresh = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(fresh != MAP_FAILED && !madvise(fresh, BYTES, MADV_NOHUGEPAGE), "mmap");
	for (size_t i = 0; i < BYTES; i += 4096)
		((volatile char *)fresh)[i] = 1;
	munmap(fresh, BYTES);
	return PAGES;
}

static size_t forks(void)
{
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		must(waitpid(child, NULL, 0) == child, "fork");
	}
	return 20;
}

/* The fastest of some tries: others take time as well. */
static void report(const char *name, size_t (*does)(void))
{
	double least = 1e9;
	size_t times = 1;

	for (int i = 0; i < TRIES; i++) {
		double before = now_s();

		times = does();
		double took = now_s() - before;

		least = took < least ? took : least;
	}
	printf("%s %zu %.9f\n", name, times, least);
}

int main(void)
{
	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(memory != MAP_FAILED && !madvise(memory, BYTES, MADV_NOHUGEPAGE), "mmap");
	for (size_t i = 0; i < BYTES; i += 4096)
		((volatile char *)memory)[i] = 1;
	report("getppid", calls);
	report("read-write", reads_and_writes);
	report("pagemap", reads_pagemap);
	report("mincore", asks_what_is_resident);
	report("cold", walks_what_is_cold);
	report("touch", maps_and_touches);
	report("fork", forks);
	return 0;
}
