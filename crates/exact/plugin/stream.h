/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The accesses themselves, as records of 64 bits in a thread's ring, from which the recorder
 * takes them. A thread whose ring is full waits.
 *
 * Bits of a record, from the lowest: 2 kind, 6 line in the page, 26 the page's place in the
 * thread's table, 30 instructions since the thread's last record. A gap that does not fit is a
 * record of its own before it: kind GAP, instructions in the other 62 bits.
 */
#ifndef EXACT_STREAM_H
#define EXACT_STREAM_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "shared.h"

enum kind { READ, WRITE, WRITE_BACK, GAP };

#define MAX_GAP ((1u << 30) - 1)

struct stream {
	struct ring_head *head;
	uint64_t *records;
	uint64_t written, read;
	/* Instructions up to the last record; to the start and the end of the block under way. */
	uint64_t last, block, block_end;
};

/* Whether the process is there; one that we may not signal is. */
static bool alive(int pid)
{
	return !kill(pid, 0) || errno != ESRCH;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void stream_wait(struct stream *stream, int recorder)
{
	uint64_t before = now_ns(), waited = stream->head->waited;

	for (unsigned int i = 1; stream->written - stream->read == RING; i++) {
		__atomic_store_n(&stream->head->written, stream->written, __ATOMIC_RELEASE);
		stream->read = __atomic_load_n(&stream->head->read, __ATOMIC_ACQUIRE);
		if (stream->written - stream->read < RING)
			return;
		usleep(50);
		__atomic_store_n(&stream->head->waited, waited + now_ns() - before,
				 __ATOMIC_RELAXED);
		if (i % 1024 == 0 && !alive(recorder)) {
			stream->head = NULL;
			return;
		}
	}
}

static void stream_put(struct stream *stream, uint64_t record, int recorder)
{
	if (stream->written - stream->read == RING) {
		stream_wait(stream, recorder);
		if (!stream->head)
			return;
	}
	stream->records[stream->written++ % RING] = record;
	/* Others see it by and by: every record would make the counter's line travel. */
	if (stream->written % 64 == 0)
		__atomic_store_n(&stream->head->written, stream->written, __ATOMIC_RELEASE);
}

/* `line`: the page's place * 64 + line in the page; `at`: instructions executed before it. */
static void stream_access(struct stream *stream, enum kind kind, uint64_t line, uint64_t at,
			  int recorder)
{
	uint64_t gap = at - stream->last;

	if (gap > MAX_GAP) {
		stream_put(stream, gap << 2 | GAP, recorder);
		gap = 0;
	}
	stream->last = at;
	if (stream->head)
		stream_put(stream, gap << 34 | line << 2 | kind, recorder);
}

#endif
