/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the guest's memory holds. The plugin interface has nothing for that before QEMU 9; in 7.2 an address in memory
 * stands for itself by where it lies in QEMU (struct qemu_plugin_hwaddr, include/qemu/plugin-memory.h).
 */
#ifndef METER_RAM_H
#define METER_RAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "qemu.h"

__attribute__((weak)) extern void *qemu_ram_block_from_host(void *address, bool round, uint64_t *offset);

/* Where in QEMU the guest's byte is. Ends QEMU if it does not say so: it is another one. */
static const char *host_address(const struct qemu_plugin_hwaddr *hwaddr)
{
	static bool known;
	char *address = ((char *const *)hwaddr)[1];
	uint64_t offset;

	if (!known && (!qemu_ram_block_from_host || !qemu_ram_block_from_host(address, false, &offset))) {
		fprintf(stderr, "meter: in this QEMU a guest's memory cannot be read; in that of Debian 12 it can\n");
		exit(1);
	}
	known = true;
	return address;
}

#endif
