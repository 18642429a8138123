/* SPDX-License-Identifier: Apache-2.0 */
/* Models: making one from a solution, freeing it, and the public calls that read its parts (kfe_model_*). */
#include "model/model.h"

#include <string.h>

#include "core/memory.h"

kfe_status kfe_i_model_new(kfe_context *ctx, int views, kfe_model **out)
{
    kfe_status status = KFE_OK;
    kfe_model *model = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(ctx, model, 1);
    model->ctx = ctx;
    kfe_i_kernel_list_init(ctx, &model->kernels);
    kfe_i_kernel_list_init(ctx, &model->given.kernels);
    KFE_ALLOC_ZERO(ctx, model->views, views);
    model->view_count = views;
    *out = model;
    model = NULL;
cleanup:
    kfe_model_free(model);
    return status;
}

static void free_records(kfe_model *model)
{
    for (int64_t i = 0; i < model->record_count; i++) {
        kfe_i_free(model->ctx, model->records[i].name);
        kfe_i_free(model->ctx, model->records[i].values);
    }
    kfe_i_free(model->ctx, model->records);
}

static void free_fold_models(kfe_model *model)
{
    for (int64_t k = 0; model->fold_models && k < model->conformal.folds; k++) {
        kfe_model_free(model->fold_models[k].model);
        kfe_i_free(model->ctx, model->fold_models[k].bytes);
    }
    kfe_i_free(model->ctx, model->fold_models);
}

void kfe_model_free(kfe_model *model)
{
    if (!model)
        return;
    kfe_context *ctx = model->ctx;
    for (int v = 0; v < model->view_count; v++) {
        kfe_i_free(ctx, model->views[v].name);
        for (int64_t j = 0; model->views[v].column_names && j < model->views[v].cols; j++)
            kfe_i_free(ctx, model->views[v].column_names[j]);
        kfe_i_free(ctx, model->views[v].column_names);
        if (model->views[v].encoding.columns)
            kfe_i_encoding_free(&model->views[v].encoding);
        kfe_i_scaler_free(&model->views[v].scaler);
        kfe_i_table_free(&model->views[v].support);
    }
    for (int64_t i = 0; model->target.class_names && i < model->target.class_count; i++)
        kfe_i_free(ctx, model->target.class_names[i]);
    free_records(model);
    kfe_i_kernel_list_free(&model->kernels);
    kfe_i_kernel_list_free(&model->given.kernels);
    kfe_i_free(ctx, model->given.options);
    if (model->division.ctx)
        kfe_i_division_free(&model->division);
    kfe_i_free(ctx, model->target.class_names);
    kfe_i_free(ctx, model->origin.label_name);
    kfe_i_free(ctx, model->origin.id_name);
    kfe_i_free(ctx, model->views);
    kfe_i_free(ctx, model->coefficients);
    kfe_i_free(ctx, model->offset);
    kfe_i_free(ctx, model->support_index);
    kfe_i_free(ctx, model->method);
    kfe_i_free(ctx, model->params);
    kfe_i_free(ctx, model->origin.version);
    kfe_i_free(ctx, model->learner);
    kfe_i_free(ctx, model->learner_params);
    if (model->predictor.ctx)
        kfe_i_predictor_free(&model->predictor);
    if (model->calibration.ctx)
        kfe_i_calibration_free(&model->calibration);
    free_fold_models(model);
    if (model->conformal.ctx)
        kfe_i_conformal_free(&model->conformal);
    if (model->local)
        kfe_i_local_free(model->local);
    if (model->tree)
        kfe_i_tree_free(model->tree);
    if (model->moments.dim > 0)
        kfe_i_moments_free(&model->moments);
    if (model->nipals.ctx)
        kfe_i_nipals_free(&model->nipals);
    kfe_i_free(ctx, model);
}

/* ---- from a solution ---- */

/* Whether the coefficients of an example are zero in all blocks of `rows`. */
static int row_is_zero(const kfe_model *model, int64_t rows, int64_t i)
{
    for (int64_t b = 0; b < kfe_i_model_blocks(model); b++)
        for (int64_t j = 0; j < model->dim; j++)
            if (model->coefficients[(b * rows + i) * model->dim + j] != 0)
                return 0;
    return 1;
}

/* Moves the blocks of the examples that are kept together: `kept` of `rows` in each, listed by their place in the block. */
static void close_gaps(kfe_model *model, int64_t rows, const int64_t *place, int64_t kept)
{
    int64_t k = model->dim;

    for (int64_t b = 0; b < kfe_i_model_blocks(model); b++)
        for (int64_t s = 0; s < kept; s++)
            memmove(model->coefficients + (b * kept + s) * k, model->coefficients + (b * rows + place[s]) * k,
                    (size_t)k * sizeof *model->coefficients);
}

/* Keeps the examples with a nonzero coefficient: their numbers, and their coefficients without gaps. */
static kfe_status choose_support(kfe_model *model, const kfe_i_solution *solution)
{
    kfe_status status = KFE_OK;
    int64_t rows = solution->rows / kfe_i_model_blocks(model);

    KFE_ALLOC(model->ctx, model->support_index, rows);
    for (int64_t i = 0; i < rows; i++)
        if (!row_is_zero(model, rows, i))
            model->support_index[model->rows++] = i;
    close_gaps(model, rows, model->support_index, model->rows);
    for (int64_t s = 0; solution->index && s < model->rows; s++)
        model->support_index[s] = solution->index[model->support_index[s]];
cleanup:
    return status;
}

/* With a precomputed kernel the support examples are column numbers of the matrix (index NULL: 0 … count−1). */
static kfe_status column_numbers(kfe_context *ctx, const int64_t *index, int64_t count, kfe_i_table *out)
{
    kfe_status status = kfe_i_table_new_dense(ctx, count, 1, out);

    for (int64_t i = 0; status == KFE_OK && i < count; i++)
        out->values[i] = (double)(index ? index[i] : i);
    return status;
}

/* Whether the support is the whole table, in its order. */
static int is_whole(const kfe_model *model, const kfe_i_table *train)
{
    if (model->rows != train->rows)
        return 0;
    for (int64_t i = 0; i < model->rows; i++)
        if (model->support_index[i] != i)
            return 0;
    return 1;
}

/* Copies the support examples. A table that belongs to the fit and is all support is moved, which saves a copy. */
static kfe_status take_support(kfe_model *model, kfe_i_table *train, kfe_i_table *out)
{
    if (!train->owned || train->singles || !is_whole(model, train))
        return kfe_i_table_gather(model->ctx, train, model->support_index, model->rows, out);
    *out = *train;
    train->owned = 0;
    return KFE_OK;
}

static kfe_status gather_support(kfe_model *model, kfe_i_table *train)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < model->view_count; v++) {
        kfe_i_table *support = &model->views[v].support;
        if (!kfe_i_kernel_list_reads(&model->kernels, v))
            continue;
        if (kfe_i_kernel_list_given(&model->kernels, v))
            KFE_TRY(column_numbers(model->ctx, model->support_index, model->rows, support));
        else
            KFE_TRY(take_support(model, &train[v], support));
    }
cleanup:
    return status;
}

static void take_points(kfe_model *model, kfe_i_solution *solution)
{
    for (int v = 0; v < model->view_count; v++) {
        model->views[v].support = solution->points[v];
        memset(&solution->points[v], 0, sizeof solution->points[v]);
    }
}

int kfe_i_model_reads_support(const kfe_model *model, int view)
{
    for (int64_t m = 0; model->local && m < model->local->part_count; m++)
        if (model->local->parts[m].mapped && model->kernels.items[m].view == view)
            return 1;
    return 0;
}

/* Localized models: the support of the parts that are mapped, out of the (scaled) training tables. */
static kfe_status model_take_support(kfe_model *model, const kfe_i_table *train)
{
    kfe_status status = KFE_OK;

    for (int v = 0; v < model->view_count; v++) {
        kfe_i_table *support = &model->views[v].support;
        if (!kfe_i_model_reads_support(model, v))
            continue;
        if (kfe_i_kernel_list_given(&model->kernels, v))
            KFE_TRY(column_numbers(model->ctx, NULL, model->origin.train_rows, support));
        else
            KFE_TRY(kfe_i_table_copy(model->ctx, &train[v], support));
    }
cleanup:
    return status;
}

static kfe_i_projector projector_of(kfe_i_solution_kind kind)
{
    switch (kind) {
    case KFE_SOLUTION_PRIMAL:
        return KFE_PROJECT_LINEAR;
    case KFE_SOLUTION_IDENTITY:
        return KFE_PROJECT_IDENTITY;
    case KFE_SOLUTION_LOCAL:
        return KFE_PROJECT_LOCAL;
    case KFE_SOLUTION_TREE:
        return KFE_PROJECT_TREE;
    case KFE_SOLUTION_VIEWS:
        return KFE_PROJECT_VIEWS;
    default:
        return KFE_PROJECT_KERNEL;
    }
}

static kfe_status adopt_local(kfe_model *model, kfe_i_solution *solution, const kfe_i_table *train)
{
    model->local = solution->local;
    model->rows = model->local->rows;
    model->support_index = solution->index;
    for (int64_t m = 0; m < model->local->part_count; m++)
        model->local->parts[m].view = model->kernels.items[m].view;
    solution->local = NULL;
    solution->index = NULL;
    return model_take_support(model, train);
}

kfe_status kfe_i_model_adopt(kfe_model *model, kfe_i_solution *solution, kfe_i_kernel_list *kernels,
                             kfe_i_table *train)
{
    kfe_status status = KFE_OK;

    model->dim = solution->dim;
    model->coefficients = solution->coefficients;
    model->offset = solution->offset;
    model->records = solution->records;
    model->record_count = solution->record_count;
    model->nipals = solution->nipals;
    solution->nipals = (kfe_i_nipals){0};
    solution->coefficients = solution->offset = NULL;
    solution->records = NULL;
    solution->record_count = 0;
    model->projector = projector_of(solution->kind);
    if (kfe_i_projector_has_kernels(model->projector)) {
        model->kernels = *kernels;
        kfe_i_kernel_list_init(kernels->ctx, kernels);
    }
    if (solution->kind == KFE_SOLUTION_DUAL || solution->kind == KFE_SOLUTION_VIEWS) {
        KFE_TRY(choose_support(model, solution));
        KFE_TRY(gather_support(model, train));
    } else if (solution->kind == KFE_SOLUTION_LOCAL) {
        KFE_TRY(adopt_local(model, solution, train));
    } else {
        model->rows = solution->rows;
        model->tree = solution->tree;
        solution->tree = NULL;
        if (solution->kind == KFE_SOLUTION_POINTS)
            take_points(model, solution);
    }
cleanup:
    return status;
}

/* ---- reading a model ---- */

const char *kfe_model_method(const kfe_model *model)
{
    return model->method;
}

const char *kfe_model_plain_learner(const kfe_model *model)
{
    int on_columns = model->projector == KFE_PROJECT_IDENTITY;
    int on_kernel = model->learner && model->predictor.kind == KFE_PREDICTOR_DIRECT;

    return strcmp(model->method, "none") == 0 && (on_columns || on_kernel) ? model->learner : NULL;
}

int64_t kfe_model_dim(const kfe_model *model)
{
    return model->dim;
}

int64_t kfe_model_support_size(const kfe_model *model)
{
    return kfe_i_projector_has_kernels(model->projector) ? model->rows : 0;
}

int kfe_model_views(const kfe_model *model)
{
    return model->view_count;
}

const char *kfe_model_view_name(const kfe_model *model, int view)
{
    return view >= 0 && view < model->view_count ? model->views[view].name : NULL;
}

int64_t kfe_model_cols(const kfe_model *model, int view)
{
    return view >= 0 && view < model->view_count ? model->views[view].cols : 0;
}

int64_t kfe_model_source_cols(const kfe_model *model, int view)
{
    return view >= 0 && view < model->view_count
               ? kfe_i_encoding_source_cols(&model->views[view].encoding, model->views[view].cols)
               : 0;
}

const char *const *kfe_model_categories(const kfe_model *model, int view, int64_t column, int64_t *count)
{
    const kfe_i_categories *found = view >= 0 && view < model->view_count
                                        ? kfe_i_encoding_find(&model->views[view].encoding, column)
                                        : NULL;

    *count = found ? found->count : 0;
    return found ? (const char *const *)found->words : NULL;
}

const int32_t *kfe_model_division(const kfe_model *model, int64_t *count)
{
    *count = model->division.cols;
    return model->division.view_of;
}

const double *kfe_model_shift(const kfe_model *model, int view)
{
    return view >= 0 && view < model->view_count ? model->views[view].scaler.shift : NULL;
}

const double *kfe_model_factor(const kfe_model *model, int view)
{
    return view >= 0 && view < model->view_count ? model->views[view].scaler.factor : NULL;
}

int kfe_model_takes_strings(const kfe_model *model, int view)
{
    return view >= 0 && view < model->view_count && model->views[view].strings;
}

int64_t kfe_model_classes(const kfe_model *model)
{
    return model->target.class_count;
}

const char *kfe_model_class_name(const kfe_model *model, int64_t index)
{
    return index >= 0 && index < model->target.class_count ? model->target.class_names[index] : NULL;
}

const char *kfe_model_learner(const kfe_model *model)
{
    return model->learner;
}

kfe_task kfe_model_task(const kfe_model *model)
{
    return model->target.task;
}

int64_t kfe_model_label_column(const kfe_model *model)
{
    return model->origin.label_place.column;
}

int64_t kfe_model_outputs(const kfe_model *model)
{
    return model->learner ? model->predictor.outputs : 0;
}

const char *kfe_model_column_name(const kfe_model *model, int view, int64_t col)
{
    if (view < 0 || view >= model->view_count || !model->views[view].column_names)
        return NULL;
    return col >= 0 && col < model->views[view].cols ? model->views[view].column_names[col] : NULL;
}

kfe_status kfe_model_set_column_names(kfe_context *ctx, kfe_model *model, int view, const char *const *names)
{
    kfe_i_model_view *named = view >= 0 && view < model->view_count ? &model->views[view] : NULL;

    if (!named)
        return kfe_i_fail(ctx, KFE_EINVAL, "there is no view %d", view);
    if (named->column_names)
        return kfe_i_fail(ctx, KFE_EINVAL, "the columns of view %d have names already", view);
    kfe_status status = kfe_i_strings_copy(model->ctx, named->cols, names, &named->column_names);
    return status == KFE_OK ? KFE_OK : kfe_i_lack(ctx);
}

const double *kfe_model_coefficients(const kfe_model *model, int64_t *rows)
{
    *rows = model->coefficients ? kfe_i_model_blocks(model) * model->rows : 0;
    return model->coefficients;
}

const double *kfe_model_offset(const kfe_model *model)
{
    return model->offset;
}

const int64_t *kfe_model_support_index(const kfe_model *model)
{
    return model->support_index;
}

const kfe_part_info *kfe_model_part(const kfe_model *model, int index)
{
    int exists = model->local && index >= 0 && index < model->local->part_count;
    return exists ? &model->local->parts[index].info : NULL;
}

const double *kfe_model_gate_weights(const kfe_model *model, int64_t *dim)
{
    *dim = model->local ? model->local->gate_dim : 0;
    return model->local ? model->local->gate_weights : NULL;
}

const double *kfe_model_gate_offset(const kfe_model *model)
{
    return model->local ? model->local->gate_offset : NULL;
}

int64_t kfe_model_kernels(const kfe_model *model)
{
    return model->kernels.count;
}

kfe_status kfe_model_kernel(kfe_context *ctx, const kfe_model *model, int64_t index, char **out)
{
    *out = NULL;
    if (index < 0 || index >= model->kernels.count)
        return kfe_i_fail(ctx, KFE_EINVAL, "the model has %lld kernels, so that none has the index %lld",
                          (long long)model->kernels.count, (long long)index);
    return kfe_i_kernel_text(ctx, &model->kernels.items[index], out);
}

const char *kfe_model_record_name(const kfe_model *model, int64_t index)
{
    return index >= 0 && index < model->record_count ? model->records[index].name : NULL;
}

const double *kfe_model_record(const kfe_model *model, const char *name, int64_t *count)
{
    for (int64_t i = 0; i < model->record_count; i++)
        if (kfe_i_same_name(model->records[i].name, name)) {
            *count = model->records[i].count;
            return model->records[i].values;
        }
    *count = 0;
    return NULL;
}

/* Whether the list has user kernels of this name, which get the function. */
static int bind_list(kfe_i_kernel_list *list, const char *name, kfe_kernel_fn kernel, void *user)
{
    int bound = 0;

    for (int64_t m = 0; m < list->count; m++) {
        kfe_i_kernel *item = &list->items[m];
        if (!item->user_name || strcmp(item->user_name, name) != 0)
            continue;
        item->user_function = kernel;
        item->user_data = user;
        bound = 1;
    }
    return bound;
}

/* In the model and in those of its folds. */
static int bind_model(kfe_model *model, const char *name, kfe_kernel_fn kernel, void *user)
{
    int bound = bind_list(&model->kernels, name, kernel, user);

    bound |= bind_list(&model->given.kernels, name, kernel, user);
    for (int64_t k = 0; k < model->conformal.folds; k++)
        bound |= bind_model(model->fold_models[k].model, name, kernel, user);
    return bound;
}

kfe_status kfe_model_bind_kernel(kfe_context *ctx, kfe_model *model, const char *name, kfe_kernel_fn kernel,
                                 void *user)
{
    int bound = bind_model(model, name, kernel, user);

    return bound ? KFE_OK : kfe_i_fail(ctx, KFE_EINVAL, "the model has no user kernel named '%s'", name);
}

/* ---- what a model is ---- */

int kfe_i_projector_has_kernels(kfe_i_projector projector)
{
    return projector != KFE_PROJECT_LINEAR && projector != KFE_PROJECT_IDENTITY;
}

int64_t kfe_i_model_blocks(const kfe_model *model)
{
    return model->projector == KFE_PROJECT_VIEWS ? model->view_count : 1;
}

int kfe_i_kernel_is_dot_product(const kfe_i_kernel *kernel)
{
    return kernel->def->base == KFE_BASE_DOT && !kernel->def->map;
}

int kfe_i_kernels_are_linear(const kfe_i_kernel_list *kernels)
{
    for (int64_t m = 0; m < kernels->count; m++)
        if (!kfe_i_kernel_is_dot_product(&kernels->items[m]))
            return 0;
    return 1;
}

int kfe_i_model_has_map(const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].scaler.map.values)
            return 1;
    return 0;
}

static const char *const task_names[] = {
    [KFE_TASK_NONE] = "none", [KFE_TASK_CLASSES] = "classes", [KFE_TASK_REAL] = "real"};
static const char *const projector_names[] = {
    [KFE_PROJECT_KERNEL] = "kernel", [KFE_PROJECT_LINEAR] = "linear", [KFE_PROJECT_IDENTITY] = "identity",
    [KFE_PROJECT_LOCAL] = "local",   [KFE_PROJECT_TREE] = "tree",     [KFE_PROJECT_VIEWS] = "views"};

/* -1 if `name` is NULL or not in the list. */
static int index_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

const char *kfe_i_task_name(kfe_task task)
{
    return task_names[task];
}

const char *kfe_i_projector_name(kfe_i_projector projector)
{
    return projector_names[projector];
}

int kfe_i_task_find(const char *name, kfe_task *out)
{
    int index = index_of(task_names, sizeof task_names / sizeof *task_names, name);

    *out = index < 0 ? KFE_TASK_NONE : (kfe_task)index;
    return index >= 0;
}

int kfe_i_projector_find(const char *name, kfe_i_projector *out)
{
    int index = index_of(projector_names, sizeof projector_names / sizeof *projector_names, name);

    *out = index < 0 ? KFE_PROJECT_KERNEL : (kfe_i_projector)index;
    return index >= 0;
}

int kfe_i_model_prepares(const kfe_model *model)
{
    for (int v = 0; v < model->view_count; v++)
        if (model->views[v].scaler.chain.count > 0)
            return 1;
    return 0;
}
