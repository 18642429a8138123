/* SPDX-License-Identifier: Apache-2.0 */
/* Published tables and figures computed again: every cell of a plan, in order. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/embedded.h"
#include "api/plan.h"
#include "api/plan_path.h"
#include "core/file.h"
#include "core/memory.h"
#include "report/reproduction.h"
#include "select/separation.h"

/* ---- options ---- */

typedef struct reproduce_settings {
    char data[KFE_PARAM_TEXT_SIZE];
    char output[KFE_PARAM_TEXT_SIZE];
    int quick;
} reproduce_settings;

static const kfe_i_param option_rows[] = {
    KFE_TEXT(reproduce_settings, data, "data", "", "folder with the data sets that the papers use"),
    KFE_TEXT(reproduce_settings, output, "output", "",
             "folder for the numbers and the points of figures, as CSV; made if it is not there"),
    KFE_FLAG(reproduce_settings, quick, "quick", "no", "few repetitions, for a first look"),
};
static const kfe_i_param_table option_table = KFE_PARAM_TABLE(option_rows, reproduce_settings);

const kfe_param_info *kfe_reproduce_option(int index)
{
    return kfe_i_param_info(&option_table, index);
}

int kfe_reproduction(int index, kfe_entry_info *out)
{
    int count = 0;

    while (kfe_i_embedded_plans[count].name)
        count++;
    memset(out, 0, sizeof *out);
    if (index < 0 || index >= count)
        return 0;
    out->name = kfe_i_embedded_plans[index].name;
    out->summary = kfe_i_embedded_plans[index].title;
    out->formula = kfe_i_embedded_plans[index].paper;
    return 1;
}

/* ---- one run ---- */

typedef struct run {
    kfe_context *ctx;
    kfe_i_plan plan;
    kfe_i_plan_use use;
    const char *output;
    kfe_i_reproduction found;
    kfe_i_text missing; /* files, over all rows */
    const json_t *row;  /* where we are */
    const json_t *column;
    double point;
    kfe_i_path *paths; /* of the row, one for each column */
    kfe_data *data;    /* of the row; NULL: files are missing */
    char *row_note;    /* which ones */
    int64_t first;     /* of the cell in found.items, one for each metric */
    int64_t done, total;
    int64_t computed;
} run;

static kfe_status say(run *r, char **out, const char *text)
{
    kfe_status status = KFE_OK;

    kfe_i_free(r->ctx, *out);
    KFE_STRDUP(r->ctx, *out, text);
cleanup:
    return status;
}

static kfe_status add_findings(run *r)
{
    kfe_status status = KFE_OK;
    kfe_i_reproduction *found = &r->found;
    const char *metric;

    r->first = found->count;
    for (int64_t m = 0; (metric = kfe_i_plan_metric(&r->plan, m)); m++) {
        KFE_GROW(r->ctx, found->items, found->capacity, found->count + 1);
        kfe_i_finding *f = &found->items[found->count++];
        *f = (kfe_i_finding){.row = kfe_i_plan_text(r->row, "name"),
                             .column = kfe_i_plan_text(r->column, "name"),
                             .metric = metric,
                             .point = r->point,
                             .mean = NAN,
                             .sd = NAN};
        kfe_i_plan_paper(&r->plan, r->row, f->column, metric, &f->paper, &f->paper_sd, &f->paper_count);
    }
cleanup:
    return status;
}

/* ---- cells of tables and curves ---- */

static int all_chose_the_same(const kfe_i_assessment *a)
{
    for (int64_t s = 1; s < a->splits.count; s++)
        if (a->chosen[s] != a->chosen[0])
            return 0;
    return 1;
}

static kfe_status keep_setting(run *r, const kfe_i_assessment *a)
{
    kfe_i_text text;

    if (a->grid.count < 2)
        return KFE_OK;
    kfe_i_text_init(&text, r->ctx);
    if (!all_chose_the_same(a))
        kfe_i_text_puts(&text, "chosen for each split; best over all: ");
    kfe_i_grid_describe(&a->grid, all_chose_the_same(a) ? a->chosen[0] : a->best, &text);
    return kfe_i_text_take(&text, &r->found.items[r->first].setting);
}

static void keep_numbers(run *r, const kfe_i_assessment *a)
{
    int percent = json_is_true(json_object_get(r->plan.root, "percent"));
    int64_t measured = 0;

    for (int64_t i = r->first; i < r->found.count; i++) {
        kfe_i_finding *f = &r->found.items[i];
        int counts = strcmp(f->metric, KFE_PLAN_SUPPORT_VECTORS) == 0;
        double factor = percent && !counts ? 100 : 1;
        if (counts)
            kfe_i_mean_sd(a->splits.count, a->support_vectors, 1, &f->mean, &f->sd);
        else
            kfe_i_mean_sd(a->splits.count, a->values + measured++, a->metric_count, &f->mean, &f->sd);
        f->mean *= factor;
        f->sd *= factor;
        f->count = a->splits.count;
        if (isnan(f->paper_count))
            f->paper_count = (double)f->count;
    }
}

static kfe_status assess_cell(run *r, const kfe_i_plan_cell *cell)
{
    kfe_status status = KFE_OK;
    kfe_i_assessment assessment = {0};

    KFE_TRY(kfe_i_assess(r->ctx, cell->spec, cell->grid_count, cell->grids, 0, NULL, r->data, &cell->settings,
                         &assessment));
    keep_numbers(r, &assessment);
    KFE_TRY(keep_setting(r, &assessment));
cleanup:
    kfe_i_assessment_free(&assessment);
    return status;
}

/* ---- files ---- */

static kfe_status make_folder(run *r)
{
    if (!*r->output || mkdir(r->output, 0777) == 0 || errno == EEXIST)
        return KFE_OK;
    return kfe_i_fail(r->ctx, KFE_EIO, "%s: cannot make this folder: %s", r->output, strerror(errno));
}

/* Names may hold anything; files get letters, digits, '.' and '-'. */
static void put_file_name(kfe_i_text *path, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";

    for (; *name; name++)
        kfe_i_text_add(path, strchr(plain, *name) ? name : "_", 1);
}

/* OUTPUT/NAME, NAME being the plan's without folder and ending. */
static void begin_path(const run *r, kfe_i_text *path)
{
    const char *slash = strrchr(r->plan.name, '/');
    const char *stem = slash ? slash + 1 : r->plan.name;
    const char *ending = strstr(stem, ".json");

    kfe_i_text_init(path, r->ctx);
    kfe_i_text_printf(path, "%s/", r->output);
    kfe_i_text_add(path, stem, ending && ending > stem ? ending - stem : (int64_t)strlen(stem));
}

static kfe_status write_findings(run *r)
{
    kfe_status status = KFE_OK;
    kfe_i_outfile file = {0};
    kfe_i_text path;
    kfe_i_text text;

    kfe_i_text_init(&text, r->ctx);
    begin_path(r, &path);
    kfe_i_text_puts(&path, ".csv");
    KFE_TRY(path.status);
    KFE_TRY(kfe_i_reproduction_csv(&r->found, &text));
    KFE_TRY(kfe_i_outfile_open(r->ctx, path.bytes, &file));
    KFE_TRY(kfe_i_outfile_write(&file, text.bytes, (size_t)text.length));
    KFE_TRY(kfe_i_outfile_commit(&file));
cleanup:
    if (file.ctx)
        kfe_i_outfile_abandon(&file);
    kfe_i_text_free(&path);
    kfe_i_text_free(&text);
    return status;
}

/* ---- cells of scatter plots ---- */

static kfe_status write_features(run *r, const kfe_matrix *features)
{
    kfe_status status = KFE_OK;
    kfe_data *points = NULL;
    kfe_i_text path;

    begin_path(r, &path);
    kfe_i_text_puts(&path, "-");
    put_file_name(&path, kfe_i_plan_text(r->row, "name"));
    kfe_i_text_puts(&path, "-");
    put_file_name(&path, kfe_i_plan_text(r->column, "name"));
    kfe_i_text_puts(&path, ".csv");
    KFE_TRY(path.status);
    KFE_TRY(kfe_data_wrap_dense(r->ctx, features->rows, features->cols, features->stride, features->values,
                                &points));
    KFE_TRY(kfe_data_copy_target(r->ctx, r->data, points));
    KFE_TRY(kfe_data_write(r->ctx, points, path.bytes));
cleanup:
    kfe_data_free(points);
    kfe_i_text_free(&path);
    return status;
}

static kfe_status scatter_cell(run *r, const kfe_i_plan_cell *cell)
{
    kfe_status status = KFE_OK;
    kfe_model *model = NULL;
    kfe_matrix features = {0};
    kfe_i_separation separation = {0};

    if (r->data->target.task != KFE_TASK_CLASSES)
        KFE_FAIL(r->ctx, KFE_EINPUT, "a scatter plot needs data with classes");
    KFE_TRY(kfe_fit(r->ctx, cell->spec, r->data, &model));
    KFE_TRY(kfe_transform(r->ctx, model, r->data, &features));
    KFE_TRY(kfe_i_separation_measure(r->ctx, &r->data->target, features.cols, features.stride,
                                     features.values, &separation));
    r->found.items[r->first].mean = separation.neighbour_accuracy;
    r->found.items[r->first + 1].mean = separation.scatter_ratio;
    if (*r->output)
        KFE_TRY(write_features(r, &features));
cleanup:
    kfe_matrix_free(&features);
    kfe_model_free(model);
    return status;
}

/* ---- cells of paths ---- */

static int64_t longest_path(const kfe_i_plan *plan)
{
    double longest = 1;

    for (int64_t p = 0; plan->kind == KFE_PLAN_PATH && p < kfe_i_plan_points(plan); p++)
        longest = fmax(longest, kfe_i_plan_point(plan, p));
    return (int64_t)longest;
}

static kfe_i_path *path_of_column(const run *r)
{
    size_t c = 0;

    while (json_array_get(r->plan.columns, c) != r->column)
        c++;
    return &r->paths[c];
}

/* The first point of the row makes the fit that all points show. */
static kfe_status path_cell(run *r, const kfe_i_plan_cell *cell)
{
    kfe_status status = KFE_OK;
    kfe_i_finding *f = &r->found.items[r->first];
    kfe_i_path *path = path_of_column(r);

    if (r->plan.kind == KFE_PLAN_PATH)
        f->metric = kfe_i_plan_text(cell->column, "record"); /* the plan owns it as well */
    if (path->tried && !path->values)
        return KFE_OK;
    if (!path->tried)
        KFE_TRY(kfe_i_path_measure(r->ctx, cell, r->data, longest_path(&r->plan), path));
    kfe_i_path_at(path, r->plan.kind == KFE_PLAN_PATH ? (int64_t)r->point : 1, &f->mean, &f->sd);
    f->count = path->splits;
    if (isnan(f->paper_count))
        f->paper_count = (double)f->count;
cleanup:
    return status;
}

/* ---- all cells ---- */

/* What this cell cannot do must not cost the others. */
static kfe_status note_failure(run *r, kfe_status status)
{
    char where[320];

    if (status == KFE_ENUMERIC || status == KFE_EINPUT || status == KFE_ELIMIT)
        return say(r, &r->found.items[r->first].note, kfe_error_message(r->ctx));
    snprintf(where, sizeof where, "row %s, column %s", kfe_i_plan_text(r->row, "name"),
             kfe_i_plan_text(r->column, "name"));
    return kfe_i_plan_prefix(&r->plan, where, status);
}

/* The row leaves the column out, and the paper has nothing there either. */
static int is_left_out(const run *r)
{
    const char *column = kfe_i_plan_text(r->column, "name");

    return json_is_null(json_object_get(json_object_get(r->row, "columns"), column)) &&
           !json_object_get(json_object_get(r->row, "paper"), column);
}

static kfe_status run_cell(run *r)
{
    kfe_status status = KFE_OK;
    kfe_i_plan_cell cell = {0};

    if (is_left_out(r))
        return KFE_OK;
    KFE_TRY(add_findings(r));
    KFE_TRY(kfe_i_plan_cell_open(&r->plan, r->row, r->column, r->point, &r->use, &cell));
    if (cell.spec && r->row_note)
        KFE_TRY(say(r, &r->found.items[r->first].note, r->row_note));
    if (!cell.spec || !r->data)
        goto cleanup;
    status = kfe_i_plan_is_assessed(&r->plan)   ? assess_cell(r, &cell)
             : r->plan.kind == KFE_PLAN_SCATTER ? scatter_cell(r, &cell)
                                                : path_cell(r, &cell);
    r->computed += status == KFE_OK;
    if (status != KFE_OK)
        status = note_failure(r, status);
cleanup:
    kfe_i_plan_cell_close(&cell);
    return status;
}

static kfe_status find_data(run *r)
{
    kfe_status status = KFE_OK;
    kfe_i_text missing;
    kfe_i_text note;

    kfe_i_text_init(&missing, r->ctx);
    kfe_i_text_init(&note, r->ctx);
    KFE_TRY(kfe_i_plan_missing(&r->plan, r->row, &r->use, &missing));
    if (missing.length == 0) {
        status = kfe_i_plan_data(&r->plan, r->row, &r->use, &r->data);
        KFE_TRY(kfe_i_plan_prefix(&r->plan, kfe_i_plan_text(r->row, "name"), status));
    } else {
        kfe_i_text_printf(&r->missing, "%s%s", r->missing.length > 0 ? ", " : "", missing.bytes);
        kfe_i_text_printf(&note, "needs %s under --data DIR", missing.bytes);
        KFE_TRY(kfe_i_text_take(&note, &r->row_note));
    }
cleanup:
    kfe_i_text_free(&missing);
    kfe_i_text_free(&note);
    return status;
}

static void leave_row(run *r)
{
    for (size_t c = 0; r->paths && c < json_array_size(r->plan.columns); c++)
        kfe_i_path_free(&r->paths[c]);
    kfe_i_free(r->ctx, r->paths);
    r->paths = NULL;
    kfe_data_free(r->data);
    kfe_i_free(r->ctx, r->row_note);
    r->data = NULL;
    r->row_note = NULL;
}

static kfe_status run_row(run *r)
{
    kfe_status status = KFE_OK;

    KFE_TRY(find_data(r));
    KFE_ALLOC_ZERO(r->ctx, r->paths, (int64_t)json_array_size(r->plan.columns));
    for (int64_t p = 0; p < kfe_i_plan_points(&r->plan); p++)
        for (size_t c = 0; c < json_array_size(r->plan.columns); c++) {
            r->point = kfe_i_plan_point(&r->plan, p);
            r->column = json_array_get(r->plan.columns, c);
            KFE_TRY(kfe_i_checkpoint(r->ctx, "reproducing", r->done++, r->total));
            KFE_TRY(run_cell(r));
        }
cleanup:
    leave_row(r);
    return status;
}

static kfe_status run_all(run *r)
{
    kfe_status status = KFE_OK;

    for (size_t i = 0; i < json_array_size(r->plan.rows); i++) {
        r->row = json_array_get(r->plan.rows, i);
        KFE_TRY(run_row(r));
    }
    KFE_TRY(r->missing.status);
    if (r->computed == 0 && r->missing.length > 0)
        KFE_FAIL(r->ctx, KFE_EINPUT, "nothing of %s can be computed without data: needs %s under --data DIR",
                 r->plan.name, r->missing.bytes);
cleanup:
    return status;
}

static void begin_report(run *r)
{
    r->found.ctx = r->ctx;
    r->found.name = r->plan.name;
    r->found.title = kfe_i_plan_text(r->plan.root, "title");
    r->found.paper = kfe_i_plan_text(r->plan.root, "paper");
    r->found.remarks = json_object_get(r->plan.root, "remarks");
    r->found.rows = r->plan.rows;
    r->found.over = kfe_i_plan_text(json_object_get(r->plan.root, "over"), "name");
    while (kfe_i_plan_metric(&r->plan, r->found.metric_count))
        r->found.metric_count++;
    r->total = (int64_t)(json_array_size(r->plan.rows) * json_array_size(r->plan.columns)) *
               kfe_i_plan_points(&r->plan);
}

kfe_status kfe_reproduce(kfe_context *ctx, const char *name, const char *options, kfe_style style, char **out)
{
    kfe_status status = KFE_OK;
    reproduce_settings settings = {0};
    run r = {.ctx = ctx, .output = settings.output};
    int saved_threads = kfe_i_threads_enter(ctx);

    *out = NULL;
    kfe_i_text_init(&r.missing, ctx);
    KFE_TRY(kfe_i_params_default(ctx, &option_table, &settings));
    KFE_TRY(kfe_i_params_parse(ctx, &option_table, "reproduce", &settings, options));
    r.use = (kfe_i_plan_use){.folder = settings.data, .quick = settings.quick};
    KFE_TRY(kfe_i_plan_open(ctx, name, &r.plan));
    begin_report(&r);
    KFE_TRY(make_folder(&r));
    KFE_TRY(run_all(&r));
    if (*r.output)
        KFE_TRY(write_findings(&r));
    KFE_TRY(kfe_i_report_reproduction(&r.found, style, out));
cleanup:
    kfe_i_reproduction_free(&r.found);
    kfe_i_plan_close(&r.plan);
    kfe_i_text_free(&r.missing);
    kfe_i_threads_leave(saved_threads);
    return status;
}
