/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a stream: the accumulator, and how many parts of the files are in it. A resumed stream reads these parts again, without
 * adding them, and compares them with those of the earlier run. The processes of a cluster add rows on their own, so each saves and
 * resumes on its own.
 */
#include "accumulate/stream_state.h"

#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "core/text.h"
#include "model/identity.h"
#include "system/system.h"

kfe_status kfe_i_stream_identity(const kfe_i_row_files *files, const kfe_spec *spec, int together, char **out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = files->ctx;
    kfe_i_text text;
    char *data = NULL;

    kfe_i_text_init(&text, ctx);
    if (!kfe_i_row_files_can_rewind(files))
        KFE_FAIL(ctx, KFE_EUNSUPPORTED,
                 "{checkpoint} needs rows in files: standard input cannot be read again from its beginning");
    kfe_i_text_printf(&text, "process %d of %d, %s", together ? 0 : kfe_i_process(ctx), kfe_i_processes(ctx),
                      files->options ? files->options : "");
    for (int f = 0; f < files->count; f++) {
        int64_t size = 0;
        (void)kfe_i_path_look(files->paths[f], &size);
        kfe_i_text_printf(&text, "\n%s %lld", files->paths[f], (long long)size);
    }
    KFE_TRY(kfe_i_text_take(&text, &data));
    KFE_TRY(kfe_i_fit_identity_of(ctx, spec, data, out));
cleanup:
    kfe_i_text_free(&text);
    kfe_i_free(ctx, data);
    return status;
}

/* The sums that were saved, if all processes have saved some: the start of a stream is work of all together. */
static kfe_status take_sums(kfe_i_stream_state *s, kfe_accumulator **sums)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = (*sums)->ctx;
    kfe_accumulator *saved = NULL;
    double all = s->restored;

    KFE_TRY(kfe_i_cluster_least(ctx, &all));
    s->restored = all > 0;
    if (!s->restored)
        goto cleanup;
    KFE_TRY(kfe_accumulator_load_bytes(ctx, s->sums, (size_t)s->size, &saved));
    kfe_accumulator_free(*sums);
    *sums = saved;
cleanup:
    kfe_i_free(ctx, s->sums);
    s->sums = NULL;
    return status;
}

kfe_status kfe_i_stream_state_begin(kfe_accumulator **sums, kfe_i_row_files *files, kfe_i_stream_state *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = files->ctx;
    char *identity = NULL;

    *s = (kfe_i_stream_state){.files = files, .process = kfe_i_process(ctx), .loop = {.number = -1}};
    if (!ctx->resume)
        return KFE_OK;
    KFE_TRY(kfe_i_stream_identity(files, (*sums)->spec, 0, &identity));
    kfe_i_cluster *cluster = kfe_i_cluster_pause(ctx);
    status = kfe_i_resume_begin_alone(ctx, identity, s->process);
    if (status == KFE_OK) {
        s->on = files->marks_parts = 1;
        kfe_i_loop_begin(ctx, "adding rows", 0, &s->loop);
        KFE_LOOP_VALUE(&s->loop, s->parts);
        KFE_LOOP_VALUE(&s->loop, s->mark);
        kfe_i_loop_add_text(&s->loop, &s->sums, &s->size);
        status = kfe_i_loop_restore(&s->loop, &s->restored);
    }
    kfe_i_cluster_resume(ctx, cluster);
    if (status == KFE_OK)
        status = take_sums(s, sums);
cleanup:
    kfe_i_free(ctx, identity);
    return status;
}

kfe_status kfe_i_stream_state_skip(kfe_i_stream_state *s)
{
    kfe_status status = KFE_OK;
    kfe_data *part = NULL;

    while (s->restored && s->files->parts < s->parts) {
        KFE_TRY(kfe_i_row_files_next(s->files, &part));
        if (!part)
            break;
        kfe_data_free(part);
        part = NULL;
    }
    if (s->restored && (s->files->parts != s->parts || s->files->mark != s->mark))
        KFE_FAIL(s->files->ctx, KFE_EINPUT,
                 "the rows are not those of the checkpoint; give the same files, or start without {resume}");
cleanup:
    return status;
}

kfe_status kfe_i_stream_state_save(kfe_i_stream_state *s, const kfe_accumulator *sums)
{
    kfe_status status = KFE_OK;
    size_t size = 0;

    if (!s->on || !kfe_i_loop_is_due(&s->loop))
        return KFE_OK;
    KFE_TRY(kfe_accumulator_save_bytes(sums->ctx, sums, &s->sums, &size));
    s->size = (int64_t)size;
    s->parts = s->files->parts;
    s->mark = s->files->mark;
    KFE_TRY(kfe_i_loop_save(&s->loop));
cleanup:
    kfe_string_free(sums->ctx, s->sums);
    s->sums = NULL;
    return status;
}

void kfe_i_stream_state_end(kfe_i_stream_state *s, int done)
{
    if (s->on)
        kfe_i_resume_end_alone(s->files->ctx, s->process, done);
}
