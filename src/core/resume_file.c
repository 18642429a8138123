/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file in which long loops keep their state (resume.h). Called by resume.c.
 *
 *     "kfe checkpoint 1\n"
 *     identity:  size, text
 *     states:    their number; for each: number, key, loops begun so far, name, count of parts, sizes of parts, bytes of parts
 *     SHA-256 of all of it, 64 hexadecimal digits
 *
 * Numbers are 64-bit integers of this machine. States of loops before the one that is saved are copied from the file before.
 */
#include "core/resume_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/cluster.h"
#include "core/file.h"
#include "core/loop_rows.h"
#include "core/memory.h"
#include "core/sha256.h"
#include "system/system.h"

static const char MAGIC[] = "kfe checkpoint 1\n";
enum { COPY_BYTES = 1 << 16, HASH_BYTES = KFE_SHA256_HEX_SIZE - 1 };
/* More parts or bytes of a name than this are not ours. */
#define LONGEST_TEXT ((int64_t)1 << 20)

/* ---- reading ---- */

kfe_status kfe_i_resume_damaged(kfe_context *ctx)
{
    return kfe_i_fail(ctx, KFE_EINPUT,
                      "%s: this is not a checkpoint of kfe, or it is damaged; start without {resume}",
                      ctx->resume->path);
}

static int read_number(FILE *file, int64_t *out)
{
    return fread(out, sizeof *out, 1, file) == 1;
}

/* Compares the hash at the end with that of all bytes before it. */
static int hash_is_right(FILE *file)
{
    unsigned char bytes[COPY_BYTES];
    char expected[HASH_BYTES];
    char found[KFE_SHA256_HEX_SIZE];
    kfe_i_sha256 hash;
    long left;

    if (fseek(file, 0, SEEK_END) != 0 || (left = ftell(file) - HASH_BYTES) < (long)strlen(MAGIC) ||
        fseek(file, 0, SEEK_SET) != 0)
        return 0;
    kfe_i_sha256_init(&hash);
    while (left > 0) {
        size_t part = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
        if (fread(bytes, 1, part, file) != part)
            return 0;
        kfe_i_sha256_add(&hash, bytes, part);
        left -= (long)part;
    }
    kfe_i_sha256_hex(&hash, found);
    return fread(expected, 1, HASH_BYTES, file) == HASH_BYTES && memcmp(expected, found, HASH_BYTES) == 0;
}

/* Lines of settings, "sma(dim=9,columns=50) -k rbf:gamma=0.3 …", are made of words with these between them. */
#define BETWEEN_SETTINGS " (),:\n"

/* The first setting of `text` in which it differs from `other`; *length receives its length. */
static const char *first_difference(const char *text, const char *other, int *length)
{
    size_t from = 0;

    for (size_t i = 0; text[i] && text[i] == other[i]; i++)
        if (strchr(BETWEEN_SETTINGS, text[i]))
            from = i + 1;
    *length = (int)strcspn(text + from, BETWEEN_SETTINGS);
    return text + from;
}

/* The line with the settings differs, or only that with the data. */
static kfe_status compare_identity(kfe_context *ctx, const char *found)
{
    const char *wanted = ctx->resume->identity;
    size_t settings = strcspn(wanted, "\n");

    if (strcmp(found, wanted) == 0)
        return KFE_OK;
    if (strcspn(found, "\n") == settings && memcmp(found, wanted, settings) == 0)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: this checkpoint belongs to a fit on other data; give the same files, or "
                          "start without {resume}",
                          ctx->resume->path);
    int its_length = 0;
    int our_length = 0;
    const char *its = first_difference(found, wanted, &its_length);
    const char *ours = first_difference(wanted, found, &our_length);
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "%s: this checkpoint belongs to a fit with '%.*s', not with '%.*s'; give the same method and "
        "settings, or start without {resume}",
        ctx->resume->path, its_length, its, our_length, ours);
}

static kfe_status read_identity(kfe_context *ctx, FILE *file)
{
    kfe_status status = KFE_OK;
    char magic[sizeof MAGIC] = "";
    int64_t length = 0;
    char *text = NULL;

    if (fread(magic, 1, strlen(MAGIC), file) != strlen(MAGIC) || strcmp(magic, MAGIC) != 0 ||
        !read_number(file, &length) || length < 0 || length > LONGEST_TEXT)
        return kfe_i_resume_damaged(ctx);
    KFE_ALLOC_ZERO(ctx, text, length + 1);
    status = fread(text, 1, (size_t)length, file) == (size_t)length ? compare_identity(ctx, text)
                                                                    : kfe_i_resume_damaged(ctx);
cleanup:
    kfe_i_free(ctx, text);
    return status;
}

static int read_state(FILE *file, kfe_i_saved_state *s)
{
    int64_t total = 0;

    s->offset = ftell(file);
    if (!read_number(file, &s->number) || fread(&s->key, sizeof s->key, 1, file) != 1 ||
        !read_number(file, &s->next) || fread(s->name, sizeof s->name, 1, file) != 1 ||
        !read_number(file, &s->count) || s->count < 0 || s->count > KFE_LOOP_PARTS)
        return 0;
    s->name[KFE_LOOP_NAME - 1] = '\0';
    for (int64_t p = 0; p < s->count; p++) {
        if (!read_number(file, &s->sizes[p]) || s->sizes[p] < 0)
            return 0;
        total += s->sizes[p];
    }
    s->bytes = ftell(file);
    s->end = s->bytes + (long)total;
    return fseek(file, s->end, SEEK_SET) == 0;
}

static kfe_status read_states(kfe_context *ctx, FILE *file)
{
    kfe_status status = KFE_OK;
    struct kfe_i_resume *r = ctx->resume;
    int64_t count = 0;

    if (!read_number(file, &count) || count < 0 || count > LONGEST_TEXT)
        return kfe_i_resume_damaged(ctx);
    KFE_GROW(ctx, r->states, r->capacity, count);
    for (r->count = 0; r->count < count; r->count++) {
        memset(&r->states[r->count], 0, sizeof *r->states);
        if (!read_state(file, &r->states[r->count]))
            return kfe_i_resume_damaged(ctx);
    }
cleanup:
    return status;
}

kfe_status kfe_i_resume_read(kfe_context *ctx)
{
    kfe_status status = KFE_OK;
    struct kfe_i_resume *r = ctx->resume;
    FILE *file = kfe_i_fopen(r->path, "rb");

    if (!file && errno == ENOENT) {
        kfe_i_log(ctx, KFE_LOG_WARNING, "%s: there is no checkpoint; the fit starts from the beginning",
                  r->path);
        return KFE_OK;
    }
    if (!file)
        return kfe_i_fail(ctx, KFE_EIO, "%s: cannot open: %s", r->path, strerror(errno));
    KFE_TRY(hash_is_right(file) ? KFE_OK : kfe_i_resume_damaged(ctx));
    rewind(file);
    KFE_TRY(read_identity(ctx, file));
    KFE_TRY(read_states(ctx, file));
    kfe_i_log(ctx, KFE_LOG_NOTICE, "the fit goes on from %s", r->path);
cleanup:
    fclose(file);
    return status;
}

/* ---- writing ---- */

typedef struct writer {
    kfe_i_outfile file;
    kfe_i_sha256 hash;
    long offset;
    const kfe_i_loop_part *collected; /* the last divided part that was; NULL: none */
} writer;

static kfe_status put(writer *w, const void *bytes, int64_t size)
{
    kfe_i_sha256_add(&w->hash, bytes, (size_t)size);
    w->offset += (long)size;
    return kfe_i_outfile_write(&w->file, bytes, (size_t)size);
}

static kfe_status put_number(writer *w, int64_t number)
{
    return put(w, &number, (int64_t)sizeof number);
}

static kfe_status take_bytes(void *user, const void *bytes, int64_t size)
{
    return put(user, bytes, size);
}

/* Copies a state of the file before, and notes its new place. */
static kfe_status copy_state(kfe_context *ctx, FILE *before, writer *w, kfe_i_saved_state *s)
{
    kfe_status status = KFE_OK;
    char bytes[COPY_BYTES];
    long moved = w->offset - s->offset;

    if (fseek(before, s->offset, SEEK_SET) != 0)
        return kfe_i_resume_damaged(ctx);
    for (long left = s->end - s->offset; left > 0;) {
        size_t part = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
        if (fread(bytes, 1, part, before) != part)
            return kfe_i_resume_damaged(ctx);
        KFE_TRY(put(w, bytes, (int64_t)part));
        left -= (long)part;
    }
    s->offset += moved;
    s->end += moved;
    s->bytes += moved;
cleanup:
    return status;
}

/* Divided parts arrive from the other processes. */
static kfe_status put_part(writer *w, const kfe_i_loop *loop, const kfe_i_loop_part *part)
{
    if (!part->divided)
        return put(w, part->bytes, part->size);
    w->collected = part;
    return kfe_i_loop_collect(loop, part, take_bytes, w);
}

static kfe_status put_state(writer *w, const kfe_i_loop *loop, kfe_i_saved_state *s)
{
    kfe_status status = KFE_OK;

    *s = (kfe_i_saved_state){.number = loop->number,
                             .next = loop->ctx->resume->begun,
                             .key = loop->key,
                             .count = loop->count,
                             .offset = w->offset};
    (void)snprintf(s->name, sizeof s->name, "%s", loop->name);
    KFE_TRY(put_number(w, s->number));
    KFE_TRY(put(w, &s->key, (int64_t)sizeof s->key));
    KFE_TRY(put_number(w, s->next));
    KFE_TRY(put(w, s->name, (int64_t)sizeof s->name));
    KFE_TRY(put_number(w, s->count));
    for (int p = 0; p < loop->count; p++) {
        s->sizes[p] = loop->parts[p].size;
        KFE_TRY(put_number(w, s->sizes[p]));
    }
    s->bytes = w->offset;
    for (int p = 0; p < loop->count; p++)
        KFE_TRY(put_part(w, loop, &loop->parts[p]));
    s->end = w->offset;
cleanup:
    return status;
}

/* Keeps the states of loops that began before this one, and drops the states of loops within it or after it. */
static kfe_status write_states(const kfe_i_loop *loop, writer *w)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = loop->ctx;
    struct kfe_i_resume *r = ctx->resume;
    FILE *before = NULL;
    int64_t kept = 0;

    while (kept < r->count && r->states[kept].number < loop->number)
        kept++;
    KFE_GROW(ctx, r->states, r->capacity, kept + 1);
    if (kept > 0 && !(before = kfe_i_fopen(r->path, "rb")))
        KFE_FAIL(ctx, KFE_EIO, "%s: cannot open: %s", r->path, strerror(errno));
    KFE_TRY(put(w, MAGIC, (int64_t)strlen(MAGIC)));
    KFE_TRY(put_number(w, (int64_t)strlen(r->identity)));
    KFE_TRY(put(w, r->identity, (int64_t)strlen(r->identity)));
    KFE_TRY(put_number(w, kept + 1));
    for (int64_t i = 0; i < kept; i++)
        KFE_TRY(copy_state(ctx, before, w, &r->states[i]));
    KFE_TRY(put_state(w, loop, &r->states[kept]));
    r->count = kept + 1;
cleanup:
    if (before)
        fclose(before);
    return status;
}

static kfe_status ignore_bytes(void *user, const void *bytes, int64_t size)
{
    (void)user;
    (void)bytes;
    (void)size;
    return KFE_OK;
}

/* The other processes send their divided parts; process 0, if it could not write, takes those behind `after`. */
static kfe_status exchange_parts(const kfe_i_loop *loop, const kfe_i_loop_part *after)
{
    kfe_status status = KFE_OK;

    for (int p = 0; p < loop->count; p++)
        if (loop->parts[p].divided && (!after || &loop->parts[p] > after))
            KFE_TRY(kfe_i_loop_collect(loop, &loop->parts[p], ignore_bytes, NULL));
cleanup:
    return status;
}

kfe_status kfe_i_resume_write(const kfe_i_loop *loop)
{
    kfe_status status = KFE_OK;
    writer w = {0};
    char digits[KFE_SHA256_HEX_SIZE];

    kfe_i_sha256_init(&w.hash);
    KFE_TRY(kfe_i_outfile_open(loop->ctx, loop->ctx->resume->path, &w.file));
    KFE_TRY(write_states(loop, &w));
    kfe_i_sha256_hex(&w.hash, digits);
    KFE_TRY(kfe_i_outfile_write(&w.file, digits, HASH_BYTES));
    kfe_i_cluster *cluster = kfe_i_cluster_pause(loop->ctx); /* this process alone writes */
    status = kfe_i_outfile_commit(&w.file);
    kfe_i_cluster_resume(loop->ctx, cluster);
cleanup:
    kfe_i_outfile_abandon(&w.file);
    if (status != KFE_OK && !loop->ctx->cluster_failed) {
        kfe_status sent = exchange_parts(loop, w.collected);
        status = sent != KFE_OK ? sent : status;
    }
    return status;
}

kfe_status kfe_i_resume_send(const kfe_i_loop *loop)
{
    return exchange_parts(loop, NULL);
}
