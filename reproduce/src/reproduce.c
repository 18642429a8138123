/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every cell of a plan in order and keeps what it finds. Called by the command `kfe reproduce`. */
#include "reproduce/src/reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/src/assess.h"
#include "reproduce/src/data.h"
#include "reproduce/src/embedded.h"
#include "reproduce/src/findings.h"
#include "reproduce/src/findings_text.h"
#include "reproduce/src/mean.h"
#include "reproduce/src/output.h"
#include "reproduce/src/path.h"
#include "reproduce/src/separation.h"
#include "system/system.h"

int rep_entry_at(int index, rep_entry *out)
{
    int count = 0;

    while (rep_embedded_specs[count].name)
        count++;
    memset(out, 0, sizeof *out);
    if (index < 0 || index >= count)
        return 0;
    *out = (rep_entry){.name = rep_embedded_specs[index].name,
                       .title = rep_embedded_specs[index].title,
                       .paper = rep_embedded_specs[index].paper};
    return 1;
}

/* ---- state ---- */

/* The row that is being computed. */
typedef struct current_row {
    kfe_data *data;  /* NULL: files are missing */
    char *missing;   /* a note about missing files, or NULL */
    rep_path *paths; /* one for each column */
} current_row;

typedef struct run {
    kfe_context *ctx;
    const rep_settings *settings;
    rep_use use;
    const char *output; /* folder; "": none */
    rep_plan plan;
    rep_findings findings;
    rep_text missing;    /* missing files of all rows */
    rep_place place;     /* the current cell */
    int64_t point_index; /* of place.point */
    int64_t first;       /* its first finding; there is one for each metric */
    current_row row;
    int64_t done, total, computed; /* numbers of cells */
} run;

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

static kfe_status set_note(run *r, const char *text)
{
    rep_finding *f = &r->findings.items[r->first];

    free(f->note);
    return rep_copy(r->ctx, text, &f->note);
}

static kfe_status add_findings(run *r)
{
    kfe_status status = KFE_OK;
    const char *metric;

    r->first = r->findings.count;
    for (int64_t m = 0; (metric = rep_plan_metric(&r->plan, m)); m++) {
        rep_finding *f = NULL;
        REP_TRY(rep_findings_add(&r->findings, &f));
        f->row = rep_string(r->place.row, "name");
        f->column = rep_string(r->place.column, "name");
        f->metric = metric;
        f->point = r->place.point;
        f->paper = rep_plan_published(&r->plan, r->place.row, f->column, metric);
    }
cleanup:
    return status;
}

static void set_numbers(rep_finding *f, double mean, double sd, int64_t splits)
{
    f->mean = mean;
    f->sd = sd;
    f->splits = splits;
    if (isnan(f->paper.count))
        f->paper.count = (double)splits;
}

/* ---- cells of tables and curves ---- */

static void keep_metrics(run *r, const kfe_result *assessment)
{
    int percent = json_is_true(json_object_get(r->plan.root, "percent"));

    for (int64_t i = r->first; i < r->findings.count; i++) {
        rep_finding *f = &r->findings.items[i];
        double factor = percent && strcmp(f->metric, REP_SUPPORT_VECTORS) != 0 ? 100 : 1;
        double mean = 0;
        double sd = 0;
        int64_t splits = rep_assessed_metric(assessment, f->metric, &mean, &sd);
        set_numbers(f, factor * mean, factor * sd, splits);
    }
}

static kfe_status assess_cell(run *r, const rep_cell *cell)
{
    kfe_status status = KFE_OK;
    kfe_result *assessment = NULL;
    rep_text setting = {0};
    rep_text failed = {0};

    REP_TRY(rep_assess(cell, r->row.data, &assessment));
    keep_metrics(r, assessment);
    rep_assessed_setting(assessment, &setting);
    if (setting.length > 0)
        REP_TRY(rep_text_take(r->ctx, &setting, &r->findings.items[r->first].setting));
    rep_assessed_failures(assessment, &failed);
    if (failed.length > 0)
        REP_TRY(rep_text_take(r->ctx, &failed, &r->findings.items[r->first].failed));
cleanup:
    rep_text_free(&setting);
    rep_text_free(&failed);
    kfe_result_free(assessment);
    return status;
}

/* ---- cells of scatter plots ---- */

static kfe_status write_features(run *r, const kfe_matrix *features)
{
    kfe_status status = KFE_OK;
    kfe_data *points = NULL;
    char *path = NULL;

    REP_TRY(rep_output_path(&r->place, r->output, &path));
    REP_TRY(kfe_data_wrap_dense(r->ctx, features->rows, features->cols, features->stride, features->values,
                                &points));
    REP_TRY(kfe_data_copy_target(r->ctx, r->row.data, points));
    REP_TRY(kfe_data_write(r->ctx, points, path));
cleanup:
    kfe_data_free(points);
    free(path);
    return status;
}

/* Keeps the first two features and the classes for the figure of a report. */
static kfe_status keep_points(run *r, const kfe_matrix *features)
{
    const rep_finding *f = &r->findings.items[r->first];
    int64_t second = features->cols > 1 ? 1 : 0;

    if (!r->findings.points)
        r->findings.points = json_array();
    for (int64_t i = 0; i < features->rows; i++) {
        const double *x = features->values + i * features->stride;
        const char *name = kfe_data_class_name(r->row.data, kfe_data_class_of(r->row.data, i));
        if (json_array_append_new(r->findings.points,
                                  json_pack("{s:s, s:s, s:s*, s:f, s:f}", "row", f->row, "column", f->column,
                                            "class", name, "feature 1", x[0], "feature 2", x[second])) != 0)
            return rep_out_of_memory(r->ctx);
    }
    return KFE_OK;
}

static kfe_status scatter_cell(run *r, const rep_cell *cell)
{
    kfe_status status = KFE_OK;
    kfe_model *model = NULL;
    kfe_matrix features = {0};
    rep_separation separation;

    if (kfe_data_task(r->row.data) != KFE_TASK_CLASSES)
        return kfe_fail(r->ctx, KFE_EINPUT, "a scatter plot needs data with classes");
    REP_TRY(kfe_fit(r->ctx, cell->spec, r->row.data, &model));
    REP_TRY(kfe_transform(r->ctx, model, r->row.data, &features));
    REP_TRY(rep_separation_measure(r->ctx, r->row.data, &features, &separation));
    r->findings.items[r->first].mean = separation.neighbour_accuracy;
    r->findings.items[r->first + 1].mean = separation.scatter_ratio;
    if (*r->output)
        REP_TRY(write_features(r, &features));
    if (r->settings->points && features.cols > 0)
        REP_TRY(keep_points(r, &features));
cleanup:
    kfe_matrix_free(&features);
    kfe_model_free(model);
    return status;
}

/* ---- cells of paths ---- */

static int64_t longest_path(const rep_plan *plan)
{
    double longest = 1;

    if (plan->kind == REP_ROC)
        return rep_plan_points(plan);

    for (int64_t p = 0; plan->kind == REP_PATH && p < rep_plan_points(plan); p++)
        longest = fmax(longest, rep_plan_point(plan, p));
    return (int64_t)longest;
}

static rep_path *path_of_column(const run *r)
{
    size_t c = 0;

    while (json_array_get(r->plan.columns, c) != r->place.column)
        c++;
    return &r->row.paths[c];
}

/* The fit is made at the first point of the row and kept for the others. */
static kfe_status path_cell(run *r, const rep_cell *cell)
{
    kfe_status status = KFE_OK;
    int is_path = r->plan.kind == REP_PATH;
    rep_finding *f = &r->findings.items[r->first];
    rep_path *path = path_of_column(r);
    double mean = 0;
    double sd = 0;

    if (is_path)
        f->metric = rep_string(cell->column, "record"); /* the plan owns the string too */
    if (path->tried && !path->values)
        return KFE_OK;
    if (!path->tried)
        REP_TRY(rep_path_measure(cell, r->row.data, longest_path(&r->plan), path));
    rep_path_at(path, is_path ? (int64_t)r->place.point : r->point_index + 1, &mean, &sd);
    set_numbers(f, mean, sd, path->splits);
cleanup:
    return status;
}

/* ---- any cell ---- */

/* A cell that cannot be computed gets a note; the other cells go on. */
static kfe_status note_failure(run *r, kfe_status status)
{
    char where[REP_WHERE_SIZE];

    if (status == KFE_ENUMERIC || status == KFE_EINPUT || status == KFE_ELIMIT)
        return set_note(r, kfe_error_message(r->ctx));
    rep_place_name(&r->place, where);
    return rep_plan_prefix(&r->plan, where, status);
}

static kfe_status compute_cell(run *r, const rep_cell *cell)
{
    double began = kfe_i_clock();
    kfe_status status = rep_plan_is_assessed(&r->plan) ? assess_cell(r, cell)
                        : r->plan.kind == REP_SCATTER  ? scatter_cell(r, cell)
                                                       : path_cell(r, cell);

    r->findings.items[r->first].seconds = kfe_i_clock() - began;
    r->computed += status == KFE_OK;
    return status == KFE_OK ? KFE_OK : note_failure(r, status);
}

/* The row has null for the column, and the paper has no number there either. */
static int is_skipped(const run *r)
{
    const char *column = rep_string(r->place.column, "name");

    return json_is_null(json_object_get(json_object_get(r->place.row, "columns"), column)) &&
           !json_object_get(json_object_get(r->place.row, "paper"), column);
}

static kfe_status run_cell(run *r)
{
    kfe_status status = KFE_OK;
    rep_cell cell = {0};

    if (is_skipped(r))
        return KFE_OK;
    REP_TRY(add_findings(r));
    REP_TRY(rep_cell_open(&r->place, &r->use, &cell));
    if (cell.spec && r->row.missing)
        REP_TRY(set_note(r, r->row.missing));
    if (cell.spec && r->row.data)
        REP_TRY(compute_cell(r, &cell));
cleanup:
    rep_cell_close(&cell);
    return status;
}

/* ---- rows ---- */

static kfe_status open_row(run *r)
{
    kfe_status status = KFE_OK;
    const json_t *row = r->place.row;
    rep_text missing = {0};
    rep_text note = {0};
    void *memory = NULL;

    REP_TRY(rep_allocate(r->ctx, json_array_size(r->plan.columns), sizeof *r->row.paths, &memory));
    r->row.paths = memory;
    REP_TRY(rep_missing_files(&r->plan, row, &r->use, &missing));
    if (missing.length == 0) {
        status = rep_row_data(&r->plan, row, &r->use, &r->row.data);
        REP_TRY(rep_plan_prefix(&r->plan, rep_string(row, "name"), status));
    } else {
        rep_text_printf(&r->missing, "%s%s", r->missing.length > 0 ? ", " : "", missing.bytes);
        rep_text_printf(&note, "needs %s under --data DIR", missing.bytes);
        REP_TRY(rep_text_take(r->ctx, &note, &r->row.missing));
    }
cleanup:
    rep_text_free(&missing);
    rep_text_free(&note);
    return status;
}

static void close_row(run *r)
{
    for (size_t c = 0; r->row.paths && c < json_array_size(r->plan.columns); c++)
        rep_path_free(&r->row.paths[c]);
    free(r->row.paths);
    free(r->row.missing);
    kfe_data_free(r->row.data);
    r->row = (current_row){0};
}

static int is_wanted(const char *wanted, const json_t *entry)
{
    return !wanted || !*wanted || strcmp(wanted, rep_string(entry, "name")) == 0;
}

static kfe_status run_row(run *r)
{
    kfe_status status = KFE_OK;

    REP_TRY(open_row(r));
    for (int64_t p = 0; p < rep_plan_points(&r->plan); p++)
        for (size_t c = 0; c < json_array_size(r->plan.columns); c++) {
            r->point_index = p;
            r->place.point = rep_plan_point(&r->plan, p);
            r->place.column = json_array_get(r->plan.columns, c);
            REP_TRY(kfe_progress(r->ctx, "reproducing", r->done++, r->total));
            if (is_wanted(r->settings->column, r->place.column))
                REP_TRY(run_cell(r));
        }
cleanup:
    close_row(r);
    return status;
}

static kfe_status run_all(run *r)
{
    kfe_status status = KFE_OK;

    for (size_t i = 0; i < json_array_size(r->plan.rows); i++) {
        r->place.row = json_array_get(r->plan.rows, i);
        if (is_wanted(r->settings->row, r->place.row))
            REP_TRY(run_row(r));
    }
    REP_TRY(rep_text_check(r->ctx, &r->missing));
    if (r->computed == 0 && r->missing.length > 0)
        status = rep_fail(r->ctx, KFE_EINPUT, "no number of %s can be computed: needs %s under --data DIR",
                          r->plan.name, r->missing.bytes);
cleanup:
    return status;
}

/* ---- the whole plan ---- */

static kfe_status check_wanted(const run *r, const char *noun, const char *wanted, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (is_wanted(wanted, json_array_get(list, i)))
            return KFE_OK;
    return rep_fail(r->ctx, KFE_EINVAL, "%s has no %s '%s'", r->plan.name, noun, wanted);
}

static kfe_status begin(run *r, const char *name)
{
    kfe_status status = KFE_OK;

    REP_TRY(rep_plan_open(r->ctx, name, &r->plan));
    REP_TRY(check_wanted(r, "row", r->settings->row, r->plan.rows));
    REP_TRY(check_wanted(r, "column", r->settings->column, r->plan.columns));
    REP_TRY(rep_output_make(&r->plan, r->output));
    r->place.plan = &r->plan;
    r->findings.ctx = r->ctx;
    r->findings.plan = &r->plan;
    r->findings.over = rep_string(json_object_get(r->plan.root, "over"), "name");
    while (rep_plan_metric(&r->plan, r->findings.metric_count))
        r->findings.metric_count++;
    r->total = (int64_t)(json_array_size(r->plan.rows) * json_array_size(r->plan.columns)) *
               rep_plan_points(&r->plan);
cleanup:
    return status;
}

kfe_status rep_run(kfe_context *ctx, const char *name, const rep_settings *settings, char **text, char **json)
{
    kfe_status status = KFE_OK;
    rep_text written = {0};
    run r = {.ctx = ctx,
             .settings = settings,
             .use = {.folder = text_or_empty(settings->data), .quick = settings->quick},
             .output = text_or_empty(settings->output)};

    if (text)
        *text = NULL;
    if (json)
        *json = NULL;
    REP_TRY(begin(&r, name));
    REP_TRY(run_all(&r));
    if (*r.output)
        REP_TRY(rep_output_findings(&r.findings, r.output));
    if (text) {
        rep_findings_text(&r.findings, &written);
        REP_TRY(rep_text_take(ctx, &written, text));
    }
    if (json)
        REP_TRY(rep_findings_json(&r.findings, json));
cleanup:
    rep_text_free(&written);
    rep_findings_free(&r.findings);
    rep_plan_close(&r.plan);
    rep_text_free(&r.missing);
    return status;
}
