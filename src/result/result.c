/* SPDX-License-Identifier: Apache-2.0 */
/* Results as tables with named columns: building them, and the public calls that read them. */
#include "result/result.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

/* A double tells whole numbers apart up to here. */
#define KFE_LARGEST_COUNT 9007199254740992.0

static void column_free(kfe_context *ctx, kfe_i_result_column *c, int64_t rows)
{
    for (int64_t i = 0; i < c->count; i++)
        kfe_i_free(ctx, c->cells[i].text);
    kfe_i_strings_free(ctx, c->texts ? rows : 0, c->texts);
    kfe_i_free(ctx, c->cells);
    kfe_i_free(ctx, c->numbers);
    kfe_i_free(ctx, c->given);
    kfe_i_free(ctx, (void *)(uintptr_t)c->shown.name);
    kfe_i_free(ctx, (void *)(uintptr_t)c->shown.about);
}

static void table_free(kfe_context *ctx, kfe_i_result_table *t)
{
    for (int64_t c = 0; c < t->shown.cols; c++)
        column_free(ctx, &t->columns[c], t->shown.rows);
    kfe_i_free(ctx, t->columns);
    kfe_i_free(ctx, t->block);
    kfe_i_free(ctx, t->parent_row);
    kfe_i_free(ctx, (void *)(uintptr_t)t->shown.name);
    kfe_i_free(ctx, t);
}

void kfe_result_free(kfe_result *result)
{
    if (!result)
        return;
    for (int64_t t = 0; t < result->table_count; t++)
        table_free(result->ctx, result->tables[t]);
    kfe_i_free(result->ctx, result->tables);
    kfe_i_free(result->ctx, result);
}

/* ---- tables and rows ---- */

/* "group/name" */
static kfe_status join_name(kfe_context *ctx, const char *group, const char *name, const char **out)
{
    kfe_i_text text;
    char *joined = NULL;

    kfe_i_text_init(&text, ctx);
    if (group)
        kfe_i_text_printf(&text, "%s/", group);
    kfe_i_text_puts(&text, name);
    kfe_status status = kfe_i_text_take(&text, &joined);
    *out = joined;
    return status;
}

static int is_called(const char *whole, const char *group, const char *name)
{
    size_t length = group ? strlen(group) : 0;

    if (!group)
        return strcmp(whole, name) == 0;
    return strncmp(whole, group, length) == 0 && whole[length] == '/' &&
           strcmp(whole + length + 1, name) == 0;
}

static kfe_status new_table(kfe_result *result, const char *group, const char *name, kfe_i_result_table **out)
{
    kfe_status status = KFE_OK;
    const char *unit;
    kfe_i_result_table *t = NULL;

    KFE_GROW(result->ctx, result->tables, result->table_capacity, result->table_count + 1);
    KFE_ALLOC_ZERO(result->ctx, t, 1);
    KFE_TRY(join_name(result->ctx, group, name, &t->shown.name));
    t->shown.about = kfe_i_meaning(name, &unit);
    t->shown.parent = -1;
    t->result = result;
    result->tables[result->table_count++] = t;
    *out = t;
    t = NULL;
cleanup:
    if (t)
        table_free(result->ctx, t);
    return status;
}

kfe_status kfe_i_result_new(kfe_context *ctx, kfe_result **out)
{
    kfe_status status = KFE_OK;
    kfe_i_result_table *facts = NULL;

    KFE_ALLOC_ZERO(ctx, *out, 1);
    (*out)->ctx = ctx;
    (*out)->bold = KFE_BOLD_STARS;
    KFE_TRY(new_table(*out, NULL, "facts", &facts));
    kfe_i_result_row(facts);
    KFE_TRY((*out)->status);
cleanup:
    if (status != KFE_OK) {
        kfe_result_free(*out);
        *out = NULL;
    }
    return status;
}

kfe_i_result_table *kfe_i_result_facts(kfe_result *result)
{
    return result->tables[0];
}

static int index_of(const kfe_i_result_table *table)
{
    int index = 0;

    while (table->result->tables[index] != table)
        index++;
    return index;
}

kfe_i_result_table *kfe_i_result_add(kfe_i_result_table *parent, const char *group, const char *name,
                                     int is_list)
{
    kfe_i_result_table *made = NULL;

    if (!parent || parent->result->status != KFE_OK)
        return NULL;
    int place = index_of(parent);
    for (int64_t t = place + 1; t < parent->result->table_count; t++)
        if (parent->result->tables[t]->shown.parent == place &&
            is_called(parent->result->tables[t]->shown.name, group, name))
            return parent->result->tables[t];
    parent->result->status = new_table(parent->result, group, name, &made);
    if (!made)
        return NULL;
    made->shown.parent = place;
    made->shown.is_list = is_list;
    made->before = parent->cursor;
    return made;
}

void kfe_i_result_row(kfe_i_result_table *t)
{
    kfe_status status = KFE_OK;

    if (!t || t->result->status != KFE_OK)
        return;
    KFE_GROW(t->result->ctx, t->parent_row, t->row_capacity, t->shown.rows + 1);
    t->parent_row[t->shown.rows++] =
        t->shown.parent < 0 ? 0 : t->result->tables[t->shown.parent]->shown.rows - 1;
    t->cursor = 0;
cleanup:
    t->result->status = status;
}

/* ---- values ---- */

/* Makes a column after the one that was put last, so that columns of a group stay together. */
static kfe_status new_column(kfe_i_result_table *t, const char *group, const char *name)
{
    kfe_status status = KFE_OK;
    int place = index_of(t);
    kfe_i_result_column c = {0};

    KFE_GROW(t->result->ctx, t->columns, t->column_capacity, t->shown.cols + 1);
    KFE_TRY(join_name(t->result->ctx, group, name, &c.shown.name));
    KFE_STRDUP(t->result->ctx, c.shown.about, kfe_i_meaning(name, &c.shown.unit));
    memmove(t->columns + t->cursor + 1, t->columns + t->cursor,
            (size_t)(t->shown.cols - t->cursor) * sizeof c);
    t->columns[t->cursor] = c;
    t->shown.cols++;
    memset(&c, 0, sizeof c);
    for (int64_t other = place + 1; other < t->result->table_count; other++) {
        kfe_i_result_table *child = t->result->tables[other];
        child->before += child->shown.parent == place && child->before > t->cursor;
    }
    t->cursor++;
cleanup:
    column_free(t->result->ctx, &c, 0);
    return status;
}

/* The column of the newest row; NULL after a failure. Rows mostly put their columns in one order. */
static kfe_i_result_column *column_for(kfe_i_result_table *t, const char *group, const char *name)
{
    if (!t || t->result->status != KFE_OK)
        return NULL;
    for (int64_t k = 0; k < t->shown.cols; k++) {
        int64_t c = (t->cursor + k) % t->shown.cols;
        if (!is_called(t->columns[c].shown.name, group, name))
            continue;
        t->cursor = c + 1;
        return &t->columns[c];
    }
    t->result->status = new_column(t, group, name);
    return t->result->status == KFE_OK ? &t->columns[t->cursor - 1] : NULL;
}

/* The first value decides the kind. Counts among reals are reals; other values of another kind are not available. */
static int takes_kind(kfe_i_result_column *c, int kind)
{
    if (!c->has_kind)
        c->shown.kind = (kfe_column_kind)kind;
    else if ((int)c->shown.kind != kind && c->shown.kind <= KFE_COLUMN_COUNT && kind <= KFE_COLUMN_COUNT)
        c->shown.kind = KFE_COLUMN_REAL;
    else if ((int)c->shown.kind != kind)
        return 0;
    c->has_kind = 1;
    return 1;
}

void kfe_i_put(kfe_i_result_table *t, const char *group, const char *name, int kind, double number,
               const char *text)
{
    kfe_status status = KFE_OK;
    kfe_i_result_column *c = column_for(t, group, name);

    if (!c)
        return;
    KFE_GROW(t->result->ctx, c->cells, c->capacity, t->shown.rows);
    while (c->count < t->shown.rows)
        c->cells[c->count++] = (kfe_i_result_cell){.number = NAN};
    kfe_i_result_cell *cell = &c->cells[t->shown.rows - 1];
    cell->given = 1;
    if (kind == KFE_COLUMN_COUNT && fabs(number) > KFE_LARGEST_COUNT)
        kind = KFE_COLUMN_REAL;
    if (kind == KFE_COLUMN_NONE || !takes_kind(c, kind))
        return;
    cell->number = number;
    if (text && !cell->text)
        KFE_STRDUP(t->result->ctx, cell->text, text);
cleanup:
    t->result->status = status;
}

void kfe_i_put_about(kfe_i_result_table *t, const char *about)
{
    if (!t || t->result->status != KFE_OK || t->cursor < 1)
        return;
    kfe_i_result_column *c = &t->columns[t->cursor - 1];
    if (c->shown.about[0])
        return;
    kfe_i_free(t->result->ctx, (void *)(uintptr_t)c->shown.about);
    c->shown.about = kfe_i_strdup(t->result->ctx, about);
    if (!c->shown.about)
        t->result->status = kfe_i_lack(t->result->ctx);
}

/* ---- matrices ---- */

/* Columns may have the same name, so they are added without a look at those before. */
static kfe_status add_numbers(kfe_i_result_table *t, const kfe_i_labels *cols)
{
    kfe_status status = KFE_OK;
    char number[32];

    for (int64_t j = 0; j < cols->count; j++) {
        kfe_i_snprintf(number, sizeof number, "%lld", (long long)j + 1);
        t->cursor = t->shown.cols;
        KFE_TRY(new_column(t, NULL, cols->labels ? cols->labels[j] : number));
        kfe_i_free(t->result->ctx, (void *)(uintptr_t)t->columns[t->cursor - 1].shown.about);
        KFE_STRDUP(t->result->ctx, t->columns[t->cursor - 1].shown.about, cols->name);
    }
cleanup:
    return status;
}

kfe_status kfe_i_result_matrix(kfe_result *result, const char *name, const char *about,
                               const kfe_i_labels *rows, const kfe_i_labels *cols, double **values)
{
    kfe_status status = KFE_OK;
    kfe_i_result_table *t = kfe_i_result_add(kfe_i_result_facts(result), NULL, name, 0);

    for (int64_t i = 0; i < rows->count; i++) {
        kfe_i_result_row(t);
        if (rows->labels)
            kfe_i_put_text(t, NULL, rows->name, rows->labels[i]);
        else
            kfe_i_put_count(t, NULL, rows->name, i + 1);
    }
    KFE_TRY(result->status);
    t->shown.about = about;
    t->is_numbered = cols->labels == NULL;
    if (rows->count == 0)
        KFE_TRY(new_column(t, NULL, rows->name));
    KFE_TRY(add_numbers(t, cols));
    KFE_ALLOC_ZERO(result->ctx, t->block, rows->count * cols->count);
    *values = t->block;
cleanup:
    return status;
}

/* Moves the cells of a column, or column j of a matrix, to where readers see them. */
static kfe_status show_column(kfe_i_result_table *t, int64_t j)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = t->result->ctx;
    kfe_i_result_column *c = &t->columns[j];
    const double *block = t->block && j > 0 ? t->block + j - 1 : NULL;
    int is_whole = block != NULL;

    if (c->shown.kind == KFE_COLUMN_TEXT)
        KFE_ALLOC_ZERO(ctx, c->texts, t->shown.rows);
    else if (c->shown.kind != KFE_COLUMN_GROUP)
        KFE_ALLOC(ctx, c->numbers, t->shown.rows);
    if (!block)
        KFE_ALLOC_ZERO(ctx, c->given, t->shown.rows);
    for (int64_t i = 0; i < t->shown.rows; i++) {
        kfe_i_result_cell cell = {.number = block ? block[i * (t->shown.cols - 1)] : (double)NAN};
        if (i < c->count) {
            cell = c->cells[i];
            c->cells[i].text = NULL;
        }
        if (c->numbers)
            c->numbers[i] = cell.number;
        if (c->texts)
            c->texts[i] = cell.text;
        if (c->given)
            c->given[i] = cell.given;
    }
    if (!block)
        is_whole = !memchr(c->given, 0, (size_t)t->shown.rows);
    c->shown.numbers = c->numbers;
    c->shown.texts = (const char *const *)c->texts;
    c->shown.given = is_whole ? NULL : c->given;
cleanup:
    return status;
}

/* Lets readers see the values, which stay where they are from now on. */
static kfe_status show_table(kfe_i_result_table *t)
{
    kfe_status status = KFE_OK;

    t->shown.parent_row = t->parent_row;
    for (int64_t j = 0; j < t->shown.cols; j++)
        KFE_TRY(show_column(t, j));
    kfe_i_free(t->result->ctx, t->block);
    t->block = NULL;
cleanup:
    return status;
}

kfe_status kfe_i_result_finish(kfe_result *result, kfe_result **out)
{
    kfe_status status = result->status;

    for (int64_t t = 0; t < result->table_count && status == KFE_OK; t++)
        status = show_table(result->tables[t]);
    *out = status == KFE_OK ? result : NULL;
    if (status != KFE_OK)
        kfe_result_free(result);
    return status;
}

/* ---- reading ---- */

const kfe_table *kfe_result_table(const kfe_result *result, int index)
{
    return result && index >= 0 && index < result->table_count ? &result->tables[index]->shown : NULL;
}

int kfe_i_result_is_numbered(const kfe_table *table)
{
    return ((const kfe_i_result_table *)table)->is_numbered; /* its first member */
}

const kfe_table *kfe_result_find(const kfe_result *result, const char *table)
{
    for (int64_t t = 0; result && t < result->table_count; t++)
        if (strcmp(result->tables[t]->shown.name, table) == 0)
            return &result->tables[t]->shown;
    return NULL;
}

const kfe_column *kfe_table_column(const kfe_table *table, int64_t index)
{
    const kfe_i_result_table *t = (const kfe_i_result_table *)table; /* its first member */

    return t && index >= 0 && index < table->cols ? &t->columns[index].shown : NULL;
}

const kfe_column *kfe_table_find(const kfe_table *table, const char *column)
{
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(table, i)); i++)
        if (strcmp(c->name, column) == 0)
            return c;
    return NULL;
}

double kfe_i_result_at(const kfe_table *table, const char *column, int64_t row)
{
    const kfe_column *c = kfe_table_find(table, column);

    return c && c->numbers && row >= 0 && row < table->rows ? c->numbers[row] : (double)NAN;
}

const char *kfe_i_result_word(const kfe_table *table, const char *column, int64_t row)
{
    const kfe_column *c = kfe_table_find(table, column);

    return c && c->texts && row >= 0 && row < table->rows ? c->texts[row] : NULL;
}

int64_t kfe_i_result_first(const kfe_table *table, int64_t owner, int64_t *count)
{
    int64_t first = 0;

    *count = 0;
    while (table && first < table->rows && table->parent_row[first] != owner)
        first++;
    while (table && first + *count < table->rows && table->parent_row[first + *count] == owner)
        (*count)++;
    return first;
}

double kfe_result_number(const kfe_result *result, const char *column)
{
    return kfe_i_result_at(kfe_result_table(result, 0), column, 0);
}

const char *kfe_result_text(const kfe_result *result, const char *column)
{
    return kfe_i_result_word(kfe_result_table(result, 0), column, 0);
}

void kfe_i_result_put_group(const kfe_table *table, const char *group, int64_t row, const char *separator,
                            kfe_i_text *out)
{
    size_t length = strlen(group);
    const char *between = "";
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(table, i)); i++)
        if (strncmp(c->name, group, length) == 0 && c->name[length] == '/' && c->texts && c->texts[row]) {
            kfe_i_text_printf(out, "%s%s=%s", between, c->name + length + 1, c->texts[row]);
            between = separator;
        }
}
