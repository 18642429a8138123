/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits from files with more rows than memory holds: kfe_fit_stream. Rows are read in parts and added to an accumulator. Linear methods read
 * them once. With landmarks, files are read twice: the first pass draws the sample that decides scaling, kernel width, landmarks and
 * ridge. What can be read only once, as standard input, starts from its first rows. A pursuit without landmarks starts as with them, and
 * then keeps the rows instead of sums (pursue.h).
 *
 * In a cluster the processes divide the files, or the parts if there are fewer files than processes, and merge their sums at the end.
 */
#include <stdio.h>
#include <string.h>

#include "accumulate/accumulator.h"
#include "accumulate/pursue.h"
#include "accumulate/row_files.h"
#include "accumulate/stack.h"
#include "accumulate/stream_state.h"
#include "accumulate/weigh.h"
#include "core/cluster.h"
#include "core/memory.h"
#include "model/identity.h"

/* The sample may take this share of the memory. */
#define SAMPLE_SHARE 0.25
/* Rows of the sample for scaling and kernel of a fit without landmarks. */
enum { SAMPLE_WITHOUT_LANDMARKS = 20000 };

/* Adds a part that was read last: to the rows that are kept, or to the sums. */
static kfe_status add_part(kfe_accumulator *sums, kfe_i_kept_rows *kept, const kfe_i_row_files *files,
                           const kfe_data *part)
{
    int64_t before = files->in_file - kfe_data_rows(part);

    return kept ? kfe_i_kept_add(kept, part, files->at, before) : kfe_accumulator_add(sums->ctx, sums, part);
}

/* ---- the start ---- */

static int64_t sample_size(kfe_context *ctx, const kfe_spec *spec, int64_t cols)
{
    int64_t wanted = KFE_ROWS_PER_LANDMARK * spec->fit.landmarks;
    int64_t most = (int64_t)(SAMPLE_SHARE * (double)kfe_i_memory_left(ctx) / (24.0 * (double)cols));

    if (kfe_i_keeps_rows(spec))
        wanted = SAMPLE_WITHOUT_LANDMARKS;
    wanted = wanted < KFE_LANDMARK_ROWS_LEAST ? KFE_LANDMARK_ROWS_LEAST : wanted;
    wanted = most < wanted ? most : wanted;
    wanted = wanted < 1 ? 1 : wanted;
    return wanted < spec->fit.landmarks ? spec->fit.landmarks : wanted;
}

/* The means of classes over all rows, as rows: what synthetic points are made from. */
static kfe_status means_as_rows(const kfe_accumulator *means, kfe_data **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_sums *sums = &means->sums;

    KFE_TRY(kfe_data_wrap_dense(means->ctx, sums->classes, sums->cols, sums->cols, sums->class_means, out));
    KFE_TRY(kfe_data_set_labels(means->ctx, *out, (const char *const *)means->class_names));
cleanup:
    return status;
}

static kfe_status begin_means(const kfe_accumulator *sums, kfe_accumulator **out)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;

    if (!kfe_i_method_makes_points(sums->spec->method))
        return KFE_OK;
    KFE_TRY(kfe_spec_parse(sums->ctx, "oc", "scale=none", NULL, &spec));
    KFE_TRY(kfe_accumulator_new(sums->ctx, spec, out));
cleanup:
    kfe_spec_free(spec);
    return status;
}

/* A sample of all rows, in a pass of its own. */
static kfe_status start_from_sample(kfe_accumulator *sums, kfe_i_row_files *files)
{
    kfe_status status = KFE_OK;
    kfe_i_reservoir reservoir = {0};
    kfe_data *part = NULL;
    kfe_data *sample = NULL;
    kfe_data *centres = NULL;
    kfe_accumulator *means = NULL;

    KFE_TRY(begin_means(sums, &means));
    for (;;) {
        KFE_TRY(kfe_i_row_files_next(files, &part));
        if (!part)
            break;
        if (!reservoir.ctx)
            kfe_i_reservoir_begin(files->ctx, sample_size(files->ctx, sums->spec, files->cols), &reservoir);
        KFE_TRY(kfe_i_reservoir_add(&reservoir, part));
        if (means && part->target.task == KFE_TASK_CLASSES)
            KFE_TRY(kfe_accumulator_add(means->ctx, means, part));
        if (kfe_i_balances_classes(sums->spec))
            KFE_TRY(kfe_i_count_classes(files->ctx, part, &sums->counts));
        kfe_data_free(part);
        part = NULL;
    }
    KFE_TRY(kfe_i_reservoir_take(&reservoir, &sample));
    if (means && means->sums.classes > 0)
        KFE_TRY(means_as_rows(means, &centres));
    sums->centres = centres;
    if (sample)
        KFE_TRY(kfe_accumulator_start(sums->ctx, sums, sample));
    kfe_i_row_files_rewind(files);
cleanup:
    sums->centres = NULL;
    kfe_data_free(centres);
    kfe_accumulator_free(means);
    kfe_data_free(sample);
    kfe_data_free(part);
    kfe_i_reservoir_free(&reservoir);
    return status;
}

/* The first rows start the accumulator and are added. */
static kfe_status start_from_first_rows(kfe_accumulator *sums, kfe_i_kept_rows *kept, kfe_i_row_files *files)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = files->ctx;
    kfe_data **parts = NULL;
    int64_t count = 0;
    int64_t capacity = 0;
    kfe_data *part = NULL;
    kfe_data *first = NULL;

    while (count == 0 || files->rows < sample_size(ctx, sums->spec, files->cols)) {
        KFE_TRY(kfe_i_row_files_next(files, &part));
        if (!part)
            break;
        KFE_GROW(ctx, parts, capacity, count + 1);
        parts[count++] = part;
        part = NULL;
    }
    if (count > 0) {
        KFE_TRY(kfe_i_stack(ctx, parts, count, &first));
        if (kept)
            KFE_TRY(kfe_accumulator_start(sums->ctx, sums, first));
        KFE_TRY(add_part(sums, kept, files, first));
        kfe_i_log(ctx, KFE_LOG_INFO, "scaling, kernel and landmarks are decided by the first %lld rows",
                  (long long)kfe_data_rows(first));
    }
cleanup:
    for (int64_t p = 0; p < count; p++)
        kfe_data_free(parts[p]);
    kfe_i_free(ctx, parts);
    kfe_data_free(part);
    kfe_data_free(first);
    return status;
}

/* For class-weight=balanced: a pass of its own that counts the classes. */
static kfe_status count_classes(kfe_accumulator *sums, kfe_i_row_files *files)
{
    kfe_status status = KFE_OK;
    kfe_data *part = NULL;

    if (!kfe_i_balances_classes(sums->spec))
        return KFE_OK;
    if (!kfe_i_row_files_can_rewind(files))
        return kfe_i_refuse_balanced(files->ctx);
    for (;;) {
        KFE_TRY(kfe_i_row_files_next(files, &part));
        if (!part)
            break;
        KFE_TRY(kfe_i_count_classes(files->ctx, part, &sums->counts));
        kfe_data_free(part);
        part = NULL;
    }
    kfe_i_row_files_rewind(files);
cleanup:
    kfe_data_free(part);
    return status;
}

/* ---- the fit ---- */

/* One process of several gets standard input. */
static kfe_status refuse_standard_input(const kfe_i_row_files *files)
{
    for (int i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], "-") == 0)
            return kfe_i_fail(files->ctx, KFE_EINPUT,
                              "several processes share the work, and only one of them gets standard input; "
                              "name files");
    return KFE_OK;
}

/* Adds all rows or, in a cluster, the part of this process; then the first rows of the first file say to all what the columns are. */
static kfe_status add_rows(kfe_accumulator *sums, kfe_i_kept_rows *kept, kfe_i_row_files *files,
                           kfe_i_stream_state *state)
{
    kfe_status status = KFE_OK;
    kfe_i_share share = kfe_i_own_share(files->ctx);
    int by_files = files->count >= share.parts;
    kfe_data *part = NULL;
    kfe_i_cluster *cluster = kfe_i_cluster_pause(files->ctx); /* each process has other rows */

    if (share.parts > 1) {
        KFE_TRY(kfe_i_row_files_next(files, &part));
        kfe_i_row_files_rewind(files);
    }
    if (by_files)
        files->share = share;
    KFE_TRY(kfe_i_stream_state_skip(state));
    for (;;) {
        kfe_data_free(part);
        part = NULL;
        KFE_TRY(kfe_i_row_files_next(files, &part));
        if (!part)
            break;
        if (by_files || (files->parts - 1) % share.parts == share.part)
            KFE_TRY(add_part(sums, kept, files, part));
        KFE_TRY(kfe_i_stream_state_save(state, sums));
        if (kept && !kept->alone && (by_files || share.part == 0)) /* one process counts the rows of a file */
            kept->rows_of[files->at] += (double)kfe_data_rows(part);
    }
cleanup:
    kfe_data_free(part);
    kfe_i_cluster_resume(files->ctx, cluster);
    return status;
}

/* Reads all rows, or this process's part of them, into the sums or the rows that are kept. */
static kfe_status read_rows(kfe_accumulator *sums, kfe_i_kept_rows *kept, kfe_i_row_files *files,
                            kfe_i_stream_state *state)
{
    kfe_status status = KFE_OK;
    int starts = kfe_i_accumulator_has_kernel(sums->spec) && !state->restored;
    int samples = starts && kfe_i_row_files_can_rewind(files);

    if (!samples) /* start_from_sample counts the classes itself */
        KFE_TRY(count_classes(sums, files));
    if (starts)
        KFE_TRY(samples ? start_from_sample(sums, files) : start_from_first_rows(sums, kept, files));
    if (kept && !sums->map)
        return KFE_OK; /* there are no rows */
    KFE_TRY(add_rows(sums, kept, files, state));
    KFE_TRY(kfe_i_task_guess_share(files->ctx, &files->guess));
cleanup:
    return status;
}

/* The sums of all rows, and the model from them. */
static kfe_status fit_sums(kfe_accumulator **sums, kfe_i_row_files *files, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_i_stream_state state;

    KFE_TRY(kfe_i_stream_state_begin(sums, files, &state));
    KFE_TRY(read_rows(*sums, NULL, files, &state));
    KFE_TRY(kfe_i_accumulator_reduce(sums));
    KFE_TRY(kfe_accumulator_finish((*sums)->ctx, *sums, out));
cleanup:
    kfe_i_stream_state_end(&state, status == KFE_OK);
    return status;
}

/* The rows, and a method that looks at them again and again: its loop is what is saved, not the rows. */
static kfe_status fit_rows(kfe_accumulator **sums, kfe_i_row_files *files, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_i_kept_rows kept = {0};
    kfe_i_stream_state none = {.files = files};
    char *identity = NULL;

    if (files->ctx->resume) {
        KFE_TRY(kfe_i_stream_identity(files, (*sums)->spec, 1, &identity));
        KFE_TRY(kfe_i_resume_begin(files->ctx, identity));
    }
    KFE_TRY(kfe_i_kept_begin(*sums, files->count, &kept));
    KFE_TRY(read_rows(*sums, &kept, files, &none));
    KFE_TRY(kfe_i_pursue(&kept, sums, out));
cleanup:
    kfe_i_resume_end(files->ctx);
    kfe_i_free(files->ctx, identity);
    kfe_i_kept_free(&kept);
    return status;
}

kfe_status kfe_fit_stream(kfe_context *ctx, const kfe_spec *spec, int count, const char *const *paths,
                          const char *options, int64_t *rows, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_i_row_files files = {.ctx = ctx, .count = count, .paths = paths, .options = options, .share = {0, 1}};
    kfe_accumulator *sums = NULL;
    char length[32];

    *out = NULL;
    if (kfe_i_processes(ctx) > 1)
        KFE_TRY(refuse_standard_input(&files));
    /* names of files may differ between machines, but each process takes its share of the same list */
    (void)snprintf(length, sizeof length, "files=%d", count);
    const char *const texts[] = {length};
    KFE_TRY(kfe_i_check_same_call(ctx,
                                  &(kfe_i_call){.name = "stream",
                                                .spec_count = 1,
                                                .specs = &spec,
                                                .options = options,
                                                .text_count = 1,
                                                .texts = texts},
                                  NULL));
    KFE_TRY(kfe_i_accumulator_open(ctx, spec, kfe_i_keeps_rows(spec), &sums));
    KFE_TRY(sums->keeps_rows ? fit_rows(&sums, &files, out) : fit_sums(&sums, &files, out));
    if (rows)
        *rows = kfe_accumulator_rows(sums);
cleanup:
    kfe_i_row_files_close(&files);
    kfe_accumulator_free(sums);
    return status;
}
