/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A plugin for QEMU's user mode that counts a program's memory accesses by base page and thread:
 * all of them, those that miss a model of the caches, of these the leads (leads.h), and the lines
 * that the caches write back. It writes into memory that it shares with the recorder (shared.h)
 * and never stops for it, but for a moment when a process ends or executes another program.
 *
 * Each thread has caches of its own. In front stands a filter, one place for each line as in a
 * direct-mapped first-level cache of FILTER lines: nearly all accesses are done with after one
 * comparison. What it lets through goes to the cache (cache.h). A line that the filter holds does
 * not age there.
 *
 * The filter tells the cache of the first store to a line, and of no other; the cache writes the
 * line back when it lets go of it. A line that the cache let go of while it was clean is written
 * back at its first store. So it is at most once per miss.
 *
 * Arguments: folder=PATH, recorder=PID (who is waited for, if given), sets=N, ways=N (0: no caches, every access misses),
 * stream=1 (write the accesses, too). `folder` also holds `emulator` and `option`: QEMU's path and
 * its -plugin option, with which programs that are executed go on being counted (execute.h).
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cache.h"
#include "execute.h"
#include "files.h"
#include "leads.h"
#include "pages.h"
#include "qemu.h"
#include "shared.h"
#include "stream.h"

#define EXPORT __attribute__((visibility("default")))
#define unlikely(condition) __builtin_expect(condition, 0)
/* Threads at a time; more share. */
#define MAX_CPUS 8192
#define SYS_BRK 12
#define SYS_EXECVE 59
#define SYS_EXECVEAT 322
#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION 1
#endif

EXPORT int qemu_plugin_version = PLUGIN_VERSION;

struct cpu {
	struct cpu_head *head;
	struct pages pages;
	struct cache cache;
	struct leads leads;
	struct stream stream;
};

/* Of a thread that was not met yet: nothing is in its filter. */
static struct cpu_head blank;
/* By the thread's number. */
static struct cpu_head *heads[MAX_CPUS];
static struct cpu *cpus[MAX_CPUS];

static struct {
	pthread_mutex_t lock;
	struct process *process;
	int recorder;
	uint64_t sets;
	unsigned int ways;
	bool stream;
} exact = { .lock = PTHREAD_MUTEX_INITIALIZER, .ways = 16, .sets = 2048 };

static bool start_stream(struct stream *stream, unsigned int number)
{
	char name[32];

	snprintf(name, sizeof name, "%u.ring", number);
	stream->head = shared_file(name, 4096 + (uint64_t)RING * sizeof *stream->records);
	stream->records = (uint64_t *)((char *)stream->head + 4096);
	return stream->head != NULL;
}

static struct cpu *make_cpu(unsigned int number)
{
	char name[32];
	struct cpu *cpu = calloc(1, sizeof *cpu);

	snprintf(name, sizeof name, "%u.cpu", number);
	if (!cpu || (exact.ways && !cache_init(&cpu->cache, exact.sets, exact.ways)))
		return NULL;
	/* The ring first: who sees the other file finds it. */
	if (exact.stream && !start_stream(&cpu->stream, number))
		return NULL;
	cpu->head = shared_file(name, HEAD + (uint64_t)MAX_PAGES * sizeof(struct page));
	if (!cpu->head || !pages_init(&cpu->pages, (struct page *)((char *)cpu->head + HEAD)))
		return NULL;
	memset(cpu->head->filter, 0xff, sizeof cpu->head->filter);
	for (unsigned int i = 0; i < FILTER; i++)
		cpu->head->filter[i].hits = 0;
	return cpu;
}

/* The thread's state, made when it is first met; NULL: it cannot be, which is counted once. */
static struct cpu *cpu_of(unsigned int number)
{
	pthread_mutex_lock(&exact.lock);
	struct cpu *cpu = cpus[number];

	if (!cpu) {
		cpu = make_cpu(number);
		if (cpu) {
			cpus[number] = cpu;
			heads[number] = cpu->head;
		} else if (!exact.process->uncounted++) {
			fprintf(stderr, "pagetide: a thread of process %d cannot be counted: "
				"its files cannot be made\n", self.pid);
		}
	}
	pthread_mutex_unlock(&exact.lock);
	return cpu;
}

/* Where QEMU says that an access writes. What it says is compared with what a call to it says; where
 * they differ (another version), all bits: every access may write, and is asked about. */
static uint32_t store_bits = 1 << 17;

/* Takes a line out of the filter. */
static void evict(struct cpu *cpu, unsigned int place)
{
	struct entry *entry = &cpu->head->filter[place];
	uint32_t page = cpu->head->filter_page[place];

	if (entry->key == UINT64_MAX)
		return;
	cpu->pages.table[page].accesses += entry->hits;
}

/* The line's page may be unmapped by now: its place in the table stays its own. */
static void write_back(struct cpu *cpu, uint64_t line)
{
	cpu->pages.table[line >> 6].writes++;
	if (cpu->stream.head)
		stream_access(&cpu->stream, WRITE_BACK, line, cpu->stream.last, exact.recorder);
}

/* The first store to a line that the filter holds and that was clean when it came in. */
static void written(struct cpu *cpu, uint64_t address, uint32_t page)
{
	uint64_t line = (uint64_t)page << 6 | (address >> LINE_SHIFT & 63);

	cpu->pages.table[page].dirty = 1;
	/* The cache has let go of it already, and will not write it back. */
	if (!cache_written(&cpu->cache, address, line))
		write_back(cpu, line);
}

static void missed(struct cpu *cpu, uint64_t address, uint64_t line, bool store, uint64_t at)
{
	struct page *page = &cpu->pages.table[line >> 6];

	page->misses++;
	page->leads += leads(&cpu->leads, address >> LINE_SHIFT);
	if (cpu->stream.head)
		stream_access(&cpu->stream, store ? WRITE : READ, line, cpu->stream.block + at,
			      exact.recorder);
}

/* An access to one line, of any kind. It counts as `accesses`. */
static __attribute__((noinline)) void passed(unsigned int number, qemu_plugin_meminfo_t info,
					     uint64_t address, uint64_t accesses, uint64_t at)
{
	bool store = qemu_plugin_mem_is_store(info);
	struct cpu *cpu = cpus[number] ? cpus[number] : cpu_of(number);
	unsigned int place = address >> LINE_SHIFT & (FILTER - 1);
	uint64_t key = address >> LINE_SHIFT << 1, evicted = 0;

	if (!cpu)
		return;
	if (unlikely(store != !!(info & store_bits)))
		store_bits = UINT32_MAX;
	struct entry *entry = &cpu->head->filter[place];
	if (store && !exact.process->stack)
		exact.process->stack = address;
	if ((entry->key | 1) == (key | 1)) {
		entry->hits += accesses;
		if (store && !(entry->key & 1)) {
			entry->key |= 1;
			written(cpu, address, cpu->head->filter_page[place]);
		}
		return;
	}
	uint32_t page = pages_find(&cpu->pages, address >> 12, cpu->head);
	if (page == NO_PAGE) {
		cpu->head->lost++;
		return;
	}
	uint64_t line = (uint64_t)page << 6 | (address >> LINE_SHIFT & 63);
	cpu->pages.table[page].dirty |= store;
	if (!exact.ways) {
		cpu->pages.table[page].accesses += accesses;
		cpu->pages.table[page].writes += store;
		missed(cpu, address, line, store, at);
		return;
	}
	evict(cpu, place);
	cpu->head->filter_page[place] = page;
	entry->hits = accesses;
	bool dirty = store, there = cache_access(&cpu->cache, address, line, &dirty, &evicted);
	/* Of a line that is dirty already stores need not be told. */
	entry->key = key | dirty;
	if (there)
		return;
	missed(cpu, address, line, store, at);
	if (evicted & 1)
		write_back(cpu, (evicted >> 1) - 1);
}

/* One that may reach into the next line: it is one access, and looks up both lines. */
static __attribute__((noinline)) void at_edge(unsigned int number, qemu_plugin_meminfo_t info,
					      uint64_t address, uint64_t at)
{
	uint64_t last = address + (1u << qemu_plugin_mem_size_shift(info)) - 1;

	passed(number, info, address, 1, at);
	if (address >> LINE_SHIFT != last >> LINE_SHIFT)
		passed(number, info, last, 0, at);
}

/* Nearly all accesses end here: it calls nothing that it does not end with, and needs no frame. */
static void on_access(unsigned int number, qemu_plugin_meminfo_t info, uint64_t address, void *at)
{
	number &= MAX_CPUS - 1;
	struct entry *entry = &heads[number]->filter[address >> LINE_SHIFT & (FILTER - 1)];
	uint64_t written = address >> LINE_SHIFT << 1 | 1;

	if (unlikely((address & 63) > 56))
		at_edge(number, info, address, (uintptr_t)at);
	else if (entry->key == written || ((entry->key | 1) == written && !(info & store_bits)))
		entry->hits++;
	else
		passed(number, info, address, 1, (uintptr_t)at);
}

/* A block of `count` instructions begins. */
static void on_block(unsigned int number, void *count)
{
	number &= MAX_CPUS - 1;
	struct cpu *cpu = cpus[number] ? cpus[number] : cpu_of(number);

	if (!cpu)
		return;
	cpu->stream.block = cpu->stream.block_end;
	cpu->stream.block_end += (uintptr_t)count;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);

	(void)id;
	if (exact.stream)
		qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
						     (void *)count);
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);

		/* QEMU 7.2 mixes up reads and writes where only one of them is asked for. */
		qemu_plugin_register_vcpu_mem_cb(instruction, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, (void *)i);
	}
}

/* Lets the recorder look at the memory once more before it goes. */
static void wait_for_recorder(uint32_t state)
{
	struct process *process = exact.process;

	if (!exact.recorder)
		return;
	for (unsigned int i = 0; i < MAX_CPUS; i++)
		if (cpus[i] && cpus[i]->stream.head)
			__atomic_store_n(&cpus[i]->stream.head->written,
					 cpus[i]->stream.written, __ATOMIC_RELEASE);
	__atomic_store_n(&process->state, state, __ATOMIC_RELAXED);
	uint32_t waits = __atomic_add_fetch(&process->waits, 1, __ATOMIC_RELEASE);
	for (unsigned int i = 1; __atomic_load_n(&process->released, __ATOMIC_ACQUIRE) != waits; i++) {
		usleep(200);
		if (__atomic_load_n(&process->detached, __ATOMIC_RELAXED) ||
		    (i % 256 == 0 && !alive(exact.recorder)))
			return;
	}
	__atomic_store_n(&process->state, RUNS, __ATOMIC_RELAXED);
}

static void on_exit_of_program(qemu_plugin_id_t id, void *none)
{
	(void)id;
	(void)none;
	wait_for_recorder(ENDS);
}

static void on_syscall(qemu_plugin_id_t id, unsigned int number, int64_t call, uint64_t a,
		       uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
		       uint64_t h)
{
	(void)id, (void)number, (void)d, (void)e, (void)f, (void)g, (void)h;
	if (call != SYS_EXECVE && call != SYS_EXECVEAT)
		return;
	wait_for_recorder(EXECUTES);
	/* Guest addresses are ours. */
	if (call == SYS_EXECVE)
		execute((const char *)a, (char **)b, (char **)c);
	/* It goes on without us, unless it cannot be executed. */
	exact.process->strangers++;
}

static void on_syscall_result(qemu_plugin_id_t id, unsigned int number, int64_t call,
			      int64_t result)
{
	(void)id, (void)number;
	if (call == SYS_EXECVE || call == SYS_EXECVEAT)
		exact.process->strangers--;
	if (call != SYS_BRK || result <= 0)
		return;
	if (!exact.process->brk_start)
		exact.process->brk_start = (uint64_t)result;
	exact.process->brk_end = (uint64_t)result;
}

/* Tells the recorder of this process. */
static bool start_process(const struct process *parent, uint64_t parent_start)
{
	name_self();
	struct process *process = shared_file("process", 4096);

	if (!process)
		return false;
	if (parent) {
		*process = (struct process){ .parent = parent->pid, .parent_start = parent_start,
					     .brk_start = parent->brk_start,
					     .brk_end = parent->brk_end, .stack = parent->stack };
	}
	__atomic_store_n(&process->pid, self.pid, __ATOMIC_RELEASE);
	exact.process = process;
	return true;
}

/* After fork, in the child: its counters are its own, and its caches empty. What was its parent's
 * stays mapped and is not used again. */
static void on_fork(void)
{
	static struct process nowhere;

	pthread_mutex_init(&exact.lock, NULL);
	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		heads[i] = &blank;
		cpus[i] = NULL;
	}
	if (!start_process(exact.process, self.start)) {
		exact.process->uncounted++;
		nowhere.stack = nowhere.detached = 1;
		exact.process = &nowhere;
	}
}

static bool take_argument(char *argument)
{
	char *value = strchr(argument, '=');

	if (!value)
		return false;
	*value++ = 0;
	if (!strcmp(argument, "folder"))
		return (self.folder = strdup(value));
	if (!strcmp(argument, "recorder"))
		return (exact.recorder = atoi(value));
	if (!strcmp(argument, "sets"))
		return (exact.sets = strtoull(value, NULL, 10));
	if (!strcmp(argument, "ways")) {
		exact.ways = (unsigned int)strtoul(value, NULL, 10);
		return exact.ways <= MAX_WAYS;
	}
	if (strcmp(argument, "stream"))
		return false;
	exact.stream = *value == '1';
	return true;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!take_argument(argv[i])) {
			fprintf(stderr, "pagetide: the plugin does not know '%s'\n", argv[i]);
			return 1;
		}
	}
	if (!self.folder || info->system_emulation || (exact.sets & (exact.sets - 1))) {
		fprintf(stderr, "pagetide: the plugin needs a folder and a program\n");
		return 1;
	}
	memset(blank.filter, 0xff, sizeof blank.filter);
	for (unsigned int i = 0; i < MAX_CPUS; i++)
		heads[i] = &blank;
	read_emulator(self.folder);
	if (!start_process(NULL, 0)) {
		fprintf(stderr, "pagetide: process %d cannot be counted: no file can be made in %s\n",
			getpid(), self.folder);
		return 1;
	}
	pthread_atfork(NULL, NULL, on_fork);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_result);
	qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
	return 0;
}
