/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a plan, and checks of the names in it. Called by plan.c when a plan is opened. */
#include "reproduce/src/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reproduce/src/cell.h"
#include "reproduce/src/data.h"
#include "reproduce/src/keys.h"

static const rep_key top_keys[] = {
    {"title", "s", 1},   {"paper", "s", 1},   {"kind", "s", 0},         {"metrics", "t", 0},
    {"percent", "b", 0}, {"remarks", "t", 0}, {"paper-splits", "n", 0}, {"protocol", "o", 0},
    {"quick", "o", 0},   {"over", "m", 0},    {"columns", "a", 1},      {"rows", "a", 1},
    {NULL, NULL, 0},
};
static const rep_key over_keys[] = {
    {"name", "s", 1}, {"parameter", "s", 0}, {"values", "r", 1}, {"reciprocal", "b", 0}, {NULL, NULL, 0},
};
static const rep_key column_keys[] = {
    {"name", "s", 1},     {"method", "s", 0},         {"params", "o", 0}, {"kernel", "st", 0},
    {"learner", "s", 0},  {"learner-params", "o", 0}, {"scale", "s", 0},  {"grid", "t", 0},
    {"protocol", "o", 0}, {"record", "s", 0},         {NULL, NULL, 0},
};
static const rep_key row_keys[] = {
    {"name", "s", 1},         {"data", "st", 0},   {"reading", "o", 0},   {"generate", "s", 0},
    {"options", "o", 0},      {"seed", "n", 0},    {"protocol", "o", 0},  {"columns", "m", 0},
    {"paper", "m", 0},        {"note", "s", 0},    {"rows", "n", 0},      {"every", "n", 0},
    {"per-class", "n", 0},    {"classes", "m", 0}, {"transform", "s", 0}, {"column-scale", "s", 0},
    {"target-scale", "s", 0}, {NULL, NULL, 0},
};
static const rep_key paper_keys[] = {
    {"value", "n", 1},
    {"sd", "n", 0},
    {"count", "n", 0},
    {NULL, NULL, 0},
};

/* ---- rows and columns ---- */

static const json_t *find_named(const json_t *list, const char *name, size_t end)
{
    for (size_t i = 0; i < end; i++) {
        const char *other = rep_string(json_array_get(list, i), "name");
        if (other && strcmp(other, name) == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

/* Every entry has the keys of `keys` and a name that no earlier entry has. */
static kfe_status check_list(const rep_plan *plan, const char *noun, const json_t *list, const rep_key *keys)
{
    kfe_status status = KFE_OK;
    char where[160];

    if (json_array_size(list) == 0)
        return rep_plan_fail(plan, "", "there are no %ss", noun);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name = rep_string(entry, "name");
        snprintf(where, sizeof where, "%s %d (%s)", noun, (int)i + 1, name ? name : "no name");
        REP_TRY(rep_check_keys(plan, where, entry, keys));
        if (find_named(list, name, i))
            return rep_plan_fail(plan, where, "the name is that of an earlier %s", noun);
    }
cleanup:
    return status;
}

/* ---- kind, points and metrics ---- */

static kfe_status check_kind(rep_plan *plan)
{
    const char *kind = rep_string(plan->root, "kind");
    int index = kind ? rep_word_index(REP_KIND_WORDS, kind) : REP_TABLE;

    if (index < 0)
        return rep_plan_fail(plan, "", "\"kind\" is table, curve, scatter, path, time or roc, not '%s'",
                             kind);
    plan->kind = (rep_kind)index;
    int over_needed = plan->kind == REP_CURVE || plan->kind == REP_PATH || plan->kind == REP_ROC;
    if (over_needed != (json_object_get(plan->root, "over") != NULL))
        return rep_plan_fail(plan, "",
                             "only the kinds curve, path and roc have the key \"over\", and they must");
    if (!rep_plan_is_assessed(plan) && json_object_get(plan->root, "metrics"))
        return rep_plan_fail(plan, "", "\"metrics\" cannot be chosen for the kind %s", kind);
    return KFE_OK;
}

static kfe_status check_point(const rep_plan *plan, const json_t *over, double value)
{
    if (json_is_true(json_object_get(over, "reciprocal")) && fabs(value) <= 0)
        return rep_plan_fail(plan, "over", "a value is 0, which has no reciprocal");
    if (plan->kind == REP_PATH && !(value >= 1 && value <= REP_LONGEST_PATH && floor(value) >= value))
        return rep_plan_fail(plan, "over", "the values of a path are numbers of features, 1 to %d",
                             REP_LONGEST_PATH);
    if (plan->kind == REP_ROC && !(value >= 0 && value <= 1))
        return rep_plan_fail(plan, "over", "the values of a ROC curve are false positive rates, 0 to 1");
    return KFE_OK;
}

static kfe_status check_over(const rep_plan *plan)
{
    kfe_status status = KFE_OK;
    const json_t *over = json_object_get(plan->root, "over");

    if (!over)
        return KFE_OK;
    REP_TRY(rep_check_keys(plan, "over", over, over_keys));
    if (json_array_size(json_object_get(over, "values")) == 0)
        return rep_plan_fail(plan, "over", "there are no \"values\"");
    if ((plan->kind == REP_CURVE) != (json_object_get(over, "parameter") != NULL))
        return rep_plan_fail(plan, "over", "a curve needs a \"parameter\"; a path and a ROC curve have none");
    for (int64_t i = 0; i < rep_plan_points(plan); i++)
        REP_TRY(check_point(plan, over, rep_plan_point(plan, i)));
cleanup:
    return status;
}

static int is_metric(const char *name)
{
    const kfe_entry_info *info;

    for (int i = 0; (info = kfe_metric(i)); i++)
        if (strcmp(info->name, name) == 0)
            return 1;
    return 0;
}

static kfe_status check_metrics(const rep_plan *plan)
{
    const char *name = rep_plan_metric(plan, 0);

    if (!name)
        return rep_plan_fail(plan, "", "\"metrics\" is empty");
    if (!rep_plan_is_assessed(plan))
        return KFE_OK;
    if (strcmp(name, REP_SUPPORT_VECTORS) == 0)
        return rep_plan_fail(plan, "metrics", "the first metric chooses settings, so it cannot be %s", name);
    for (int64_t m = 0; (name = rep_plan_metric(plan, m)); m++)
        if (strcmp(name, REP_SUPPORT_VECTORS) != 0 && !is_metric(name))
            return rep_plan_fail(plan, "metrics", "there is no metric '%s'", name);
    return KFE_OK;
}

/* ---- one row ---- */

/* A number, an object with "value", or an object with one of these for each metric. */
static kfe_status check_published(const rep_plan *plan, const char *where, const json_t *entry,
                                  int inside_metric)
{
    kfe_status status = KFE_OK;
    const char *name;
    size_t found = 0;

    if (json_is_number(entry))
        return KFE_OK;
    for (int64_t m = 0; !inside_metric && (name = rep_plan_metric(plan, m)); m++)
        if (json_object_get(entry, name)) {
            REP_TRY(check_published(plan, where, json_object_get(entry, name), 1));
            found++;
        }
    if (found > 0 && found == json_object_size(entry))
        return KFE_OK;
    if (!json_is_object(entry))
        return rep_plan_fail(plan, where, "\"paper\" takes numbers or objects with \"value\"");
    REP_TRY(rep_check_keys(plan, where, entry, paper_keys));
cleanup:
    return status;
}

static kfe_status check_classes(const rep_plan *plan, const char *where, const json_t *lists)
{
    const char *name;
    json_t *list;

    json_object_foreach((json_t *)(uintptr_t)lists, name, list)
    {
        if (!rep_is_string_array(list))
            return rep_plan_fail(plan, where, "\"classes\": \"%s\" takes an array of names of classes", name);
    }
    return KFE_OK;
}

/* Larger numbers are not exact in JSON and do not fit an integer. */
#define LARGEST_SEED 9007199254740992.0

static kfe_status check_seed(const rep_plan *plan, const char *where, const json_t *row)
{
    double seed = json_number_value(json_object_get(row, "seed")); /* 0 if it is not given */

    if (seed >= 0 && seed <= LARGEST_SEED && seed == floor(seed))
        return KFE_OK;
    return rep_plan_fail(plan, where, "\"seed\" is a whole number from 0 to 2^53");
}

static kfe_status check_preparation(const rep_plan *plan, const char *where, const json_t *row)
{
    const char *const counts[] = {"rows", "every", "per-class"};
    const char *transform = rep_string(row, "transform");
    const char *scale = rep_string(row, "target-scale");
    int64_t width;
    int64_t height;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const json_t *count = json_object_get(row, counts[i]);
        if (count && !(json_number_value(count) >= 1 && json_number_value(count) <= INT32_MAX))
            return rep_plan_fail(plan, where, "\"%s\" is a number of rows, at least 1", counts[i]);
    }
    if (transform && !rep_image_size(transform, &width, &height))
        return rep_plan_fail(plan, where, "\"transform\" is 'viola-jones WxH', such as 19x19, not '%s'",
                             transform);
    if (scale && rep_word_index(REP_TARGET_SCALES, scale) < 0)
        return rep_plan_fail(plan, where, "\"target-scale\" is standard, minmax or unit-norm, not '%s'",
                             scale);
    return check_classes(plan, where, json_object_get(row, "classes"));
}

static kfe_status check_column_names(const rep_plan *plan, const char *where, const json_t *row,
                                     const char *key)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_object_get(row, key), name, value)
    {
        if (!find_named(plan->columns, name, json_array_size(plan->columns)))
            return rep_plan_fail(plan, where, "\"%s\" names '%s', which is not a column", key, name);
    }
    return KFE_OK;
}

static kfe_status check_row(const rep_plan *plan, const json_t *row)
{
    kfe_status status = KFE_OK;
    char where[160];
    const char *name;
    json_t *value;

    snprintf(where, sizeof where, "row %s", rep_string(row, "name"));
    if (!json_object_get(row, "data") == !json_object_get(row, "generate"))
        return rep_plan_fail(plan, where, "give either \"data\" or \"generate\"");
    REP_TRY(check_seed(plan, where, row));
    REP_TRY(check_preparation(plan, where, row));
    REP_TRY(check_column_names(plan, where, row, "columns"));
    REP_TRY(check_column_names(plan, where, row, "paper"));
    json_object_foreach(json_object_get(row, "paper"), name, value)
        REP_TRY(check_published(plan, where, value, 0));
cleanup:
    return status;
}

kfe_status rep_check_shape(rep_plan *plan)
{
    kfe_status status = KFE_OK;

    if (!json_is_object(plan->root))
        return rep_plan_fail(plan, "", "the file must hold one JSON object");
    REP_TRY(rep_check_keys(plan, "", plan->root, top_keys));
    plan->rows = json_object_get(plan->root, "rows");
    plan->columns = json_object_get(plan->root, "columns");
    REP_TRY(check_kind(plan));
    REP_TRY(check_over(plan));
    REP_TRY(check_metrics(plan));
    REP_TRY(check_list(plan, "column", plan->columns, column_keys));
    REP_TRY(check_list(plan, "row", plan->rows, row_keys));
    for (size_t r = 0; r < json_array_size(plan->rows); r++)
        REP_TRY(check_row(plan, json_array_get(plan->rows, r)));
cleanup:
    return status;
}

/* ---- cells ---- */

static kfe_status check_generator(const rep_plan *plan, const json_t *row)
{
    const char *name = rep_string(row, "generate");
    const kfe_entry_info *info;
    char where[160];

    if (!name)
        return KFE_OK;
    for (int i = 0; (info = kfe_generator(i)); i++)
        if (strcmp(info->name, name) == 0)
            return KFE_OK;
    snprintf(where, sizeof where, "row %s", rep_string(row, "name"));
    return rep_plan_fail(plan, where, "\"generate\": there is no generator '%s'", name);
}

static kfe_status check_changes(const rep_place *place, const char *where)
{
    const json_t *changes =
        json_object_get(json_object_get(place->row, "columns"), rep_string(place->column, "name"));
    static const rep_key *const all_but_name = column_keys + 1;

    if (!changes || json_is_null(changes))
        return KFE_OK;
    if (!json_is_object(changes))
        return rep_plan_fail(place->plan, where, "takes an object, or null to skip the column");
    return rep_check_keys(place->plan, where, changes, all_but_name);
}

static int method_predicts(const char *name)
{
    const kfe_entry_info *info;

    for (int i = 0; (info = kfe_method(i)); i++)
        if (strcmp(info->name, name) == 0)
            return (info->flags & KFE_HAS_PREDICTOR) != 0;
    return 0;
}

static kfe_status check_purpose(const rep_plan *plan, const char *where, const rep_cell *cell)
{
    const char *method = rep_string(cell->column, "method");
    const char *record = rep_string(cell->column, "record");

    if ((plan->kind == REP_PATH) != (record != NULL))
        return rep_plan_fail(plan, where, "only a column of a path has a \"record\", and it must");
    if (!rep_plan_is_assessed(plan) && plan->kind != REP_SCATTER && cell->grid_count > 0)
        return rep_plan_fail(plan, where, "the kind %s takes no \"grid\"; give \"params\"",
                             rep_string(plan->root, "kind"));
    if ((rep_plan_is_assessed(plan) || plan->kind == REP_ROC) && !rep_string(cell->column, "learner") &&
        !method_predicts(method))
        return rep_plan_fail(plan, where, "method %s does not predict; give a \"learner\"", method);
    return KFE_OK;
}

static kfe_status check_cell(const rep_place *place, int quick)
{
    kfe_status status = KFE_OK;
    const rep_use use = {.folder = "", .quick = quick};
    rep_cell cell = {0};
    char where[REP_WHERE_SIZE];
    int64_t settings = 0;

    rep_place_name(place, where);
    REP_TRY(check_changes(place, where));
    REP_TRY(rep_cell_open(place, &use, &cell));
    if (!cell.spec)
        goto cleanup;
    REP_TRY(check_purpose(place->plan, where, &cell));
    status = kfe_cv_check(place->plan->ctx, cell.spec, cell.grids, cell.options, &settings);
    REP_TRY(rep_plan_prefix(place->plan, where, status));
cleanup:
    rep_cell_close(&cell);
    return status;
}

kfe_status rep_check_cells(const rep_plan *plan)
{
    kfe_status status = KFE_OK;
    rep_place place = {.plan = plan, .point = rep_plan_point(plan, 0)};

    for (size_t r = 0; r < json_array_size(plan->rows); r++) {
        place.row = json_array_get(plan->rows, r);
        REP_TRY(check_generator(plan, place.row));
        for (size_t c = 0; c < json_array_size(plan->columns); c++) {
            place.column = json_array_get(plan->columns, c);
            REP_TRY(check_cell(&place, 0));
            REP_TRY(check_cell(&place, 1));
        }
    }
cleanup:
    return status;
}
