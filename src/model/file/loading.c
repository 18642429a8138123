/* SPDX-License-Identifier: Apache-2.0 */
/* Takes and checks parts of a model file: metadata, tensors, kernels, support examples. load*.c call these. */
#include "model/file/loading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"

kfe_status kfe_i_damaged(const kfe_i_loading *job, const char *what)
{
    if (!job->name)
        return kfe_i_fail(job->ctx, KFE_EMODEL, "the model cannot be saved: %s", what);
    return kfe_i_fail(job->ctx, KFE_EMODEL, "%s: the model file is damaged or was not written by kfe: %s",
                      job->name, what);
}

/* ---- metadata ---- */

kfe_status kfe_i_take_json(const kfe_i_loading *job, const char *key, kfe_i_json_type type,
                           kfe_i_json_tree *out)
{
    const char *text = kfe_i_safetensors_get(&job->file, key);
    kfe_status status;

    *out = (kfe_i_json_tree){0};
    if (!text)
        return kfe_i_damaged(job, key);
    status = kfe_i_json_read(job->ctx, text, strlen(text), out);
    if (kfe_i_is_lack(status))
        return status;
    return kfe_i_json_is(out->root, type) ? KFE_OK : kfe_i_damaged(job, key);
}

/* ---- tensors ---- */

kfe_status kfe_i_copy_tensor(const kfe_i_loading *job, const kfe_i_tensor *tensor, kfe_i_dtype dtype,
                             void **out)
{
    static const size_t sizes[] = {
        [KFE_DTYPE_F64] = 8, [KFE_DTYPE_I64] = 8, [KFE_DTYPE_I32] = 4, [KFE_DTYPE_U8] = 1};

    *out = NULL;
    if (tensor->dtype != dtype)
        return kfe_i_damaged(job, tensor->name);
    *out = kfe_i_alloc(job->ctx, tensor->count, sizes[dtype]);
    if (!*out)
        return kfe_i_lack(job->ctx);
    if (tensor->count > 0)
        memcpy(*out, tensor->data, (size_t)tensor->count * sizes[dtype]);
    return KFE_OK;
}

static kfe_status refuse_number(const kfe_i_loading *job, const kfe_i_tensor *tensor)
{
    char what[192];

    snprintf(what, sizeof what, "%.64s holds a number that is not finite%s", tensor->name,
             job->name ? "" : "; the data or the targets are too large or too small: change their units");
    return kfe_i_damaged(job, what);
}

static kfe_status check_finite(const kfe_i_loading *job, const kfe_i_tensor *tensor, const double *values)
{
    for (int64_t i = 0; i < tensor->count; i++)
        if (!isfinite(values[i]))
            return refuse_number(job, tensor);
    return KFE_OK;
}

kfe_status kfe_i_copy_reals(const kfe_i_loading *job, const kfe_i_tensor *tensor, double **out)
{
    void *copy = NULL;
    kfe_status status = kfe_i_copy_tensor(job, tensor, KFE_DTYPE_F64, &copy);

    *out = copy;
    return status == KFE_OK ? check_finite(job, tensor, *out) : status;
}

/* The tensor of this name and count; KFE_OK with *out NULL if an optional one is missing. */
static kfe_status find_tensor(const kfe_i_loading *job, const char *name, int64_t count, int optional,
                              const kfe_i_tensor **out)
{
    *out = kfe_i_safetensors_find(&job->file, name);
    if (*out ? (*out)->count != count : !optional)
        return kfe_i_damaged(job, name);
    return KFE_OK;
}

kfe_status kfe_i_take_tensor(const kfe_i_loading *job, const char *name, kfe_i_dtype dtype, int64_t count,
                             int optional, void **out)
{
    const kfe_i_tensor *tensor = NULL;
    kfe_status status = find_tensor(job, name, count, optional, &tensor);

    *out = NULL;
    return status == KFE_OK && tensor ? kfe_i_copy_tensor(job, tensor, dtype, out) : status;
}

kfe_status kfe_i_take_reals(const kfe_i_loading *job, const char *name, int64_t count, int optional,
                            double **out)
{
    const kfe_i_tensor *tensor = NULL;
    kfe_status status = find_tensor(job, name, count, optional, &tensor);

    *out = NULL;
    return status == KFE_OK && tensor ? kfe_i_copy_reals(job, tensor, out) : status;
}

/* ---- kernels ---- */

kfe_status kfe_i_take_given_kernel(const kfe_i_loading *job, const char *text, kfe_i_kernel *out)
{
    kfe_status status = kfe_i_kernel_parse(job->ctx, text, out);

    if (status == KFE_OK || kfe_i_is_lack(status))
        return status;
    return kfe_i_fail_prefix(job->ctx, KFE_EMODEL, job->name ? job->name : "the model cannot be saved");
}

kfe_status kfe_i_take_kernel(const kfe_i_loading *job, const char *text, const char *what, kfe_i_kernel *out)
{
    kfe_status status = kfe_i_take_given_kernel(job, text, out);

    if (status != KFE_OK)
        return status;
    if (kfe_i_kernel_is_resolved(out)) /* there is no training data to take names such as `scale` from */
        return KFE_OK;
    kfe_i_kernel_free(out);
    return kfe_i_damaged(job, what);
}

/* ---- support sets ---- */

enum { NAME_SIZE = 64 };

static kfe_status take_row_start(const kfe_i_loading *job, const char *prefix, kfe_i_table *support)
{
    char name[NAME_SIZE];
    void *taken = NULL;
    kfe_status status;

    snprintf(name, sizeof name, "%s.support.row_start", prefix);
    status = kfe_i_take_tensor(job, name, KFE_DTYPE_I64, support->rows + 1, 0, &taken);
    support->row_start = taken;
    if (status == KFE_OK && support->row_start[0] != 0)
        return kfe_i_damaged(job, name);
    return status;
}

static kfe_status take_text_support(const kfe_i_loading *job, const char *prefix, kfe_i_table *support)
{
    kfe_status status = KFE_OK;
    char name[NAME_SIZE];
    void *taken = NULL;

    support->kind = KFE_TABLE_TEXT;
    KFE_TRY(take_row_start(job, prefix, support));
    snprintf(name, sizeof name, "%s.support.bytes", prefix);
    KFE_TRY(kfe_i_take_tensor(job, name, KFE_DTYPE_U8, support->row_start[support->rows], 0, &taken));
    support->bytes = taken;
cleanup:
    return status;
}

static kfe_status take_sparse_support(const kfe_i_loading *job, const char *prefix, kfe_i_table *support)
{
    kfe_status status = KFE_OK;
    char name[NAME_SIZE];
    void *taken = NULL;

    support->kind = KFE_TABLE_CSR;
    KFE_TRY(take_row_start(job, prefix, support));
    snprintf(name, sizeof name, "%s.support.columns", prefix);
    KFE_TRY(kfe_i_take_tensor(job, name, KFE_DTYPE_I32, support->row_start[support->rows], 0, &taken));
    support->columns = taken;
    snprintf(name, sizeof name, "%s.support.values", prefix);
    KFE_TRY(kfe_i_take_reals(job, name, support->row_start[support->rows], 0, &support->values));
cleanup:
    return status;
}

/* The support may be the largest part of a model. One that is about to be saved is in memory already, and is borrowed. */
static kfe_status take_dense_support(const kfe_i_loading *job, const char *name, kfe_i_table *support)
{
    kfe_status status = KFE_OK;
    const kfe_i_tensor *tensor = NULL;
    int64_t count = support->rows * support->cols;

    if (job->name)
        return kfe_i_take_reals(job, name, count, 0, &support->values);
    KFE_TRY(find_tensor(job, name, count, 0, &tensor));
    if (tensor->dtype != KFE_DTYPE_F64)
        return kfe_i_damaged(job, name);
    support->values = (double *)tensor->data;
    support->owned = 0;
    status = check_finite(job, tensor, support->values);
cleanup:
    return status;
}

kfe_status kfe_i_take_support(const kfe_i_loading *job, const char *prefix, int strings, int64_t rows,
                              int64_t cols, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    char name[NAME_SIZE];

    out->ctx = job->ctx;
    out->owned = 1;
    out->rows = rows;
    out->cols = out->stride = cols;
    snprintf(name, sizeof name, "%s.support", prefix);
    if (strings)
        KFE_TRY(take_text_support(job, prefix, out));
    else if (kfe_i_safetensors_find(&job->file, name))
        KFE_TRY(take_dense_support(job, name, out));
    else
        KFE_TRY(take_sparse_support(job, prefix, out));
    status = kfe_i_table_check(job->ctx, out);
    if (status != KFE_OK && !kfe_i_is_lack(status))
        status = kfe_i_damaged(job, name);
cleanup:
    return status;
}
