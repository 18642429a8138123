/* SPDX-License-Identifier: Apache-2.0 */
/* What only Linux has: memory in /proc and control groups, processor sets, large pages, and GNU's allocator and OpenMP. */
#define _GNU_SOURCE /* sched_getaffinity, madvise */
#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/inside.h"

/* ---- available memory ---- */

/*
 * The least of
 *   MemAvailable of /proc/meminfo,
 *   limit − usage of every control group that the process is in, up to the root: a limit of a parent holds too.
 * Pages of files that nobody uses count as usage but can be reclaimed, so they are added back.
 */
enum { PATH_TEXT = 1024, LINE_TEXT = 1024 };

/* One version of control groups: where its memory controller is mounted, and the names of its files. */
typedef struct hierarchy {
    const char *mount, *limit, *usage, *reclaimable;
} hierarchy;

static const hierarchy version1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                   "total_inactive_file"};
static const hierarchy version2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

static FILE *open_below(const char *root, const char *folder, const char *name)
{
    char path[PATH_TEXT];
    int length = snprintf(path, sizeof path, "%s%s/%s", root, folder, name);

    return length > 0 && length < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* The number after `key` at the beginning of a line; −1: not available. */
static int64_t number_after(FILE *file, const char *key)
{
    char line[LINE_TEXT];
    int64_t found = -1;
    size_t length = strlen(key);

    while (file && found < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, length) == 0 && (line[length] == ' ' || line[length] == '\t'))
            found = strtoll(line + length, NULL, 10);
    if (file)
        fclose(file);
    return found;
}

/* The number that is all of a file; INT64_MAX for "max"; −1: not available. */
static int64_t number_in(FILE *file)
{
    char line[LINE_TEXT] = "";
    int64_t found = -1;

    if (file && fgets(line, sizeof line, file))
        found = strncmp(line, "max", 3) == 0 ? INT64_MAX : strtoll(line, NULL, 10);
    if (file)
        fclose(file);
    return found;
}

/* What one control group leaves; INT64_MAX: no limit. */
static int64_t left_in_group(const char *root, const hierarchy *h, const char *group)
{
    char folder[PATH_TEXT];
    int length = snprintf(folder, sizeof folder, "%s%s", h->mount, group);

    if (length < 0 || length >= (int)sizeof folder)
        return INT64_MAX;
    int64_t limit = number_in(open_below(root, folder, h->limit));
    int64_t usage = number_in(open_below(root, folder, h->usage));
    int64_t reclaimable = number_after(open_below(root, folder, "memory.stat"), h->reclaimable);
    if (limit <= 0 || limit == INT64_MAX || usage < 0)
        return INT64_MAX;
    usage -= reclaimable > 0 ? reclaimable : 0;
    return usage < limit ? limit - (usage > 0 ? usage : 0) : 0;
}

/* The least that a group and its parents leave. Inside a container the group's own folder may be out of sight, and the
 * mount itself is the group: the walk ends there. */
static int64_t left_in_groups(const char *root, const hierarchy *h, char *group)
{
    int64_t least = INT64_MAX;

    for (;;) {
        int64_t left = left_in_group(root, h, group);
        least = left < least ? left : least;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup are "number:controllers:/group"; version 2 has number 0 and no controllers. */
static int64_t left_by_control_groups(const char *root)
{
    char line[LINE_TEXT];
    int64_t least = INT64_MAX;
    FILE *file = open_below(root, "/proc/self", "cgroup");

    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        const hierarchy *h = strcmp(controllers, ":") == 0           ? &version2
                             : strstr(controllers, "memory") != NULL ? &version1
                                                                     : NULL;
        int64_t left = h ? left_in_groups(root, h, group) : INT64_MAX;
        least = left < least ? left : least;
    }
    if (file)
        fclose(file);
    return least;
}

/* Reading takes a tenth of a millisecond. */
int64_t kfe_i_available_memory(const char *root)
{
    int64_t kib = number_after(open_below(root, "/proc", "meminfo"), "MemAvailable:");
    int64_t machine =
        kib > 0 ? kib * 1024 : (int64_t)sysconf(_SC_AVPHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    int64_t groups = left_by_control_groups(root);

    return groups < machine ? groups : machine;
}

/* ---- pages ---- */

/* malloc maps large blocks one by one. The advice is for the whole mapping: a part would split it in two, and then realloc
 * could not move it without a copy, which takes twice the memory. A failure does no harm. */
void kfe_i_ask_for_large_pages(void *block, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)block / page * page;
    uintptr_t end = ((uintptr_t)block + size + page - 1) / page * page;

    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

/* By default glibc raises the size from which blocks are mapped and can be given back one by one, up to 32 MB. Arrays that
 * grow below that size leave holes, and the process takes up to twice the memory that is in use. Smaller blocks are kept
 * when they are freed, up to 64 MB: a search makes and frees matrices of a megabyte thousands of times, and new pages would
 * take a third of its time. */
void kfe_i_set_up_allocator(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
#endif
}

/* ---- processors and threads ---- */

int kfe_i_bound_processors(void)
{
    cpu_set_t bound;

    if (sched_getaffinity(0, sizeof bound, &bound) != 0 || CPU_COUNT(&bound) >= sysconf(_SC_NPROCESSORS_ONLN))
        return 0;
    return CPU_COUNT(&bound);
}

/*
 * GNU's OpenMP reads OMP_WAIT_POLICY while it is loaded, and R and Debian's NumPy load it with their BLAS, before any
 * package. By default its threads spin for milliseconds at every wait. But they spin for some hundred turns only while
 * OpenMP has more threads than the machine has processors (gomp_throttled_spin_count_var in its sources). So a thread
 * of our own keeps one team as large as the machine, whose threads sleep for good. Together with at least one more
 * working thread, these are more than the processors.
 */

typedef struct probe {
    pthread_mutex_t lock;
    pthread_cond_t released;
    int may_end;
} probe;

static void *wait_for_release(void *user)
{
    probe *p = user;

    pthread_mutex_lock(&p->lock);
    while (!p->may_end)
        pthread_cond_wait(&p->released, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Whether the system allows that many threads: OpenMP ends the process if it cannot start one. */
static int may_start(int count)
{
    probe p = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    pthread_t *threads = malloc(sizeof *threads * (size_t)count);
    int started = 0;

    while (threads && started < count && pthread_create(&threads[started], NULL, wait_for_release, &p) == 0)
        started++;
    pthread_mutex_lock(&p.lock);
    p.may_end = 1;
    pthread_cond_broadcast(&p.released);
    pthread_mutex_unlock(&p.lock);
    for (int i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    free(threads);
    return started == count;
}

/* The members of the team sleep in OpenMP's pool, which lives as long as this thread does. */
static void *keep_idle_team(void *ready)
{
    atomic_int members = 0;

    omp_set_dynamic(0);
#pragma omp parallel num_threads(omp_get_num_procs())
    atomic_fetch_add(&members, 1);
    atomic_store((atomic_int *)ready, 1);
    for (;;)
        pause();
    return NULL;
}

/* Signals belong to the program's own threads, so the new ones block them all. The team is complete before the work with
 * several threads begins, so that both do not compete for the last threads that the system allows. */
static void start_idle_team(void)
{
    static atomic_int ready;
    pthread_t thread;
    sigset_t all, before;

    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return;
    if (may_start(2 * omp_get_num_procs() + 1) &&
        pthread_create(&thread, NULL, keep_idle_team, &ready) == 0) {
        (void)pthread_detach(thread);
        while (!atomic_load(&ready))
            sched_yield();
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void kfe_i_keep_idle_team(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, start_idle_team);
}

/* ---- this program ---- */

void kfe_i_own_program(char out[KFE_PATH_SIZE])
{
    ssize_t length = readlink("/proc/self/exe", out, KFE_PATH_SIZE - 1);

    out[length > 0 ? length : 0] = '\0';
}
