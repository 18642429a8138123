/* SPDX-License-Identifier: Apache-2.0 */
/* Landmarks and sums over their columns that splits share; used by sweep.c and sum_fold.c. Time O(nm²) once for n rows and m
 * landmarks, and O(m³) for each split beside its test rows. Memory nm numbers. */
#include "select/landmark_sums.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"
#include "data/rows/distinct.h"
#include "linalg/linalg.h"
#include "model/landmarks.h"

/* F, and what makes it, may take this share of the memory that is left. */
#define MEMORY_SHARE 0.25
/* Fewer rows than this for each landmark do not repay the sums. */
enum { ROWS_PER_LANDMARK = 2 };

void kfe_i_landmark_sums_free(kfe_i_landmark_sums *s)
{
    if (!s->ctx)
        return;
    kfe_i_row_sums_free(&s->sums);
    kfe_i_table_free(&s->factor);
    kfe_i_free(s->ctx, s->landmarks);
    kfe_i_free(s->ctx, s->lower);
    kfe_i_free(s->ctx, s->keys);
    memset(s, 0, sizeof *s);
}

/* As many as needed, so that a split with the largest test part can be expected to keep the number asked for, with two standard deviations to spare. */
static int64_t enlarged_count(const kfe_i_group *group, int64_t asked)
{
    double share = 0;

    for (int64_t i = 0; i < group->count; i++)
        share = fmax(share,
                     (double)group->splits->items[group->members[i]].test_count / (double)group->row_count);
    if (share > 0.5)
        return 0;
    double expected = (double)asked / (1 - share);
    return (int64_t)ceil(expected + 2 * sqrt(expected * share) + 1);
}

static int is_served(const kfe_i_group *group, const kfe_spec *spec)
{
    return spec->fit.landmarks > 0 && kfe_i_method_sums_are_rows(spec->method, spec->settings) &&
           spec->method->flags & KFE_HAS_KERNELS && !(spec->method->flags & KFE_HAS_SYNTHETIC) &&
           kfe_i_method_use(spec->method, spec->settings, KFE_OFFER_GRAM, NULL) &&
           !kfe_i_spec_learns_from_kernel(spec) && !kfe_i_has_user_kernel(spec) &&
           !group->data->target.weights && !kfe_i_spec_weighs_classes(spec) &&
           (spec->fit.gram == KFE_GRAM_AUTO || spec->fit.gram == KFE_GRAM_F64) && group->count > 1;
}

/* The rows of F at the rows of the data, and at the landmarks. */
static kfe_status take_factor(const kfe_i_group *group, const kfe_i_gram *gram, kfe_i_landmark_sums *out)
{
    kfe_status status = KFE_OK;
    int64_t r = kfe_i_gram_rank_bound(gram);
    int64_t count = 0;
    const int64_t *landmarks = kfe_i_gram_support(gram, &count);
    double *rows = NULL;

    if (count > r || r == 0)
        return KFE_OK;
    KFE_ALLOC(out->ctx, rows, group->row_count * r);
    KFE_TRY(kfe_i_landmark_rows(gram, 0, group->row_count, rows));
    KFE_TRY(kfe_i_table_new_dense(out->ctx, kfe_data_rows(group->data), r, &out->factor));
    memset(out->factor.values, 0, (size_t)(out->factor.rows * out->factor.stride) * sizeof *rows);
    for (int64_t i = 0; i < group->row_count; i++)
        memcpy(out->factor.values + group->rows[i] * out->factor.stride, rows + i * r,
               (size_t)r * sizeof *rows);
    KFE_ALLOC(out->ctx, out->landmarks, r);
    KFE_ALLOC(out->ctx, out->lower, r * r);
    for (int64_t j = 0; j < r; j++) {
        out->landmarks[j] = group->rows[landmarks[j]];
        memcpy(out->lower + j * r, rows + landmarks[j] * r, (size_t)r * sizeof *rows);
    }
cleanup:
    kfe_i_free(out->ctx, rows);
    return status;
}

kfe_status kfe_i_landmark_sums_make(kfe_i_group *group, const kfe_spec *spec, kfe_i_landmark_sums *out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = group->ctx;
    kfe_i_kernel_list kernels;
    kfe_i_gram *gram = NULL;
    kfe_i_row_key *keys = NULL;
    kfe_i_landmark_plan plan = kfe_i_spec_landmarks(spec);

    kfe_i_kernel_list_init(ctx, &kernels);
    kfe_i_landmark_sums_free(out);
    if (!is_served(group, spec))
        return KFE_OK;
    plan.count = enlarged_count(group, plan.count);
    double bytes = 24.0 * (double)kfe_data_rows(group->data) * (double)plan.count;
    if (plan.count == 0 || group->row_count < ROWS_PER_LANDMARK * plan.count ||
        bytes > MEMORY_SHARE * (double)kfe_i_memory_left(ctx))
        return KFE_OK;
    out->ctx = ctx;
    out->asked = spec->fit.landmarks;
    KFE_TRY(kfe_i_group_prepare(group, spec, &kernels));
    KFE_TRY(kfe_i_data_row_keys(ctx, group->data, &out->keys));
    KFE_ALLOC(ctx, keys, group->row_count);
    for (int64_t i = 0; i < group->row_count; i++)
        keys[i] = out->keys[group->rows[i]];
    plan.keys = keys;
    KFE_TRY(kfe_i_gram_open_plan(ctx, &kernels, group->scaled, &plan, KFE_GRAM_F64, &gram));
    KFE_TRY(take_factor(group, gram, out));
    const kfe_i_row_parts parts = {group->splits, group->members, group->count};
    if (out->factor.cols > 0)
        KFE_TRY(kfe_i_row_sums_over(ctx, group->data, &out->factor, group->rows, group->row_count, &parts,
                                    &out->sums));
cleanup:
    kfe_i_gram_free(gram);
    kfe_i_free(ctx, keys);
    kfe_i_kernel_list_free(&kernels);
    if (status != KFE_OK)
        kfe_i_landmark_sums_free(out);
    return status;
}

kfe_status kfe_i_landmark_sums_basis(kfe_context *ctx, const kfe_i_landmark_sums *shared,
                                     const kfe_i_split *split, double **q, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t r = shared->factor.cols;
    int64_t kept = 0;
    double *columns = NULL; /* the rows of L_J, later the columns of Q, one after the other */

    *q = NULL;
    *count = 0;
    KFE_ALLOC(ctx, columns, r * r);
    for (int64_t j = 0; j < r && kept < shared->asked; j++)
        if (kfe_i_find_row(split->test, split->test_count, shared->landmarks[j]) < 0)
            memcpy(columns + kept++ * r, shared->lower + j * r, (size_t)r * sizeof *columns);
    if (kept < shared->asked && kept < r)
        goto cleanup;
    KFE_TRY(kfe_i_orthonormalise(ctx, r, kept, columns));
    KFE_ALLOC(ctx, *q, r * kept);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < kept; j++)
            (*q)[i * kept + j] = columns[j * r + i];
    *count = kept;
cleanup:
    kfe_i_free(ctx, columns);
    return status;
}
