/* SPDX-License-Identifier: Apache-2.0 */
/* Files on Linux and macOS: looking, reading, replacing as a whole, and files without names. */
#define _GNU_SOURCE /* mkostemp, O_PATH, flock */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "system/system.h"

/* ---- looking ---- */

static kfe_i_path_kind kind_of(const struct stat *info)
{
    return S_ISREG(info->st_mode) ? KFE_PATH_FILE : S_ISDIR(info->st_mode) ? KFE_PATH_FOLDER : KFE_PATH_OTHER;
}

kfe_i_path_kind kfe_i_path_look(const char *path, int64_t *size)
{
    struct stat info;
    int found = stat(path, &info) == 0;

    if (size)
        *size = found ? (int64_t)info.st_size : 0;
    return found ? kind_of(&info) : KFE_PATH_NOTHING;
}

int kfe_i_is_same_file(const char *path, const char *other)
{
    struct stat a;
    struct stat b;

    return stat(path, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

int kfe_i_path_is_writable(const char *path)
{
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

int kfe_i_make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

FILE *kfe_i_fopen(const char *path, const char *mode)
{
    char closing[8];

    (void)snprintf(closing, sizeof closing, "%se", mode);
    return fopen(path, closing);
}

/* ---- input ---- */

enum { LARGEST_READ = 1 << 30 };

int kfe_i_input_open(const char *path)
{
    return strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
}

kfe_i_path_kind kfe_i_input_look(int input, int64_t *left)
{
    struct stat info;

    *left = 0;
    if (fstat(input, &info) != 0)
        return KFE_PATH_OTHER;
    if (S_ISREG(info.st_mode)) {
        off_t position = lseek(input, 0, SEEK_CUR);
        *left = (int64_t)info.st_size - (position > 0 ? (int64_t)position : 0);
    }
    return kind_of(&info);
}

int64_t kfe_i_input_read(int input, void *buffer, int64_t size)
{
    return read(input, buffer, (size_t)(size < LARGEST_READ ? size : LARGEST_READ));
}

/* Files are always ready, and the end and errors show at the read. */
int kfe_i_input_is_ready(int input)
{
    struct pollfd asked = {.fd = input, .events = POLLIN};

    return poll(&asked, 1, 0) != 0;
}

void kfe_i_input_close(int input)
{
    (void)close(input);
}

/* ---- replacing: names ---- */

/*
 * Symbolic links are followed, and the temporary file, NAME.xxxxxxxx.part, lies in the folder of the last target, so that
 * the rename stays within one file system. It is locked. The lock ends with the process: that is how a later run knows that
 * nobody writes to the file any more.
 */
enum { MOST_LINKS = 40, MOST_ATTEMPTS = 64, RANDOM_DIGITS = 8 };

static const char ending[] = ".part";
/* ".", the random digits and the ending. */
enum { ADDED = 1 + RANDOM_DIGITS + sizeof ending - 1 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int fail_with(int reason)
{
    errno = reason;
    return 0;
}

/* Replaces the path of a symbolic link by what the link points to. */
static int follow_link(char path[KFE_PATH_SIZE])
{
    char target[KFE_PATH_SIZE];
    ssize_t length = readlink(path, target, sizeof target - 1);

    if (length < 0)
        return 0;
    size_t folder = target[0] == '/' ? 0 : (size_t)(last_part(path) - path);
    if (folder + (size_t)length >= KFE_PATH_SIZE)
        return fail_with(ENAMETOOLONG);
    memcpy(path + folder, target, (size_t)length);
    path[folder + (size_t)length] = '\0';
    return 1;
}

static int resolve(kfe_i_replacement *r, const char *path)
{
    struct stat info;

    if (strlen(path) >= KFE_PATH_SIZE)
        return fail_with(ENAMETOOLONG);
    strcpy(r->path, path);
    for (int links = 0; lstat(r->path, &info) == 0 && S_ISLNK(info.st_mode); links++)
        if (links == MOST_LINKS)
            return fail_with(ELOOP);
        else if (!follow_link(r->path))
            return 0;
    r->name = last_part(r->path);
    if (strlen(r->name) > NAME_MAX)
        return fail_with(ENAMETOOLONG);
    return *r->name ? 1 : fail_with(EISDIR);
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

/* ---- replacing: what killed processes left ---- */

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

static void remove_all_stale(const kfe_i_replacement *r)
{
    int descriptor = openat(r->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = descriptor < 0 ? NULL : fdopendir(descriptor);
    const struct dirent *entry;

    if (!entries) {
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    while ((entry = readdir(entries)) != NULL)
        if (is_temporary_of(r->name, entry->d_name))
            remove_stale(r->folder, entry->d_name);
    closedir(entries);
}

/* ---- replacing: the temporary file ---- */

/* Linux can use a folder that may be written but not read, although not sync it. */
static int open_folder(const kfe_i_replacement *r)
{
    char folder[KFE_PATH_SIZE] = ".";

    if (r->name > r->path)
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(r->name - r->path), r->path);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
#ifdef O_PATH
    if (descriptor < 0 && errno == EACCES)
        descriptor = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
#endif
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
static int create_named(kfe_i_replacement *r)
{
    struct timespec now;
    int kept = kept_length(r->name);

    clock_gettime(CLOCK_REALTIME, &now);
    for (unsigned attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        unsigned mixed = (unsigned)now.tv_nsec * 2654435761u + (unsigned)getpid() * 40503u + attempt;
        snprintf(r->temporary, sizeof r->temporary, "%.*s.%08x%s", kept, r->name, mixed, ending);
        int descriptor = openat(r->folder, r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 && lock_new(descriptor))
            return descriptor;
        if (descriptor >= 0)
            close(descriptor);
        else if (errno != EEXIST)
            break;
    }
    r->temporary[0] = '\0';
    return -1;
}

/* The mode comes last, because a change of owner takes the set-user bit away. */
static void copy_ownership(int descriptor, const char *path)
{
    struct stat replaced;

    if (stat(path, &replaced) != 0)
        return;
    if (replaced.st_uid != geteuid() || replaced.st_gid != getegid())
        (void)!fchown(descriptor, replaced.st_uid, replaced.st_gid);
    (void)!fchmod(descriptor, replaced.st_mode & 07777);
}

FILE *kfe_i_replacement_begin(kfe_i_replacement *r, const char *path)
{
    int descriptor = -1;
    FILE *stream = NULL;

    memset(r, 0, sizeof *r);
    r->folder = -1;
    if (!resolve(r, path) || (r->folder = open_folder(r)) < 0)
        return NULL;
    remove_all_stale(r);
    descriptor = create_named(r);
    if (descriptor < 0)
        return NULL;
    copy_ownership(descriptor, r->path);
    stream = fdopen(descriptor, "wb");
    if (!stream)
        close(descriptor);
    return stream;
}

/* Some file systems cannot sync folders; the file itself is safe. */
int kfe_i_replacement_end(kfe_i_replacement *r, FILE *stream)
{
    if (fflush(stream) != 0 || fsync(fileno(stream)) != 0 ||
        renameat(r->folder, r->temporary, r->folder, r->name) != 0)
        return 0;
    r->temporary[0] = '\0';
    (void)fsync(r->folder);
    return 1;
}

void kfe_i_replacement_abandon(kfe_i_replacement *r)
{
    if (!r->path[0])
        return;
    if (r->temporary[0])
        unlinkat(r->folder, r->temporary, 0);
    if (r->folder >= 0)
        close(r->folder);
    memset(r, 0, sizeof *r);
}

/* ---- files without names ---- */

int kfe_i_unnamed_file(const char *folder)
{
    char path[KFE_PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s/kfe-XXXXXX", folder);

    if (length >= (int)sizeof path)
        return fail_with(ENAMETOOLONG) - 1;
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        (void)unlink(path);
    return file;
}

static int write_all(int file, const char *bytes, int64_t size)
{
    while (size > 0) {
        ssize_t done = write(file, bytes, (size_t)(size < LARGEST_READ ? size : LARGEST_READ));
        if (done < 0 && errno != EINTR)
            return 0;
        bytes += done > 0 ? done : 0;
        size -= done > 0 ? done : 0;
    }
    return 1;
}

/* Mappings begin at multiples of a page. */
void *kfe_i_append_mapped(int file, const void *bytes, int64_t size, int64_t *length)
{
    int64_t page = sysconf(_SC_PAGESIZE);
    int64_t place = (*length + page - 1) / page * page;

    if (lseek(file, place, SEEK_SET) < 0 || !write_all(file, bytes, size))
        return NULL;
    *length = place + size;
    void *mapped = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, file, place);
    return mapped == MAP_FAILED ? NULL : mapped;
}

void kfe_i_unmap(void *mapped, int64_t size)
{
    (void)munmap(mapped, (size_t)size);
}

void kfe_i_unnamed_close(int file)
{
    (void)close(file);
}

/* ---- output ---- */

const char *const kfe_i_null_device = "/dev/null";

/* Opened by name, a redirected file would be written from its beginning. */
FILE *kfe_i_standard_output(void)
{
    int descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");

    if (!stream && descriptor >= 0)
        close(descriptor);
    return stream;
}

int kfe_i_is_terminal(FILE *stream)
{
    return isatty(fileno(stream));
}

int kfe_i_is_disk_full(int reason)
{
    return reason == ENOSPC || reason == EDQUOT;
}
