/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A malloc for LD_PRELOAD that fails the n-th call from inside certain shared libraries, and counts them.
 * Used by test_dependencies.py. Environment:
 *     KFE_FAIL_LIBRARIES   prefixes of library names, separated by commas: libopenblas,libblas
 *     KFE_FAIL_AT          the call that fails, from 1; 0: none
 *     KFE_FAIL_REPORT      file that gets the number of calls at exit
 * For glibc.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANGES = 64 };

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

typedef struct range {
    uintptr_t begin, end;
} range;

static range ranges[MOST_RANGES];
static int range_count;
static long fail_at;
static long calls;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void lock(void)
{
    while (atomic_flag_test_and_set(&busy))
        ;
}

static void unlock(void)
{
    atomic_flag_clear(&busy);
}

/* ---- which libraries ---- */

static int is_named(const char *path)
{
    const char *list = getenv("KFE_FAIL_LIBRARIES");
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    while (list && *list) {
        size_t length = strcspn(list, ",");
        if (length > 0 && strncmp(name, list, length) == 0)
            return 1;
        list += length + (list[length] == ',');
    }
    return 0;
}

static int add_ranges(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; is_named(info->dlpi_name) && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && header->p_flags & PF_X && range_count < MOST_RANGES) {
            uintptr_t begin = (uintptr_t)(info->dlpi_addr + header->p_vaddr);
            ranges[range_count++] = (range){begin, begin + header->p_memsz};
        }
    }
    return 0;
}

static int is_inside(const void *address)
{
    for (int i = 0; i < range_count; i++)
        if ((uintptr_t)address >= ranges[i].begin && (uintptr_t)address < ranges[i].end)
            return 1;
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("KFE_FAIL_AT");

    fail_at = at ? strtol(at, NULL, 10) : 0;
    dl_iterate_phdr(add_ranges, NULL);
}

__attribute__((destructor)) static void end(void)
{
    char text[64];
    const char *path = getenv("KFE_FAIL_REPORT");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

    if (file < 0)
        return;
    int length = snprintf(text, sizeof text, "%ld\n", calls);
    if (write(file, text, (size_t)length) != length)
        _exit(99);
    close(file);
}

/* ---- counting ---- */

static int fails(const void *caller)
{
    if (!is_inside(caller))
        return 0;
    lock();
    int now = ++calls == fail_at;
    unlock();
    if (now)
        errno = ENOMEM;
    return now;
}

/* ---- the functions ---- */

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
