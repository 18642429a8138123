/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an output file goes (place.h): symbolic links are followed, and the temporary file lies in the folder of the
 * last target, NAME.xxxxxxxx.part, so that the rename stays within one file system. file.c uses it.
 */
#define _GNU_SOURCE /* O_PATH, flock */
#include "core/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/memory.h"

enum { MOST_LINKS = 40, MOST_ATTEMPTS = 64, RANDOM_DIGITS = 8 };

static const char ending[] = ".part";
/* ".", the random digits and the ending. */
enum { ADDED = 1 + RANDOM_DIGITS + sizeof ending - 1 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Replaces *path, which is a symbolic link, by what it points to. */
static kfe_status follow_link(kfe_context *ctx, char **path)
{
    kfe_status status = KFE_OK;
    char target[PATH_MAX];
    char *joined = NULL;
    ssize_t length = readlink(*path, target, sizeof target - 1);

    if (length < 0)
        KFE_FAIL(ctx, KFE_EIO, "%s: cannot read this symbolic link: %s", *path, strerror(errno));
    target[length] = '\0';
    int folder = target[0] == '/' ? 0 : (int)(last_part(*path) - *path);
    size_t size = (size_t)folder + (size_t)length + 1;
    KFE_ALLOC(ctx, joined, (int64_t)size);
    snprintf(joined, size, "%.*s%s", folder, *path, target);
    kfe_i_free(ctx, *path);
    *path = joined;
cleanup:
    return status;
}

kfe_status kfe_i_place_resolve(kfe_context *ctx, const char *path, kfe_i_place *out)
{
    kfe_status status = KFE_OK;
    struct stat info;

    memset(out, 0, sizeof *out);
    out->folder = -1;
    KFE_STRDUP(ctx, out->path, path);
    for (int links = 0; lstat(out->path, &info) == 0 && S_ISLNK(info.st_mode); links++) {
        if (links == MOST_LINKS)
            KFE_FAIL(ctx, KFE_EIO, "%s: cannot write: its symbolic links lead in a circle", path);
        KFE_TRY(follow_link(ctx, &out->path));
    }
    out->name = last_part(out->path);
cleanup:
    return status;
}

/* How much of a name the temporary name keeps: a name near NAME_MAX is cut, at a whole character. */
static int kept_length(const char *name)
{
    size_t length = strlen(name);
    size_t most = NAME_MAX - (size_t)ADDED;

    if (length > most)
        for (length = most; length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80;)
            length--;
    return (int)length;
}

/* ---- what killed runs left ---- */

static int is_temporary_of(const char *name, const char *candidate)
{
    size_t kept = (size_t)kept_length(name);

    return strlen(candidate) == kept + ADDED && strncmp(candidate, name, kept) == 0 &&
           candidate[kept] == '.' && strspn(candidate + kept + 1, "0123456789abcdef") == RANDOM_DIGITS &&
           strcmp(candidate + kept + 1 + RANDOM_DIGITS, ending) == 0;
}

/* Removes a temporary file of ours that no process holds a lock on. */
static void remove_stale(int folder, const char *candidate)
{
    struct stat info;
    int descriptor = openat(folder, candidate, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (descriptor < 0)
        return;
    if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, candidate, 0);
    close(descriptor);
}

static void remove_all_stale(const kfe_i_place *place)
{
    int descriptor = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = descriptor < 0 ? NULL : fdopendir(descriptor);
    const struct dirent *entry;

    if (!entries) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    while ((entry = readdir(entries)) != NULL)
        if (is_temporary_of(place->name, entry->d_name))
            remove_stale(place->folder, entry->d_name);
    closedir(entries);
}

/* ---- the temporary file ---- */

/* A folder that may be written but not read can still be used, but not synced. */
static int open_folder(const kfe_i_place *place)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%.*s", (int)(place->name - place->path), place->path);

    if (length >= (int)sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int descriptor = open(length > 0 ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0 && errno == EACCES)
        descriptor = open(length > 0 ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return descriptor;
}

/* Locks a new file. Another run may have taken it for a stale one in the moment before: returns 0 then. */
static int lock_new(int descriptor)
{
    struct stat info;

    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return 0;
    return fstat(descriptor, &info) != 0 || info.st_nlink > 0;
}

/* mkstemp would not respect the umask. */
static int create_named(kfe_i_place *place)
{
    struct timespec now;
    int kept = kept_length(place->name);

    clock_gettime(CLOCK_REALTIME, &now);
    for (unsigned attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        unsigned mixed = (unsigned)now.tv_nsec * 2654435761u + (unsigned)getpid() * 40503u + attempt;
        snprintf(place->temporary, sizeof place->temporary, "%.*s.%08x%s", kept, place->name, mixed, ending);
        int descriptor =
            openat(place->folder, place->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 && lock_new(descriptor))
            return descriptor;
        if (descriptor >= 0)
            close(descriptor);
        else if (errno != EEXIST)
            break;
    }
    place->temporary[0] = '\0';
    return -1;
}

int kfe_i_place_create(kfe_i_place *place)
{
    if (strlen(place->name) > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    place->folder = open_folder(place);
    if (place->folder < 0)
        return -1;
    remove_all_stale(place);
    return create_named(place);
}

int kfe_i_place_commit(kfe_i_place *place)
{
    if (renameat(place->folder, place->temporary, place->folder, place->name) != 0)
        return -1;
    place->temporary[0] = '\0';
    (void)fsync(place->folder); /* some file systems cannot sync folders; the file itself is safe */
    return 0;
}

void kfe_i_place_free(kfe_context *ctx, kfe_i_place *place)
{
    if (!place->path)
        return;
    if (place->temporary[0])
        unlinkat(place->folder, place->temporary, 0);
    if (place->folder >= 0)
        close(place->folder);
    kfe_i_free(ctx, place->path);
    memset(place, 0, sizeof *place);
}
