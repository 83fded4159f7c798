/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The part of QEMU's plugin interface, version 1 (QEMU 4.2 to 8.2), that our plugins use: this one
 * and the lab's meter (lab/meter). Debian's packages bring no header; names, types and values are
 * those of QEMU's documentation, docs/devel/tcg-plugins.rst.
 */
#ifndef PAGETIDE_QEMU_H
#define PAGETIDE_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

typedef struct {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus;
			int max_vcpus;
		} system;
	};
} qemu_info_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

extern void qemu_plugin_register_vcpu_tb_trans_cb(
	qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern void qemu_plugin_register_vcpu_mem_cb(
	struct qemu_plugin_insn *,
	void (*)(unsigned int vcpu, qemu_plugin_meminfo_t, uint64_t vaddr, void *),
	enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw, void *);
extern bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
extern struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t vaddr);
extern bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
extern uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *),
					   void *);

extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *,
						     enum qemu_plugin_op, void *counter,
						     uint64_t add);

/* User mode. */
extern unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *,
						 void (*)(unsigned int vcpu, void *),
						 enum qemu_plugin_cb_flags, void *);
extern void qemu_plugin_register_vcpu_syscall_cb(
	qemu_plugin_id_t, void (*)(qemu_plugin_id_t, unsigned int vcpu, int64_t number,
				   uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
				   uint64_t, uint64_t));
extern void qemu_plugin_register_vcpu_syscall_ret_cb(
	qemu_plugin_id_t,
	void (*)(qemu_plugin_id_t, unsigned int vcpu, int64_t number, int64_t result));

#endif
