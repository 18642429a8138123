/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a result from JSON (kfe_result_parse): the inverse of json.c, for results that were saved. */
#include <string.h>

#include "core/json/json_read.h"
#include "core/memory.h"
#include "result/result.h"

/* Every column has a value for every row, and tables are found by their names. */
enum { MOST_COLUMNS = 4096, MOST_TABLES = 1024 };

static void refuse(kfe_result *result, const char *what, int most)
{
    if (result->status == KFE_OK)
        result->status =
            kfe_i_fail(result->ctx, KFE_EINPUT, "the results have a row with more than %d %s", most, what);
}

/* In the name of a column a slash separates groups. */
static int is_name(kfe_result *result, const char *key)
{
    if (!strchr(key, '/'))
        return 1;
    result->status = kfe_i_fail(result->ctx, KFE_EINPUT, "the results have a name with a slash, '%s'", key);
    return 0;
}

static void put_scalar(kfe_i_result_table *t, const char *group, const char *name, const kfe_i_json_value *v)
{
    static const int kinds[] = {[KFE_JSON_NULL] = KFE_COLUMN_NONE,  [KFE_JSON_FALSE] = KFE_COLUMN_FLAG,
                                [KFE_JSON_TRUE] = KFE_COLUMN_FLAG,  [KFE_JSON_INTEGER] = KFE_COLUMN_COUNT,
                                [KFE_JSON_REAL] = KFE_COLUMN_REAL,  [KFE_JSON_TEXT] = KFE_COLUMN_TEXT,
                                [KFE_JSON_ARRAY] = KFE_COLUMN_NONE, [KFE_JSON_OBJECT] = KFE_COLUMN_NONE};
    double number = v->type == KFE_JSON_INTEGER ? (double)v->integer
                    : v->type == KFE_JSON_REAL  ? v->real
                                                : v->type == KFE_JSON_TRUE;

    kfe_i_put(t, group, name, kinds[v->type], number, v->type == KFE_JSON_TEXT ? v->text : NULL);
    if (t && t->shown.cols > MOST_COLUMNS)
        refuse(t->result, "names", MOST_COLUMNS);
}

static void put_object(kfe_i_result_table *t, const char *group, const kfe_i_json_value *object);

static void put_array(kfe_i_result_table *t, const char *group, const char *name,
                      const kfe_i_json_value *array)
{
    int is_list = array->first && array->first->type != KFE_JSON_OBJECT;
    kfe_i_result_table *child = kfe_i_result_add(t, group, name, is_list);
    char number[32];

    if (child && child->result->table_count > MOST_TABLES)
        refuse(child->result, "lists", MOST_TABLES);
    if (child && child->shown.rows == 0 && array->first) /* the array of an earlier row may have been empty */
        child->shown.is_list = is_list;
    for (const kfe_i_json_value *item = array->first; item && child; item = item->next) {
        int64_t k = 0;
        kfe_i_result_row(child);
        if (item->type == KFE_JSON_OBJECT)
            put_object(child, NULL, item);
        else if (item->type != KFE_JSON_ARRAY)
            put_scalar(child, NULL, "value", item);
        for (const kfe_i_json_value *v = item->type == KFE_JSON_ARRAY ? item->first : NULL; v; v = v->next) {
            kfe_i_snprintf(number, sizeof number, "%lld", (long long)++k);
            put_scalar(child, NULL, number, v);
        }
    }
}

static void put_object(kfe_i_result_table *t, const char *group, const kfe_i_json_value *object)
{
    for (const kfe_i_json_value *v = object->first; v && t && t->result->status == KFE_OK; v = v->next) {
        if (!is_name(t->result, v->key))
            return;
        if (v->type == KFE_JSON_ARRAY) {
            put_array(t, group, v->key, v);
        } else if (v->type == KFE_JSON_OBJECT) {
            kfe_i_text path;
            kfe_i_put_group(t, group, v->key);
            kfe_i_text_init(&path, t->result->ctx);
            kfe_i_text_printf(&path, "%s%s%s", group ? group : "", group ? "/" : "", v->key);
            if (path.status == KFE_OK)
                put_object(t, path.bytes, v);
            else
                t->result->status = path.status;
            kfe_i_text_free(&path);
        } else {
            put_scalar(t, group, v->key, v);
        }
    }
}

kfe_status kfe_result_parse(kfe_context *ctx, const char *json, kfe_result **out)
{
    kfe_status status = KFE_OK;
    kfe_i_json_tree tree = {0};
    kfe_result *result = NULL;

    *out = NULL;
    status = kfe_i_json_read(ctx, json, strlen(json), &tree);
    if (status == KFE_EINPUT)
        KFE_FAIL(ctx, KFE_EINPUT, "the results are not JSON: %s at byte %lld", tree.reason,
                 (long long)tree.position + 1);
    KFE_TRY(status);
    KFE_TRY(kfe_i_result_new(ctx, &result));
    if (kfe_i_json_is(tree.root, KFE_JSON_ARRAY))
        put_array(kfe_i_result_facts(result), NULL, "measures", tree.root); /* what kfe_measure found */
    else
        put_object(kfe_i_result_facts(result), NULL, tree.root);
    status = kfe_i_result_finish(result, out);
cleanup:
    kfe_i_json_tree_free(&tree);
    return status;
}
