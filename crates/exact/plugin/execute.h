/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Programs that the program executes. QEMU would run them on the CPU itself, uncounted: they are
 * executed in QEMU with this plugin instead. What is no program for x86-64, or would get other
 * rights than its caller's, is left to run by itself.
 */
#ifndef EXACT_EXECUTE_H
#define EXACT_EXECUTE_H

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* QEMU's path, and its option -plugin. */
static char emulator[4096], plugin_option[4096];

static void read_line(const char *folder, const char *name, char line[4096])
{
	char path[4096];
	FILE *file = NULL;

	if (snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path)
		file = fopen(path, "re");
	if (!file || !fgets(line, 4096, file))
		line[0] = 0;
	line[strcspn(line, "\n")] = 0;
	if (file)
		fclose(file);
}

static void read_emulator(const char *folder)
{
	read_line(folder, "emulator", emulator);
	read_line(folder, "option", plugin_option);
}

/* The first bytes of a file that may be executed without gaining rights; false: it is none. */
static bool read_start(const char *path, char start[256])
{
	struct stat stat;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	memset(start, 0, 256);
	bool fits = file >= 0 && !fstat(file, &stat) && S_ISREG(stat.st_mode) &&
		    !(stat.st_mode & (S_ISUID | S_ISGID)) && !access(path, X_OK) &&
		    read(file, start, 255) > 0;
	if (file >= 0)
		close(file);
	return fits;
}

static bool is_program(const char *start)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)start;

	return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
	       head->e_machine == EM_X86_64;
}

/* Does not return where it succeeds. */
static void execute(const char *path, char **arguments, char **environment)
{
	_Alignas(8) char start[256], interpreter_start[256];
	char *interpreter = NULL, *option = NULL;
	size_t count = 0, at = 0;

	/* /proc/self is the emulator. */
	if (!emulator[0] || !path || !strncmp(path, "/proc/", 6) || !read_start(path, start))
		return;
	if (!memcmp(start, "#!", 2)) {
		/* As the kernel takes it apart: the interpreter, and all the rest as one. */
		char *end = strchr(start, '\n'), *state;

		if (!end)
			return;
		*end = 0;
		interpreter = strtok_r(start + 2, " \t", &state);
		option = interpreter ? strtok_r(NULL, "", &state) : NULL;
		if (option)
			option += strspn(option, " \t");
		if (option && !*option)
			option = NULL;
		if (!interpreter || !read_start(interpreter, interpreter_start) ||
		    !is_program(interpreter_start))
			return;
	} else if (!is_program(start)) {
		return;
	}
	while (arguments && arguments[count])
		count++;
	const char **all = calloc(count + 10, sizeof *all);
	if (!all)
		return;
	all[at++] = emulator;
	all[at++] = "-plugin";
	all[at++] = plugin_option;
	if (interpreter) {
		all[at++] = interpreter;
		if (option)
			all[at++] = option;
	} else if (count) {
		all[at++] = "-0";
		all[at++] = arguments[0];
	}
	all[at++] = path;
	for (size_t i = 1; i < count; i++)
		all[at++] = arguments[i];
	execve(emulator, (char *const *)all, environment);
	free(all);
}

#endif
