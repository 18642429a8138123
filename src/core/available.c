/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Available memory (available.h), by the least of
 *   MemAvailable of /proc/meminfo,
 *   limit − usage of every control group that the process is in, up to the root: a limit of a parent holds too.
 * Pages of files that nobody uses count as usage but can be reclaimed, so they are added back.
 */
#include "core/available.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The available memory is read again after so long, or if the caller uses so many bytes more or fewer. */
#define SECONDS_BETWEEN_READINGS 0.1
#define MOST_NEW_BYTES (1 << 24)

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

int64_t kfe_i_available_memory(const char *root)
{
    int64_t kib = number_after(open_below(root, "/proc", "meminfo"), "MemAvailable:");
    int64_t machine =
        kib > 0 ? kib * 1024 : (int64_t)sysconf(_SC_AVPHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    int64_t groups = left_by_control_groups(root);

    return groups < machine ? groups : machine;
}

int64_t kfe_i_available_lately(kfe_i_memory_reading *reading, double now, int64_t in_use)
{
    if (reading->when == 0 || now - reading->when > SECONDS_BETWEEN_READINGS ||
        llabs(in_use - reading->in_use) > MOST_NEW_BYTES)
        *reading =
            (kfe_i_memory_reading){.when = now, .available = kfe_i_available_memory(""), .in_use = in_use};
    return reading->available;
}
