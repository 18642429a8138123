/* SPDX-License-Identifier: Apache-2.0 */
/* Output files that appear whole or not at all; models, reports and tables are written through them. */
#define _GNU_SOURCE /* "e" of fopen, fsync */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
    const char *remedy = reason == ENOENT   ? "; the directory does not exist: make it first"
                         : reason == EACCES ? "; you may not write there"
                                            : "";
    return kfe_i_fail(out->ctx, KFE_EIO, "%s: cannot create: %s%s", out->path, strerror(reason), remedy);
}

/* Creates the temporary file beside the final one. mkstemp would not respect the umask. */
static int create_aside(kfe_i_outfile *out, size_t size)
{
    struct timespec now;
    int descriptor = -1;

    clock_gettime(CLOCK_REALTIME, &now);
    for (unsigned attempt = 0; attempt < 64 && descriptor < 0; attempt++) {
        unsigned mixed = (unsigned)now.tv_nsec * 2654435761u + (unsigned)getpid() * 40503u + attempt;
        snprintf(out->temporary, size, "%s.%08x.part", out->path, mixed);
        descriptor = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST)
            break;
    }
    return descriptor;
}

static kfe_status open_aside(kfe_i_outfile *out, const struct stat *replaced)
{
    kfe_status status = KFE_OK;
    size_t size = strlen(out->path) + 16;
    int descriptor;

    KFE_ALLOC(out->ctx, out->temporary, (int64_t)size);
    descriptor = create_aside(out, size);
    if (descriptor < 0) {
        status = open_failure(out);
        kfe_i_free(out->ctx, out->temporary);
        out->temporary = NULL;
        return status;
    }
    if (replaced) /* the new file takes the mode of the one it replaces */
        (void)!fchmod(descriptor, replaced->st_mode & 07777);
    out->stream = fdopen(descriptor, "wb");
    if (!out->stream) {
        close(descriptor);
        return open_failure(out);
    }
cleanup:
    return status;
}

/* Standard output is duplicated: opened by name, a redirected file would be written from its beginning. */
static FILE *open_in_place(const char *path)
{
    if (strcmp(path, "/dev/stdout") != 0)
        return fopen(path, "wbe");
    int descriptor = dup(STDOUT_FILENO);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!stream && descriptor >= 0)
        close(descriptor);
    return stream;
}

kfe_status kfe_i_outfile_open(kfe_context *ctx, const char *path, kfe_i_outfile *out)
{
    kfe_status status = KFE_OK;
    struct stat info;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    KFE_STRDUP(ctx, out->path, strcmp(path, "-") == 0 ? "/dev/stdout" : path);
    int exists = stat(out->path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        KFE_FAIL(ctx, KFE_EIO, "%s: cannot write: it is a directory; name a file", path);
    if (!exists || S_ISREG(info.st_mode))
        if (strcmp(out->path, "/dev/stdout") != 0)
            return open_aside(out, exists ? &info : NULL);
    out->stream = open_in_place(out->path);
    if (!out->stream)
        status = open_failure(out);
cleanup:
    return status;
}

kfe_status kfe_i_outfile_write(kfe_i_outfile *out, const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, out->stream) != size)
        return write_failure(out);
    return KFE_OK;
}

kfe_status kfe_i_outfile_commit(kfe_i_outfile *out)
{
    kfe_status status = KFE_OK;
    FILE *stream = out->stream;

    if (fflush(stream) != 0 || (out->temporary && fsync(fileno(stream)) != 0)) {
        status = write_failure(out);
        goto cleanup;
    }
    out->stream = NULL;
    if (fclose(stream) != 0 || (out->temporary && rename(out->temporary, out->path) != 0)) {
        status = write_failure(out);
        goto cleanup;
    }
    kfe_i_free(out->ctx, out->temporary);
    out->temporary = NULL;
cleanup:
    kfe_i_outfile_abandon(out);
    return status;
}

void kfe_i_outfile_abandon(kfe_i_outfile *out)
{
    if (out->stream)
        fclose(out->stream);
    if (out->temporary) {
        unlink(out->temporary);
        kfe_i_free(out->ctx, out->temporary);
    }
    if (out->ctx)
        kfe_i_free(out->ctx, out->path);
    memset(out, 0, sizeof *out);
}
