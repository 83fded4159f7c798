/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the page-table walk and its loader share: sizes and layouts. The Rust side gets the same
 * definitions from the object's BTF, through the generated skeleton. */
#ifndef PAGETIDE_WALK_H
#define PAGETIDE_WALK_H

#define MAX_REQUESTS 8192
#define MAX_ROWS 8192
#define MAX_NODES 8
#define MAX_RANGES 32
#define MAX_RAM 64
#define NODE_BITS 3	/* MAX_NODES in binary */
#define BITMAP_WORDS 8
/* Of more threads the CPUs are asked, if the kernel adds up the CPU time of the process. */
#define MANY_THREADS 64
#define MAX_THREADS (1 << 22)	/* as many as the kernel has process numbers */

/* A range of user addresses to look at, aligned to 4 KiB. */
struct walk_request {
	__u64 start;
	__u64 end;
};

/* What was found in the part of one request that lies in one 2 MiB region; regions with nothing
 * present have no row. Counts are base pages inside the request. */
struct walk_row {
	__u64 addr;	/* start of that part */
	__u64 ns;	/* CLOCK_MONOTONIC when it was read */
	__u32 request;	/* index of the request */
	__u16 present;
	__u16 accessed;
	__u16 dirty;
	__u8 level;	/* 1: 4 KiB pages, 2: a 2 MiB page, 3: part of a 1 GiB page */
	__u8 joined;	/* of 4 KiB pages: bit w where one folio may hold the pages around page 64 w */
	__u8 pad[4];
	__u16 node[MAX_NODES];	/* present pages per node range owner; only with several nodes */
};

/* Per row, if asked for: one bit per base page of the region (not of the request). */
struct walk_bits {
	__u64 present[BITMAP_WORDS];
	__u64 accessed[BITMAP_WORDS];
	__u64 dirty[BITMAP_WORDS];
	/* The number of the page's node range owner, a bit each; of base pages, and only with several nodes. */
	__u64 node[NODE_BITS][BITMAP_WORDS];
};

/* Physical page frames [start, next start) belong to slot `node`. */
struct node_range {
	__u64 start_pfn;
	__u32 node;
	__u32 pad;
};

/* Physical memory [start, end). */
struct ram_range {
	__u64 start;
	__u64 end;
};

enum walk_status {
	WALK_DONE = 0,
	WALK_MORE = 1,		/* rows full or cost limit: resume at next_request, next_addr */
	WALK_NO_TASK = 2,
	WALK_NO_MM = 3,		/* kernel thread or exiting */
};

#endif
