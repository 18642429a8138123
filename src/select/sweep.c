/* SPDX-License-Identifier: Apache-2.0 */
#include "select/sweep.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/workers.h"
#include "gram/base.h"
#include "select/fold.h"

/* Estimated times above this are announced. */
#define KFE_LONG_SECONDS 3600.0
/* Before this much time has passed there is no estimating. */
#define KFE_WARM_SECONDS 5.0

/* One run: its inputs, and what is shared among the splits that are being worked on. */
typedef struct run {
    kfe_context *ctx;
    const kfe_i_sweep *sweep;
    double *values, *support_vectors;
    int64_t digits[KFE_AXIS_PLACES];
    int64_t largest_dim; /* digit of the dim axis whose fit answers all */
    kfe_spec **learners; /* specifications that hold the settings of each learner; one per learner setting */
    int64_t *dims;       /* number of features of each dim setting; 0: all */
    /* the splits that share */
    int64_t *group;
    int64_t group_count;
    int64_t *rows, *place;
    int64_t row_count;
    kfe_i_table *scaled;
    kfe_i_base *bases; /* one per kernel */
    int64_t base_count;
    double *matrix;
    /* one extraction for each of them */
    kfe_spec *spec;
    const kfe_i_shared_matrix *shared;
    kfe_i_fold *folds;
    double began;
    int64_t done, total; /* extractions, for the estimate */
    int announced;
} run;

static int64_t setting_of(const kfe_i_grid *grid, const int64_t digits[KFE_AXIS_PLACES])
{
    int64_t index = 0;

    for (int p = 0; p < KFE_AXIS_PLACES; p++)
        index = index * grid->counts[p] + digits[p];
    return index;
}

static int is_wanted(const run *r, int64_t split, int64_t setting)
{
    return !r->sweep->wanted || r->sweep->wanted[split * r->sweep->grid->count + setting];
}

/* Whether any setting that this extraction serves is wanted on the split. */
static int extraction_is_wanted(const run *r, int64_t split)
{
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t digits[KFE_AXIS_PLACES];

    memcpy(digits, r->digits, sizeof digits);
    for (digits[KFE_AXIS_DIM] = 0; digits[KFE_AXIS_DIM] < grid->counts[KFE_AXIS_DIM]; digits[KFE_AXIS_DIM]++)
        for (digits[KFE_AXIS_LEARNER] = 0; digits[KFE_AXIS_LEARNER] < grid->counts[KFE_AXIS_LEARNER];
             digits[KFE_AXIS_LEARNER]++)
            if (is_wanted(r, split, setting_of(grid, digits)))
                return 1;
    return 0;
}

/* ---- tasks ---- */

static kfe_status extract_task(kfe_context *worker, void *user, int64_t task)
{
    run *r = user;
    int64_t split = r->group[task];

    if (!extraction_is_wanted(r, split))
        return KFE_OK;
    return kfe_i_fold_extract(worker, r->ctx, r->sweep->data, &r->sweep->splits->items[split], r->spec,
                              r->shared, &r->folds[task]);
}

static kfe_status measure_task(kfe_context *worker, void *user, int64_t task)
{
    run *r = user;
    const kfe_i_sweep *sweep = r->sweep;
    const kfe_i_grid *grid = sweep->grid;
    int64_t digits[KFE_AXIS_PLACES];

    memcpy(digits, r->digits, sizeof digits);
    digits[KFE_AXIS_LEARNER] = task % grid->counts[KFE_AXIS_LEARNER];
    task /= grid->counts[KFE_AXIS_LEARNER];
    digits[KFE_AXIS_DIM] = task % grid->counts[KFE_AXIS_DIM];
    task /= grid->counts[KFE_AXIS_DIM];
    int64_t split = r->group[task];
    int64_t cell = split * grid->count + setting_of(grid, digits);
    kfe_i_trial trial = {.data = sweep->data,
                         .split = &sweep->splits->items[split],
                         .learner = grid->base->learner,
                         .settings = r->learners[digits[KFE_AXIS_LEARNER]]->learner_settings,
                         .dim = r->dims[digits[KFE_AXIS_DIM]],
                         .positive = sweep->positive,
                         .metrics = sweep->metrics,
                         .metric_count = sweep->metric_count};
    if (!is_wanted(r, split, setting_of(grid, digits)))
        return KFE_OK;
    return kfe_i_fold_measure(worker, &r->folds[task], &trial, r->values + cell * sweep->metric_count,
                              r->support_vectors ? r->support_vectors + cell : NULL);
}

/* ---- one method on the splits of a group ---- */

static int has_user_kernel(const kfe_spec *spec)
{
    for (int64_t m = 0; m < spec->kernels.count; m++)
        if (spec->kernels.items[m].def->base == KFE_BASE_USER)
            return 1;
    return 0;
}

/* With fewer tasks than threads it is better to use the threads inside of each; functions of the user are
 * promised one thread at a time. */
static int threads_for(const run *r, int64_t tasks)
{
    int threads = kfe_context_threads(r->ctx);
    return tasks < threads || has_user_kernel(r->spec) ? 1 : threads;
}

/* Once, when the machine is warm. */
static void announce_long_runs(run *r)
{
    double spent = kfe_i_clock() - r->began;
    double left = spent / (double)r->done * (double)(r->total - r->done);

    if (r->announced || spent < KFE_WARM_SECONDS || left < KFE_LONG_SECONDS)
        return;
    r->announced = 1;
    kfe_i_log(r->ctx, KFE_LOG_WARNING, "%lld of %lld fits took %.3g s; the others will take about %.1f hours",
              (long long)r->done, (long long)r->total, spent, left / 3600);
}

static kfe_status run_method(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t trials = r->group_count * grid->counts[KFE_AXIS_DIM] * grid->counts[KFE_AXIS_LEARNER];

    KFE_ALLOC_ZERO(r->ctx, r->folds, r->group_count);
    KFE_TRY(kfe_i_workers_run(r->ctx, "extracting features", threads_for(r, r->group_count), r->group_count,
                              extract_task, r));
    KFE_TRY(kfe_i_workers_run(r->ctx, "learning", threads_for(r, trials), trials, measure_task, r));
    r->done += r->group_count;
    announce_long_runs(r);
cleanup:
    for (int64_t i = 0; r->folds && i < r->group_count; i++)
        kfe_i_fold_free(&r->folds[i]);
    kfe_i_free(r->ctx, r->folds);
    r->folds = NULL;
    return status;
}

static kfe_status run_methods(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;

    r->digits[KFE_AXIS_DIM] = r->largest_dim;
    for (r->digits[KFE_AXIS_METHOD] = 0; r->digits[KFE_AXIS_METHOD] < grid->counts[KFE_AXIS_METHOD];
         r->digits[KFE_AXIS_METHOD]++) {
        r->digits[KFE_AXIS_DIM] = r->largest_dim;
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, r->digits, KFE_AXIS_FIT, KFE_AXIS_DIM, r->spec));
        KFE_TRY(run_method(r));
    }
cleanup:
    return status;
}

/* ---- a kernel matrix for all splits of a group ---- */

/* Whether a matrix over all rows serves: the method asks for nothing but kernel values, and it fits in memory
 * twice (the distances and the kernel made of them). */
static int shares_matrix(const run *r)
{
    const kfe_spec *spec = r->spec;
    int by_kernel = spec->method->flags & KFE_HAS_KERNELS &&
                    !(spec->method->flags & (KFE_HAS_SYNTHETIC | KFE_HAS_WEIGHTS));
    double bytes = 8.0 * (double)r->row_count * (double)r->row_count;
    int64_t kernels = spec->kernels.count + r->sweep->data->view_count - 1; /* at most */

    return (by_kernel || kfe_i_spec_learns_from_kernel(spec)) && !has_user_kernel(spec) &&
           (spec->fit.gram == KFE_GRAM_AUTO || spec->fit.gram == KFE_GRAM_F64) &&
           bytes * (double)(1 + kernels) <= (double)kfe_context_memory(r->ctx);
}

static void free_scaled(run *r)
{
    for (int v = 0; r->scaled && v < r->sweep->data->view_count; v++)
        kfe_i_table_free(&r->scaled[v]);
    kfe_i_free(r->ctx, r->scaled);
    r->scaled = NULL;
}

static void free_bases(run *r)
{
    for (int64_t m = 0; m < r->base_count; m++)
        kfe_i_base_free(&r->bases[m]);
    kfe_i_free(r->ctx, r->bases);
    r->bases = NULL;
    r->base_count = 0;
}

/* All rows of the group, treated as the training rows of its first split say; the splits of a group have that
 * in common. */
static kfe_status scale_rows(run *r, kfe_data *all, kfe_data *train)
{
    kfe_status status = KFE_OK;
    kfe_i_scaler scaler = {0};

    KFE_ALLOC_ZERO(r->ctx, r->scaled, all->view_count);
    for (int v = 0; v < all->view_count; v++) {
        if (all->views[v].table.kind == KFE_TABLE_TEXT) {
            KFE_TRY(kfe_i_table_copy(r->ctx, &all->views[v].table, &r->scaled[v]));
            continue;
        }
        KFE_TRY(kfe_i_scaler_learn(r->ctx, (kfe_i_scale_kind)r->spec->fit.scale, &train->views[v].table,
                                   &scaler));
        KFE_TRY(kfe_i_scaler_apply(r->ctx, &scaler, &all->views[v].table, &r->scaled[v]));
        kfe_i_scaler_free(&scaler);
        if (!r->scaled[v].owned) { /* the table itself: take it over */
            r->scaled[v] = all->views[v].table;
            memset(&all->views[v].table, 0, sizeof all->views[v].table);
        }
    }
cleanup:
    kfe_i_scaler_free(&scaler);
    return status;
}

/* The kernels, with names resolved on the training rows of the first split. */
static kfe_status resolve_kernels(run *r, kfe_i_kernel_list *kernels)
{
    kfe_status status = KFE_OK;
    const kfe_i_split *split = &r->sweep->splits->items[r->group[0]];
    int64_t *train = NULL;
    kfe_i_table part = {0};

    KFE_ALLOC(r->ctx, train, split->train_count);
    for (int64_t i = 0; i < split->train_count; i++)
        train[i] = r->place[split->train[i]];
    KFE_TRY(kfe_i_spec_kernels(r->ctx, r->spec, r->sweep->data, kernels));
    for (int64_t m = 0; m < kernels->count; m++) {
        kfe_i_kernel *kernel = &kernels->items[m];
        if (kernel->def->base == KFE_BASE_GIVEN)
            continue;
        KFE_TRY(kfe_i_table_gather(r->ctx, &r->scaled[kernel->view], train, split->train_count, &part));
        KFE_TRY(kfe_i_kernel_prepare(r->ctx, kernel, &part));
        kfe_i_table_free(&part);
    }
cleanup:
    kfe_i_table_free(&part);
    kfe_i_free(r->ctx, train);
    return status;
}

static kfe_status fill_matrix(run *r)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels;

    kfe_i_kernel_list_init(r->ctx, &kernels);
    KFE_TRY(resolve_kernels(r, &kernels));
    if (r->base_count != kernels.count) {
        free_bases(r);
        KFE_ALLOC_ZERO(r->ctx, r->bases, kernels.count);
        r->base_count = kernels.count;
    }
    if (!r->matrix)
        KFE_ALLOC(r->ctx, r->matrix, r->row_count * r->row_count);
    for (int64_t m = 0; m < kernels.count; m++) {
        const kfe_i_kernel *kernel = &kernels.items[m];
        if (!kfe_i_base_serves(&r->bases[m], kernel)) {
            kfe_i_base_free(&r->bases[m]);
            KFE_TRY(kfe_i_base_make(r->ctx, kernel, &r->scaled[kernel->view], &r->bases[m]));
        }
        KFE_TRY(kfe_i_base_map(r->ctx, &r->bases[m], kernel, m > 0, r->matrix));
    }
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

static kfe_status prepare_rows(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_split *split = &r->sweep->splits->items[r->group[0]];
    kfe_data *all = NULL;
    kfe_data *train = NULL;

    KFE_TRY(kfe_i_fold_gather(r->ctx, r->sweep->data, r->spec, r->rows, r->row_count, r->rows, r->row_count,
                              &all));
    KFE_TRY(kfe_i_data_gather(r->ctx, r->sweep->data, split->train, split->train_count, &train));
    KFE_TRY(scale_rows(r, all, train));
cleanup:
    kfe_data_free(all);
    kfe_data_free(train);
    return status;
}

/* ---- groups ---- */

/* Kernels or scaling that the training rows decide make every split a group of its own. */
static kfe_status depends_on_rows(const run *r, int *out)
{
    kfe_status status = KFE_OK;
    int scale = r->spec->fit.scale;
    kfe_i_kernel_list kernels;

    *out = scale != KFE_SCALE_NONE && scale != KFE_SCALE_L2_ROWS;
    kfe_i_kernel_list_init(r->ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(r->ctx, r->spec, r->sweep->data, &kernels));
    for (int64_t m = 0; m < kernels.count; m++)
        *out |= !kfe_i_kernel_is_resolved(&kernels.items[m]);
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

static kfe_status collect_rows(run *r)
{
    kfe_status status = KFE_OK;
    int64_t n = kfe_data_rows(r->sweep->data);

    for (int64_t i = 0; i < n; i++)
        r->place[i] = -1;
    for (int64_t g = 0; g < r->group_count; g++) {
        const kfe_i_split *split = &r->sweep->splits->items[r->group[g]];
        for (int64_t i = 0; i < split->train_count; i++)
            r->place[split->train[i]] = 0;
        for (int64_t i = 0; i < split->test_count; i++)
            r->place[split->test[i]] = 0;
    }
    r->row_count = 0;
    for (int64_t i = 0; i < n; i++)
        if (r->place[i] == 0) {
            r->place[i] = r->row_count;
            r->rows[r->row_count++] = i;
        }
    if (r->row_count == 0)
        status = kfe_i_fail(r->ctx, KFE_EINVAL, "there are no splits to work on");
    return status;
}

/* All kernels whose dependence on the rows is `dependent`, on the splits of the group. */
static kfe_status run_group(run *r, int dependent)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    kfe_i_shared_matrix shared = {0};
    int depends = 0;

    KFE_TRY(collect_rows(r));
    for (r->digits[KFE_AXIS_KERNEL] = 0; r->digits[KFE_AXIS_KERNEL] < grid->counts[KFE_AXIS_KERNEL];
         r->digits[KFE_AXIS_KERNEL]++) {
        r->digits[KFE_AXIS_METHOD] = 0;
        r->digits[KFE_AXIS_DIM] = r->largest_dim;
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, r->digits, KFE_AXIS_FIT, KFE_AXIS_DIM, r->spec));
        KFE_TRY(depends_on_rows(r, &depends));
        if (depends != dependent)
            continue;
        r->shared = NULL;
        if (shares_matrix(r)) {
            if (!r->scaled)
                KFE_TRY(prepare_rows(r));
            KFE_TRY(fill_matrix(r));
            shared = (kfe_i_shared_matrix){r->matrix, r->row_count, r->place};
            r->shared = &shared;
        }
        KFE_TRY(run_methods(r));
    }
cleanup:
    free_scaled(r);
    free_bases(r);
    kfe_i_free(r->ctx, r->matrix);
    r->matrix = NULL;
    return status;
}

static kfe_status run_treatment(run *r)
{
    kfe_status status = KFE_OK;
    int64_t splits = r->sweep->splits->count;

    r->group_count = splits;
    for (int64_t s = 0; s < splits; s++)
        r->group[s] = s;
    KFE_TRY(run_group(r, 0));
    r->group_count = 1;
    for (r->group[0] = 0; r->group[0] < splits; r->group[0]++)
        KFE_TRY(run_group(r, 1));
cleanup:
    return status;
}

/* ---- beginning and end ---- */

static kfe_status read_dims(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t digits[KFE_AXIS_PLACES] = {0};

    KFE_ALLOC_ZERO(r->ctx, r->dims, grid->counts[KFE_AXIS_DIM]);
    for (int64_t i = 0; i < grid->axis_count; i++) {
        if (grid->axes[i].place != KFE_AXIS_DIM)
            continue;
        for (int64_t d = 0; d < grid->axes[i].count; d++) {
            const kfe_i_param *row = kfe_i_param_find(&grid->base->method->params, "dim");
            digits[KFE_AXIS_DIM] = d;
            KFE_TRY(kfe_i_grid_apply(r->ctx, grid, digits, KFE_AXIS_DIM, KFE_AXIS_DIM, r->spec));
            r->dims[d] = *(const int64_t *)(const void *)((const char *)r->spec->settings + row->offset);
            r->largest_dim = r->dims[d] > r->dims[r->largest_dim] ? d : r->largest_dim;
        }
    }
cleanup:
    return status;
}

static kfe_status read_learners(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t digits[KFE_AXIS_PLACES] = {0};

    KFE_ALLOC_ZERO(r->ctx, r->learners, grid->counts[KFE_AXIS_LEARNER]);
    for (int64_t l = 0; l < grid->counts[KFE_AXIS_LEARNER]; l++) {
        digits[KFE_AXIS_LEARNER] = l;
        KFE_TRY(kfe_i_spec_copy(r->ctx, grid->base, &r->learners[l]));
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, digits, KFE_AXIS_LEARNER, KFE_AXIS_LEARNER, r->learners[l]));
    }
cleanup:
    return status;
}

/* Columns of a given matrix are picked along with the rows, so it must be what a fit would ask for. */
static kfe_status check_given(const run *r)
{
    kfe_status status = KFE_OK;
    const kfe_data *data = r->sweep->data;
    kfe_i_kernel_list kernels;
    kfe_i_gram *gram = NULL;

    kfe_i_kernel_list_init(r->ctx, &kernels);
    KFE_TRY(kfe_i_spec_kernels(r->ctx, r->sweep->grid->base, data, &kernels));
    for (int64_t m = 0; m < kernels.count; m++) {
        const kfe_i_view *view = &data->views[kernels.items[m].view];
        if (kernels.items[m].def->base != KFE_BASE_GIVEN)
            continue;
        if ((status = kfe_i_kernel_prepare(r->ctx, &kernels.items[m], &view->table)) != KFE_OK ||
            (status = kfe_i_gram_precomputed(r->ctx, &view->table, &gram)) != KFE_OK) {
            status = kfe_i_fail_prefix(r->ctx, status, kfe_i_view_shown(view));
            goto cleanup;
        }
        kfe_i_gram_free(gram);
        gram = NULL;
    }
cleanup:
    kfe_i_kernel_list_free(&kernels);
    return status;
}

/* What every part would be refused for is told of the whole data, with its own row numbers. */
static kfe_status check_data(const run *r)
{
    kfe_status status = KFE_OK;
    const kfe_data *data = r->sweep->data;

    if (!kfe_spec_predicts(r->sweep->grid->base))
        KFE_FAIL(r->ctx, KFE_EINVAL,
                 "method %s gives features only and cannot predict; add a learner, such as {learner=knn}; "
                 "{learners} lists them",
                 r->sweep->grid->base->method->name);
    if (data->target.task == KFE_TASK_NONE)
        KFE_FAIL(r->ctx, KFE_EINPUT, "predictions can only be measured on data with labels; give {labels}");
    for (int v = 0; v < data->view_count; v++)
        KFE_TRY(kfe_i_check_view(r->ctx, &data->views[v]));
    KFE_TRY(check_given(r));
cleanup:
    return status;
}

static kfe_status begin_run(run *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_sweep *sweep = r->sweep;
    const kfe_i_grid *grid = sweep->grid;
    int64_t cells = sweep->splits->count * grid->count;
    int64_t n = kfe_data_rows(sweep->data);

    KFE_TRY(check_data(r));
    for (int64_t i = 0; i < cells * sweep->metric_count; i++)
        r->values[i] = NAN;
    for (int64_t i = 0; r->support_vectors && i < cells; i++)
        r->support_vectors[i] = NAN;
    KFE_ALLOC(r->ctx, r->group, sweep->splits->count + 1);
    KFE_ALLOC(r->ctx, r->rows, n);
    KFE_ALLOC(r->ctx, r->place, n);
    KFE_TRY(kfe_i_spec_copy(r->ctx, grid->base, &r->spec));
    KFE_TRY(read_dims(r));
    KFE_TRY(read_learners(r));
    r->began = kfe_i_clock();
    r->total = sweep->splits->count * grid->counts[KFE_AXIS_FIT] * grid->counts[KFE_AXIS_KERNEL] *
               grid->counts[KFE_AXIS_METHOD];
cleanup:
    return status;
}

static void end_run(run *r)
{
    for (int64_t l = 0; r->learners && l < r->sweep->grid->counts[KFE_AXIS_LEARNER]; l++)
        kfe_spec_free(r->learners[l]);
    kfe_i_free(r->ctx, r->learners);
    kfe_i_free(r->ctx, r->dims);
    kfe_i_free(r->ctx, r->group);
    kfe_i_free(r->ctx, r->rows);
    kfe_i_free(r->ctx, r->place);
    kfe_spec_free(r->spec);
}

kfe_status kfe_i_sweep_run(kfe_context *ctx, const kfe_i_sweep *sweep, double *values,
                           double *support_vectors)
{
    kfe_status status = KFE_OK;
    run r = {.ctx = ctx, .sweep = sweep, .values = values, .support_vectors = support_vectors};

    KFE_TRY(begin_run(&r));
    for (r.digits[KFE_AXIS_FIT] = 0; r.digits[KFE_AXIS_FIT] < sweep->grid->counts[KFE_AXIS_FIT];
         r.digits[KFE_AXIS_FIT]++)
        KFE_TRY(run_treatment(&r));
cleanup:
    end_run(&r);
    return status;
}
