/* SPDX-License-Identifier: Apache-2.0 */
/* Results as JSON: the facts are an object, and a table is an array in the row that its rows belong to. Groups become objects. */
#include "core/json/json.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "result/result.h"

enum { LONGEST_GROUP = 512 };

typedef struct writer {
    kfe_i_json json;
    const kfe_result *result;
    /* Of each table, the first row that was not written yet: rows are in the order of their parents */
    int64_t *next;
} writer;

/* The groups that are open in a row, as "outer/inner/". */
typedef struct groups {
    char open[LONGEST_GROUP];
    size_t length;
} groups;

/* Closes the groups that `name` is not in and opens those that it is in. Returns the last part of the name. */
static const char *enter_group(writer *w, groups *g, const char *name)
{
    const char *slash = strrchr(name, '/');
    size_t wanted = slash ? (size_t)(slash + 1 - name) : 0;

    while (g->length > 0 && (g->length > wanted || strncmp(g->open, name, g->length) != 0)) {
        kfe_i_json_end(&w->json);
        do
            g->length--;
        while (g->length > 0 && g->open[g->length - 1] != '/');
    }
    while (g->length < wanted && wanted < sizeof g->open) {
        size_t part = strcspn(name + g->length, "/");
        kfe_i_snprintf(g->open + g->length, sizeof g->open - g->length, "%.*s", (int)part, name + g->length);
        kfe_i_json_object(&w->json, g->open + g->length);
        g->open[g->length + part] = '/';
        g->length += part + 1;
    }
    return name + wanted;
}

static void write_value(writer *w, const char *key, const kfe_column *c, int64_t row)
{
    double number = c->numbers ? c->numbers[row] : (double)NAN;

    if (c->texts ? !c->texts[row] : !isfinite(number))
        kfe_i_json_null(&w->json, key);
    else if (c->texts)
        kfe_i_json_text(&w->json, key, c->texts[row]);
    else if (c->kind == KFE_COLUMN_REAL)
        kfe_i_json_real(&w->json, key, number);
    else if (c->kind == KFE_COLUMN_COUNT)
        kfe_i_json_integer(&w->json, key, (int64_t)number);
    else
        kfe_i_json_boolean(&w->json, key, number > 0);
}

static void write_row(writer *w, int64_t table, int64_t row);

/* The rows of a table that belong to one row of its parent. */
static void write_rows(writer *w, const char *key, int64_t table, int64_t parent_row)
{
    const kfe_table *t = kfe_result_table(w->result, (int)table);

    kfe_i_json_array(&w->json, key);
    for (; w->next[table] < t->rows && t->parent_row[w->next[table]] == parent_row; w->next[table]++) {
        int64_t row = w->next[table];
        if (!t->is_list)
            write_row(w, table, row);
        else if (t->cols == 1)
            write_value(w, NULL, kfe_table_column(t, 0), row);
        if (!t->is_list || t->cols == 1)
            continue;
        kfe_i_json_array(&w->json, NULL);
        for (int64_t c = 0; c < t->cols; c++)
            write_value(w, NULL, kfe_table_column(t, c), row);
        kfe_i_json_end(&w->json);
    }
    kfe_i_json_end(&w->json);
}

static void write_row(writer *w, int64_t table, int64_t row)
{
    const kfe_table *t = kfe_result_table(w->result, (int)table);
    groups g = {.length = 0};
    char group[LONGEST_GROUP];

    kfe_i_json_object(&w->json, NULL);
    for (int64_t c = 0; c <= t->cols; c++) {
        for (int64_t child = table + 1; child < w->result->table_count; child++) {
            const kfe_i_result_table *other = w->result->tables[child];
            if (other->shown.parent == table && other->before == c)
                write_rows(w, enter_group(w, &g, other->shown.name), child, row);
        }
        const kfe_column *column = kfe_table_column(t, c);
        if (!column || (column->given && !column->given[row]))
            continue;
        if (column->kind == KFE_COLUMN_GROUP) {
            kfe_i_snprintf(group, sizeof group, "%s/", column->name);
            (void)enter_group(w, &g, group); /* what belongs to it follows */
        } else {
            write_value(w, enter_group(w, &g, column->name), column, row);
        }
    }
    (void)enter_group(w, &g, "");
    kfe_i_json_end(&w->json);
}

/* ---- matrices ---- */

static void write_label(kfe_i_json *json, const kfe_column *labels, int64_t row)
{
    char number[32];

    kfe_i_snprintf(number, sizeof number, "%lld", (long long)row + 1);
    kfe_i_json_text(json, NULL, labels->texts ? labels->texts[row] : number);
}

static void write_matrix(kfe_i_json *json, const kfe_table *t)
{
    const kfe_column *labels = kfe_table_column(t, 0);

    kfe_i_json_object(json, t->name);
    kfe_i_json_text(json, "about", t->about);
    kfe_i_json_text(json, "row_axis", labels->name);
    kfe_i_json_text(json, "column_axis", t->cols > 1 ? kfe_table_column(t, 1)->about : "");
    kfe_i_json_array(json, "rows");
    for (int64_t i = 0; i < t->rows; i++)
        write_label(json, labels, i);
    kfe_i_json_end(json);
    kfe_i_json_array(json, "columns");
    for (int64_t j = 1; j < t->cols; j++)
        kfe_i_json_text(json, NULL, kfe_table_column(t, j)->name);
    kfe_i_json_end(json);
    kfe_i_json_array(json, "values");
    for (int64_t i = 0; i < t->rows; i++) {
        kfe_i_json_array(json, NULL);
        for (int64_t j = 1; j < t->cols; j++)
            kfe_i_json_real(json, NULL, kfe_table_column(t, j)->numbers[i]);
        kfe_i_json_end(json);
    }
    kfe_i_json_end(json);
    kfe_i_json_end(json);
}

static void write_matrices(writer *w)
{
    kfe_i_json_object(&w->json, NULL);
    kfe_i_json_object(&w->json, "tables");
    for (int t = 1; t < w->result->table_count; t++)
        write_matrix(&w->json, kfe_result_table(w->result, t));
    kfe_i_json_end(&w->json);
    kfe_i_json_end(&w->json);
}

kfe_status kfe_i_result_json(kfe_context *ctx, const kfe_result *result, char **out)
{
    kfe_status status = KFE_OK;
    writer w = {.result = result};
    int is_bare = result->table_count == 2 && strcmp(result->tables[1]->shown.name, "measures") == 0;

    *out = NULL;
    kfe_i_json_init(&w.json, ctx, !result->has_matrices);
    KFE_ALLOC_ZERO(ctx, w.next, result->table_count);
    if (result->has_matrices)
        write_matrices(&w);
    else if (is_bare)
        write_rows(&w, NULL, 1, 0);
    else
        write_row(&w, 0, 0);
    KFE_TRY(kfe_i_json_finish(&w.json, out));
cleanup:
    kfe_i_json_free(&w.json);
    kfe_i_free(ctx, w.next);
    return status;
}
