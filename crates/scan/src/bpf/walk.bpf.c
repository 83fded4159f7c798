// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reads accessed and dirty bits, page sizes and nodes of a process's pages from its page tables,
 * 4 and 5 levels, x86-64. Takes no lock of the process: page-table pages are copied by
 * bpf_probe_read_kernel. A table that was freed meanwhile may hold anything: what it is taken to
 * point to is only read where there is memory (struct ram_range), and what is reported of its
 * region (2 MiB, or up to 512 GiB below an upper table) is wrong until it is read again. */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "walk.h"

struct mm_struct {
	void *pgd;
} __attribute__((preserve_access_index));

struct sched_entity {
	__u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct list_head {
	struct list_head *next;
} __attribute__((preserve_access_index));

typedef struct {
	long long counter;
} __attribute__((preserve_access_index)) atomic64_t;

struct task_cputime_atomic {
	atomic64_t sum_exec_runtime;
} __attribute__((preserve_access_index));

struct thread_group_cputimer {
	struct task_cputime_atomic cputime_atomic;
} __attribute__((preserve_access_index));

struct posix_cputimers {
	unsigned int timers_active;
} __attribute__((preserve_access_index));

struct signal_struct {
	int nr_threads;
	struct list_head thread_head;
	unsigned long long sum_sched_runtime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct thread_group_cputimer cputimer;
	struct posix_cputimers posix_cputimers;
} __attribute__((preserve_access_index));

struct task_struct {
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct list_head thread_node;
	struct sched_entity se;
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct task_group *sched_task_group;
	int on_cpu;
	int tgid;
} __attribute__((preserve_access_index));

struct rq {
	__u64 nr_switches;
	struct task_struct *curr;
} __attribute__((preserve_access_index));

struct cfs_rq {
	struct rq *rq;
} __attribute__((preserve_access_index));

/* What each CPU does is found from here: not every kernel says where its variables lie. */
struct task_group {
	struct cfs_rq **cfs_rq;
} __attribute__((preserve_access_index));

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

#define PRESENT 0x001ULL
#define ACCESSED 0x020ULL
#define DIRTY 0x040ULL
/* Where the kernel keeps the dirty bit of a page that is not writable: together they would mark a
 * page of a shadow stack (_PAGE_SAVED_DIRTY, arch/x86/include/asm/pgtable_types.h, Linux 6.6). */
#define SAVED_DIRTY (1ULL << 58)
#define LEAF 0x080ULL		/* PSE: a page, not a table */
#define PROTNONE 0x100ULL	/* not present for the CPU, but resident: NUMA hint */
#define PAGE 4096ULL
#define HUGE (1ULL << 21)
#define GIANT (1ULL << 30)
#define NO_KEY (~0ULL)
#define NULL ((void *)0)
/* What one call may cost, in visits of a leaf or a hole: bounds the time without preemption. */
#define MAX_COST 4096
#define TABLE_COST 24
#define CLOCK_EVERY 8		/* leaves per reading of the clock */

/* Set by the loader before loading. */
const volatile __u64 frame_mask = 0x000ffffffffff000ULL;
const volatile __u32 levels = 4;
const volatile __u32 nr_cpus = 0;	/* possible ones */

/* Shared with the loader through mmap. */
__u64 direct_map = 0;
struct node_range ranges[MAX_RANGES];
__u32 nr_ranges = 0;
struct ram_range ram[MAX_RAM];
__u32 nr_ram = 0;
struct walk_request requests[MAX_REQUESTS];
struct walk_row rows[MAX_ROWS];
struct walk_bits bits[MAX_ROWS];
__u32 nr_requests = 0;
__u32 nr_rows = 0;
__u32 next_request = 0;
__u64 next_addr = 0;
__u32 status = 0;
__u32 want_bits = 0;
__u64 mm_id = 0;
__u64 exec_ns = 0;	/* CPU time of all threads, exact to their last switch or tick */
__u64 switches = 0;	/* how often they were switched in or out */
__u32 running = 0;	/* how many are on a CPU */
__u32 nr_threads = 0;
__u32 by_cpu = 0;	/* they were found so */

/* find_direct_map's input. */
__u64 magic_value = 0;
__u64 magic_phys = 0;

static __u64 pmd_table[512];
static __u64 pte_table[512];

/* Where the walk is. In map memory and not on the stack: the verifier would follow the stack's
 * exact values through every iteration. (Not static: clang would split it up.) */
struct cursor {
	__u64 addr;
	__u64 end;
	__u64 pgd;
	__u64 pmd_key;		/* addr >> 30 of the table in pmd_table */
	__u64 giant;		/* the 1 GiB leaf at pmd_key, or 0 */
	__u64 skip;		/* nothing is mapped below this address */
	__u64 ns;
	__u32 ns_age;
	__u32 cost;
	__u32 request;
	__u32 row;
} cursor;

/* Whether a page frame is memory. Global, so that the verifier looks into it once. */
__noinline int is_ram(__u64 phys)
{
	for (int i = 0; i < MAX_RAM; i++) {
		if (i >= nr_ram)
			break;
		if (phys >= ram[i].start && phys < ram[i].end)
			return 1;
	}
	return 0;
}

static __always_inline __u64 read_entry(__u64 table, __u64 index)
{
	__u64 entry = 0;

	bpf_probe_read_kernel(&entry, sizeof(entry), (void *)(table + index * 8));
	return entry;
}

/* Where the table that an entry names is mapped; 0, which cannot be read, if that is no memory. */
static __always_inline __u64 table_at(__u64 entry)
{
	return is_ram(entry & frame_mask) ? direct_map + (entry & frame_mask) : 0;
}

/* Descends to the PMD table of c->addr and copies it; on a hole, c->skip says where it ends. */
static __always_inline _Bool load_pmd_table(struct cursor *c)
{
	__u64 a = c->addr, table = c->pgd, entry;

	c->giant = 0;
	c->pmd_key = NO_KEY;
	if (levels == 5) {
		entry = read_entry(table, (a >> 48) & 511);
		if (!(entry & PRESENT)) {
			c->skip = ((a >> 48) + 1) << 48;
			return 0;
		}
		table = table_at(entry);
		if (!table) {
			c->skip = ((a >> 48) + 1) << 48;
			return 0;
		}
	}
	entry = read_entry(table, (a >> 39) & 511);
	if (!(entry & PRESENT)) {
		c->skip = ((a >> 39) + 1) << 39;
		return 0;
	}
	table = table_at(entry);
	if (!table) {
		c->skip = ((a >> 39) + 1) << 39;
		return 0;
	}
	entry = read_entry(table, (a >> 30) & 511);
	if (!(entry & (PRESENT | PROTNONE))) {
		c->skip = ((a >> 30) + 1) << 30;
		return 0;
	}
	if (entry & LEAF)
		c->giant = entry;
	else if (bpf_probe_read_kernel(pmd_table, PAGE, (void *)table_at(entry))) {
		c->skip = ((a >> 30) + 1) << 30;
		return 0;
	}
	c->pmd_key = a >> 30;
	return 1;
}

/* Ones in [from, to) of a word whose first bit is page `base`. */
static __always_inline __u64 span_mask(__u32 base, __u32 from, __u32 to)
{
	__u64 mask = ~0ULL;

	if (from > base)
		mask &= ~0ULL << ((from - base) & 63);
	if (to < base + 64)
		mask &= (1ULL << ((to - base) & 63)) - 1;
	return mask;
}

static __always_inline __u32 popcount(__u64 x)
{
	x -= (x >> 1) & 0x5555555555555555ULL;
	x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (x * 0x0101010101010101ULL) >> 56;
}

/* The frame of an entry that maps something. Where the CPU may not follow it, all its bits are stored inverted
 * (arch/x86/include/asm/pgtable-invert.h). */
static __always_inline __u64 frame_of(__u64 entry)
{
	return ((entry & PRESENT ? entry : ~entry) & frame_mask) >> 12;
}

static __always_inline __u32 node_of(__u64 entry)
{
	__u64 pfn = frame_of(entry);
	__u32 node = 0;

	for (int i = 0; i < MAX_RANGES; i++) {
		if (i >= nr_ranges)
			break;
		if (pfn >= ranges[i].start_pfn)
			node = ranges[i].node;
	}
	return node & (MAX_NODES - 1);
}

struct node_walk {
	struct walk_row *row;
	struct walk_bits *bit;
	__u32 from;
};

static long count_node(__u64 i, struct node_walk *walk)
{
	__u32 at = (walk->from + i) & 511, node;
	__u64 entry = pte_table[at];

	if (!(entry & (PRESENT | PROTNONE)))
		return 0;
	node = node_of(entry);
	walk->row->node[node]++;
	if (want_bits)
		for (int i = 0; i < NODE_BITS; i++)
			if (node >> i & 1)
				walk->bit->node[i][at / 64] |= 1ULL << (at % 64);
	return 0;
}

/* What 64 entries of pte_table say, a bit each. (Not static, as the cursor.) */
struct word {
	__u64 present;
	__u64 accessed;
	__u64 dirty;
} word;

/* Reads one word of them. Global, so that the verifier looks into it once: in each turn of its caller's loop it took a
 * fifth of a second. */
__noinline int read_word(__u32 w)
{
	__u64 present = 0, accessed = 0, dirty = 0;
	__u32 base = (w & (BITMAP_WORDS - 1)) * 64;

#pragma clang loop unroll(full)
	for (int i = 0; i < 64; i++) {
		__u64 e = pte_table[base + i];

		present |= ((e | (e >> 8)) & 1) << i;
		accessed |= ((e >> 5) & 1) << i;
		dirty |= (((e >> 6) | (e >> 58)) & 1) << i;
		/* Keeps the compiler from loading all 64 entries first, which spills. */
		barrier_var(present);
		barrier_var(accessed);
		barrier_var(dirty);
	}
	word.present = present;
	word.accessed = accessed;
	word.dirty = dirty;
	return 0;
}

/* At which multiples of 64 pages a folio may go on: its frames follow each other, and begin where folios so large do. */
static __always_inline __u8 joined(void)
{
	__u8 joined = 0;

#pragma clang loop unroll(full)
	for (int w = 1; w < BITMAP_WORDS; w++) {
		__u64 before = pte_table[64 * w - 1], after = pte_table[64 * w];
		__u64 frame = frame_of(after);

		if ((before & (PRESENT | PROTNONE)) && (after & (PRESENT | PROTNONE)) && !(frame & 63) &&
		    frame == frame_of(before) + 1)
			joined |= 1 << w;
	}
	return joined;
}

/* One region mapped by a table of base pages, into the row of that number. Global like what reads a leaf: see
 * read_word. */
__noinline int read_base_pages(__u32 number, __u64 entry, __u32 from, __u32 to)
{
	struct walk_row *row = &rows[number & (MAX_ROWS - 1)];
	struct walk_bits *bit = &bits[number & (MAX_ROWS - 1)];
	__u32 n_present = 0, n_accessed = 0, n_dirty = 0;

	if (from > to || to > 512)
		return 0;
	if (bpf_probe_read_kernel(pte_table, PAGE, (void *)table_at(entry)))
		return 0;
#pragma clang loop unroll(disable)
	for (__u32 w = 0; w < BITMAP_WORDS; w++) {
		__u32 base = w * 64;
		__u64 mask;

		if (base + 64 <= from || base >= to)
			continue;
		read_word(w);
		mask = span_mask(base, from, to) & word.present;
		n_present += popcount(mask);
		n_accessed += popcount(word.accessed & mask);
		n_dirty += popcount(word.dirty & mask);
		if (want_bits) {
			bit->present[w] = mask;
			bit->accessed[w] = word.accessed & mask;
			bit->dirty[w] = word.dirty & mask;
		}
	}
	row->present = n_present;
	row->accessed = n_accessed;
	row->dirty = n_dirty;
	row->level = 1;
	row->joined = joined();
	if (nr_ranges) {
		struct node_walk walk = { .row = row, .bit = bit, .from = from };

		bpf_loop(to - from, count_node, &walk, 0);
	}
	return 0;
}

__noinline int read_leaf(__u32 number, __u64 entry, __u32 from, __u32 to, __u8 level)
{
	struct walk_row *row = &rows[number & (MAX_ROWS - 1)];
	struct walk_bits *bit = &bits[number & (MAX_ROWS - 1)];
	__u32 pages = to - from;

	row->present = pages;
	row->accessed = entry & ACCESSED ? pages : 0;
	row->dirty = entry & (DIRTY | SAVED_DIRTY) ? pages : 0;
	row->level = level;
	if (nr_ranges)
		row->node[node_of(entry)] = pages;
	if (want_bits)
#pragma clang loop unroll(disable)
		for (__u32 w = 0; w < BITMAP_WORDS; w++) {
			__u32 base = w * 64;

			if (base + 64 <= from || base >= to)
				continue;
			bit->present[w] = span_mask(base, from, to);
			bit->accessed[w] = entry & ACCESSED ? bit->present[w] : 0;
			bit->dirty[w] = entry & (DIRTY | SAVED_DIRTY) ? bit->present[w] : 0;
		}
	return 0;
}

static long step(__u64 i, void *unused)
{
	struct cursor *c = &cursor;
	__u64 a, region_end, entry;
	struct walk_row *row;
	struct walk_bits *bit;
	__u32 from, to;

	if (c->cost++ >= MAX_COST)
		return 1;
	if (c->addr >= c->end) {
		__u32 next = c->request + 1;

		if (next >= nr_requests || next >= MAX_REQUESTS) {
			c->request = next;
			return 1;
		}
		c->request = next;
		barrier_var(next);
		c->addr = requests[next & (MAX_REQUESTS - 1)].start;
		c->end = requests[next & (MAX_REQUESTS - 1)].end;
		if (c->addr >= c->end)
			return 0;
	}
	a = c->addr;
	if (a < c->skip) {
		c->addr = c->skip;
		return 0;
	}
	if (a >> 30 != c->pmd_key && !load_pmd_table(c)) {
		c->addr = c->skip;
		return 0;
	}
	region_end = (a | (HUGE - 1)) + 1;
	if (region_end > c->end)
		region_end = c->end;
	c->addr = region_end;
	entry = c->giant ? c->giant : pmd_table[(a >> 21) & 511];
	if (!(entry & (PRESENT | PROTNONE | LEAF)))
		return 0;

	if (c->row >= MAX_ROWS) {
		c->addr = a;
		return 1;
	}
	row = &rows[c->row & (MAX_ROWS - 1)];
	bit = &bits[c->row & (MAX_ROWS - 1)];
	__builtin_memset(row, 0, sizeof(*row));
	if (want_bits)
		__builtin_memset(bit, 0, sizeof(*bit));
	from = (a >> 12) & 511;
	to = from + ((region_end - a) >> 12);
	if (to > 512)
		return 0;
	row->addr = a;
	row->request = c->request;
	if (!(entry & LEAF) || c->ns_age++ >= CLOCK_EVERY) {
		c->ns = bpf_ktime_get_ns();
		c->ns_age = 0;
	}
	row->ns = c->ns;
	if (c->giant)
		read_leaf(c->row, entry, from, to, 3);
	else if (entry & LEAF)
		read_leaf(c->row, entry, from, to, 2);
	else if (entry & PRESENT) {
		read_base_pages(c->row, entry, from, to);
		c->cost += TABLE_COST;
	}
	if (row->present)
		c->row++;
	return 0;
}

static __always_inline void walk(struct mm_struct *mm)
{
	__u32 first = next_request;
	struct cursor *c = &cursor;

	nr_rows = 0;
	if (!mm) {
		status = WALK_NO_MM;
		return;
	}
	mm_id = (__u64)mm;
	if (first >= MAX_REQUESTS || !nr_requests) {
		status = WALK_DONE;
		return;
	}
	barrier_var(first);
	c->pgd = (__u64)BPF_CORE_READ(mm, pgd);
	c->pmd_key = NO_KEY;
	c->skip = 0;
	c->row = 0;
	c->cost = 0;
	c->ns_age = CLOCK_EVERY;
	c->request = first;
	c->addr = next_addr ? next_addr : requests[first & (MAX_REQUESTS - 1)].start;
	c->end = requests[first & (MAX_REQUESTS - 1)].end;
	bpf_loop(MAX_COST + 1, step, NULL, 0);
	nr_rows = c->row;
	next_request = c->request;
	next_addr = c->addr;
	status = c->request >= nr_requests ? WALK_DONE : WALK_MORE;
}

struct threads {
	struct list_head *head;
	struct list_head *at;
	struct mm_struct *mm;
	struct cfs_rq **cpus;
	int tgid;
};

/* One thread of the list, which the iterator's RCU lock keeps. */
static long add_thread(__u64 i, struct threads *threads)
{
	struct task_struct *task;
	struct list_head *at = threads->at;

	if (!at || at == threads->head)
		return 1;
	task = (void *)at - bpf_core_field_offset(struct task_struct, thread_node);
	exec_ns += BPF_CORE_READ(task, se.sum_exec_runtime);
	switches += BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
	running += BPF_CORE_READ(task, on_cpu) != 0;
	if (!threads->mm)
		threads->mm = BPF_CORE_READ(task, mm);
	threads->at = BPF_CORE_READ(at, next);
	return 0;
}

/* The first thread that still has the memory: the leader may have ended. */
static long find_memory(__u64 i, struct threads *threads)
{
	struct task_struct *task;
	struct list_head *at = threads->at;

	if (!at || at == threads->head || threads->mm)
		return 1;
	task = (void *)at - bpf_core_field_offset(struct task_struct, thread_node);
	threads->mm = BPF_CORE_READ(task, mm);
	threads->at = BPF_CORE_READ(at, next);
	return 0;
}

/* One CPU. `switches` becomes a number that stays while the same CPUs run the process, without a
 * switch. */
static long add_cpu(__u64 cpu, struct threads *threads)
{
	struct cfs_rq *of_cpu = NULL;
	struct task_struct *task;
	struct rq *rq;

	if (bpf_probe_read_kernel(&of_cpu, sizeof(of_cpu), threads->cpus + cpu))
		return 1;
	rq = BPF_CORE_READ(of_cpu, rq);
	task = BPF_CORE_READ(rq, curr);
	if (BPF_CORE_READ(task, tgid) != threads->tgid)
		return 0;
	running++;
	switches += (BPF_CORE_READ(rq, nr_switches) + 1) * (2 * cpu + 1) * 0x9e3779b97f4a7c15ULL;
	return 0;
}

/* Called for the leader of the process: walks its memory, and says what its threads do. */
SEC("iter/task")
int walk_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct signal_struct *signal;
	struct threads threads = {};

	if (!task)
		return 0;
	signal = task->signal;
	threads.tgid = task->tgid;
	threads.head = (void *)signal + bpf_core_field_offset(struct signal_struct, thread_head);
	threads.at = BPF_CORE_READ(signal, thread_head.next);
	nr_threads = BPF_CORE_READ(signal, nr_threads);
	if (bpf_core_field_exists(struct task_group, cfs_rq))
		threads.cpus = BPF_CORE_READ(task, sched_task_group, cfs_rq);
	if (nr_threads > MANY_THREADS && threads.cpus && nr_cpus &&
	    BPF_CORE_READ(signal, posix_cputimers.timers_active)) {
		exec_ns = BPF_CORE_READ(signal, cputimer.cputime_atomic.sum_exec_runtime.counter);
		by_cpu = 1;
		bpf_loop(nr_cpus, add_cpu, &threads, 0);
		bpf_loop(MAX_THREADS, find_memory, &threads, 0);
	} else {
		exec_ns = BPF_CORE_READ(signal, sum_sched_runtime);
		switches = BPF_CORE_READ(signal, nvcsw) + BPF_CORE_READ(signal, nivcsw);
		by_cpu = 0;
		bpf_loop(MAX_THREADS, add_thread, &threads, 0);
	}
	walk(threads.mm);
	return 0;
}

/* The direct map starts at a random multiple of 1 GiB below any page table: try the candidates
 * until one shows the loader's own page. */
static long try_base(__u64 i, __u64 *pgd)
{
	__u64 base = (*pgd & ~(GIANT - 1)) - i * GIANT, value = 0;

	/* Were it the base, our page table would have to lie in memory. */
	if (!is_ram(*pgd - base))
		return 0;
	if (!bpf_probe_read_kernel(&value, sizeof(value), (void *)(base + magic_phys)) &&
	    value == magic_value) {
		direct_map = base;
		return 1;
	}
	return 0;
}

SEC("syscall")
int find_direct_map(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 pgd = (__u64)BPF_CORE_READ(task, mm, pgd);

	bpf_loop(1 << 17, try_base, &pgd, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
