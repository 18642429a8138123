/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the Gram operator: those that its form answers, and those that are computed from blocks and
 * products. Methods, the solver and the eigenvector routine use them. */
#include "gram/gram.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/cluster/dealt.h"
#include "gram/cluster/on_devices.h"
#include "gram/dense/linalg.h"
#include "gram/device/form.h"
#include "gram/form/landmarks.h"

#define KFE_TOO_LARGE_REMEDY "raise {memory}, use fewer rows, or a method that does not need the whole matrix"

kfe_status kfe_i_gram_new(kfe_context *ctx, const kfe_i_gram_form *form, int64_t size, int64_t state_size,
                          kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *gram = NULL;
    char *state = NULL;

    assert(form && form->block && form->columns && form->diagonal && form->times && form->release);
    assert(size >= 0 && state_size >= 0);
    kfe_i_workspace *work = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, state, state_size);
    KFE_ALLOC_ZERO(ctx, work, 1);
    KFE_ALLOC_ZERO(ctx, gram, 1);
    gram->ctx = ctx;
    gram->form = form;
    gram->size = size;
    gram->state = state;
    gram->work = work;
    state = NULL;
    work = NULL;
    *out = gram;
cleanup:
    kfe_i_free(ctx, state);
    kfe_i_free(ctx, work);
    return status;
}

void kfe_i_gram_free(kfe_i_gram *gram)
{
    if (!gram)
        return;
    gram->form->release(gram);
    kfe_i_free(gram->ctx, gram->work->values);
    kfe_i_free(gram->ctx, gram->work);
    kfe_i_free(gram->ctx, gram->state);
    kfe_i_free(gram->ctx, gram);
}

double *kfe_i_gram_workspace(const kfe_i_gram *gram, int64_t count)
{
    kfe_i_workspace *work = gram->work;

    assert(count >= 0);
    if (work->count < count) {
        kfe_i_free(gram->ctx, work->values);
        work->count = 0;
        work->values = kfe_i_alloc(gram->ctx, count, sizeof *work->values);
        work->count = work->values ? count : 0;
    }
    return work->values;
}

/* ---- making one ---- */

static kfe_status open_term(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                            kfe_i_gram **out)
{
    if (kernel->def->base == KFE_BASE_GIVEN)
        return kfe_i_gram_precomputed(ctx, table, out);
    if (kernel->def->base == KFE_BASE_DOT && !kernel->def->map)
        return kfe_i_gram_factored(ctx, table, out);
    return kfe_i_gram_tiled(ctx, kernel, table, out);
}

static kfe_status open_terms(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                             kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram **terms = NULL;
    double *weights = NULL;
    int64_t opened = 0;

    KFE_ALLOC_ZERO(ctx, terms, kernels->count);
    KFE_ALLOC(ctx, weights, kernels->count);
    for (; opened < kernels->count; opened++) {
        const kfe_i_kernel *kernel = &kernels->items[opened];
        weights[opened] = kernel->common.weight;
        KFE_TRY(open_term(ctx, kernel, &views[kernel->view], &terms[opened]));
    }
    if (opened == 1 && weights[0] == 1) {
        *out = terms[0];
    } else {
        status = kfe_i_gram_sum(ctx, terms, weights, opened, out);
    }
    opened = 0;
cleanup:
    for (int64_t m = 0; m < opened; m++)
        kfe_i_gram_free(terms[m]);
    kfe_i_free(ctx, terms);
    kfe_i_free(ctx, weights);
    return status;
}

/* On the device, or divided over the devices of all processes; *out NULL: there is none, or no room. */
static kfe_status keep_on_devices(kfe_i_gram **gram, int type, kfe_i_gram **out)
{
    return kfe_i_gram_is_on_devices(*gram) ? kfe_i_devices_keep_owned(gram, type, out)
                                           : kfe_i_device_keep_owned(gram, type, out);
}

kfe_status kfe_i_gram_open(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                           kfe_i_gram_storage storage, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *evaluated = NULL;

    *out = NULL;
    KFE_TRY(open_terms(ctx, kernels, views, &evaluated));
    KFE_TRY(kfe_i_device_wrap(ctx, kernels, views, &evaluated));
    KFE_TRY(kfe_i_gram_deal(ctx, &evaluated));
    if (kfe_i_gram_dealt_source(evaluated) && (storage == KFE_GRAM_F64 || storage == KFE_GRAM_F32))
        KFE_TRY(kfe_i_dealt_keep_owned(&evaluated, storage == KFE_GRAM_F32, out));
    else if (storage == KFE_GRAM_F64 || storage == KFE_GRAM_F32)
        KFE_TRY(keep_on_devices(&evaluated, storage == KFE_GRAM_F32 ? KFE_DEVICE_F32 : KFE_DEVICE_F64, out));
    if (*out) {
        ; /* on the device or divided over processes */
    } else if (storage == KFE_GRAM_F64 || storage == KFE_GRAM_F32) {
        KFE_TRY(kfe_i_gram_packed(ctx, evaluated, storage == KFE_GRAM_F32, out));
    } else {
        *out = evaluated;
        evaluated = NULL;
        (*out)->pinned = storage == KFE_GRAM_TILED;
    }
    kfe_i_log(ctx, KFE_LOG_INFO, "kernel matrix of %lld examples: %s", (long long)(*out)->size,
              (*out)->form->name);
cleanup:
    kfe_i_gram_free(evaluated);
    return status;
}

/* ---- calls that a form answers ---- */

kfe_status kfe_i_gram_block(const kfe_i_gram *gram, int64_t row, int64_t rows, int64_t col, int64_t cols,
                            double *out, int64_t stride)
{
    assert(kfe_i_range_within(row, rows, gram->size) && kfe_i_range_within(col, cols, gram->size));
    assert(stride >= cols);
    return gram->form->block(gram, row, rows, col, cols, out, stride);
}

kfe_status kfe_i_gram_columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    assert(kfe_i_all_below(index, count, gram->size));
    return gram->form->columns(gram, index, count, out);
}

/* Reads the rows listed of a few columns at a time. */
static kfe_status among_by_columns(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    enum { GROUP = 64 };
    kfe_status status = KFE_OK;
    int64_t most = count < GROUP ? count : GROUP;
    double *columns = NULL;

    KFE_ALLOC(gram->ctx, columns, gram->size * most);
    for (int64_t first = 0; first < count; first += GROUP) {
        int64_t wide = count - first < GROUP ? count - first : GROUP;
        KFE_TRY(gram->form->columns(gram, index + first, wide, columns));
        for (int64_t i = 0; i < count; i++)
            memcpy(out + i * count + first, columns + index[i] * wide, (size_t)wide * sizeof *out);
    }
cleanup:
    kfe_i_free(gram->ctx, columns);
    return status;
}

kfe_status kfe_i_gram_among(const kfe_i_gram *gram, const int64_t *index, int64_t count, double *out)
{
    assert(kfe_i_all_below(index, count, gram->size));
    if (gram->form->among)
        return gram->form->among(gram, index, count, out);
    return among_by_columns(gram, index, count, out);
}

kfe_status kfe_i_gram_diagonal(const kfe_i_gram *gram, double *out)
{
    assert(gram->size >= 0 && out);
    return gram->form->diagonal(gram, out);
}

kfe_status kfe_i_gram_times(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    assert(k >= 0 && v != out);
    return gram->form->times(gram, v, k, out);
}

kfe_status kfe_i_gram_times_single(const kfe_i_gram *gram, const double *v, int64_t k, double *out)
{
    assert(k >= 0 && v != out);
    return (gram->form->times_single ? gram->form->times_single : gram->form->times)(gram, v, k, out);
}

kfe_status kfe_i_gram_subset_expand(const kfe_i_gram *subset, const double *v, int64_t k, double *out)
{
    assert(subset->form->expand && k >= 0 && v != out);
    return subset->form->expand(subset, v, k, out);
}

int kfe_i_gram_is_single(const kfe_i_gram *gram)
{
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(gram);
    return inner ? kfe_i_gram_is_single(inner) : gram->form->single;
}

/* ---- calls that are made from those ---- */

static kfe_status group_sums_by_times(const kfe_i_gram *gram, const int32_t *group, int64_t groups,
                                      double *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    double *indicator = NULL;
    double *product = NULL;

    KFE_ALLOC_ZERO(ctx, indicator, gram->size * groups);
    KFE_ALLOC(ctx, product, gram->size * groups);
    for (int64_t i = 0; i < gram->size; i++)
        indicator[i * groups + group[i]] = gram->roots ? gram->roots[i] : 1;
    KFE_TRY(kfe_i_gram_times(gram, indicator, groups, product));
    memset(out, 0, (size_t)(groups * groups) * sizeof *out);
    for (int64_t i = 0; i < gram->size; i++)
        for (int64_t h = 0; h < groups; h++)
            out[group[i] * groups + h] += product[i * groups + h] * (gram->roots ? gram->roots[i] : 1);
cleanup:
    kfe_i_free(ctx, indicator);
    kfe_i_free(ctx, product);
    return status;
}

kfe_status kfe_i_gram_group_sums(const kfe_i_gram *gram, const int32_t *group, int64_t groups, double *out)
{
    kfe_status status = kfe_i_checkpoint(gram->ctx, "adding up the kernel matrix", 0, 0);

    assert(kfe_i_codes_below(group, gram->size, groups));
    if (status != KFE_OK)
        return status;
    if (gram->form->group_sums && !gram->roots)
        return gram->form->group_sums(gram, group, groups, out);
    return group_sums_by_times(gram, group, groups, out);
}

kfe_status kfe_i_gram_materialise(const kfe_i_gram *gram, double **out)
{
    kfe_status status = KFE_OK;
    int64_t n = gram->size;

    *out = NULL;
    KFE_TRY(kfe_i_check_memory(gram->ctx, 8.0 * (double)n * (double)n, "the kernel matrix",
                               KFE_TOO_LARGE_REMEDY));
    KFE_ALLOC(gram->ctx, *out, n * n);
    KFE_TRY(kfe_i_gram_block(gram, 0, n, 0, n, *out, n));
cleanup:
    if (status != KFE_OK) {
        kfe_i_free(gram->ctx, *out);
        *out = NULL;
    }
    return status;
}

double kfe_i_gram_rank_tolerance(const kfe_i_gram *gram)
{
    return kfe_i_gram_is_single(gram) ? KFE_SINGLE_RANK_TOLERANCE : KFE_RANK_TOLERANCE;
}

/* No entry exceeds the largest diagonal entry. In double precision the errors of all entries may have the same sign,
 * because the same operations made them; rounding to single precision is independent for each entry. */
kfe_status kfe_i_gram_rounding(const kfe_i_gram *gram, double *out)
{
    kfe_status status = KFE_OK;
    double n = (double)gram->size;
    double relative = kfe_i_gram_is_single(gram) ? sqrt(n) * (double)FLT_EPSILON : n * DBL_EPSILON;
    double *diagonal = NULL;
    double largest = 0;

    KFE_ALLOC(gram->ctx, diagonal, gram->size);
    KFE_TRY(kfe_i_gram_diagonal(gram, diagonal));
    for (int64_t i = 0; i < gram->size; i++)
        largest = fmax(largest, fabs(diagonal[i]));
    *out = 4 * relative * largest;
cleanup:
    kfe_i_free(gram->ctx, diagonal);
    return status;
}

double kfe_i_gram_mass(const kfe_i_gram *gram)
{
    double sum = 0;

    if (!gram->roots)
        return (double)gram->size;
    for (int64_t i = 0; i < gram->size; i++)
        sum += gram->roots[i] * gram->roots[i];
    return sum;
}

int64_t kfe_i_gram_rank_bound(const kfe_i_gram *gram)
{
    kfe_i_landmark_info info;
    const kfe_i_table *factor = kfe_i_gram_factor(gram);

    if (kfe_i_gram_has_landmarks(gram, &info))
        return info.rank;
    return factor && factor->cols < gram->size ? factor->cols : gram->size;
}

kfe_status kfe_i_gram_mean_diagonal(const kfe_i_gram *gram, double *out)
{
    kfe_status status = KFE_OK;
    double *diagonal = NULL;
    double trace = 0;

    KFE_ALLOC(gram->ctx, diagonal, gram->size);
    KFE_TRY(kfe_i_gram_diagonal(gram, diagonal));
    for (int64_t i = 0; i < gram->size; i++)
        trace += diagonal[i];
    *out = trace / kfe_i_gram_mass(gram);
cleanup:
    kfe_i_free(gram->ctx, diagonal);
    return status;
}

kfe_status kfe_i_gram_squared_norm(const kfe_i_gram *gram, double *out)
{
    enum { PANEL = 256 };
    kfe_status status = KFE_OK;
    double *panel = NULL;
    double sum = 0;
    int64_t n = gram->size;

    if (kfe_i_gram_has_landmarks(gram, NULL))
        return kfe_i_landmark_squared_norm(gram, out);
    KFE_ALLOC(gram->ctx, panel, PANEL * n);
    for (int64_t row = 0; row < n; row += PANEL) {
        int64_t rows = n - row < PANEL ? n - row : PANEL;
        KFE_TRY(kfe_i_gram_block(gram, row, rows, 0, n, panel, n));
        for (int64_t i = 0; i < rows * n; i++)
            sum += panel[i] * panel[i];
    }
    *out = sum;
cleanup:
    kfe_i_free(gram->ctx, panel);
    return status;
}
