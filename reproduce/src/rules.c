/* SPDX-License-Identifier: Apache-2.0 */
#include "api/plan_rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/generate/generate.h"

/* Types that a value may have, a letter each: s string, n number, b true or false, o object of settings,
 * m object of anything, t array of strings, r array of numbers, a array of objects. */
typedef struct key_rule {
    const char *name, *types;
    int needed;
} key_rule;

static const key_rule top_rules[] = {
    {"title", "s", 1},   {"paper", "s", 1},   {"kind", "s", 0},         {"metrics", "t", 0},
    {"percent", "b", 0}, {"remarks", "t", 0}, {"paper-splits", "n", 0}, {"protocol", "o", 0},
    {"quick", "o", 0},   {"over", "m", 0},    {"columns", "a", 1},      {"rows", "a", 1},
    {NULL, NULL, 0},
};
static const key_rule over_rules[] = {
    {"name", "s", 1}, {"parameter", "s", 0}, {"values", "r", 1}, {"reciprocal", "b", 0}, {NULL, NULL, 0},
};
static const key_rule column_rules[] = {
    {"name", "s", 1},     {"method", "s", 0},         {"params", "o", 0}, {"kernel", "st", 0},
    {"learner", "s", 0},  {"learner-params", "o", 0}, {"scale", "s", 0},  {"grid", "t", 0},
    {"protocol", "o", 0}, {"record", "s", 0},         {NULL, NULL, 0},
};
static const key_rule row_rules[] = {
    {"name", "s", 1},      {"data", "st", 0},   {"reading", "o", 0},   {"generate", "s", 0},
    {"options", "o", 0},   {"seed", "n", 0},    {"protocol", "o", 0},  {"columns", "m", 0},
    {"paper", "m", 0},     {"note", "s", 0},    {"rows", "n", 0},      {"every", "n", 0},
    {"per-class", "n", 0}, {"classes", "m", 0}, {"transform", "s", 0}, {"target-scale", "s", 0},
    {NULL, NULL, 0},
};
static const key_rule paper_rules[] = {
    {"value", "n", 1},
    {"sd", "n", 0},
    {"count", "n", 0},
    {NULL, NULL, 0},
};

/* ---- types ---- */

static int all_are(const json_t *array, int (*is)(const json_t *))
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!is(json_array_get(array, i)))
            return 0;
    return json_is_array(array);
}

static int is_text(const json_t *value)
{
    return json_is_string(value);
}

static int is_number(const json_t *value)
{
    return json_is_number(value);
}

static int is_object(const json_t *value)
{
    return json_is_object(value);
}

static int are_settings(const json_t *value)
{
    const char *key;
    json_t *setting;

    json_object_foreach((json_t *)(uintptr_t)value, key, setting)
    {
        if (!json_is_string(setting) && !json_is_number(setting) && !json_is_boolean(setting))
            return 0;
    }
    return json_is_object(value);
}

static int fits(const json_t *value, char type)
{
    switch (type) {
    case 's':
        return json_is_string(value);
    case 'n':
        return json_is_number(value);
    case 'b':
        return json_is_boolean(value);
    case 'o':
        return are_settings(value);
    case 'm':
        return json_is_object(value);
    case 't':
        return all_are(value, is_text);
    case 'r':
        return all_are(value, is_number);
    default:
        return all_are(value, is_object);
    }
}

static const char *type_name(char type)
{
    switch (type) {
    case 's':
        return "a string";
    case 'n':
        return "a number";
    case 'b':
        return "true or false";
    case 'o':
        return "an object of strings, numbers, true and false";
    case 'm':
        return "an object";
    case 't':
        return "an array of strings";
    case 'r':
        return "an array of numbers";
    default:
        return "an array of objects";
    }
}

/* ---- keys ---- */

static const char *rule_name_at(const void *list, int index)
{
    return ((const key_rule *)list)[index].name;
}

static const key_rule *find_rule(const key_rule *rules, const char *name)
{
    for (; rules->name; rules++)
        if (strcmp(rules->name, name) == 0)
            return rules;
    return NULL;
}

static kfe_status check_value(const kfe_i_plan *plan, const char *where, const key_rule *rule,
                              const json_t *value)
{
    const char *types = rule->types;

    for (const char *type = types; *type; type++)
        if (fits(value, *type))
            return KFE_OK;
    return kfe_i_plan_fail(plan, where, "\"%s\" takes %s%s%s", rule->name, type_name(types[0]),
                           types[1] ? " or " : "", types[1] ? type_name(types[1]) : "");
}

static kfe_status check_keys(const kfe_i_plan *plan, const char *where, const json_t *object,
                             const key_rule *rules)
{
    kfe_status status = KFE_OK;
    char suggestion[96];
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const key_rule *rule = find_rule(rules, key);
        kfe_i_suggest(key, rule_name_at, rules, suggestion, sizeof suggestion);
        if (!rule)
            return kfe_i_plan_fail(plan, where, "unknown key \"%s\"%s", key, suggestion);
        KFE_TRY(check_value(plan, where, rule, value));
    }
    for (; rules->name; rules++)
        if (rules->needed && !json_object_get(object, rules->name))
            return kfe_i_plan_fail(plan, where, "the key \"%s\" is missing", rules->name);
cleanup:
    return status;
}

static const json_t *find_named(const json_t *list, const char *name, size_t end)
{
    for (size_t i = 0; i < end; i++) {
        const char *other = kfe_i_plan_text(json_array_get(list, i), "name");
        if (other && strcmp(other, name) == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

/* Every entry has the keys of `rules` and a name of its own. */
static kfe_status check_list(const kfe_i_plan *plan, const char *noun, const json_t *list,
                             const key_rule *rules)
{
    kfe_status status = KFE_OK;
    char where[160];

    if (json_array_size(list) == 0)
        return kfe_i_plan_fail(plan, "", "there are no %ss", noun);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name = kfe_i_plan_text(entry, "name");
        snprintf(where, sizeof where, "%s %d (%s)", noun, (int)i + 1, name ? name : "no name");
        KFE_TRY(check_keys(plan, where, entry, rules));
        if (find_named(list, name, i))
            return kfe_i_plan_fail(plan, where, "the name is that of an earlier %s", noun);
    }
cleanup:
    return status;
}

/* ---- the parts ---- */

static kfe_status check_kind(kfe_i_plan *plan)
{
    const char *kind = kfe_i_plan_text(plan->root, "kind");
    int index = kind ? kfe_i_word_index("table|curve|scatter|path|time", kind) : KFE_PLAN_TABLE;

    if (index < 0)
        return kfe_i_plan_fail(plan, "", "\"kind\" is table, curve, scatter, path or time, not '%s'", kind);
    plan->kind = (kfe_i_plan_kind)index;
    int over_needed = plan->kind == KFE_PLAN_CURVE || plan->kind == KFE_PLAN_PATH;
    if (over_needed != (json_object_get(plan->root, "over") != NULL))
        return kfe_i_plan_fail(plan, "", "a curve or a path, and nothing else, has the key \"over\"");
    if (!kfe_i_plan_is_assessed(plan) && json_object_get(plan->root, "metrics"))
        return kfe_i_plan_fail(plan, "", "\"metrics\" cannot be chosen for the kind %s", kind);
    return KFE_OK;
}

static kfe_status check_point(const kfe_i_plan *plan, const json_t *over, double value)
{
    if (json_is_true(json_object_get(over, "reciprocal")) && fabs(value) <= 0)
        return kfe_i_plan_fail(plan, "over", "a value is 0, which has no reciprocal");
    if (plan->kind == KFE_PLAN_PATH && !(value >= 1 && value <= KFE_PATH_LONGEST && floor(value) >= value))
        return kfe_i_plan_fail(plan, "over", "the values of a path are numbers of features, 1 to %d",
                               KFE_PATH_LONGEST);
    return KFE_OK;
}

static kfe_status check_over(const kfe_i_plan *plan)
{
    kfe_status status = KFE_OK;
    const json_t *over = json_object_get(plan->root, "over");

    if (!over)
        return KFE_OK;
    KFE_TRY(check_keys(plan, "over", over, over_rules));
    if (json_array_size(json_object_get(over, "values")) == 0)
        return kfe_i_plan_fail(plan, "over", "there are no \"values\"");
    if ((plan->kind == KFE_PLAN_CURVE) != (json_object_get(over, "parameter") != NULL))
        return kfe_i_plan_fail(plan, "over",
                               "a curve needs a \"parameter\"; a path is over the number of features");
    for (int64_t i = 0; i < kfe_i_plan_points(plan); i++)
        KFE_TRY(check_point(plan, over, kfe_i_plan_point(plan, i)));
cleanup:
    return status;
}

static kfe_status check_metrics(const kfe_i_plan *plan)
{
    const char *name;
    const kfe_i_metric *metric = NULL;

    if (!kfe_i_plan_metric(plan, 0))
        return kfe_i_plan_fail(plan, "", "\"metrics\" is empty");
    if (!kfe_i_plan_is_assessed(plan))
        return KFE_OK;
    for (int64_t m = 0; (name = kfe_i_plan_metric(plan, m)); m++) {
        int known = strcmp(name, KFE_PLAN_SUPPORT_VECTORS) == 0 && m > 0;
        for (int i = 0; !known && (metric = kfe_i_metric_at(i)); i++)
            known = strcmp(metric->name, name) == 0;
        if (!known)
            return kfe_i_plan_fail(plan, "metrics",
                                   "'%s' is no metric%s; the first is one of kfe's, later ones may also be "
                                   "support-vectors",
                                   name, m == 0 ? " to choose by" : "");
    }
    return KFE_OK;
}

/* A number, an object with value, or an object with one of these for each metric. */
static kfe_status check_paper_entry(const kfe_i_plan *plan, const char *where, const json_t *entry,
                                    int inside_metric)
{
    kfe_status status = KFE_OK;
    const char *name;
    size_t found = 0;

    if (json_is_number(entry))
        return KFE_OK;
    for (int64_t m = 0; !inside_metric && (name = kfe_i_plan_metric(plan, m)); m++)
        if (json_object_get(entry, name)) {
            KFE_TRY(check_paper_entry(plan, where, json_object_get(entry, name), 1));
            found++;
        }
    if (found > 0 && found == json_object_size(entry))
        return KFE_OK;
    if (!json_is_object(entry))
        return kfe_i_plan_fail(plan, where, "\"paper\" takes numbers or objects with \"value\"");
    KFE_TRY(check_keys(plan, where, entry, paper_rules));
cleanup:
    return status;
}

static kfe_status check_classes(const kfe_i_plan *plan, const char *where, const json_t *lists)
{
    const char *name;
    json_t *list;

    json_object_foreach((json_t *)(uintptr_t)lists, name, list)
    {
        if (!all_are(list, is_text))
            return kfe_i_plan_fail(plan, where, "\"classes\": \"%s\" takes an array of names of classes",
                                   name);
    }
    return KFE_OK;
}

static kfe_status check_preparation(const kfe_i_plan *plan, const char *where, const json_t *row)
{
    const char *const counts[] = {"rows", "every", "per-class"};
    const char *transform = kfe_i_plan_text(row, "transform");
    const char *scale = kfe_i_plan_text(row, "target-scale");
    int64_t width;
    int64_t height;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const json_t *count = json_object_get(row, counts[i]);
        if (count && !(json_number_value(count) >= 1 && json_number_value(count) <= KFE_INT_MAX))
            return kfe_i_plan_fail(plan, where, "\"%s\" is a number of rows, at least 1", counts[i]);
    }
    if (transform && !kfe_i_plan_image_size(transform, &width, &height))
        return kfe_i_plan_fail(plan, where, "\"transform\" is 'viola-jones WxH', such as 19x19, not '%s'",
                               transform);
    if (scale && kfe_i_word_index(KFE_PLAN_TARGET_SCALES, scale) < 0)
        return kfe_i_plan_fail(plan, where, "\"target-scale\" is standard, minmax or unit-norm, not '%s'",
                               scale);
    return check_classes(plan, where, json_object_get(row, "classes"));
}

static kfe_status check_row(const kfe_i_plan *plan, const json_t *row)
{
    kfe_status status = KFE_OK;
    char where[160];
    const char *key;
    json_t *value;
    const char *const by_column[] = {"columns", "paper"};

    snprintf(where, sizeof where, "row %s", kfe_i_plan_text(row, "name"));
    if (!json_object_get(row, "data") == !json_object_get(row, "generate"))
        return kfe_i_plan_fail(plan, where, "give either \"data\" or \"generate\"");
    KFE_TRY(check_preparation(plan, where, row));
    for (int i = 0; i < 2; i++)
        json_object_foreach(json_object_get(row, by_column[i]), key, value)
        {
            if (!find_named(plan->columns, key, json_array_size(plan->columns)))
                return kfe_i_plan_fail(plan, where, "\"%s\" names '%s', which is no column", by_column[i],
                                       key);
        }
    json_object_foreach(json_object_get(row, "paper"), key, value)
        KFE_TRY(check_paper_entry(plan, where, value, 0));
cleanup:
    return status;
}

kfe_status kfe_i_plan_check_shape(kfe_i_plan *plan)
{
    kfe_status status = KFE_OK;

    if (!json_is_object(plan->root))
        return kfe_i_plan_fail(plan, "", "the file must hold one JSON object");
    KFE_TRY(check_keys(plan, "", plan->root, top_rules));
    plan->rows = json_object_get(plan->root, "rows");
    plan->columns = json_object_get(plan->root, "columns");
    KFE_TRY(check_kind(plan));
    KFE_TRY(check_over(plan));
    KFE_TRY(check_metrics(plan));
    KFE_TRY(check_list(plan, "column", plan->columns, column_rules));
    KFE_TRY(check_list(plan, "row", plan->rows, row_rules));
    for (size_t r = 0; r < json_array_size(plan->rows); r++)
        KFE_TRY(check_row(plan, json_array_get(plan->rows, r)));
cleanup:
    return status;
}

/* ---- what is named exists ---- */

static kfe_status check_generator(const kfe_i_plan *plan, const json_t *row)
{
    const char *name = kfe_i_plan_text(row, "generate");
    const kfe_i_generator *generator = NULL;
    char where[160];

    snprintf(where, sizeof where, "row %s", kfe_i_plan_text(row, "name"));
    for (int i = 0; name && (generator = kfe_i_generator_at(i)); i++)
        if (strcmp(generator->name, name) == 0)
            return KFE_OK;
    return name ? kfe_i_plan_fail(plan, where, "\"generate\": there is no generator '%s'", name) : KFE_OK;
}

static kfe_status check_override(const kfe_i_plan *plan, const json_t *row, const json_t *column)
{
    const char *name = kfe_i_plan_text(column, "name");
    const json_t *changes = json_object_get(json_object_get(row, "columns"), name);
    char where[320];
    static const key_rule *const rules = column_rules + 1; /* all but the name */

    snprintf(where, sizeof where, "row %s, column %s", kfe_i_plan_text(row, "name"), name);
    if (!changes || json_is_null(changes))
        return KFE_OK;
    if (!json_is_object(changes))
        return kfe_i_plan_fail(plan, where, "takes an object, or null to leave the column out");
    return check_keys(plan, where, changes, rules);
}

static kfe_status check_purpose(const kfe_i_plan *plan, const char *where, const kfe_i_plan_cell *cell)
{
    const char *record = kfe_i_plan_text(cell->column, "record");

    if ((plan->kind == KFE_PLAN_PATH) != (record != NULL))
        return kfe_i_plan_fail(plan, where, "a column of a path, and no other, has a \"record\"");
    if ((plan->kind == KFE_PLAN_PATH || plan->kind == KFE_PLAN_TIME) && cell->grid_count > 0)
        return kfe_i_plan_fail(plan, where, "the kind %s takes no \"grid\"; give \"params\"",
                               kfe_i_plan_text(plan->root, "kind"));
    if (kfe_i_plan_is_assessed(plan) && !kfe_i_spec_predicts(cell->spec))
        return kfe_i_plan_fail(plan, where, "method %s needs a \"learner\" to be measured",
                               cell->spec->method->name);
    return KFE_OK;
}

static kfe_status check_cell(const kfe_i_plan *plan, const json_t *row, const json_t *column, int quick)
{
    kfe_status status = KFE_OK;
    const kfe_i_plan_use use = {.folder = "", .quick = quick};
    kfe_i_plan_cell cell = {0};
    kfe_i_grid grid = {0};
    char where[320];

    KFE_TRY(check_override(plan, row, column));
    KFE_TRY(kfe_i_plan_cell_open(plan, row, column, kfe_i_plan_point(plan, 0), &use, &cell));
    snprintf(where, sizeof where, "row %s, column %s", kfe_i_plan_text(row, "name"),
             kfe_i_plan_text(column, "name"));
    if (!cell.spec)
        goto cleanup;
    KFE_TRY(check_purpose(plan, where, &cell));
    status = kfe_i_grid_make(plan->ctx, cell.spec, cell.grid_count, cell.grids, 0, NULL, &grid);
    KFE_TRY(kfe_i_plan_prefix(plan, where, status));
cleanup:
    kfe_i_grid_free(&grid);
    kfe_i_plan_cell_close(&cell);
    return status;
}

kfe_status kfe_i_plan_check_cells(const kfe_i_plan *plan)
{
    kfe_status status = KFE_OK;

    for (size_t r = 0; r < json_array_size(plan->rows); r++) {
        const json_t *row = json_array_get(plan->rows, r);
        KFE_TRY(check_generator(plan, row));
        for (size_t c = 0; c < json_array_size(plan->columns); c++)
            for (int quick = 0; quick < 2; quick++)
                KFE_TRY(check_cell(plan, row, json_array_get(plan->columns, c), quick));
    }
cleanup:
    return status;
}
