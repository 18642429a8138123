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
    int64_t *
        next; /* of each table, the first row that was not written yet: rows are in the order of their parents */
} writer;

/* Closes the groups that `name` is not in and opens those that it is in; *open is the prefix that is open. Returns the last
 * part of the name. */
static const char *enter_group(writer *w, const char *name, const char **open, size_t *length)
{
    const char *slash = strrchr(name, '/');
    size_t wanted = slash ? (size_t)(slash + 1 - name) : 0;

    while (*length > 0 && (*length > wanted || strncmp(*open, name, *length) != 0)) {
        kfe_i_json_end(&w->json);
        for ((*length)--; *length > 0 && (*open)[*length - 1] != '/';)
            (*length)--;
    }
    while (*length < wanted) {
        char group[LONGEST_GROUP];
        size_t part = strcspn(name + *length, "/");
        kfe_i_snprintf(group, sizeof group, "%.*s", (int)part, name + *length);
        kfe_i_json_object(&w->json, group);
        *length += part + 1;
    }
    *open = name;
    return name + wanted;
}

static void write_value(writer *w, const char *key, const kfe_column *c, int64_t row)
{
    double number = c->numbers ? c->numbers[row] : (double)NAN;

    if (c->kind == KFE_COLUMN_GROUP) {
        kfe_i_json_object(&w->json, key);
        kfe_i_json_end(&w->json);
    } else if (c->texts ? !c->texts[row] : !isfinite(number))
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

static int is_within(const char *name, const char *group)
{
    size_t length = strlen(group);

    return strncmp(name, group, length) == 0 && name[length] == '/';
}

/* Whether the row has anything in this group, which is opened for it. */
static int is_filled(const writer *w, int64_t table, const char *group, int64_t row)
{
    const kfe_table *t = kfe_result_table(w->result, (int)table);
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(t, i)); i++)
        if (is_within(c->name, group) && (!c->given || c->given[row]))
            return 1;
    for (int64_t child = table + 1; child < w->result->table_count; child++) {
        const kfe_table *other = &w->result->tables[child]->shown;
        if (other->parent == table && is_within(other->name, group))
            return 1;
    }
    return 0;
}

static void write_row(writer *w, int64_t table, int64_t row)
{
    const kfe_table *t = kfe_result_table(w->result, (int)table);
    const char *open = "";
    size_t length = 0;

    kfe_i_json_object(&w->json, NULL);
    for (int64_t c = 0; c <= t->cols; c++) {
        for (int64_t child = table + 1; child < w->result->table_count; child++) {
            const kfe_i_result_table *other = w->result->tables[child];
            if (other->shown.parent == table && other->before == c)
                write_rows(w, enter_group(w, other->shown.name, &open, &length), child, row);
        }
        const kfe_column *column = kfe_table_column(t, c);
        if (!column || (column->given && !column->given[row]) ||
            (column->kind == KFE_COLUMN_GROUP && is_filled(w, table, column->name, row)))
            continue;
        write_value(w, enter_group(w, column->name, &open, &length), column, row);
    }
    (void)enter_group(w, "", &open, &length);
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
    int is_bare = result->tables[0]->shown.cols == 0 && result->table_count == 2;

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
