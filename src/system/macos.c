/* SPDX-License-Identifier: Apache-2.0 */
/* What macOS has in another way than Linux: memory from the kernel's statistics, and the path of the program. */
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <unistd.h>

#include "system/inside.h"

/* Free pages, and those that can be taken without writing them to the disk. */
int64_t kfe_i_available_memory(const char *root)
{
    vm_statistics64_data_t pages;
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;

    (void)root;
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, (host_info64_t)&pages, &count) != KERN_SUCCESS)
        return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;
    return ((int64_t)pages.free_count + pages.inactive_count + pages.purgeable_count) *
           (int64_t)sysconf(_SC_PAGESIZE);
}

void kfe_i_ask_for_large_pages(void *block, size_t size)
{
    (void)block;
    (void)size;
}

void kfe_i_set_up_allocator(void)
{
}

/* Processes are not bound to processors. */
int kfe_i_bound_processors(void)
{
    return 0;
}

/* LLVM's OpenMP, which macOS has, has a function for this (core/waiting.c). */
void kfe_i_keep_idle_team(void)
{
}

void kfe_i_own_program(char out[KFE_PATH_SIZE])
{
    uint32_t size = KFE_PATH_SIZE;

    if (_NSGetExecutablePath(out, &size) != 0)
        out[0] = '\0';
}
