/* SPDX-License-Identifier: Apache-2.0 */
#include "model/loading.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"

kfe_status kfe_i_damaged(const kfe_i_loading *job, const char *what)
{
    return kfe_i_fail(job->ctx, KFE_EMODEL, "%s: the model file is damaged or was not written by kfe: %s",
                      job->name, what);
}

kfe_status kfe_i_take_tensor(const kfe_i_loading *job, const char *name, kfe_i_dtype dtype, int64_t count,
                             int optional, void **out)
{
    static const size_t sizes[] = {
        [KFE_DTYPE_F64] = 8, [KFE_DTYPE_I64] = 8, [KFE_DTYPE_I32] = 4, [KFE_DTYPE_U8] = 1};
    const kfe_i_tensor *tensor = kfe_i_safetensors_find(&job->file, name);

    *out = NULL;
    if (!tensor)
        return optional ? KFE_OK : kfe_i_damaged(job, name);
    if (tensor->dtype != dtype || tensor->count != count)
        return kfe_i_damaged(job, name);
    *out = kfe_i_alloc(job->ctx, count, sizes[dtype]);
    if (!*out)
        return KFE_ENOMEM;
    memcpy(*out, tensor->data, (size_t)count * sizes[dtype]);
    return KFE_OK;
}

kfe_status kfe_i_take_reals(const kfe_i_loading *job, const char *name, int64_t count, int optional,
                            double **out)
{
    void *taken = NULL;
    kfe_status status = kfe_i_take_tensor(job, name, KFE_DTYPE_F64, count, optional, &taken);

    *out = taken;
    for (int64_t i = 0; status == KFE_OK && *out && i < count; i++)
        if (!isfinite((*out)[i]))
            return kfe_i_damaged(job, name);
    return status;
}

/* ---- kernels ---- */

kfe_status kfe_i_take_kernel(const kfe_i_loading *job, const char *text, const char *what, kfe_i_kernel *out)
{
    kfe_status status = kfe_i_kernel_parse(job->ctx, text, out);

    if (status == KFE_ENOMEM)
        return status;
    if (status != KFE_OK)
        return kfe_i_fail_prefix(job->ctx, KFE_EMODEL, job->name);
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
        KFE_TRY(kfe_i_take_reals(job, name, rows * cols, 0, &out->values));
    else
        KFE_TRY(take_sparse_support(job, prefix, out));
    if (kfe_i_table_check(job->ctx, out) != KFE_OK)
        status = kfe_i_damaged(job, name);
cleanup:
    return status;
}
