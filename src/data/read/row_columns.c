/* SPDX-License-Identifier: Apache-2.0 */
/* The columns that describe rows (names, groups and weights) from the raw tables of one file, or of the files of several views,
 * of which one has each column. Used by read.c. */
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "core/wording.h"
#include "data/read/reader.h"

static int has_names(const kfe_i_raw_table *raw)
{
    return raw->ids.rows > 0;
}

static int has_groups(const kfe_i_raw_table *raw)
{
    return raw->groups != NULL;
}

static int has_weights(const kfe_i_raw_table *raw)
{
    return raw->weights != NULL;
}

typedef int has_column(const kfe_i_raw_table *raw);

/* The first table that has the column; the first one if none has. */
static kfe_i_raw_table *owner_of(kfe_i_raw_table *raws, int count, has_column *has)
{
    for (int v = 0; v < count; v++)
        if (has(&raws[v]))
            return &raws[v];
    return raws;
}

/* Of several FASTA files the first names the rows. */
static int may_repeat(const kfe_i_raw_table *raw, const char *name)
{
    return raw->table.kind == KFE_TABLE_TEXT && kfe_i_word_index("name|header", name) >= 0;
}

static kfe_status check_owner(kfe_context *ctx, kfe_i_raw_table *raws, int count, const char *const *paths,
                              has_column *has, const char *parameter, const char *name)
{
    const kfe_i_raw_table *owner = owner_of(raws, count, has);
    char shown[KFE_WORDING_TEXT];

    kfe_i_word_name(ctx, parameter, shown);
    if (*name && !has(owner))
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "%s: none of the %d files has a column '%.100s'; give a name from the header of one "
            "of them, or the number of a column of the first",
            shown, count, name);
    for (int v = 0; v < count; v++)
        if (&raws[v] != owner && has(&raws[v]) && !may_repeat(&raws[v], name))
            return kfe_i_fail(ctx, KFE_EINPUT,
                              "%s: both %s and %s have a column '%.100s'; rename or remove it in one of them",
                              shown, kfe_i_shown_path(paths[owner - raws]), kfe_i_shown_path(paths[v]), name);
    return KFE_OK;
}

kfe_status kfe_i_check_row_columns(kfe_context *ctx, kfe_i_raw_table *raws, int count,
                                   const char *const *paths, const kfe_i_read_settings *settings)
{
    kfe_status status = KFE_OK;

    if (count == 1 || raws[0].table.rows == 0)
        return KFE_OK;
    KFE_TRY(check_owner(ctx, raws, count, paths, has_names, "id", settings->id));
    KFE_TRY(check_owner(ctx, raws, count, paths, has_groups, "groups", settings->groups));
    KFE_TRY(check_owner(ctx, raws, count, paths, has_weights, "weight", settings->weight));
cleanup:
    return status;
}

static int all_are_zero(int64_t count, const double *values)
{
    for (int64_t i = 0; i < count; i++)
        if (values[i] != 0)
            return 0;
    return 1;
}

/* The weights of a part may all be zero: other parts have other rows. */
static kfe_status move_weights(kfe_i_raw_table *raw, const char *file, kfe_data *data)
{
    kfe_status status = KFE_OK;

    if (!raw->weights)
        return KFE_OK;
    if (raw->is_part && all_are_zero(kfe_data_rows(data), raw->weights)) {
        data->target.weights = raw->weights;
        data->target.ctx = data->ctx;
        raw->weights = NULL;
        return KFE_OK;
    }
    status = kfe_data_set_weights(raw->ctx, data, raw->weights);
    return status == KFE_OK ? KFE_OK : kfe_i_fail_prefix(raw->ctx, status, file);
}

static void move_names(kfe_i_raw_table *raw, kfe_data *data)
{
    data->ids = raw->ids;
    data->id_name = raw->id_name;
    data->ids_are_numbers = raw->ids_are_numbers;
    memset(&raw->ids, 0, sizeof raw->ids);
    raw->id_name = NULL;
}

const double *kfe_i_row_weights(kfe_i_raw_table *raws, int count)
{
    return owner_of(raws, count, has_weights)->weights;
}

kfe_status kfe_i_take_row_columns(kfe_i_raw_table *raws, int count, const char *const *paths, kfe_data *data)
{
    kfe_i_raw_table *owner = owner_of(raws, count, has_groups);

    move_names(owner_of(raws, count, has_names), data);
    data->groups = owner->groups;
    owner->groups = NULL;
    data->row_numbers = raws[0].row_numbers;
    raws[0].row_numbers = NULL;
    owner = owner_of(raws, count, has_weights);
    return move_weights(owner, kfe_i_shown_path(paths[owner - raws]), data);
}
