/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits from files with more rows than memory holds: kfe_fit_stream. Rows are read in parts and added to an accumulator. Linear methods read
 * them once. With landmarks, files are read twice: the first pass draws the sample that decides scaling, kernel width, landmarks and
 * ridge. What can be read only once, as standard input, starts from its first rows.
 *
 * In a cluster the processes divide the files, or the parts if there are fewer files than processes, and merge their sums at the end.
 */
#include <string.h>
#include <sys/stat.h>

#include "accumulate/accumulator.h"
#include "accumulate/stack.h"
#include "core/cluster.h"
#include "core/memory.h"
#include "data/read/read.h"

/* Rows of a part; rows of the sample for each landmark, as gram/landmark/choose.c has it, and at least so many. */
enum { PART_ROWS = 8192 };
/* The sample may take this share of the memory. */
#define SAMPLE_SHARE 0.25

/* Files of rows, one after the other. */
typedef struct row_files {
    kfe_context *ctx;
    int count, at;
    const char *const *paths;
    const char *options;
    kfe_i_data_stream *open;
    kfe_task task; /* of the first part; KFE_TASK_NONE: not known yet, or no labels */
    int64_t cols;  /* of the first part; 0: not known yet */
    int64_t rows;
    kfe_i_share share; /* of the files that this process reads, if there are enough; ranks 1: all */
} row_files;

static void close_files(row_files *files)
{
    kfe_i_data_stream_close(files->open);
    files->open = NULL;
}

static void rewind_files(row_files *files)
{
    close_files(files);
    files->at = 0;
    files->rows = 0;
}

/* Sparse parts end at their last column that is not zero. */
static kfe_status settle_columns(row_files *files, kfe_data *part)
{
    kfe_i_table *table = &part->views[0].table;

    if (part->views[0].encoding.count > 0)
        return kfe_i_fail(
            files->ctx, KFE_EUNSUPPORTED,
            "%s: column %lld is text, and its categories are known only after the last row; encode "
            "it before, or leave it out with {drop}",
            kfe_i_view_shown(&part->views[0]), (long long)part->views[0].encoding.columns[0].column + 1);
    if (files->cols == 0)
        files->cols = table->cols;
    if (table->kind == KFE_TABLE_CSR && table->cols < files->cols)
        table->cols = files->cols;
    if (table->cols != files->cols)
        return kfe_i_fail(
            files->ctx, KFE_EINPUT,
            "%s: the rows have %lld columns, but the first ones, in %s, have %lld; all files need the "
            "same columns",
            files->paths[files->at], (long long)table->cols, files->paths[0], (long long)files->cols);
    return KFE_OK;
}

/* *out is NULL after the last row of the last file. */
static kfe_status next_part(row_files *files, kfe_data **out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    while (!*out && files->at < files->count) {
        if (files->at % files->share.ranks != files->share.rank) {
            files->at++;
            continue;
        }
        if (!files->open)
            KFE_TRY(kfe_i_data_stream_open(files->ctx, 1, files->paths + files->at, NULL, files->options,
                                           NULL, &files->open));
        kfe_i_data_stream_set_task(files->open, files->task);
        KFE_TRY(kfe_i_data_stream_next(files->open, PART_ROWS, out));
        if (!*out) {
            close_files(files);
            files->at++;
        }
    }
    if (!*out)
        return KFE_OK;
    files->task = (*out)->target.task;
    files->rows += kfe_data_rows(*out);
    KFE_TRY(settle_columns(files, *out));
    KFE_TRY(kfe_i_checkpoint(files->ctx, "reading rows", files->rows, 0));
cleanup:
    return status;
}

static int can_be_read_again(const row_files *files)
{
    struct stat found;

    for (int i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], "-") == 0 || stat(files->paths[i], &found) != 0 ||
            !S_ISREG(found.st_mode))
            return 0;
    return 1;
}

/* ---- the start ---- */

static int64_t sample_size(kfe_context *ctx, const kfe_spec *spec, int64_t cols)
{
    int64_t wanted = KFE_ROWS_PER_LANDMARK * spec->fit.landmarks;
    int64_t most = (int64_t)(SAMPLE_SHARE * (double)kfe_i_memory_left(ctx) / (24.0 * (double)cols));

    wanted = wanted < KFE_LANDMARK_ROWS_LEAST ? KFE_LANDMARK_ROWS_LEAST : wanted;
    wanted = most < wanted ? most : wanted;
    return wanted < spec->fit.landmarks ? spec->fit.landmarks : wanted;
}

/* The means of classes over all rows, as rows: what methods with such landmarks (kfe_i_method.marks_centroids) start from. */
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

    if (!sums->spec->method->marks_centroids)
        return KFE_OK;
    KFE_TRY(kfe_spec_parse(sums->ctx, "oc", "scale=none", NULL, &spec));
    KFE_TRY(kfe_accumulator_new(sums->ctx, spec, out));
cleanup:
    kfe_spec_free(spec);
    return status;
}

/* A sample of all rows, in a pass of its own. */
static kfe_status start_from_sample(kfe_accumulator *sums, row_files *files)
{
    kfe_status status = KFE_OK;
    kfe_i_reservoir reservoir = {0};
    kfe_data *part = NULL;
    kfe_data *sample = NULL;
    kfe_data *centres = NULL;
    kfe_accumulator *means = NULL;

    KFE_TRY(begin_means(sums, &means));
    for (;;) {
        KFE_TRY(next_part(files, &part));
        if (!part)
            break;
        if (!reservoir.ctx)
            kfe_i_reservoir_begin(files->ctx, sample_size(files->ctx, sums->spec, files->cols), &reservoir);
        KFE_TRY(kfe_i_reservoir_add(&reservoir, part));
        if (means && part->target.task == KFE_TASK_CLASSES)
            KFE_TRY(kfe_accumulator_add(means, part));
        kfe_data_free(part);
        part = NULL;
    }
    KFE_TRY(kfe_i_reservoir_take(&reservoir, &sample));
    if (means && means->sums.classes > 0)
        KFE_TRY(means_as_rows(means, &centres));
    sums->centres = centres;
    if (sample)
        KFE_TRY(kfe_accumulator_start(sums, sample));
    rewind_files(files);
cleanup:
    sums->centres = NULL;
    kfe_data_free(centres);
    kfe_accumulator_free(means);
    kfe_data_free(sample);
    kfe_data_free(part);
    kfe_i_reservoir_free(&reservoir);
    return status;
}

static kfe_status add_to_list(kfe_context *ctx, kfe_data ***list, int64_t *count, kfe_data *part)
{
    kfe_data **longer = kfe_i_resize(ctx, *list, *count + 1, sizeof(kfe_data *));

    if (!longer)
        return kfe_i_lack(ctx);
    *list = longer;
    longer[(*count)++] = part;
    return KFE_OK;
}

/* The first rows start the accumulator and are added. */
static kfe_status start_from_first_rows(kfe_accumulator *sums, row_files *files)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = files->ctx;
    kfe_data **parts = NULL;
    int64_t count = 0;
    kfe_data *part = NULL;
    kfe_data *first = NULL;

    while (count == 0 || files->rows < sample_size(ctx, sums->spec, files->cols)) {
        KFE_TRY(next_part(files, &part));
        if (!part)
            break;
        KFE_TRY(add_to_list(ctx, &parts, &count, part));
        part = NULL;
    }
    if (count > 0) {
        KFE_TRY(kfe_i_stack(ctx, parts, count, &first));
        KFE_TRY(kfe_accumulator_add(sums, first));
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

/* ---- the fit ---- */

static kfe_status add_all(kfe_accumulator *sums, row_files *files)
{
    kfe_status status = KFE_OK;
    kfe_data *part = NULL;

    for (;;) {
        KFE_TRY(next_part(files, &part));
        if (!part)
            break;
        KFE_TRY(kfe_accumulator_add(sums, part));
        kfe_data_free(part);
        part = NULL;
    }
cleanup:
    kfe_data_free(part);
    return status;
}

/* One process of several gets standard input. */
static kfe_status refuse_standard_input(const row_files *files)
{
    for (int i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], "-") == 0)
            return kfe_i_fail(files->ctx, KFE_EINPUT,
                              "several processes share the work, and only one of them gets standard input; "
                              "name files");
    return KFE_OK;
}

/* In a cluster: the part of the rows that this process adds. The first rows of the first file say to all what the columns are. */
static kfe_status add_own(kfe_accumulator *sums, row_files *files)
{
    kfe_status status = KFE_OK;
    kfe_i_share share = kfe_i_own_share(files->ctx);
    int by_files = files->count >= share.ranks;
    kfe_data *part = NULL;
    kfe_i_cluster *cluster = kfe_i_cluster_pause(files->ctx); /* each process has other rows */

    KFE_TRY(next_part(files, &part));
    rewind_files(files);
    if (by_files)
        files->share = share;
    for (int64_t turn = 0;; turn++) {
        kfe_data_free(part);
        part = NULL;
        KFE_TRY(next_part(files, &part));
        if (!part)
            break;
        if (by_files || turn % share.ranks == share.rank)
            KFE_TRY(kfe_accumulator_add(sums, part));
    }
cleanup:
    kfe_data_free(part);
    kfe_i_cluster_resume(files->ctx, cluster);
    return status;
}

kfe_status kfe_fit_stream(kfe_context *ctx, const kfe_spec *spec, int count, const char *const *paths,
                          const char *options, int64_t *rows, kfe_model **out)
{
    kfe_status status = KFE_OK;
    row_files files = {.ctx = ctx, .count = count, .paths = paths, .options = options, .share = {0, 1}};
    kfe_accumulator *sums = NULL;

    *out = NULL;
    if (kfe_i_ranks(ctx) > 1)
        KFE_TRY(refuse_standard_input(&files));
    KFE_TRY(kfe_accumulator_new(ctx, spec, &sums));
    if (kfe_i_accumulator_has_kernel(spec))
        KFE_TRY(can_be_read_again(&files) ? start_from_sample(sums, &files)
                                          : start_from_first_rows(sums, &files));
    KFE_TRY(kfe_i_ranks(ctx) > 1 ? add_own(sums, &files) : add_all(sums, &files));
    KFE_TRY(kfe_i_accumulator_reduce(&sums));
    KFE_TRY(kfe_accumulator_finish(sums, out));
    if (rows)
        *rows = kfe_accumulator_rows(sums);
cleanup:
    close_files(&files);
    kfe_accumulator_free(sums);
    return status;
}
