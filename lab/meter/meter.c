/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A plugin for QEMU that counts the guest's memory accesses that miss a model of the caches, by
 * node, by unit of memory and by interval; with machine times it also makes them felt (felt.h).
 * The guest's software cannot influence it. docs/lab.md describes its files and marks.
 *
 * Arguments: out=FILE, interval_ms=N, units=FILE, units_every=INTERVALS, base_units=1 (units are
 * base pages, not 2 MiB), cache=BYTES (per vCPU), instruction_ns=N (the guest's clock goes by its
 * instructions, as QEMU's -icount has it, and so do the intervals), free_percent=N and
 * kernel_free_percent=N (of one vCPU's instructions so many take no time, of programs and of the kernel),
 * node=NUMBER:START:SIZE (where the node's memory lies in what
 * qemu_plugin_hwaddr_phys_addr returns; several), felt=FILE (of times, read when it appears).
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "felt.h"
#include "leads.h"
#include "qemu.h"
#include "ram.h"
#include "table.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX_CPUS 64
#define MAX_RANGES 32
/* A guest's program marks an interval with a store to this page; the offset is the mark. */
#define MARK_PAGE 0x6d61726b0000u

EXPORT int qemu_plugin_version = 1;

struct cpu {
	struct cache cache;
	struct table table;
	struct felt_cpu felt;
	struct leads leads;
	/* What was read of the units before. */
	uint64_t (*units_before)[4];
};

static struct {
	struct cpu *cpus[MAX_CPUS];
	int cpu_count;
	struct { unsigned int node; uint64_t start, size; } ranges[MAX_RANGES];
	int range_count;
	struct felt felt;

	/* Of the output; under the lock. */
	pthread_mutex_t lock;
	FILE *out, *units;
	struct unit_size unit_size;
	const char *felt_path;
	int64_t started;
	unsigned int mark, interval_ms, units_every, interval;
	/* By instructions; one vCPU runs at a time then. */
	int64_t interval_ends_ns;
	/* Of those of one vCPU so many in a hundred are given back, [of the kernel] too, to it; hundredths that are still to be. */
	unsigned int free_percent[2];
	void *first;
	uint64_t owed_back;
	uint64_t before[NODES + 1][2][2];
} meter = { .lock = PTHREAD_MUTEX_INITIALIZER, .interval_ms = 100, .units_every = 10,
	    .unit_size = HUGE_UNITS };

static unsigned int node_of(uint64_t address)
{
	for (int i = 0; i < meter.range_count; i++)
		if (address - meter.ranges[i].start < meter.ranges[i].size)
			return meter.ranges[i].node;
	return ELSEWHERE;
}

/* Rows of the nodes: what was counted since the rows before. */
static void write_nodes(double seconds)
{
	for (unsigned int node = 0; node <= NODES; node++) {
		uint64_t since[2][2], any = 0;

		for (int i = 0; i < 4; i++) {
			uint64_t sum = 0, *before = &meter.before[node][i / 2][i % 2];

			for (int cpu = 0; cpu < meter.cpu_count; cpu++)
				sum += value_of(&meter.cpus[cpu]->table.nodes[node].misses[i / 2][i % 2]);
			since[i / 2][i % 2] = sum - *before;
			any |= sum - *before;
			*before = sum;
		}
		if (any)
			fprintf(meter.out, "%.6f,%u,%d,%lu,%lu,%lu,%lu\n", seconds, meter.mark,
				node == ELSEWHERE ? -1 : (int)node, since[0][0], since[0][1],
				since[1][0], since[1][1]);
	}
	fflush(meter.out);
}

/* Rows of the units, each vCPU's by themselves. */
static void write_units(double seconds)
{
	for (int i = 0; i < meter.cpu_count; i++) {
		struct cpu *cpu = meter.cpus[i];

		for (uint64_t at = 0; at < units_of(meter.unit_size); at++) {
			struct unit *unit = &cpu->table.units[at];
			uint64_t key = atomic_load_explicit(&unit->key, memory_order_acquire);

			if (!key)
				continue;
			uint64_t reads = value_of(&unit->misses[0]), writes = value_of(&unit->misses[1]);
			uint64_t leads = value_of(&unit->leads), touches = value_of(&unit->touches);
			uint64_t *before = cpu->units_before[at];
			if (reads == before[0] && writes == before[1])
				continue;
			unsigned int node = key & 0x7f;
			fprintf(meter.units, "%.6f,%u,%#lx,%d,%lu,%lu,%lu,%lu\n", seconds, meter.mark,
				key >> 8 << meter.unit_size.shift, node == ELSEWHERE ? -1 : (int)node,
				reads - before[0], writes - before[1], leads - before[2],
				touches - before[3]);
			before[0] = reads;
			before[1] = writes;
			before[2] = leads;
			before[3] = touches;
		}
		if (value_of(&cpu->table.lost))
			fprintf(meter.units, "# %lu misses of vCPU %d found no room\n",
				value_of(&cpu->table.lost), i);
	}
	fflush(meter.units);
}

/* Since QEMU started; without what a guest was idle, where time goes by instructions. */
static int64_t elapsed_ns(void)
{
	return meter.felt.instruction_ns ? guest_now_ns(&meter.felt) : now_ns() - meter.started;
}

static void write_rows(bool units)
{
	double seconds = (double)elapsed_ns() / 1e9;

	write_nodes(seconds);
	if (units && meter.units)
		write_units(seconds);
}

/* Reads the times when they are there, and removes the file: the lab waits for that. Lines:
 * "own NS", then, by vCPU and node, "CPU NODE READ_NS WRITE_NS READ_LINE_NS WRITE_LINE_NS
 * OUTSTANDING", in the guest's time. */
static void look_for_times(void)
{
	FILE *file = meter.felt_path ? fopen(meter.felt_path, "r") : NULL;
	struct felt_times times;
	int number;
	unsigned int node;

	if (!file)
		return;
	if (fscanf(file, "own %lf", &meter.felt.own_ns) != 1)
		meter.felt.own_ns = 0;
	while (fscanf(file, "%d %u %lf %lf %lf %lf %u", &number, &node, &times.latency_ns[0],
		      &times.latency_ns[1], &times.line_ns[0], &times.line_ns[1],
		      &times.outstanding) == 7)
		if (number < meter.cpu_count && node < NODES &&
		    times.outstanding <= MOST_OUTSTANDING) {
			meter.cpus[number]->felt.times[node] = times;
			if (meter.felt.instruction_ns)
				meter.cpus[number]->felt.cpu = qemu_get_cpu(number);
		}
	fclose(file);
	unlink(meter.felt_path);
}

static void end_interval(void)
{
	pthread_mutex_lock(&meter.lock);
	write_rows(++meter.interval % meter.units_every == 0);
	look_for_times();
	pthread_mutex_unlock(&meter.lock);
}

/* Ends an interval when so many instructions have been run; without instruction_ns a thread does. */
static void count_interval(void)
{
	if (elapsed_ns() < meter.interval_ends_ns)
		return;
	end_interval();
	meter.interval_ends_ns += (int64_t)meter.interval_ms * 1000000;
}

/* The guest says where an interval ends: what comes next is counted under this mark, on this
 * vCPU with empty caches. */
static void set_mark(struct cpu *cpu, unsigned int mark)
{
	pthread_mutex_lock(&meter.lock);
	write_rows(true);
	meter.mark = mark;
	cache_flush(&cpu->cache);
	pthread_mutex_unlock(&meter.lock);
}

/* Whether this miss is the first of a touch of its page: no other is among the last. Before leads(). */
static bool touches(const struct leads *leads, uint64_t vaddr)
{
	for (unsigned int i = 0; i < RECENT; i++)
		if (leads->recent[i] >> (12 - LINE_SHIFT) == vaddr >> 12)
			return false;
	return true;
}

/* The eight bytes that a load finds there, or the last ones of its line. */
static uint64_t value_at(const struct qemu_plugin_hwaddr *hwaddr, uint64_t vaddr)
{
	uint64_t in_line = vaddr & ((1 << LINE_SHIFT) - 1), most = (1 << LINE_SHIFT) - sizeof in_line, value;
	const char *bytes = host_address(hwaddr);

	memcpy(&value, in_line > most ? bytes - (in_line - most) : bytes, sizeof value);
	return value;
}

static void missed_filter(struct cpu *cpu, qemu_plugin_meminfo_t info, uint64_t vaddr)
{
	bool store = qemu_plugin_mem_is_store(info);

	if (meter.felt.instruction_ns)
		count_interval();
	if (vaddr >> 12 == MARK_PAGE >> 12) {
		if (store)
			set_mark(cpu, vaddr & 0xfff);
		return;
	}
	cpu->cache.filter[vaddr >> LINE_SHIFT & (FILTER - 1)] = vaddr >> LINE_SHIFT;

	struct qemu_plugin_hwaddr *hwaddr = qemu_plugin_get_hwaddr(info, vaddr);
	if (!hwaddr || qemu_plugin_hwaddr_is_io(hwaddr))
		return;
	uint64_t address = qemu_plugin_hwaddr_phys_addr(hwaddr);
	if (cache_access(&cpu->cache, address >> LINE_SHIFT))
		return;

	unsigned int node = node_of(address);
	bool kernel = vaddr >> 63;
	count(&cpu->table.nodes[node].misses[kernel][store]);
	if (meter.units && !kernel) {
		bool touch = touches(&cpu->leads, vaddr);
		bool lead = leads(&cpu->leads, vaddr >> LINE_SHIFT);

		count_unit(&cpu->table, vaddr, node, store, touch, lead);
	}
	if (cpu->felt.cpu)
		feel(&meter.felt, &cpu->felt, node, vaddr, store, store ? 0 : value_at(hwaddr, vaddr));
	else if (meter.felt_path && !meter.felt.instruction_ns)
		feel(&meter.felt, &cpu->felt, node, vaddr, store, 0);
}

static void on_access(unsigned int number, qemu_plugin_meminfo_t info, uint64_t vaddr, void *none)
{
	struct cpu *cpu = meter.cpus[number];

	(void)none;
	if (cpu->cache.filter[vaddr >> LINE_SHIFT & (FILTER - 1)] != vaddr >> LINE_SHIFT)
		missed_filter(cpu, info, vaddr);
}

/* How many instructions the block that began has, of which a plugin was `told`. It is told of one too many where the last
 * would have crossed the end of a page: QEMU ends the block before that. What QEMU has taken of those left says it, unless these
 * were filled up. */
static uint64_t instructions_of(uint64_t told)
{
	int64_t taken = meter.felt.left - icount_left(&meter.felt.icount, meter.first);

	return taken > 0 && (uint64_t)taken < told ? (uint64_t)taken : told;
}

/* A block begins: its instructions, and in the last bit whether it is the kernel's. QEMU's smallest time for an instruction
 * is 1 ns; of so many hundredths of that each is given back. */
static void on_block(unsigned int number, void *block)
{
	uint64_t count = instructions_of((uintptr_t)block >> 1), back;

	(void)number;
	meter.owed_back += count * meter.free_percent[(uintptr_t)block & 1];
	back = meter.owed_back / 100;
	meter.owed_back -= back * 100;
	icount_give(&meter.felt.icount, meter.first, back);
	meter.felt.left = icount_left(&meter.felt.icount, meter.first);
	meter.felt.instructions += count - back;
	meter.felt.ran += count;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t count = qemu_plugin_tb_n_insns(block);
	bool kernel = qemu_plugin_tb_vaddr(block) >> 63;

	(void)id;
	if (meter.free_percent[0] || meter.free_percent[1]) {
		if (!meter.first)
			meter.first = qemu_get_cpu(0);
		qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
						     (void *)(uintptr_t)(count << 1 | kernel));
	} else if (meter.felt.instruction_ns) {
		qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64,
							 &meter.felt.instructions, count);
		qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &meter.felt.ran,
							 count);
	}
	for (size_t i = 0; i < count; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_access,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

static void *write_intervals(void *none)
{
	(void)none;
	for (;;) {
		usleep(meter.interval_ms * 1000);
		end_interval();
	}
	return NULL;
}

/* Keeps the lock: QEMU ends, and nothing more is to be written. */
static void on_exit_of_qemu(qemu_plugin_id_t id, void *none)
{
	(void)id;
	(void)none;
	pthread_mutex_lock(&meter.lock);
	write_rows(true);
}

static bool take_argument(char *argument, uint64_t *cache)
{
	char *value = strchr(argument, '=');
	unsigned int node;
	uint64_t start, size;

	if (!value)
		return false;
	*value++ = 0;
	if (!strcmp(argument, "out"))
		return (meter.out = fopen(value, "w"));
	if (!strcmp(argument, "units"))
		return (meter.units = fopen(value, "w"));
	if (!strcmp(argument, "base_units"))
		return (meter.unit_size = (struct unit_size)BASE_UNITS, true);
	if (!strcmp(argument, "felt"))
		return (meter.felt_path = value);
	if (!strcmp(argument, "interval_ms"))
		return (meter.interval_ms = (unsigned int)strtoul(value, NULL, 10));
	if (!strcmp(argument, "instruction_ns"))
		return (meter.felt.instruction_ns = (unsigned int)strtoul(value, NULL, 10));
	if (!strcmp(argument, "free_percent"))
		return (meter.free_percent[0] = (unsigned int)strtoul(value, NULL, 10)) < 100;
	if (!strcmp(argument, "kernel_free_percent"))
		return (meter.free_percent[1] = (unsigned int)strtoul(value, NULL, 10)) < 100;
	if (!strcmp(argument, "units_every"))
		return (meter.units_every = (unsigned int)strtoul(value, NULL, 10));
	if (!strcmp(argument, "cache"))
		return (*cache = strtoull(value, NULL, 10));
	if (strcmp(argument, "node") || meter.range_count == MAX_RANGES ||
	    sscanf(value, "%u:%lu:%lu", &node, &start, &size) != 3 || node >= NODES)
		return false;
	meter.ranges[meter.range_count].node = node;
	meter.ranges[meter.range_count].start = start;
	meter.ranges[meter.range_count++].size = size;
	return true;
}

static struct cpu *new_cpu(uint64_t cache)
{
	struct cpu *cpu = calloc(1, sizeof *cpu);

	if (!cpu || !cache_init(&cpu->cache, cache) || !table_init(&cpu->table, meter.unit_size))
		return NULL;
	cpu->units_before = calloc(units_of(meter.unit_size), sizeof *cpu->units_before);
	return cpu->units_before ? cpu : NULL;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	uint64_t cache = 2 << 20;
	pthread_t thread;

	for (int i = 0; i < argc; i++) {
		if (!take_argument(argv[i], &cache)) {
			fprintf(stderr, "meter: bad argument '%s'\n", argv[i]);
			return 1;
		}
	}
	if (!meter.out || !info->system_emulation || info->system.max_vcpus > MAX_CPUS) {
		fprintf(stderr, "meter: needs out=FILE and a machine of at most %d CPUs\n", MAX_CPUS);
		return 1;
	}
	if ((meter.felt_path || meter.free_percent[0] || meter.free_percent[1]) && meter.felt.instruction_ns && !icount_find(&meter.felt.icount)) {
		fprintf(stderr, "meter: in this QEMU time by instructions cannot be changed; in that of Debian 12 it can\n");
		return 1;
	}
	meter.cpu_count = info->system.max_vcpus;
	for (int i = 0; i < meter.cpu_count; i++)
		if (!(meter.cpus[i] = new_cpu(cache))) {
			fprintf(stderr, "meter: out of memory\n");
			return 1;
		}
	fprintf(meter.out, "seconds,mark,node,user_reads,user_writes,kernel_reads,kernel_writes\n");
	if (meter.units)
		fprintf(meter.units, "seconds,mark,address,node,reads,writes,leads,touches\n");
	meter.started = now_ns();
	if (meter.felt_path && !meter.felt.instruction_ns)
		start_ticks();
	if (!meter.felt.instruction_ns) {
		if (pthread_create(&thread, NULL, write_intervals, NULL)) {
			fprintf(stderr, "meter: no thread\n");
			return 1;
		}
		pthread_detach(thread);
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
