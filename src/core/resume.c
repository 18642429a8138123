/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file in which long loops keep their state (resume.h), written by kfe_fit.
 *
 *     "kfe checkpoint 1\n"
 *     identity:  size, text
 *     states:    their number; for each: number, key, loops begun so far, name, count of parts, sizes of parts, bytes of parts
 *     SHA-256 of all of it, 64 hexadecimal digits
 *
 * Numbers are 64-bit integers of this machine. States of loops before the one that is saved are copied from the file before.
 */
#include "core/resume.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/cluster.h"
#include "core/file.h"
#include "core/loop_rows.h"
#include "core/memory.h"
#include "core/sha256.h"

static const char MAGIC[] = "kfe checkpoint 1\n";
enum { COPY_BYTES = 1 << 16, HASH_BYTES = KFE_SHA256_HEX_SIZE - 1 };
/* Saving takes at most one part in this many of the time. */
#define SAVING_SHARE 20.0
/* More parts or bytes of a name than this are not ours. */
#define LONGEST_TEXT ((int64_t)1 << 20)

/* A state in the file. */
typedef struct saved_state {
    int64_t number, next; /* of the loop; loops begun when it was saved */
    uint64_t key;
    char name[KFE_LOOP_NAME];
    int64_t count, sizes[KFE_LOOP_PARTS];
    long offset, end; /* from its first number to behind its last byte */
    long bytes;       /* where its parts begin */
} saved_state;

struct kfe_i_resume {
    char *path;
    double seconds;
    int wanted; /* to resume */
    int running;
    int ranks; /* when the fit began: a loop of one rank alone is not saved */
    char *identity;
    int64_t begun; /* loops */
    saved_state *states;
    int64_t count, capacity;
    double saved_at, took;
};

/* ---- the context ---- */

static void forget_states(kfe_context *ctx, struct kfe_i_resume *r)
{
    kfe_i_free(ctx, r->states);
    kfe_i_free(ctx, r->identity);
    r->states = NULL;
    r->identity = NULL;
    r->count = r->capacity = r->begun = 0;
    r->running = 0;
}

void kfe_i_resume_free(kfe_context *ctx)
{
    if (!ctx->resume)
        return;
    forget_states(ctx, ctx->resume);
    kfe_i_free(ctx, ctx->resume->path);
    kfe_i_free(ctx, ctx->resume);
    ctx->resume = NULL;
}

kfe_status kfe_context_set_checkpoint(kfe_context *ctx, const char *path, double seconds, int resume)
{
    kfe_status status = KFE_OK;

    kfe_i_resume_free(ctx);
    if (!path)
        return KFE_OK;
    if (!(seconds >= 0) || isinf(seconds))
        KFE_FAIL(ctx, KFE_EINVAL, "the seconds between two checkpoints must be 0 or more, not %g", seconds);
    if (!*path || strcmp(path, "-") == 0)
        KFE_FAIL(ctx, KFE_EINVAL, "{checkpoint} needs the name of a file, not '%s'", path);
    KFE_ALLOC_ZERO(ctx, ctx->resume, 1);
    KFE_STRDUP(ctx, ctx->resume->path, path);
    ctx->resume->seconds = seconds;
    ctx->resume->wanted = resume;
cleanup:
    if (status != KFE_OK)
        kfe_i_resume_free(ctx);
    return status;
}

/* ---- reading ---- */

static kfe_status damaged(kfe_context *ctx)
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

/* The line with the settings differs, or only that with the data. */
static kfe_status compare_identity(kfe_context *ctx, const char *found)
{
    const char *wanted = ctx->resume->identity;
    size_t settings = strcspn(wanted, "\n");

    if (strcmp(found, wanted) == 0)
        return KFE_OK;
    if (strcspn(found, "\n") == settings && memcmp(found, wanted, settings) == 0)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: this checkpoint is of a fit to other data; give the same files, or start "
                          "without {resume}",
                          ctx->resume->path);
    return kfe_i_fail(ctx, KFE_EINPUT,
                      "%s: this checkpoint is of another fit, %.*s, not of %.*s; give the same method and "
                      "settings, or start without {resume}",
                      ctx->resume->path, (int)strcspn(found, "\n"), found, (int)settings, wanted);
}

static kfe_status read_identity(kfe_context *ctx, FILE *file)
{
    kfe_status status = KFE_OK;
    char magic[sizeof MAGIC] = "";
    int64_t length = 0;
    char *text = NULL;

    if (fread(magic, 1, strlen(MAGIC), file) != strlen(MAGIC) || strcmp(magic, MAGIC) != 0 ||
        !read_number(file, &length) || length < 0 || length > LONGEST_TEXT)
        return damaged(ctx);
    KFE_ALLOC_ZERO(ctx, text, length + 1);
    status =
        fread(text, 1, (size_t)length, file) == (size_t)length ? compare_identity(ctx, text) : damaged(ctx);
cleanup:
    kfe_i_free(ctx, text);
    return status;
}

static int read_state(FILE *file, saved_state *s)
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
        return damaged(ctx);
    KFE_GROW(ctx, r->states, r->capacity, count);
    for (r->count = 0; r->count < count; r->count++) {
        memset(&r->states[r->count], 0, sizeof *r->states);
        if (!read_state(file, &r->states[r->count]))
            return damaged(ctx);
    }
cleanup:
    return status;
}

static kfe_status read_file(kfe_context *ctx)
{
    kfe_status status = KFE_OK;
    struct kfe_i_resume *r = ctx->resume;
    FILE *file = fopen(r->path, "rbe");

    if (!file && errno == ENOENT) {
        kfe_i_log(ctx, KFE_LOG_WARNING, "%s: there is no checkpoint; the fit starts from the beginning",
                  r->path);
        return KFE_OK;
    }
    if (!file)
        return kfe_i_fail(ctx, KFE_EIO, "%s: cannot open: %s", r->path, strerror(errno));
    KFE_TRY(hash_is_right(file) ? KFE_OK : damaged(ctx));
    rewind(file);
    KFE_TRY(read_identity(ctx, file));
    KFE_TRY(read_states(ctx, file));
    kfe_i_log(ctx, KFE_LOG_NOTICE, "the fit goes on from %s", r->path);
cleanup:
    fclose(file);
    return status;
}

/* ---- a fit ---- */

int kfe_i_resume_is_on(const kfe_context *ctx)
{
    return ctx->resume && ctx->resume->running && kfe_i_ranks(ctx) == ctx->resume->ranks;
}

/* FILE.rank */
static kfe_status name_own_file(kfe_context *ctx, int rank, char **out)
{
    kfe_status status = KFE_OK;
    size_t size = strlen(ctx->resume->path) + 16;

    KFE_ALLOC(ctx, *out, (int64_t)size);
    (void)snprintf(*out, size, "%s.%d", ctx->resume->path, rank);
cleanup:
    return status;
}

kfe_status kfe_i_resume_begin_alone(kfe_context *ctx, const char *identity, int rank)
{
    kfe_status status = KFE_OK;
    char *own = NULL;

    if (!ctx->resume)
        return KFE_OK;
    if (rank > 0) {
        KFE_TRY(name_own_file(ctx, rank, &own));
        kfe_i_free(ctx, ctx->resume->path);
        ctx->resume->path = own;
    }
    KFE_TRY(kfe_i_resume_begin(ctx, identity));
cleanup:
    return status;
}

void kfe_i_resume_end_alone(kfe_context *ctx, int rank, int remove_file)
{
    kfe_i_resume_end(ctx);
    if (!ctx->resume || rank == 0)
        return;
    if (remove_file)
        (void)remove(ctx->resume->path);
    *strrchr(ctx->resume->path, '.') = '\0'; /* the name of the others again */
}

kfe_status kfe_i_resume_begin(kfe_context *ctx, const char *identity)
{
    kfe_status status = KFE_OK;
    struct kfe_i_resume *r = ctx->resume;

    if (!r || r->running)
        return KFE_OK;
    KFE_STRDUP(ctx, r->identity, identity);
    r->running = 1;
    r->ranks = kfe_i_ranks(ctx);
    r->saved_at = kfe_i_clock();
    if (kfe_i_rank(ctx) == 0) {
        KFE_TRY(kfe_output_check(ctx, r->path));
        if (r->wanted)
            KFE_TRY(read_file(ctx));
    }
cleanup:
    if (status != KFE_OK)
        forget_states(ctx, r);
    return status;
}

void kfe_i_resume_end(kfe_context *ctx)
{
    if (ctx->resume)
        forget_states(ctx, ctx->resume);
}

/* ---- a loop ---- */

void kfe_i_loop_begin(kfe_context *ctx, const char *name, uint64_t key, kfe_i_loop *out)
{
    *out = (kfe_i_loop){.ctx = ctx, .name = name, .key = key, .number = -1};
    if (kfe_i_resume_is_on(ctx))
        out->number = ctx->resume->begun++;
}

void kfe_i_loop_add(kfe_i_loop *loop, void *bytes, int64_t size)
{
    if (loop->number < 0 || !bytes)
        return;
    assert(loop->count < KFE_LOOP_PARTS);
    loop->parts[loop->count++] = (kfe_i_loop_part){.bytes = bytes, .size = size};
}

void kfe_i_loop_add_divided(kfe_i_loop *loop, void *bytes, int64_t own)
{
    if (loop->number < 0 || !bytes)
        return;
    assert(loop->count < KFE_LOOP_PARTS);
    loop->parts[loop->count++] = (kfe_i_loop_part){.bytes = bytes, .size = own, .divided = 1, .own = own};
}

void kfe_i_loop_add_text(kfe_i_loop *loop, char **text, int64_t *size)
{
    if (loop->number < 0)
        return;
    assert(loop->count < KFE_LOOP_PARTS);
    loop->parts[loop->count++] = (kfe_i_loop_part){.text = text, .text_size = size};
}

uint64_t kfe_i_loop_key(uint64_t key, const double *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        key = (key ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
        key ^= key >> 29;
    }
    return key;
}

static int belongs_to(const saved_state *s, const kfe_i_loop *loop)
{
    if (strcmp(s->name, loop->name) != 0 || s->key != loop->key || s->count != loop->count)
        return 0;
    for (int p = 0; p < loop->count; p++)
        if (!loop->parts[p].text && s->sizes[p] != loop->parts[p].size)
            return 0;
    return 1;
}

/* The state of this loop; NULL: none. A state of another loop with its number shows that this fit takes another road than the saved
 * one, whose later states are of no use then. */
static const saved_state *find_state(const kfe_i_loop *loop)
{
    struct kfe_i_resume *r = loop->ctx->resume;

    for (int64_t i = 0; i < r->count; i++) {
        if (r->states[i].number != loop->number)
            continue;
        if (belongs_to(&r->states[i], loop))
            return &r->states[i];
        kfe_i_log(loop->ctx, KFE_LOG_INFO, "%s: the saved state is of another loop, '%s'", loop->name,
                  r->states[i].name);
        r->count = i;
    }
    return NULL;
}

static int give_bytes(void *user, void *bytes, int64_t size)
{
    FILE *file = user;

    return file && fread(bytes, 1, (size_t)size, file) == (size_t)size;
}

/* Makes room for a part of changing size, which had `size` bytes on rank 0. */
static kfe_status begin_text(const kfe_i_loop *loop, kfe_i_loop_part *part, int64_t size)
{
    kfe_status status = KFE_OK;

    if (!part->text)
        return KFE_OK;
    KFE_TRY(kfe_i_cluster_broadcast(loop->ctx, 0, &size, (int64_t)sizeof size));
    KFE_ALLOC(loop->ctx, *part->text, size);
    part->bytes = *part->text;
    part->size = *part->text_size = size;
cleanup:
    return status;
}

/* Rank 0 reads the part and gives the others what is theirs; a file that has ended is told at the end, by `good`. */
static kfe_status restore_part(const kfe_i_loop *loop, const kfe_i_loop_part *part, FILE *file, int *good)
{
    kfe_status status = KFE_OK;

    if (part->divided) {
        status = kfe_i_loop_spread(loop, part, give_bytes, file);
        *good = *good && status != KFE_EINPUT;
        return status == KFE_EINPUT ? KFE_OK : status;
    }
    if (kfe_i_rank(loop->ctx) == 0)
        *good = *good && give_bytes(file, part->bytes, part->size);
    return kfe_i_cluster_broadcast(loop->ctx, 0, part->bytes, part->size);
}

static kfe_status restore_parts(kfe_i_loop *loop, const saved_state *s)
{
    kfe_status status = KFE_OK;
    FILE *file = s ? fopen(loop->ctx->resume->path, "rbe") : NULL;
    int good = !s || (file && fseek(file, s->bytes, SEEK_SET) == 0);

    for (int p = 0; status == KFE_OK && p < loop->count; p++) {
        status = begin_text(loop, &loop->parts[p], s ? s->sizes[p] : 0);
        if (status == KFE_OK)
            status = restore_part(loop, &loop->parts[p], file, &good);
    }
    if (file)
        fclose(file);
    return status == KFE_OK && !good ? damaged(loop->ctx) : status;
}

kfe_status kfe_i_loop_restore(kfe_i_loop *loop, int *restored)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = loop->ctx;
    int64_t next = -1; /* loops begun when the state was saved; -1: there is none */

    *restored = 0;
    if (loop->number < 0)
        return KFE_OK;
    KFE_TRY(kfe_i_loop_measure(loop));
    if (!ctx->resume->wanted)
        return KFE_OK;
    const saved_state *s = kfe_i_rank(ctx) == 0 ? find_state(loop) : NULL;
    if (s)
        next = s->next;
    KFE_TRY(kfe_i_cluster_broadcast(ctx, 0, &next, (int64_t)sizeof next));
    if (next < 0)
        return KFE_OK;
    KFE_TRY(restore_parts(loop, s));
    ctx->resume->begun = next;
    *restored = 1;
    kfe_i_log(ctx, KFE_LOG_INFO, "%s: goes on from the checkpoint", loop->name);
cleanup:
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
static kfe_status copy_state(kfe_context *ctx, FILE *before, writer *w, saved_state *s)
{
    kfe_status status = KFE_OK;
    char bytes[COPY_BYTES];
    long moved = w->offset - s->offset;

    if (fseek(before, s->offset, SEEK_SET) != 0)
        return damaged(ctx);
    for (long left = s->end - s->offset; left > 0;) {
        size_t part = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
        if (fread(bytes, 1, part, before) != part)
            return damaged(ctx);
        KFE_TRY(put(w, bytes, (int64_t)part));
        left -= (long)part;
    }
    s->offset += moved;
    s->end += moved;
    s->bytes += moved;
cleanup:
    return status;
}

/* Divided parts arrive from the other ranks. */
static kfe_status put_part(writer *w, const kfe_i_loop *loop, const kfe_i_loop_part *part)
{
    if (!part->divided)
        return put(w, part->bytes, part->size);
    w->collected = part;
    return kfe_i_loop_collect(loop, part, take_bytes, w);
}

static kfe_status put_state(writer *w, const kfe_i_loop *loop, saved_state *s)
{
    kfe_status status = KFE_OK;

    *s = (saved_state){.number = loop->number,
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

/* States of loops that began before this one stay; those of loops within it, or after it, go. */
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
    if (kept > 0 && !(before = fopen(r->path, "rbe")))
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

/* The other ranks send their divided parts; rank 0, if it could not write, takes those behind `after`. */
static kfe_status exchange_parts(const kfe_i_loop *loop, const kfe_i_loop_part *after)
{
    kfe_status status = KFE_OK;

    for (int p = 0; p < loop->count; p++)
        if (loop->parts[p].divided && (!after || &loop->parts[p] > after))
            KFE_TRY(kfe_i_loop_collect(loop, &loop->parts[p], ignore_bytes, NULL));
cleanup:
    return status;
}

static kfe_status write_file(const kfe_i_loop *loop)
{
    kfe_status status = KFE_OK;
    writer w = {0};
    char digits[KFE_SHA256_HEX_SIZE];

    kfe_i_sha256_init(&w.hash);
    KFE_TRY(kfe_i_outfile_open(loop->ctx, loop->ctx->resume->path, &w.file));
    KFE_TRY(write_states(loop, &w));
    kfe_i_sha256_hex(&w.hash, digits);
    KFE_TRY(kfe_i_outfile_write(&w.file, digits, HASH_BYTES));
    kfe_i_cluster *cluster = kfe_i_cluster_pause(loop->ctx); /* this rank alone writes */
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

/* While a resumed fit has not reached the last saved loop, saving would lose the states of those ahead. */
int kfe_i_loop_is_due(const kfe_i_loop *loop)
{
    const struct kfe_i_resume *r = loop->ctx->resume;

    if (loop->number < 0 || !kfe_i_resume_is_on(loop->ctx) || kfe_i_rank(loop->ctx) != 0 ||
        (r->count > 0 && r->states[r->count - 1].number >= r->begun))
        return 0;
    return kfe_i_clock() - r->saved_at >= fmax(r->seconds, SAVING_SHARE * r->took * (r->seconds > 0));
}

/* Rank 0 decides when; the others need to know if they have something to send. */
static kfe_status must_save(const kfe_i_loop *loop, int64_t *due)
{
    *due = kfe_i_loop_is_due(loop);
    if (loop->number < 0 || !kfe_i_resume_is_on(loop->ctx) || !kfe_i_loop_is_divided(loop))
        return KFE_OK;
    return kfe_i_cluster_broadcast(loop->ctx, 0, due, (int64_t)sizeof *due);
}

kfe_status kfe_i_loop_save(kfe_i_loop *loop)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = loop->ctx;
    double start = kfe_i_clock();
    int64_t due = 0;

    KFE_TRY(must_save(loop, &due));
    if (!due)
        return KFE_OK;
    for (int p = 0; p < loop->count; p++)
        if (loop->parts[p].text) {
            loop->parts[p].bytes = *loop->parts[p].text;
            loop->parts[p].size = *loop->parts[p].text_size;
        }
    if (kfe_i_rank(ctx) != 0)
        return exchange_parts(loop, NULL);
    status = write_file(loop);
    ctx->resume->saved_at = kfe_i_clock();
    ctx->resume->took = ctx->resume->saved_at - start;
    if (status == KFE_OK || kfe_i_is_lack(status) || ctx->cluster_failed)
        return status;
    ctx->resume->count = 0; /* where states are is not known any more */
    kfe_i_log(ctx, KFE_LOG_WARNING, "no checkpoint was written, and the fit goes on: %s",
              kfe_error_message(ctx));
    status = KFE_OK;
cleanup:
    return status;
}
