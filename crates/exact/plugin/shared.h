/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the plugin and the recorder share: files in a private folder, mapped by both. The recorder
 * reads counters while the program runs; each has one writer, and a value that is read is never
 * half written. `src/shared.rs` states the same layout.
 *
 * - PID.START.process: one struct process, padded to a page.
 * - PID.START.VCPU.cpu: struct cpu_head, padded to HEAD bytes, then struct page for each base page
 *   that this thread accessed, in order of first access.
 * - PID.START.VCPU.ring: struct ring_head, padded to a page, then RING records (stream.h).
 *
 * START tells programs apart that one process executes one after the other.
 */
#ifndef EXACT_SHARED_H
#define EXACT_SHARED_H

#include <stdint.h>

#define FILTER 1024
#define HEAD (32 << 10)
/* Base pages that one thread can touch: 128 GiB of memory. The file is sparse. */
#define MAX_PAGES (1u << 25)
#define RING (1u << 19)

/* Why a process waits for the recorder. */
enum { RUNS, ENDS, EXECUTES };

struct process {
	int32_t pid;
	/* The process that it was forked from, and that one's START; 0: started by execve. */
	int32_t parent;
	uint64_t parent_start;
	/* Counted up when it waits, and by the recorder when it need not any more. */
	uint32_t waits, released;
	/* One of the above. */
	uint32_t state;
	/* Threads that are not counted, for their file could not be made. */
	uint32_t uncounted;
	/* Programs that were executed without us. */
	uint32_t strangers;
	/* Not 0: the recorder has gone; nobody waits. */
	uint32_t detached;
	/* The break: first value and latest. An address on the first stack. */
	uint64_t brk_start, brk_end, stack;
};

struct entry {
	/* Line number * 2, +1 if it is written, here or in the cache behind; all ones: empty. */
	uint64_t key;
	/* Accesses that it served and that are not yet counted in its page. */
	uint64_t hits;
};

struct cpu_head {
	/* Pages in use. */
	uint32_t pages;
	/* Accesses that found no room. */
	uint32_t lost;
	uint64_t reserved[3];
	struct entry filter[FILTER];
	/* The page of each entry. */
	uint32_t filter_page[FILTER];
};

struct page {
	/* Address / 4096. */
	uint64_t number;
	uint64_t accesses;
	/* `writes`: lines that were written back; without caches, stores. */
	uint32_t misses, leads, writes;
	/* Not 0: written at least once. */
	uint32_t dirty;
};

struct ring_head {
	/* Records written, and read; on cache lines of their own. */
	uint64_t written;
	uint64_t pad[7];
	uint64_t read;
	/* Nanoseconds that the thread waited for room. */
	uint64_t waited;
};

_Static_assert(sizeof(struct cpu_head) <= HEAD, "head");
_Static_assert(sizeof(struct page) == 32, "page");

#endif
