/* SPDX-License-Identifier: Apache-2.0 */
/* Output files that appear whole or not at all; models, reports and tables are written through them. */
#define _GNU_SOURCE /* "e" of fopen, faccessat, fsync */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cluster.h"
#include "core/escape.h"
#include "core/memory.h"

static kfe_status write_failure(kfe_i_outfile *out)
{
    int reason = errno;
    const char *remedy = reason == ENOSPC || reason == EDQUOT ? "; free some space or write elsewhere" : "";
    return kfe_i_fail(out->ctx, KFE_EIO, "%s: cannot write: %s%s", out->path, strerror(reason), remedy);
}

static kfe_status open_failure(kfe_i_outfile *out)
{
    int reason = errno;
    const char *remedy = reason == ENOENT         ? "; the directory does not exist: make it first"
                         : reason == EACCES       ? "; you may not write there"
                         : reason == EROFS        ? "; write elsewhere"
                         : reason == ENAMETOOLONG ? "; give a shorter name"
                                                  : "";
    return kfe_i_fail(out->ctx, KFE_EIO, "%s: cannot create: %s%s", out->path, strerror(reason), remedy);
}

static int is_standard_output(const char *path)
{
    return strcmp(path, "/dev/stdout") == 0;
}

/* ---- checks ---- */

/* A rename needs only the right to write in the folder: it would replace a file that is read-only on purpose, or
 * somebody else's. */
static kfe_status check_replaceable(kfe_i_outfile *out, const struct stat *info)
{
    if (faccessat(AT_FDCWD, out->path, W_OK, AT_EACCESS) == 0)
        return KFE_OK;
    return kfe_i_fail(out->ctx, KFE_EIO, "%s: cannot write: %s; %s", out->path,
                      errno == EACCES ? "this file exists and you may not write it" : strerror(errno),
                      info->st_uid == geteuid() ? "make it writable or give another name"
                                                : "give another name");
}

static kfe_status begin(kfe_context *ctx, const char *path, kfe_i_outfile *out, struct stat *info)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    KFE_STRDUP(ctx, out->path, strcmp(path, "-") == 0 ? "/dev/stdout" : path);
    if (!*path)
        KFE_FAIL(ctx, KFE_EIO, "the name of the output file is empty; name a file");
    int exists = stat(out->path, info) == 0;
    if (exists && S_ISDIR(info->st_mode))
        KFE_FAIL(ctx, KFE_EIO, "%s: cannot write: it is a directory; name a file", path);
    if (is_standard_output(out->path) || (exists && !S_ISREG(info->st_mode)))
        goto cleanup;
    if (exists)
        KFE_TRY(check_replaceable(out, info));
    else
        info->st_mode = 0;
    KFE_TRY(kfe_i_place_resolve(ctx, out->path, &out->place));
    if (!*out->place.name)
        KFE_FAIL(ctx, KFE_EIO, "%s: cannot write: a name that ends in / is a directory; name a file", path);
cleanup:
    return status;
}

/* ---- opening ---- */

/* The new file takes mode and owner of the one it replaces, as far as we may give them. The mode comes last, because a
 * change of owner takes the set-user bit away. */
static void copy_ownership(int descriptor, const struct stat *replaced)
{
    if (replaced->st_mode == 0)
        return;
    if (replaced->st_uid != geteuid() || replaced->st_gid != getegid())
        (void)!fchown(descriptor, replaced->st_uid, replaced->st_gid);
    (void)!fchmod(descriptor, replaced->st_mode & 07777);
}

static kfe_status open_aside(kfe_i_outfile *out, const struct stat *replaced)
{
    int descriptor = kfe_i_place_create(&out->place);

    if (descriptor < 0)
        return open_failure(out);
    copy_ownership(descriptor, replaced);
    out->stream = fdopen(descriptor, "wb");
    if (out->stream)
        return KFE_OK;
    close(descriptor);
    return open_failure(out);
}

/* Standard output is duplicated: opened by name, a redirected file would be written from its beginning. */
static kfe_status open_in_place(kfe_i_outfile *out)
{
    if (!is_standard_output(out->path))
        out->stream = fopen(out->path, "wbe");
    else {
        int descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        out->stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
        if (!out->stream && descriptor >= 0)
            close(descriptor);
    }
    if (!out->stream)
        return open_failure(out);
    out->on_terminal = isatty(fileno(out->stream));
    return KFE_OK;
}

/* If several processes share the work, only the first writes. */
static int is_written_here(const kfe_context *ctx)
{
    return kfe_i_rank(ctx) == 0;
}

kfe_status kfe_i_outfile_open(kfe_context *ctx, const char *path, kfe_i_outfile *out)
{
    struct stat replaced;
    kfe_status status = begin(ctx, is_written_here(ctx) ? path : "/dev/null", out, &replaced);

    if (status != KFE_OK)
        return status;
    return out->place.path ? open_aside(out, &replaced) : open_in_place(out);
}

kfe_status kfe_output_check(kfe_context *ctx, const char *path)
{
    kfe_i_outfile out = {0};
    struct stat replaced;
    kfe_status status = KFE_OK;

    if (!path)
        return kfe_i_fail(ctx, KFE_EINVAL, "the output file has no name");
    if (!is_written_here(ctx))
        return KFE_OK;
    KFE_TRY(begin(ctx, path, &out, &replaced));
    if (out.place.path)
        status = open_aside(&out, &replaced);
    else if (!is_standard_output(out.path) && access(out.path, W_OK) != 0) /* opening a pipe would wait */
        status = open_failure(&out);
cleanup:
    kfe_i_outfile_abandon(&out);
    return status;
}

/* ---- writing ---- */

static kfe_status write_escaped(kfe_i_outfile *out, const char *bytes, size_t size)
{
    enum { PART = 1024 };
    char shown[KFE_ESCAPE_GROWTH * PART];

    while (size > 0) {
        size_t part = size < PART ? size : PART;
        while (part < size && part > PART - 4 && ((unsigned char)bytes[part] & 0xC0) == 0x80)
            part--; /* not within a character */
        size_t length = kfe_i_escape(bytes, part, "\t\n", shown);
        if (fwrite(shown, 1, length, out->stream) != length)
            return write_failure(out);
        bytes += part;
        size -= part;
    }
    return KFE_OK;
}

kfe_status kfe_i_outfile_write(kfe_i_outfile *out, const void *bytes, size_t size)
{
    if (out->on_terminal)
        return write_escaped(out, bytes, size);
    if (fwrite(bytes, 1, size, out->stream) != size)
        return write_failure(out);
    return KFE_OK;
}

kfe_status kfe_i_outfile_flush(kfe_i_outfile *out)
{
    return out->place.path || fflush(out->stream) == 0 ? KFE_OK : write_failure(out);
}

/* The file is closed after the rename: closing ends the lock, and an unlocked temporary file is a stale one. fsync has
 * already reported what closing could. */
kfe_status kfe_i_outfile_commit(kfe_i_outfile *out)
{
    kfe_status status = KFE_OK;
    int aside = out->place.path != NULL;
    FILE *stream = out->stream;
    double ready = 1;

    KFE_TRY(kfe_i_cluster_sum(out->ctx, &ready, 1)); /* no process has failed before the file gets its name */
    if (fflush(stream) != 0 ||
        (aside && (fsync(fileno(stream)) != 0 || kfe_i_place_commit(&out->place) != 0))) {
        status = write_failure(out);
        goto cleanup;
    }
    out->stream = NULL;
    if (fclose(stream) != 0)
        status = write_failure(out);
cleanup:
    kfe_i_outfile_abandon(out);
    return status;
}

kfe_status kfe_output_write(kfe_context *ctx, const char *path, const void *bytes, size_t size)
{
    kfe_i_outfile out = {0};
    kfe_status status = KFE_OK;

    if (!path || (!bytes && size > 0))
        return kfe_i_fail(ctx, KFE_EINVAL, "the output file has no %s", path ? "bytes" : "name");
    KFE_TRY(kfe_i_outfile_open(ctx, path, &out));
    if (size > 0)
        KFE_TRY(kfe_i_outfile_write(&out, bytes, size));
    KFE_TRY(kfe_i_outfile_commit(&out));
cleanup:
    kfe_i_outfile_abandon(&out);
    return status;
}

void kfe_i_outfile_abandon(kfe_i_outfile *out)
{
    if (!out->ctx)
        return;
    kfe_i_place_free(out->ctx, &out->place);
    if (out->stream)
        fclose(out->stream);
    kfe_i_free(out->ctx, out->path);
    memset(out, 0, sizeof *out);
}
