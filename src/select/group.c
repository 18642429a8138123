/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and kernel matrix that a group of splits shares; used by sweep.c. */
#include "select/group.h"

#include <string.h>

#include "core/memory.h"
#include "model/prepare.h"

/* ---- members ---- */

kfe_status kfe_i_group_init(kfe_context *ctx, const kfe_data *data, const kfe_i_splits *splits,
                            kfe_i_group *out)
{
    kfe_status status = KFE_OK;
    int64_t n = kfe_data_rows(data);

    *out = (kfe_i_group){.ctx = ctx, .data = data, .splits = splits};
    KFE_ALLOC(ctx, out->members, splits->count);
    KFE_ALLOC(ctx, out->rows, n);
    KFE_ALLOC(ctx, out->place, n);
    KFE_ALLOC(ctx, out->uneven, data->view_count);
    memset(out->uneven, -1, (size_t)data->view_count);
    KFE_ALLOC_ZERO(ctx, out->auto_scaled, data->view_count);
cleanup:
    return status;
}

static void free_tables(kfe_i_group *group, kfe_i_table **tables)
{
    for (int v = 0; *tables && v < group->data->view_count; v++)
        kfe_i_table_free(&(*tables)[v]);
    kfe_i_free(group->ctx, *tables);
    *tables = NULL;
}

static void free_bases(kfe_i_group *group)
{
    for (int64_t m = 0; m < group->base_count; m++)
        kfe_i_base_free(&group->bases[m]);
    kfe_i_free(group->ctx, group->bases);
    group->bases = NULL;
    group->base_count = 0;
}

static void drop_shared(kfe_i_group *group)
{
    free_tables(group, &group->scaled);
    free_tables(group, &group->train_scaled);
    kfe_data_free(group->train);
    group->train = NULL;
    free_bases(group);
    kfe_i_free(group->ctx, group->matrix);
    group->matrix = NULL;
    kfe_i_device_shared_free(group->device_matrix);
    group->device_matrix = NULL;
}

void kfe_i_group_free(kfe_i_group *group)
{
    if (!group->ctx)
        return;
    drop_shared(group);
    kfe_i_free(group->ctx, group->members);
    kfe_i_free(group->ctx, group->rows);
    kfe_i_free(group->ctx, group->place);
    kfe_i_free(group->ctx, group->uneven);
    kfe_i_free(group->ctx, group->auto_scaled);
    memset(group, 0, sizeof *group);
}

static void mark(kfe_i_group *group, const int64_t *rows, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        group->place[rows[i]] = 0;
}

kfe_status kfe_i_group_set(kfe_i_group *group, int64_t first, int64_t count)
{
    int64_t n = kfe_data_rows(group->data);

    drop_shared(group);
    group->count = count;
    for (int64_t i = 0; i < n; i++)
        group->place[i] = -1;
    for (int64_t m = 0; m < count; m++) {
        const kfe_i_split *split = &group->splits->items[first + m];
        group->members[m] = first + m;
        mark(group, split->train, split->train_count);
        mark(group, split->test, split->test_count);
    }
    group->row_count = 0;
    for (int64_t i = 0; i < n; i++)
        if (group->place[i] == 0) {
            group->place[i] = group->row_count;
            group->rows[group->row_count++] = i;
        }
    if (group->row_count == 0)
        return kfe_i_fail(group->ctx, KFE_EINVAL, "there are no splits to work on");
    return KFE_OK;
}

/* ---- what can be shared ---- */

int kfe_i_has_user_kernel(const kfe_spec *spec)
{
    for (int64_t m = 0; m < spec->kernels.count; m++)
        if (spec->kernels.items[m].def->base == KFE_BASE_USER)
            return 1;
    return 0;
}

/* Whether some split has training rows that scale=auto would standardise. If none has, all splits can share a matrix. */
static kfe_status is_uneven(const kfe_i_group *group, int view, int *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table table = kfe_i_weighted_rows(&group->data->views[view].table, &group->data->target);
    kfe_i_ranges ranges = {0};

    for (int64_t s = 0; group->uneven[view] < 0 && s < group->splits->count; s++) {
        const kfe_i_split *split = &group->splits->items[s];
        KFE_TRY(kfe_i_ranges_find(group->ctx, &table, split->train, split->train_count, &ranges));
        if (kfe_i_scale_by_ranges(&ranges) != KFE_SCALE_NONE)
            group->uneven[view] = 1;
    }
    if (group->uneven[view] < 0)
        group->uneven[view] = 0;
    *out = group->uneven[view] > 0;
cleanup:
    return status;
}

static kfe_status auto_scaling_depends(const kfe_i_group *group, const kfe_i_kernel_list *kernels, int *out)
{
    kfe_status status = KFE_OK;

    *out = 0;
    for (int v = 0; !*out && v < group->data->view_count; v++)
        if (kfe_i_auto_scales_view(kernels, group->data, v))
            KFE_TRY(is_uneven(group, v, out));
cleanup:
    return status;
}

static kfe_status note_learning(kfe_context *ctx, void *user, const char *view, const char *text)
{
    kfe_i_chain chain = {0};
    kfe_status status = kfe_i_chain_parse(ctx, text, &chain);

    (void)view;
    *(int *)user |= kfe_i_chain_learns(&chain, NULL);
    kfe_i_chain_free(&chain);
    return status;
}

/* Whether a step of the spec learns from the training rows. */
static kfe_status steps_learn(kfe_context *ctx, const kfe_spec *spec, int *out)
{
    return kfe_i_chain_each(ctx, spec->fit.prepare, note_learning, out);
}

kfe_status kfe_i_group_depends_on_rows(const kfe_i_group *group, const kfe_spec *spec, int *out)
{
    kfe_status status = KFE_OK;
    int scale = kfe_i_spec_scale(spec);
    kfe_i_kernel_list kernels;

    *out = scale != KFE_SCALE_NONE && scale != KFE_SCALE_L2_ROWS;
    kfe_i_kernel_list_init(group->ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(group->ctx, spec, group->data, &kernels));
    if (scale == KFE_SCALE_AUTO)
        KFE_TRY(auto_scaling_depends(group, &kernels, out));
    for (int v = 0; v < group->data->view_count; v++) /* what is filled in depends on the training rows */
        *out |= group->data->views[v].gaps.fill != KFE_FILL_NONE;
    for (int64_t m = 0; m < kernels.count; m++)
        *out |= !kfe_i_kernel_is_resolved(&kernels.items[m]);
    if (!*out)
        KFE_TRY(steps_learn(group->ctx, spec, out));
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

/*
 * Nanoseconds of one thread, estimates whose choices were the faster ones with 21 and 400 columns: one kernel value of d columns takes 2 + d/15 (a product at GEMM's rate, an exponential),
 * writing it and its distance to memory that is touched for the first time 10, and reading it back 1.5.
 */
#define KFE_VALUE_COST(d) (2 + (d) / 15)
#define KFE_STORE_COST 10.0
#define KFE_READ_COST 1.5

/* Columns of a row that a kernel value costs time for. */
static double columns_of(const kfe_data *data)
{
    double sum = 0;

    for (int v = 0; v < data->view_count; v++) {
        const kfe_i_table *table = &data->views[v].table;
        sum += table->kind == KFE_TABLE_DENSE || table->rows == 0
                   ? (double)table->cols
                   : (double)table->row_start[table->rows] / (double)table->rows;
    }
    return sum;
}

/* Whether evaluating half the matrix and storing it costs less than evaluating the columns that the fits look at. */
static int repays(const kfe_i_group *group, const kfe_spec *spec, int64_t fits)
{
    double n = (double)group->row_count;
    double columns = 0;
    double value = KFE_VALUE_COST(columns_of(group->data));

    if (!spec->method->columns)
        return 1;
    for (int64_t m = 0; m < group->count; m++) {
        int64_t rows = group->splits->items[group->members[m]].train_count;
        columns += (double)fits * (double)spec->method->columns(spec->settings, rows);
    }
    return n * n * (value / 2 + KFE_STORE_COST) < n * columns * (value - KFE_READ_COST);
}

/* Whether a matrix of all kernel values serves fits like the spec's. */
static int matrix_serves(const kfe_spec *spec)
{
    int by_kernel = spec->method->flags & KFE_HAS_KERNELS && !(spec->method->flags & KFE_HAS_SYNTHETIC) &&
                    kfe_i_method_use(spec->method, spec->settings, KFE_OFFER_GRAM, NULL);

    return (by_kernel || kfe_i_spec_learns_from_kernel(spec)) && !kfe_i_has_user_kernel(spec) &&
           spec->fit.landmarks == 0 && (spec->fit.gram == KFE_GRAM_AUTO || spec->fit.gram == KFE_GRAM_F64);
}

/* The matrix must fit in memory beside the distances of each kernel. */
static int fits_in_host(const kfe_i_group *group, const kfe_spec *spec)
{
    double bytes = 8.0 * (double)group->row_count * (double)group->row_count;
    int64_t kernels = spec->kernels.count + group->data->view_count - 1; /* at most */

    return bytes * (double)(1 + kernels) <= (double)kfe_i_memory_left(group->ctx);
}

static kfe_status fits_on_device(const kfe_i_group *group, const kfe_i_kernel_list *kernels, int *out)
{
    kfe_status status = KFE_OK;
    kfe_i_table *views = NULL;

    *out = 0;
    if (group->without_device)
        return KFE_OK;
    KFE_ALLOC(group->ctx, views, group->data->view_count);
    for (int v = 0; v < group->data->view_count; v++)
        views[v] = group->data->views[v].table;
    KFE_TRY(kfe_i_device_shared_fits(group->ctx, kernels, views, group->row_count, out));
cleanup:
    kfe_i_free(group->ctx, views);
    return status;
}

kfe_status kfe_i_group_can_share(const kfe_i_group *group, const kfe_spec *spec, int64_t fits, int *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;

    kfe_i_kernel_list_init(group->ctx, &kernels);
    *out = matrix_serves(spec) && repays(group, spec, fits);
    if (*out && !group->device_matrix && !fits_in_host(group, spec)) {
        KFE_TRY(kfe_i_spec_kernels(group->ctx, spec, group->data, &kernels));
        KFE_TRY(fits_on_device(group, &kernels, out));
    }
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

int kfe_i_group_leaves_device(kfe_i_group *group)
{
    if (!group->device_matrix || !kfe_i_device_shared_gave_up(group->device_matrix))
        return 0;
    kfe_i_device_shared_free(group->device_matrix);
    group->device_matrix = NULL;
    group->without_device = 1;
    return 1;
}

/* ---- shared work ---- */

/* Scales `data` as the training rows decide. Borrowed tables are taken over, so that `data` can be freed. */
static kfe_status scale(kfe_i_group *group, kfe_i_scaling how, const kfe_i_kernel_list *kernels,
                        kfe_data *data, kfe_i_table **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(group->ctx, *out, data->view_count);
    KFE_TRY(kfe_i_scale_views(group->ctx, how, kernels, group->train, data, NULL, *out));
    for (int v = 0; data != group->train && v < data->view_count; v++)
        if (!(*out)[v].owned) {
            (*out)[v] = data->views[v].table;
            memset(&data->views[v].table, 0, sizeof data->views[v].table);
        }
cleanup:
    return status;
}

static kfe_status prepare_rows(kfe_i_group *group, const kfe_spec *spec, const kfe_i_kernel_list *kernels)
{
    kfe_status status = KFE_OK;
    const kfe_i_split *split = &group->splits->items[group->members[0]];
    kfe_i_rows all_rows = {group->rows, group->row_count};
    kfe_data *all = NULL;

    KFE_TRY(kfe_i_fold_gather_train(group->ctx, group->data, spec, split, &group->train));
    KFE_TRY(kfe_i_fold_gather(group->ctx, group->data, spec, all_rows, all_rows, &all));
    for (int v = 0; v < group->data->view_count; v++)
        group->auto_scaled[v] = (unsigned char)kfe_i_auto_scales_view(kernels, group->data, v);
    KFE_TRY(scale(group, kfe_i_spec_scaling(spec), kernels, group->train, &group->train_scaled));
    KFE_TRY(scale(group, kfe_i_spec_scaling(spec), kernels, all, &group->scaled));
cleanup:
    kfe_data_free(all);
    return status;
}

/* Whether the scaled rows serve these kernels too: with scale=auto, kernels decide whether a view may be scaled. */
static int scaling_serves(const kfe_i_group *group, const kfe_spec *spec, const kfe_i_kernel_list *kernels)
{
    if (!group->scaled)
        return 0;
    for (int v = 0; kfe_i_spec_scale(spec) == KFE_SCALE_AUTO && v < group->data->view_count; v++)
        if (group->auto_scaled[v] != kfe_i_auto_scales_view(kernels, group->data, v))
            return 0;
    return 1;
}

static kfe_status add_kernels(kfe_i_group *group, const kfe_i_kernel_list *kernels)
{
    kfe_status status = KFE_OK;

    if (group->base_count != kernels->count) {
        free_bases(group);
        KFE_ALLOC_ZERO(group->ctx, group->bases, kernels->count);
        group->base_count = kernels->count;
    }
    for (int64_t m = 0; m < kernels->count; m++) {
        const kfe_i_kernel *kernel = &kernels->items[m];
        if (!kfe_i_base_serves(&group->bases[m], kernel)) {
            kfe_i_base_free(&group->bases[m]);
            KFE_TRY(kfe_i_base_make(group->ctx, kernel, &group->scaled[kernel->view], &group->bases[m]));
        }
        KFE_TRY(kfe_i_base_map(group->ctx, &group->bases[m], kernel, m > 0, group->matrix));
    }
cleanup:
    return status;
}

/* *done 0: no device holds the matrix. */
static kfe_status fill_on_device(kfe_i_group *group, const kfe_i_kernel_list *kernels, int *done)
{
    kfe_status status = KFE_OK;
    int fits = group->device_matrix != NULL;

    *done = 0;
    if (!fits)
        KFE_TRY(fits_on_device(group, kernels, &fits));
    if (!fits)
        return KFE_OK;
    KFE_TRY(kfe_i_device_shared_fill(group->ctx, kernels, group->scaled, &group->device_matrix));
    *done = group->device_matrix != NULL;
    group->without_device = !*done;
cleanup:
    return status;
}

static kfe_status fill_in_host(kfe_i_group *group, const kfe_i_kernel_list *kernels)
{
    kfe_status status = KFE_OK;

    if (!group->matrix)
        KFE_ALLOC(group->ctx, group->matrix, group->row_count * group->row_count);
    KFE_TRY(add_kernels(group, kernels));
cleanup:
    return status;
}

kfe_status kfe_i_group_prepare(kfe_i_group *group, const kfe_spec *spec, kfe_i_kernel_list *kernels)
{
    kfe_status status = KFE_OK;

    kfe_i_kernel_list_init(group->ctx, kernels);
    KFE_TRY(kfe_i_spec_kernels(group->ctx, spec, group->data, kernels));
    if (!scaling_serves(group, spec, kernels)) {
        drop_shared(group);
        KFE_TRY(prepare_rows(group, spec, kernels));
    }
    KFE_TRY(kfe_i_resolve_kernels(group->ctx, group->train, group->train_scaled, kernels));
cleanup:
    if (status != KFE_OK) /* the next kernel starts anew */
        drop_shared(group);
    return status;
}

kfe_status kfe_i_group_fill(kfe_i_group *group, const kfe_spec *spec, kfe_i_shared_matrix *out)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;
    int on_device = 0;

    KFE_TRY(kfe_i_group_prepare(group, spec, &kernels));
    KFE_TRY(fill_on_device(group, &kernels, &on_device));
    if (!on_device)
        KFE_TRY(fill_in_host(group, &kernels));
    *out = (kfe_i_shared_matrix){.values = on_device ? NULL : group->matrix,
                                 .device = group->device_matrix,
                                 .count = group->row_count,
                                 .place = group->place};
cleanup:
    kfe_i_kernel_list_free(&kernels);
    if (status != KFE_OK) /* the next kernel starts anew */
        drop_shared(group);
    return status;
}
