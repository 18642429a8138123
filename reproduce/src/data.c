/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, reads and generates the data of a row; prepare.c then cuts and scales it. Called by reproduce.c. */
#include "reproduce/src/data.h"

#include <stdlib.h>
#include <string.h>

#include "reproduce/src/prepare.h"
#include "system/system.h"

/* ---- settings as option strings ---- */

static void put_path(rep_text *out, const rep_use *use, const char *name)
{
    rep_text_printf(out, "%s%s%s", use->folder, *use->folder ? "/" : "", name);
}

static int names_a_file(const char *key)
{
    return strcmp(key, "split-file") == 0 || strcmp(key, "label-file") == 0;
}

/* A comma or backslash inside a value takes a backslash. */
static void put_escaped(rep_text *out, const char *value)
{
    for (; *value; value++) {
        if (*value == ',' || *value == '\\')
            rep_text_puts(out, "\\");
        rep_text_add(out, value, 1);
    }
}

static void put_file_option(rep_text *out, const rep_use *use, const char *name)
{
    rep_text path = {0};

    put_path(&path, use, name);
    put_escaped(out, rep_text_string(&path));
    out->failed |= path.failed;
    rep_text_free(&path);
}

static void put_value(rep_text *out, const json_t *value)
{
    if (json_is_string(value))
        put_escaped(out, json_string_value(value));
    else if (json_is_boolean(value))
        rep_text_puts(out, json_is_true(value) ? "yes" : "no");
    else
        rep_text_number(out, json_number_value(value));
}

void rep_put_options(const json_t *object, const rep_use *use, rep_text *out)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        rep_text_printf(out, "%s%s=", out->length > 0 ? "," : "", key);
        if (names_a_file(key) && json_is_string(value))
            put_file_option(out, use, json_string_value(value));
        else
            put_value(out, value);
    }
}

/* ---- files ---- */

static const char *file_at(const json_t *row, size_t index)
{
    const json_t *data = json_object_get(row, "data");

    if (json_is_array(data))
        return json_string_value(json_array_get(data, index));
    return index == 0 ? json_string_value(data) : NULL;
}

/* The path of a file in the folder, plain or with ".gz"; *out is NULL if neither exists. */
static kfe_status find_file(kfe_context *ctx, const rep_use *use, const char *name, char **out)
{
    kfe_status status = KFE_OK;
    static const char *const endings[] = {"", ".gz"};

    *out = NULL;
    for (int i = 0; i < 2 && *use->folder && !*out; i++) {
        rep_text path = {0};
        put_path(&path, use, name);
        rep_text_puts(&path, endings[i]);
        REP_TRY(rep_text_take(ctx, &path, out));
        if (kfe_i_path_look(*out, NULL) == KFE_PATH_NOTHING) {
            free(*out);
            *out = NULL;
        }
    }
cleanup:
    return status;
}

static kfe_status note_missing(kfe_context *ctx, const rep_use *use, const char *name, rep_text *out)
{
    kfe_status status = KFE_OK;
    char *path = NULL;

    if (!name)
        return KFE_OK;
    REP_TRY(find_file(ctx, use, name, &path));
    if (!path)
        rep_text_printf(out, "%s%s", out->length > 0 ? ", " : "", name);
cleanup:
    free(path);
    return status;
}

kfe_status rep_missing_files(const rep_plan *plan, const json_t *row, const rep_use *use, rep_text *out)
{
    kfe_status status = KFE_OK;
    const char *labels = rep_string(json_object_get(row, "reading"), "label-file");
    const char *splits = rep_string(json_object_get(row, "protocol"), "split-file");
    const char *name;

    for (size_t i = 0; (name = file_at(row, i)); i++)
        REP_TRY(note_missing(plan->ctx, use, name, out));
    REP_TRY(note_missing(plan->ctx, use, labels, out));
    REP_TRY(note_missing(plan->ctx, use, splits, out));
    REP_TRY(rep_text_check(plan->ctx, out));
cleanup:
    return status;
}

/* ---- reading and generating ---- */

static kfe_status read_files(const rep_plan *plan, const json_t *row, const rep_use *use, const char *options,
                             kfe_data **out)
{
    kfe_status status = KFE_OK;
    int count = 0;
    void *memory = NULL;
    char **paths = NULL;

    while (file_at(row, (size_t)count))
        count++;
    REP_TRY(rep_allocate(plan->ctx, (size_t)count, sizeof *paths, &memory));
    paths = memory;
    for (int i = 0; i < count; i++)
        REP_TRY(find_file(plan->ctx, use, file_at(row, (size_t)i), &paths[i]));
    REP_TRY(kfe_data_read_views(plan->ctx, count, (const char *const *)paths, NULL, options, out));
cleanup:
    for (int i = 0; paths && i < count; i++)
        free(paths[i]);
    free(paths);
    return status;
}

/* The row's seed is added to the user's, so that both matter. */
static kfe_status generate(const rep_plan *plan, const json_t *row, const char *options, kfe_data **out)
{
    uint64_t seed = kfe_context_seed(plan->ctx);
    uint64_t own = (uint64_t)(int64_t)json_number_value(json_object_get(row, "seed"));

    kfe_context_set_seed(plan->ctx, seed + own);
    kfe_status status = kfe_data_generate(plan->ctx, rep_string(row, "generate"), options, out);
    kfe_context_set_seed(plan->ctx, seed);
    return status;
}

kfe_status rep_row_data(const rep_plan *plan, const json_t *row, const rep_use *use, kfe_data **out)
{
    kfe_status status = KFE_OK;
    int generated = json_object_get(row, "generate") != NULL;
    rep_text options = {0};

    *out = NULL;
    rep_put_options(json_object_get(row, generated ? "options" : "reading"), use, &options);
    REP_TRY(rep_text_check(plan->ctx, &options));
    if (generated)
        REP_TRY(generate(plan, row, rep_text_string(&options), out));
    else
        REP_TRY(read_files(plan, row, use, rep_text_string(&options), out));
    REP_TRY(rep_prepare(plan->ctx, row, out));
cleanup:
    if (status != KFE_OK) {
        kfe_data_free(*out);
        *out = NULL;
    }
    rep_text_free(&options);
    return status;
}
