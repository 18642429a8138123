/* SPDX-License-Identifier: Apache-2.0 */
/* Output files that appear whole or not at all; models, reports and tables are written through them. */
#include "core/file.h"

#include <errno.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/utf8.h"

static kfe_status write_failure(kfe_i_outfile *out)
{
    int reason = errno;
    return kfe_i_fail(out->ctx, KFE_EIO, "%s: cannot write: %s%s", out->path, strerror(reason),
                      kfe_i_is_disk_full(reason) ? "; free some space or write elsewhere" : "");
}

static kfe_status open_failure(kfe_i_outfile *out)
{
    int reason = errno;
    const char *remedy = reason == ENOENT         ? "; the directory does not exist: make it first"
                         : reason == EACCES       ? "; you may not write there"
                         : reason == EROFS        ? "; write elsewhere"
                         : reason == ENAMETOOLONG ? "; give a shorter name"
                                                  : "";
    if (reason == ELOOP)
        return kfe_i_fail(out->ctx, KFE_EIO, "%s: cannot write: its symbolic links lead in a circle",
                          out->path);
    return kfe_i_fail(out->ctx, KFE_EIO, "%s: cannot create: %s%s", out->path, strerror(reason), remedy);
}

static int is_standard_output(const char *path)
{
    return strcmp(path, "/dev/stdout") == 0;
}

/* ---- opening ---- */

/* Decides how the file is written. A rename needs only the right to write in the folder: it would replace a file that is
 * read-only on purpose, or somebody else's. */
static kfe_status begin(kfe_context *ctx, const char *path, kfe_i_outfile *out)
{
    kfe_status status = KFE_OK;
    size_t length = strlen(path);

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    KFE_STRDUP(ctx, out->path, strcmp(path, "-") == 0 ? "/dev/stdout" : path);
    if (length == 0)
        KFE_FAIL(ctx, KFE_EIO, "the name of the output file is empty; name a file");
    if (is_standard_output(out->path))
        goto cleanup;
    kfe_i_path_kind kind = kfe_i_path_look(out->path, NULL);
    if (kind == KFE_PATH_FOLDER)
        KFE_FAIL(ctx, KFE_EIO, "%s: cannot write: it is a directory; name a file", path);
    if (kind == KFE_PATH_NOTHING && path[length - 1] == '/')
        KFE_FAIL(ctx, KFE_EIO, "%s: cannot write: a name that ends in / is a directory; name a file", path);
    if (kind == KFE_PATH_FILE && !kfe_i_path_is_writable(out->path))
        KFE_FAIL(ctx, KFE_EIO, "%s: cannot write: %s; make it writable or give another name", path,
                 errno == EACCES ? "this file exists and you may not write it" : strerror(errno));
    out->aside = kind != KFE_PATH_OTHER;
cleanup:
    return status;
}

static kfe_status open_aside(kfe_i_outfile *out)
{
    out->stream = kfe_i_replacement_begin(&out->replacement, out->path);
    return out->stream ? KFE_OK : open_failure(out);
}

static kfe_status open_in_place(kfe_i_outfile *out)
{
    out->stream = is_standard_output(out->path) ? kfe_i_standard_output() : kfe_i_fopen(out->path, "wb");
    if (!out->stream)
        return open_failure(out);
    out->on_terminal = kfe_i_is_terminal(out->stream);
    return KFE_OK;
}

/* If several processes share the work, only the first writes. */
static int is_written_here(const kfe_context *ctx)
{
    return kfe_i_process(ctx) == 0;
}

kfe_status kfe_i_outfile_open(kfe_context *ctx, const char *path, kfe_i_outfile *out)
{
    kfe_status status = begin(ctx, is_written_here(ctx) ? path : kfe_i_null_device, out);

    if (status != KFE_OK)
        return status;
    return out->aside ? open_aside(out) : open_in_place(out);
}

kfe_status kfe_output_check(kfe_context *ctx, const char *path)
{
    kfe_i_outfile out = {0};
    kfe_status status = KFE_OK;

    if (!path)
        return kfe_i_fail(ctx, KFE_EINVAL, "the output file has no name");
    if (!is_written_here(ctx))
        return KFE_OK;
    KFE_TRY(begin(ctx, path, &out));
    if (out.aside)
        status = open_aside(&out);
    else if (!is_standard_output(out.path) &&
             !kfe_i_path_is_writable(out.path)) /* opening a pipe would wait */
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
    return out->aside || fflush(out->stream) == 0 ? KFE_OK : write_failure(out);
}

/* The file is closed after the rename: closing ends its lock, and an unlocked temporary file is a stale one. Flushing
 * to the disk has already reported what closing could. */
kfe_status kfe_i_outfile_commit(kfe_i_outfile *out)
{
    kfe_status status = KFE_OK;
    FILE *stream = out->stream;
    double ready = 1;

    if (kfe_i_processes(out->ctx) > 1)
        KFE_TRY(
            kfe_i_cluster_sum(out->ctx, &ready, 1)); /* no process has failed before the file gets its name */
    if (!(out->aside ? kfe_i_replacement_end(&out->replacement, stream) : fflush(stream) == 0)) {
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
    kfe_i_replacement_abandon(&out->replacement);
    if (out->stream)
        fclose(out->stream);
    kfe_i_free(out->ctx, out->path);
    memset(out, 0, sizeof *out);
}
