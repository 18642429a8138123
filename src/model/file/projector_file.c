/* SPDX-License-Identifier: Apache-2.0 */
/* The projector of a model with its support examples. All shapes are checked against the kernels and the views, so that using it needs no
 * checks. */
#include "core/memory.h"
#include "model/file/parts.h"

/* A matrix neither of whose sides is zero; NULL: there is none. */
static const kfe_i_tensor *find_matrix(const kfe_i_exchange *x, const char *name)
{
    const kfe_i_tensor *tensor = kfe_i_exchange_find(x, name);

    return tensor && tensor->axes == 2 && tensor->shape[0] > 0 && tensor->shape[1] > 0 ? tensor : NULL;
}

/* The columns that a table of `cols` has after a map, if there is one. */
static int64_t columns_after(const kfe_i_map *map, int64_t cols)
{
    return map->values ? map->cols : cols;
}

/* The columns that kernels see of a view. */
static int64_t columns_of(const kfe_i_model_view *view)
{
    return columns_after(&view->scaler.map, kfe_i_scaler_prepared(&view->scaler));
}

/* ---- coefficients ---- */

static kfe_status find_shape(const kfe_i_exchange *x)
{
    kfe_model *model = x->model;
    const kfe_i_tensor *tensor = find_matrix(x, "coefficients");
    int64_t blocks = kfe_i_model_blocks(model);
    int64_t columns = 0;

    if (!tensor || tensor->shape[0] % blocks != 0)
        return kfe_i_damaged(x, "coefficients");
    model->rows = tensor->shape[0] / blocks;
    model->dim = tensor->shape[1];
    for (int v = 0; v < model->view_count; v++)
        columns += columns_of(&model->views[v]);
    return kfe_i_check_sound(x, model->projector != KFE_PROJECT_LINEAR || model->rows == columns,
                             "coefficients");
}

/* Rows where the user gave them, of which some may have been left out. Of a given kernel matrix they are columns, too. */
static int are_examples(const kfe_model *model)
{
    int64_t end = INT64_MAX;

    for (int v = 0; v < model->view_count; v++)
        if (kfe_i_kernel_list_given(&model->kernels, v) > 0)
            end = model->origin.train_rows;
    for (int64_t s = 0; model->support_index && s < model->rows; s++)
        if (model->support_index[s] < 0 || model->support_index[s] >= end)
            return 0;
    return 1;
}

static kfe_status exchange_coefficients(const kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_model *model = x->model;

    if (!x->saves && model->projector == KFE_PROJECT_IDENTITY)
        model->rows = model->dim = columns_of(&model->views[0]);
    if (model->projector != KFE_PROJECT_IDENTITY) {
        if (!x->saves)
            KFE_TRY(find_shape(x));
        KFE_TRY(kfe_i_exchange_reals(x, "coefficients", kfe_i_model_blocks(model) * model->rows, model->dim,
                                     0, &model->coefficients));
    }
    KFE_TRY(kfe_i_exchange_reals(x, "offset", model->dim, -1, 1, &model->offset));
    KFE_TRY(kfe_i_exchange_integers(x, "support.index", model->rows, -1, 1, &model->support_index));
    KFE_TRY(kfe_i_check_sound(x, are_examples(model), "support.index"));
cleanup:
    return status;
}

/* ---- missing values ---- */

/* Whether every feature is one component. */
static int are_places(const kfe_i_nipals *n)
{
    for (int64_t a = 0; a < n->dim; a++) {
        int64_t times = 0;
        for (int64_t s = 0; s < n->dim; s++)
            times += n->places[s] == a;
        if (times != 1)
            return 0;
    }
    return 1;
}

/* How the features of rows with missing values are found; a model that takes them otherwise, or not at all, has none of this. */
static kfe_status exchange_nipals(const kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_model *model = x->model;
    kfe_i_nipals *n = &model->nipals;
    int wanted = model->views[0].scaler.fill_kind == KFE_FILL_NIPALS;

    KFE_TRY(kfe_i_check_sound(x, !wanted || model->projector == KFE_PROJECT_LINEAR, "missing"));
    if (!wanted)
        return KFE_OK;
    if (!x->saves)
        *n = (kfe_i_nipals){.ctx = x->ctx, .cols = model->rows, .dim = model->dim};
    KFE_TRY(kfe_i_exchange_reals(x, "nipals.means", n->cols, -1, 0, &n->means));
    KFE_TRY(kfe_i_exchange_reals(x, "nipals.weights", n->dim, n->cols, 0, &n->weights));
    KFE_TRY(kfe_i_exchange_reals(x, "nipals.loadings", n->dim, n->cols, 0, &n->loadings));
    KFE_TRY(kfe_i_exchange_integers(x, "nipals.places", n->dim, -1, 0, &n->places));
    KFE_TRY(kfe_i_check_sound(x, are_places(n), "nipals.places"));
cleanup:
    return status;
}

/* ---- localized projectors ---- */

static int64_t count_of(int64_t value)
{
    return value >= 1 && value <= INT32_MAX ? value : 0;
}

/* Columns of a part are those of its view, or as many as there are training examples. */
static int has_right_shape(const kfe_model *model, int64_t m)
{
    const kfe_i_kernel *kernel = &model->kernels.items[m];
    const kfe_i_local_part *part = &model->local->parts[m];
    int needs_map = kernel->def->base == KFE_BASE_GIVEN || kernel->def->base == KFE_BASE_STRING;
    int64_t columns = part->mapped ? model->origin.train_rows : columns_of(&model->views[kernel->view]);

    return count_of(part->dim) && part->cols == columns && (part->mapped || !needs_map);
}

static kfe_status exchange_part(kfe_i_exchange *x, kfe_i_document *d, int64_t m)
{
    kfe_status status = KFE_OK;
    kfe_i_local *local = x->model->local;
    kfe_i_local_part *part = &local->parts[m];

    KFE_TRY(kfe_i_document_enter(d, NULL, KFE_JSON_OBJECT));
    kfe_i_document_flag(d, "mapped", &part->mapped);
    KFE_TRY(kfe_i_document_integer(d, "columns", &part->cols));
    KFE_TRY(kfe_i_document_integer(d, "dim", &part->dim));
    kfe_i_document_leave(d);
    part->view = x->model->kernels.items[m].view;
    KFE_TRY(kfe_i_check_sound(x, has_right_shape(x->model, m), "local"));
    KFE_TRY(kfe_i_exchange_reals(x, kfe_i_part_name(x, "part", m, "projection"), part->cols, part->dim,
                                 !part->mapped, &part->projection));
    KFE_TRY(kfe_i_check_sound(x, part->projection || part->dim == part->cols, x->part));
    KFE_TRY(kfe_i_exchange_reals(x, kfe_i_part_name(x, "part", m, "gating"), part->cols, local->gate_dim, 1,
                                 &part->gating));
    KFE_TRY(kfe_i_exchange_table(x, kfe_i_part_name(x, "part", m, "support"), 0, local->rows, part->dim,
                                 &part->support));
cleanup:
    return status;
}

static kfe_status exchange_numbers(const kfe_i_exchange *x, kfe_i_local *l)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_exchange_reals(x, "gate.weights", l->gate_dim, l->part_count, 1, &l->gate_weights));
    KFE_TRY(kfe_i_check_sound(x, l->gate_weights || l->gate_dim == l->part_count, "gate.weights"));
    KFE_TRY(kfe_i_exchange_reals(x, "gate.offset", l->part_count, -1, 0, &l->gate_offset));
    KFE_TRY(kfe_i_exchange_reals(x, "local.weights", l->rows, l->outputs, 0, &l->weights));
    KFE_TRY(kfe_i_exchange_reals(x, "local.offset", l->outputs, -1, 0, &l->offset));
    KFE_TRY(kfe_i_exchange_reals(x, "local.shares", l->rows, l->part_count, 0, &l->shares));
cleanup:
    return status;
}

static kfe_status exchange_local(kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_model *model = x->model;
    kfe_i_document d = {0};
    int64_t parts = model->kernels.count;

    KFE_TRY(kfe_i_document_open(x, "local", KFE_JSON_OBJECT, &d));
    if (!x->saves)
        KFE_TRY(kfe_i_local_new(x->ctx, parts, &model->local));
    kfe_i_local *local = model->local;
    KFE_TRY(kfe_i_document_word(&d, "features", KFE_LOCAL_FEATURE_WORDS, &local->shows));
    KFE_TRY(kfe_i_document_integer(&d, "gate_dim", &local->gate_dim));
    KFE_TRY(kfe_i_document_integer(&d, "rows", &local->rows));
    KFE_TRY(kfe_i_document_integer(&d, "outputs", &local->outputs));
    KFE_TRY(kfe_i_check_sound(
        x, count_of(local->gate_dim) && count_of(local->rows) && count_of(local->outputs), "local"));
    KFE_TRY(kfe_i_document_enter(&d, "parts", KFE_JSON_ARRAY));
    kfe_i_document_count(&d, &parts);
    KFE_TRY(kfe_i_check_sound(x, parts == model->kernels.count, "local"));
    for (int64_t m = 0; m < parts; m++)
        KFE_TRY(exchange_part(x, &d, m));
    kfe_i_document_leave(&d);
    KFE_TRY(exchange_numbers(x, local));
    if (!x->saves) {
        model->rows = local->rows;
        model->dim = kfe_i_local_dim(local);
    }
    KFE_TRY(kfe_i_exchange_integers(x, "support.index", model->rows, -1, 1, &model->support_index));
cleanup:
    return kfe_i_document_close(&d, status);
}

/* ---- trees ---- */

static kfe_status exchange_leaf(kfe_i_exchange *x, int64_t l)
{
    kfe_status status = KFE_OK;
    const kfe_i_tree *tree = x->model->tree;
    kfe_i_tree_leaf *leaf = &tree->leaves[l];
    int64_t rows = leaf->support.rows;

    KFE_TRY(kfe_i_exchange_map(x, kfe_i_part_name(x, "leaf", l, "map"), tree->cols, &leaf->map));
    const char *name = kfe_i_part_name(x, "leaf", l, "coefficients");
    if (!x->saves) {
        const kfe_i_tensor *coefficients = find_matrix(x, name);
        KFE_TRY(kfe_i_check_sound(x, coefficients && coefficients->shape[1] == tree->dim, name));
        rows = coefficients->shape[0];
    }
    KFE_TRY(kfe_i_exchange_reals(x, name, rows, tree->dim, 0, &leaf->coefficients));
    KFE_TRY(
        kfe_i_exchange_reals(x, kfe_i_part_name(x, "leaf", l, "offset"), tree->dim, -1, 0, &leaf->offset));
    KFE_TRY(kfe_i_exchange_table(x, kfe_i_part_name(x, "leaf", l, "support"), 0, rows,
                                 columns_after(&leaf->map, tree->cols), &leaf->support));
cleanup:
    return status;
}

static kfe_status exchange_nodes(const kfe_i_exchange *x, kfe_i_tree *t)
{
    kfe_status status = KFE_OK;
    int sound = 1;

    KFE_TRY(kfe_i_exchange_reals(x, "tree.directions", t->node_count, t->cols, 0, &t->directions));
    KFE_TRY(kfe_i_exchange_reals(x, "tree.thresholds", t->node_count, -1, 0, &t->thresholds));
    KFE_TRY(kfe_i_exchange_reals(x, "tree.widths", t->node_count, -1, 0, &t->widths));
    KFE_TRY(kfe_i_exchange_integers(x, "tree.children", t->node_count, 2, 0, &t->children));
    for (int64_t i = 0; i < t->node_count; i++)
        KFE_TRY(kfe_i_check_sound(x, t->widths[i] >= 0, "tree.widths"));
    if (!x->saves)
        KFE_TRY(kfe_i_tree_is_sound(t, &sound));
    KFE_TRY(kfe_i_check_sound(x, sound, "tree.children"));
cleanup:
    return status;
}

/* A tree's leaves are columns of numbers: a kernel on given values would read them as places in a matrix. */
static kfe_status begin_tree(const kfe_i_exchange *x)
{
    kfe_model *model = x->model;
    const kfe_i_tensor *directions = find_matrix(x, "tree.directions");
    const kfe_i_tensor *first = find_matrix(x, "leaf0.coefficients");

    if (!directions || !first || model->view_count != 1 || kfe_i_kernel_list_given(&model->kernels, 0) != 0 ||
        directions->shape[1] != columns_of(&model->views[0]))
        return kfe_i_damaged(x, "tree.directions");
    return kfe_i_tree_new(x->ctx, directions->shape[0], directions->shape[1], first->shape[1], &model->tree);
}

static kfe_status exchange_tree(kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_model *model = x->model;

    if (!x->saves)
        KFE_TRY(begin_tree(x));
    KFE_TRY(exchange_nodes(x, model->tree));
    for (int64_t l = 0; l <= model->tree->node_count; l++)
        KFE_TRY(exchange_leaf(x, l));
    if (!x->saves) {
        model->rows = kfe_i_tree_rows(model->tree);
        model->dim = model->tree->dim;
    }
cleanup:
    return status;
}

/* ---- support examples ---- */

static int has_support(const kfe_model *model, int v)
{
    if (model->tree || model->kernels.count == 0)
        return 0;
    return model->local ? kfe_i_model_reads_support(model, v) : kfe_i_kernel_list_reads(&model->kernels, v);
}

/* The support of a given matrix are numbers of its columns. */
static int are_columns(const kfe_i_table *support, int64_t cols)
{
    for (int64_t i = 0; support->kind == KFE_TABLE_DENSE && i < support->rows; i++)
        if (!(support->values[i] >= 0 && support->values[i] < (double)cols))
            return 0;
    return support->kind == KFE_TABLE_DENSE;
}

static kfe_status exchange_support(kfe_i_exchange *x, int v)
{
    kfe_status status = KFE_OK;
    kfe_model *model = x->model;
    kfe_i_model_view *view = &model->views[v];
    int given = kfe_i_kernel_list_given(&model->kernels, v);
    int64_t rows = model->local ? model->origin.train_rows : model->rows;

    if (x->saves ? !view->support.ctx : !has_support(model, v))
        return KFE_OK;
    KFE_TRY(kfe_i_exchange_table(x, kfe_i_part_name(x, "view", v, "support"), view->strings, rows,
                                 given ? 1 : columns_of(view), &view->support));
    KFE_TRY(kfe_i_check_sound(x, !given || are_columns(&view->support, view->cols), "support"));
cleanup:
    return status;
}

kfe_status kfe_i_exchange_projector(kfe_i_exchange *x)
{
    kfe_status status = KFE_OK;
    kfe_i_projector kind = x->model->projector;

    KFE_TRY(kind == KFE_PROJECT_LOCAL  ? exchange_local(x)
            : kind == KFE_PROJECT_TREE ? exchange_tree(x)
                                       : exchange_coefficients(x));
    KFE_TRY(exchange_nipals(x));
    for (int v = 0; v < x->model->view_count; v++)
        KFE_TRY(exchange_support(x, v));
cleanup:
    return status;
}
