/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the state of long loops (resume.h): which loops a fit has begun, which saved state is whose, and when to save. The file itself is
 * resume_file.c's. Called by kfe_fit and by loops. */
#include "core/resume.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/cluster.h"
#include "core/file.h"
#include "core/loop_rows.h"
#include "core/memory.h"
#include "core/resume_file.h"
#include "system/system.h"

/* Saving takes at most one part in this many of the time. */
#define SAVING_SHARE 20.0

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

/* ---- a fit ---- */

int kfe_i_resume_is_on(const kfe_context *ctx)
{
    return ctx->resume && ctx->resume->running && kfe_i_processes(ctx) == ctx->resume->processes;
}

/* FILE.process */
static kfe_status name_own_file(kfe_context *ctx, int process, char **out)
{
    kfe_status status = KFE_OK;
    size_t size = strlen(ctx->resume->path) + 16;

    KFE_ALLOC(ctx, *out, (int64_t)size);
    (void)snprintf(*out, size, "%s.%d", ctx->resume->path, process);
cleanup:
    return status;
}

kfe_status kfe_i_resume_begin_alone(kfe_context *ctx, const char *identity, int process)
{
    kfe_status status = KFE_OK;
    char *own = NULL;

    if (!ctx->resume)
        return KFE_OK;
    if (process > 0) {
        KFE_TRY(name_own_file(ctx, process, &own));
        kfe_i_free(ctx, ctx->resume->path);
        ctx->resume->path = own;
    }
    KFE_TRY(kfe_i_resume_begin(ctx, identity));
cleanup:
    return status;
}

void kfe_i_resume_end_alone(kfe_context *ctx, int process, int remove_file)
{
    kfe_i_resume_end(ctx);
    if (!ctx->resume || process == 0)
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
    r->processes = kfe_i_processes(ctx);
    r->saved_at = kfe_i_clock();
    if (kfe_i_process(ctx) == 0) {
        KFE_TRY(kfe_output_check(ctx, r->path));
        if (r->wanted)
            KFE_TRY(kfe_i_resume_read(ctx));
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

static int belongs_to(const kfe_i_saved_state *s, const kfe_i_loop *loop)
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
static const kfe_i_saved_state *find_state(const kfe_i_loop *loop)
{
    struct kfe_i_resume *r = loop->ctx->resume;

    for (int64_t i = 0; i < r->count; i++) {
        if (r->states[i].number != loop->number)
            continue;
        if (belongs_to(&r->states[i], loop))
            return &r->states[i];
        kfe_i_log(loop->ctx, KFE_LOG_INFO, "%s: the saved state belongs to another loop, '%s'", loop->name,
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

/* Makes room for a part of changing size, which had `size` bytes on process 0. */
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

/* Process 0 reads the part and gives the others what is theirs; a file that has ended is told at the end, by `good`. */
static kfe_status restore_part(const kfe_i_loop *loop, const kfe_i_loop_part *part, FILE *file, int *good)
{
    kfe_status status = KFE_OK;

    if (part->divided) {
        status = kfe_i_loop_spread(loop, part, give_bytes, file);
        *good = *good && status != KFE_EINPUT;
        return status == KFE_EINPUT ? KFE_OK : status;
    }
    if (kfe_i_process(loop->ctx) == 0)
        *good = *good && give_bytes(file, part->bytes, part->size);
    return kfe_i_cluster_broadcast(loop->ctx, 0, part->bytes, part->size);
}

static kfe_status restore_parts(kfe_i_loop *loop, const kfe_i_saved_state *s)
{
    kfe_status status = KFE_OK;
    FILE *file = s ? kfe_i_fopen(loop->ctx->resume->path, "rb") : NULL;
    int good = !s || (file && fseek(file, s->bytes, SEEK_SET) == 0);

    for (int p = 0; status == KFE_OK && p < loop->count; p++) {
        status = begin_text(loop, &loop->parts[p], s ? s->sizes[p] : 0);
        if (status == KFE_OK)
            status = restore_part(loop, &loop->parts[p], file, &good);
    }
    if (file)
        fclose(file);
    return status == KFE_OK && !good ? kfe_i_resume_damaged(loop->ctx) : status;
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
    const kfe_i_saved_state *s = kfe_i_process(ctx) == 0 ? find_state(loop) : NULL;
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

/* ---- saving ---- */

/* While a resumed fit has not reached the last saved loop, saving would lose the states of the loops ahead. */
int kfe_i_loop_is_due(const kfe_i_loop *loop)
{
    const struct kfe_i_resume *r = loop->ctx->resume;

    if (loop->number < 0 || !kfe_i_resume_is_on(loop->ctx) || kfe_i_process(loop->ctx) != 0 ||
        (r->count > 0 && r->states[r->count - 1].number >= r->begun))
        return 0;
    return kfe_i_clock() - r->saved_at >= fmax(r->seconds, r->always ? 0 : SAVING_SHARE * r->took);
}

/* Process 0 decides when; the others need to know if they have something to send. */
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
    if (kfe_i_process(ctx) != 0)
        return kfe_i_resume_send(loop);
    status = kfe_i_resume_write(loop);
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
