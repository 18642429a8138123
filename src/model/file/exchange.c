/* SPDX-License-Identifier: Apache-2.0 */
/* Adds values to a container that is saved, or takes and checks those of one that is loaded. */
#include "model/file/exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/param.h"

kfe_status kfe_i_damaged(const kfe_i_exchange *x, const char *what)
{
    if (!x->name)
        return kfe_i_fail(x->ctx, KFE_EMODEL, "the model cannot be saved: %s", what);
    return kfe_i_fail(x->ctx, KFE_EMODEL, "%s: the model file is damaged or was not written by kfe: %s",
                      x->name, what);
}

kfe_status kfe_i_check_sound(const kfe_i_exchange *x, int sound, const char *what)
{
    return sound ? KFE_OK : kfe_i_damaged(x, what);
}

/* ---- tensors ---- */

const kfe_i_tensor *kfe_i_exchange_find(const kfe_i_exchange *x, const char *name)
{
    return kfe_i_safetensors_find(x->file, name);
}

const char *kfe_i_part_name(kfe_i_exchange *x, const char *prefix, int64_t number, const char *part)
{
    if (number < 0)
        snprintf(x->part, sizeof x->part, "%s.%s", prefix, part);
    else
        snprintf(x->part, sizeof x->part, "%s%lld.%s", prefix, (long long)number, part);
    return x->part;
}

static kfe_status check_finite(const kfe_i_exchange *x, const kfe_i_tensor *tensor)
{
    const double *values = tensor->data;
    char what[192];

    snprintf(what, sizeof what, "%.64s holds a number that is not finite%s", tensor->name,
             x->name ? "" : "; the data or the targets are too large or too small: change their units");
    for (int64_t i = 0; tensor->dtype == KFE_DTYPE_F64 && i < tensor->count; i++)
        if (!isfinite(values[i]))
            return kfe_i_damaged(x, what);
    return KFE_OK;
}

/* Finds the tensor of this name, type and count; *out is NULL if an optional one is missing. */
static kfe_status find_tensor(const kfe_i_exchange *x, const char *name, kfe_i_dtype dtype, int64_t count,
                              int optional, const kfe_i_tensor **out)
{
    *out = kfe_i_exchange_find(x, name);
    if (!*out)
        return kfe_i_check_sound(x, optional, name);
    if ((*out)->dtype != dtype || (*out)->count != count)
        return kfe_i_damaged(x, name);
    return check_finite(x, *out);
}

/* Adds the array at `from`, or copies the tensor to *to. */
static kfe_status exchange(const kfe_i_exchange *x, const char *name, kfe_i_dtype dtype, int64_t rows,
                           int64_t cols, int optional, const void *from, void **to)
{
    static const size_t sizes[] = {
        [KFE_DTYPE_F64] = 8, [KFE_DTYPE_I64] = 8, [KFE_DTYPE_I32] = 4, [KFE_DTYPE_U8] = 1};
    kfe_status status = KFE_OK;
    int64_t count = cols < 0 ? rows : rows * cols;
    const kfe_i_tensor *tensor = NULL;

    *to = NULL;
    if (x->saves && !from && count > 0)
        return kfe_i_check_sound(x, optional, name);
    if (x->saves)
        return optional && !from ? KFE_OK : kfe_i_safetensors_add(x->file, name, dtype, rows, cols, from);
    KFE_TRY(find_tensor(x, name, dtype, count, optional, &tensor));
    if (!tensor)
        return KFE_OK;
    *to = kfe_i_alloc(x->ctx, count, sizes[dtype]);
    if (!*to)
        return kfe_i_lack(x->ctx);
    if (count > 0)
        memcpy(*to, tensor->data, (size_t)count * sizes[dtype]);
cleanup:
    return status;
}

#define KFE_EXCHANGE(type_name, dtype, optional, rows, cols)                                                 \
    void *taken = NULL;                                                                                      \
    kfe_status status = exchange(x, name, dtype, rows, cols, optional, *array, &taken);                      \
    if (!x->saves)                                                                                           \
        *array = (type_name *)taken;                                                                         \
    return status

kfe_status kfe_i_exchange_reals(const kfe_i_exchange *x, const char *name, int64_t rows, int64_t cols,
                                int optional, double **array)
{
    KFE_EXCHANGE(double, KFE_DTYPE_F64, optional, rows, cols);
}

kfe_status kfe_i_exchange_integers(const kfe_i_exchange *x, const char *name, int64_t rows, int64_t cols,
                                   int optional, int64_t **array)
{
    KFE_EXCHANGE(int64_t, KFE_DTYPE_I64, optional, rows, cols);
}

kfe_status kfe_i_exchange_codes(const kfe_i_exchange *x, const char *name, int64_t rows, int32_t **array)
{
    KFE_EXCHANGE(int32_t, KFE_DTYPE_I32, 0, rows, -1);
}

kfe_status kfe_i_exchange_bytes(const kfe_i_exchange *x, const char *name, int64_t count, char **array)
{
    KFE_EXCHANGE(char, KFE_DTYPE_U8, 0, count, -1);
}

/* ---- tables ---- */

/* A dense support may be the largest part of a model. One that is about to be saved is in memory already, and is borrowed. */
static kfe_status exchange_dense(const kfe_i_exchange *x, const char *name, kfe_i_table *t)
{
    kfe_status status = KFE_OK;
    const kfe_i_tensor *tensor = NULL;

    if (x->saves || x->name)
        return kfe_i_exchange_reals(x, name, t->rows, t->cols, 0, &t->values);
    KFE_TRY(find_tensor(x, name, KFE_DTYPE_F64, t->rows * t->cols, 0, &tensor));
    t->values = (double *)(uintptr_t)tensor->data;
    t->owned = 0;
cleanup:
    return status;
}

static kfe_status exchange_rows(const kfe_i_exchange *x, const char *prefix, kfe_i_table *t)
{
    kfe_status status = KFE_OK;
    char name[128];

    snprintf(name, sizeof name, "%s.row_start", prefix);
    KFE_TRY(kfe_i_exchange_integers(x, name, t->rows + 1, -1, 0, &t->row_start));
    KFE_TRY(kfe_i_check_sound(x, t->row_start[0] == 0, name));
    int64_t entries = t->row_start[t->rows];
    snprintf(name, sizeof name, "%s.bytes", prefix);
    if (t->kind == KFE_TABLE_TEXT)
        return kfe_i_exchange_bytes(x, name, entries, &t->bytes);
    snprintf(name, sizeof name, "%s.columns", prefix);
    KFE_TRY(kfe_i_exchange_codes(x, name, entries, &t->columns));
    snprintf(name, sizeof name, "%s.values", prefix);
    KFE_TRY(kfe_i_exchange_reals(x, name, entries, -1, 0, &t->values));
cleanup:
    return status;
}

kfe_status kfe_i_exchange_table(const kfe_i_exchange *x, const char *name, int strings, int64_t rows,
                                int64_t cols, kfe_i_table *t)
{
    kfe_status status = KFE_OK;
    int64_t count = 0;

    if (x->saves)
        return t->kind == KFE_TABLE_DENSE ? exchange_dense(x, name, t) : exchange_rows(x, name, t);
    if (__builtin_mul_overflow(rows, cols, &count)) /* no file holds this many numbers */
        return kfe_i_damaged(x, name);
    t->ctx = x->ctx;
    t->owned = 1;
    t->rows = rows;
    t->cols = t->stride = cols;
    t->kind = strings ? KFE_TABLE_TEXT : kfe_i_exchange_find(x, name) ? KFE_TABLE_DENSE : KFE_TABLE_CSR;
    KFE_TRY(t->kind == KFE_TABLE_DENSE ? exchange_dense(x, name, t) : exchange_rows(x, name, t));
    status = kfe_i_table_check(x->ctx, t);
    if (status != KFE_OK && !kfe_i_is_lack(status))
        status = kfe_i_damaged(x, name);
cleanup:
    return status;
}

kfe_status kfe_i_exchange_map(const kfe_i_exchange *x, const char *name, int64_t cols, kfe_i_map *map)
{
    const kfe_i_tensor *tensor = kfe_i_exchange_find(x, name);

    if (x->saves)
        return kfe_i_exchange_reals(x, name, map->rows, map->diagonal ? -1 : map->cols, 1, &map->values);
    if (!tensor)
        return KFE_OK;
    if (tensor->axes < 1 || tensor->axes > 2 || tensor->shape[0] != cols ||
        (tensor->axes == 2 && tensor->shape[1] < 1))
        return kfe_i_damaged(x, name);
    map->ctx = x->ctx;
    map->rows = cols;
    map->diagonal = tensor->axes == 1;
    map->cols = map->diagonal ? map->rows : tensor->shape[1];
    return kfe_i_exchange_reals(x, name, cols, map->diagonal ? -1 : map->cols, 0, &map->values);
}

/* ---- texts ---- */

kfe_status kfe_i_exchange_text(const kfe_i_exchange *x, const char *key, int optional, char **text)
{
    const char *found = x->saves ? *text : kfe_i_safetensors_get(x->file, key);

    if (!found)
        return kfe_i_check_sound(x, optional, key);
    if (x->saves)
        return kfe_i_safetensors_set(x->file, key, found);
    *text = kfe_i_strdup(x->ctx, found);
    return *text ? KFE_OK : kfe_i_lack(x->ctx);
}

kfe_status kfe_i_exchange_number(const kfe_i_exchange *x, const char *key, int64_t *number)
{
    const char *found = x->saves ? NULL : kfe_i_safetensors_get(x->file, key);
    char text[32];

    if (!x->saves) {
        *number = found ? strtoll(found, NULL, 10) : 0;
        return KFE_OK;
    }
    snprintf(text, sizeof text, "%lld", (long long)*number);
    return kfe_i_safetensors_set(x->file, key, text);
}

/* ---- documents ---- */

kfe_status kfe_i_document_open(const kfe_i_exchange *x, const char *key, kfe_i_json_type type,
                               kfe_i_document *d)
{
    const char *text = x->saves ? NULL : kfe_i_safetensors_get(x->file, key);
    kfe_status status = KFE_OK;

    *d = (kfe_i_document){.x = x, .key = key};
    if (x->saves) {
        kfe_i_json_init(&d->json, x->ctx, 0);
        return kfe_i_document_enter(d, NULL, type);
    }
    if (!text)
        return kfe_i_damaged(x, key);
    status = kfe_i_json_read(x->ctx, text, strlen(text), &d->tree);
    if (status != KFE_OK && kfe_i_is_lack(status))
        return status;
    d->levels[0].next = d->tree.root;
    return kfe_i_document_enter(d, NULL, type);
}

kfe_status kfe_i_document_close(kfe_i_document *d, kfe_status status)
{
    char *text = NULL;

    if (d->x->saves && status == KFE_OK) {
        kfe_i_document_leave(d);
        status = kfe_i_json_finish(&d->json, &text);
        if (status == KFE_OK)
            status = kfe_i_safetensors_set(d->x->file, d->key, text);
        kfe_i_free(d->x->ctx, text);
    }
    if (d->x->saves)
        kfe_i_json_free(&d->json);
    kfe_i_json_tree_free(&d->tree);
    return status;
}

/* The member of the object, or the next item of the list, which is behind it then. */
static const kfe_i_json_value *next_value(kfe_i_document *d, const char *key)
{
    const kfe_i_json_value *value = d->levels[d->depth].next;

    if (key)
        return kfe_i_json_get(d->levels[d->depth].value, key);
    if (value)
        d->levels[d->depth].next = value->next;
    return value;
}

int kfe_i_document_has(const kfe_i_document *d, const char *key, int present)
{
    return d->x->saves ? present : kfe_i_json_get(d->levels[d->depth].value, key) != NULL;
}

kfe_status kfe_i_document_enter(kfe_i_document *d, const char *key, kfe_i_json_type type)
{
    const kfe_i_json_value *value = d->x->saves ? NULL : next_value(d, key);

    if (d->x->saves && type == KFE_JSON_OBJECT)
        kfe_i_json_object(&d->json, key);
    else if (d->x->saves)
        kfe_i_json_array(&d->json, key);
    else if (!kfe_i_json_is(value, type))
        return kfe_i_damaged(d->x, d->key);
    d->depth++;
    d->levels[d->depth].value = value;
    d->levels[d->depth].next = value ? value->first : NULL;
    return KFE_OK;
}

void kfe_i_document_leave(kfe_i_document *d)
{
    if (d->x->saves)
        kfe_i_json_end(&d->json);
    d->depth--;
}

void kfe_i_document_count(const kfe_i_document *d, int64_t *count)
{
    if (!d->x->saves)
        *count = d->levels[d->depth].value->count;
}

kfe_status kfe_i_document_text(kfe_i_document *d, const char *key, int optional, char **text)
{
    const kfe_i_json_value *value = d->x->saves ? NULL : next_value(d, key);

    if (d->x->saves) {
        if (*text)
            kfe_i_json_text(&d->json, key, *text);
        return kfe_i_check_sound(d->x, *text || optional, d->key);
    }
    if (!value || !value->text)
        return kfe_i_check_sound(d->x, optional && !value, d->key);
    *text = kfe_i_strdup(d->x->ctx, value->text);
    return *text ? KFE_OK : kfe_i_lack(d->x->ctx);
}

kfe_status kfe_i_document_integer(kfe_i_document *d, const char *key, int64_t *number)
{
    const kfe_i_json_value *value = d->x->saves ? NULL : next_value(d, key);

    if (d->x->saves)
        kfe_i_json_integer(&d->json, key, *number);
    else
        *number = kfe_i_json_is(value, KFE_JSON_INTEGER) ? value->integer : 0;
    return kfe_i_check_sound(d->x, key || d->x->saves || kfe_i_json_is(value, KFE_JSON_INTEGER), d->key);
}

void kfe_i_document_flag(kfe_i_document *d, const char *key, int *flag)
{
    if (d->x->saves)
        kfe_i_json_boolean(&d->json, key, *flag);
    else
        *flag = kfe_i_json_is(next_value(d, key), KFE_JSON_TRUE);
}

kfe_status kfe_i_document_word(kfe_i_document *d, const char *key, const char *words, int *index)
{
    const kfe_i_json_value *value = d->x->saves ? NULL : next_value(d, key);
    char word[32] = "";

    if (d->x->saves) {
        kfe_i_word_at(words, *index, word, sizeof word);
        kfe_i_json_text(&d->json, key, word);
        return KFE_OK;
    }
    *index = value && value->text ? kfe_i_word_index(words, value->text) : -1;
    return kfe_i_check_sound(d->x, *index >= 0, d->key);
}

kfe_status kfe_i_document_names(kfe_i_document *d, const char *key, int64_t *count, char ***names)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_document_enter(d, key, KFE_JSON_ARRAY));
    KFE_TRY(kfe_i_document_items(d, count, names));
    kfe_i_document_leave(d);
cleanup:
    return status;
}

kfe_status kfe_i_document_items(kfe_i_document *d, int64_t *count, char ***names)
{
    kfe_status status = KFE_OK;
    int64_t items = *count;

    kfe_i_document_count(d, &items);
    if (!d->x->saves) {
        *count = 0;
        KFE_ALLOC_ZERO(d->x->ctx, *names, items);
    }
    for (int64_t i = 0; i < items; i++) {
        KFE_TRY(kfe_i_document_text(d, NULL, 0, &(*names)[i]));
        if (!d->x->saves)
            ++*count;
    }
cleanup:
    return status;
}

static kfe_status load_kernel(const kfe_i_document *d, const char *text, int resolved, kfe_i_kernel *kernel)
{
    kfe_status status = kfe_i_kernel_parse(d->x->ctx, text, kernel);

    if (status != KFE_OK)
        return kfe_i_is_lack(status)
                   ? status
                   : kfe_i_fail_prefix(d->x->ctx, KFE_EMODEL,
                                       d->x->name ? d->x->name : "the model cannot be saved");
    if (!resolved || kfe_i_kernel_is_resolved(kernel))
        return KFE_OK;
    kfe_i_kernel_free(kernel);
    return kfe_i_damaged(d->x, d->key);
}

kfe_status kfe_i_document_kernel(kfe_i_document *d, const char *key, int resolved, kfe_i_kernel *kernel)
{
    kfe_status status = KFE_OK;
    char *text = NULL;

    if (d->x->saves)
        KFE_TRY(kfe_i_kernel_text(d->x->ctx, kernel, &text));
    KFE_TRY(kfe_i_document_text(d, key, 0, &text));
    if (!d->x->saves)
        KFE_TRY(load_kernel(d, text, resolved, kernel));
cleanup:
    kfe_i_free(d->x->ctx, text);
    return status;
}
