/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Makes the files of shared.h in the recorder's folder and maps them.
 */
#ifndef EXACT_FILES_H
#define EXACT_FILES_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The recorder's folder, and what tells this program of this process from others. */
static struct {
	const char *folder;
	int pid;
	uint64_t start;
} self;

static void name_self(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	self.pid = getpid();
	self.start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A new file of `size` bytes (a hole) named PID.START.`suffix`, mapped; NULL: it cannot be made.
 * It appears under its name when it is complete. */
static void *shared_file(const char *suffix, uint64_t size)
{
	char path[512], hidden[520];
	int length = snprintf(path, sizeof path, "%s/%d.%lu.%s", self.folder, self.pid, self.start,
			      suffix);
	void *memory = MAP_FAILED;

	if (length < 0 || (size_t)length >= sizeof path)
		return NULL;
	snprintf(hidden, sizeof hidden, "%s.new", path);
	int file = open(hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return NULL;
	if (!ftruncate(file, (off_t)size))
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
			      0);
	close(file);
	if (memory == MAP_FAILED || rename(hidden, path)) {
		unlink(hidden);
		return NULL;
	}
	return memory;
}

#endif
