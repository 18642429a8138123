/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and frees the problem of lmkl and sldr (local_problem.h). Memory: n² numbers for the localized kernel, n for each
 * column of a part, and in lmkl a matrix per part where memory allows. */
#include "method/local/local_problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/tile/cross.h"
#include "kernel/tile/tile.h"

/* Up to this many examples the search runs on one thread: in its thousands of small products threads would wait for each
 * other. */
enum { FEW_ROWS = 1000 };
/* Share of the memory limit that the matrices of lmkl's parts may take. */
#define KFE_KEPT_SHARE 0.6

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void kfe_i_local_view_name(const kfe_i_fit_source *given, int view, char *out, size_t size)
{
    if (given->view_names && given->view_names[view])
        snprintf(out, size, "view %s", given->view_names[view]);
    else
        snprintf(out, size, "view %d", view + 1);
}

/* ---- which views the gate sees ---- */

static kfe_status find_gate_view(kfe_context *ctx, const char *method, const kfe_i_fit_source *given,
                                 const char *text, int *out)
{
    *out = -1;
    if (strcmp(text, "all") == 0)
        return KFE_OK;
    *out = kfe_i_find_view(given, text);
    if (*out < 0)
        return kfe_i_fail(
            ctx, KFE_EINVAL,
            "method %s: there is no view '%s' for the gate; write all, the name of a view, or its "
            "number, 1 to %d",
            method, text, given->view_count);
    return KFE_OK;
}

/* Of several kernels on the same columns only the first shows these columns to the gate. */
static int gate_sees(const kfe_i_local_problem *p, int64_t m, int gate_view)
{
    const kfe_i_kernel *kernels = p->given->kernels->items;

    if (gate_view >= 0 && kernels[m].view != gate_view)
        return 0;
    for (int64_t l = 0; l < m && !p->parts[m].mapped; l++)
        if (!p->parts[l].mapped && kernels[l].view == kernels[m].view)
            return 0;
    return 1;
}

/* ---- parts ---- */

/* Kernels with a known derivative compare projections of the view's columns; other kernels become columns themselves. */
static kfe_status open_columns(kfe_i_local_problem *p, int64_t m, int kernel_map)
{
    kfe_status status = KFE_OK;
    kfe_i_local_source *part = &p->parts[m];
    const kfe_i_kernel *kernel = &p->given->kernels->items[m];
    const kfe_i_table *view = &p->given->views[kernel->view];

    part->mapped = kernel->def->slope == NULL;
    part->projection_at = part->gating_at = -1;
    if (part->mapped) {
        KFE_TRY(kfe_i_local_map_kernel(p, m, kernel_map));
        KFE_TRY(kfe_i_kernel_parse(p->ctx, "linear", &part->own));
        part->kernel = part->own;
    } else {
        part->columns = kfe_i_table_slice(view, 0, view->rows);
        part->kernel = *kernel;
    }
    part->linear = part->kernel.def->base == KFE_BASE_DOT && !part->kernel.def->map;
cleanup:
    return status;
}

static int64_t clamp(const kfe_i_local_problem *p, int view, int64_t asked, int64_t available)
{
    char name[KFE_PARAM_TEXT_SIZE];

    if (asked <= available)
        return asked;
    kfe_i_local_view_name(p->given, view, name, sizeof name);
    kfe_i_log(p->ctx, KFE_LOG_WARNING,
              "%s: %s has only %lld dimension%s, so that it is not projected to %lld", p->method, name,
              (long long)available, available == 1 ? "" : "s", (long long)asked);
    return available;
}

/* The class means of c classes differ in c − 1 directions. */
static int64_t automatic_dim(const kfe_i_local_problem *p, int64_t available)
{
    int64_t dim = p->given->target->class_count - 1;

    dim = dim < 2 ? 2 : dim;
    return dim < available ? dim : available;
}

static int64_t clamp_gate(const kfe_i_local_problem *p, int64_t asked)
{
    if (asked <= p->at.gate_cols)
        return asked;
    kfe_i_log(p->ctx, KFE_LOG_WARNING,
              "%s: the gate sees only %lld columns, so that they are not projected to %lld", p->method,
              (long long)p->at.gate_cols, (long long)asked);
    return p->at.gate_cols;
}

/* Places the parameters of each part and of the gate in one vector. */
static void lay_out(kfe_i_local_problem *p, const kfe_i_local_settings *settings, int gate_view)
{
    int64_t at = 0;

    for (int64_t m = 0; m < p->count; m++) {
        kfe_i_local_source *part = &p->parts[m];
        part->dim = part->columns.cols;
        if (p->projects) {
            part->dim = settings->local_dim > 0 ? clamp(p, p->given->kernels->items[m].view,
                                                        settings->local_dim, part->columns.cols)
                                                : automatic_dim(p, part->columns.cols);
            part->projection_at = at;
            at += part->columns.cols * part->dim;
        }
        if (gate_sees(p, m, gate_view))
            p->at.gate_cols += part->columns.cols;
    }
    p->at.gate = at;
    p->at.gate_dim = p->projects ? clamp_gate(p, settings->gate_dim) : p->count;
    for (int64_t m = 0; m < p->count; m++)
        if (gate_sees(p, m, gate_view)) {
            p->parts[m].gating_at = at;
            at += p->parts[m].columns.cols * p->at.gate_dim;
        }
    p->at.weights = at;
    p->at.offset = at + (p->projects ? p->at.gate_dim * p->count : 0);
    p->at.size = p->at.offset + p->count;
}

static double mean_square(const kfe_i_local_problem *p)
{
    const kfe_i_target *target = p->given->target;
    double sum = 0;

    for (int64_t m = 0; m < p->count; m++) {
        const kfe_i_table *x = &p->parts[m].columns;
        for (int64_t i = 0; i < x->rows && p->parts[m].gating_at >= 0; i++) {
            int sparse = x->kind == KFE_TABLE_CSR;
            int64_t begin = sparse ? x->row_start[i] : i * x->stride;
            int64_t end = sparse ? x->row_start[i + 1] : begin + x->cols;
            double weight = kfe_i_weight_of(target, i);
            for (int64_t e = begin; e < end; e++)
                sum += weight * (x->values[e] * x->values[e]);
        }
    }
    return sum / (kfe_i_target_mass(target, p->n) * (double)p->at.gate_cols);
}

/* ---- memory ---- */

static kfe_status open_projection(kfe_i_local_problem *p, kfe_i_local_source *part)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_table_new_dense(p->ctx, p->n, part->dim, &part->z));
    KFE_TRY(kfe_i_table_new_dense(p->ctx, p->n, part->dim, &part->support_z));
    if (part->linear) {
        p->now.factor_cols += part->dim;
        return KFE_OK;
    }
    memset(part->z.values, 0, (size_t)(p->n * part->dim) * sizeof *part->z.values);
    memset(part->support_z.values, 0, (size_t)(p->n * part->dim) * sizeof *part->z.values);
    KFE_TRY(kfe_i_points_prepare(p->ctx, &part->kernel, &part->z, NULL, &part->points));
    KFE_TRY(kfe_i_points_prepare(p->ctx, &part->kernel, &part->support_z, NULL, &part->support_points));
cleanup:
    return status;
}

/* Without projections the kernels of the parts never change. */
static kfe_status open_fixed(kfe_i_local_problem *p, kfe_i_local_source *part)
{
    kfe_status status = KFE_OK;
    double square = 8.0 * (double)p->n * (double)p->n;

    part->z = kfe_i_table_slice(&part->columns, 0, p->n);
    KFE_TRY(kfe_i_points_prepare(p->ctx, &part->kernel, &part->columns, NULL, &part->points));
    if (square * (double)(p->count + 1) <= KFE_KEPT_SHARE * (double)kfe_i_memory_left(p->ctx)) {
        KFE_ALLOC(p->ctx, part->kept, p->n * p->n);
        KFE_TRY(kfe_i_self_matrix(p->ctx, &part->kernel, &part->points, part->kept));
    }
cleanup:
    return status;
}

static kfe_status allocate_workspace(kfe_i_local_problem *p)
{
    kfe_status status = KFE_OK;
    int64_t widest = p->at.gate_dim;
    int64_t widest_dense = 0;
    int64_t scratch = 0;

    for (int64_t m = 0; m < p->count; m++) {
        const kfe_i_local_source *part = &p->parts[m];
        widest = largest(widest, part->dim);
        if (part->columns.kind == KFE_TABLE_DENSE)
            widest_dense = largest(widest_dense, part->columns.cols);
        if (part->points.ctx)
            scratch = largest(scratch, kfe_i_tile_scratch(&part->points, &part->points));
    }
    p->work.own = 2 * KFE_TILE_SIZE + scratch;
    KFE_ALLOC(p->ctx, p->now.gate, p->n * p->at.gate_dim);
    KFE_ALLOC(p->ctx, p->now.shares, p->n * p->count);
    KFE_ALLOC(p->ctx, p->now.factor, p->n * p->now.factor_cols);
    KFE_ALLOC(p->ctx, p->work.support, p->n);
    KFE_ALLOC(p->ctx, p->work.pull, p->n * (p->projects ? widest : p->at.gate_dim));
    KFE_ALLOC(p->ctx, p->work.logits, p->n * p->count);
    KFE_ALLOC(p->ctx, p->work.scaled, p->n * p->svms.count);
    KFE_ALLOC(p->ctx, p->work.product, p->n * p->svms.count);
    KFE_ALLOC(p->ctx, p->work.sums, p->n);
    KFE_ALLOC(p->ctx, p->work.gathered, p->n * widest_dense);
    KFE_ALLOC(p->ctx, p->work.small, widest * p->svms.count);
    KFE_ALLOC(p->ctx, p->work.tiles, p->work.own * p->threads);
cleanup:
    return status;
}

static kfe_status open_matrix(kfe_i_local_problem *p)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_check_memory(p->ctx, 8.0 * (double)p->n * (double)p->n, "the localized kernel matrix",
                               "raise {memory}, or fit on fewer examples"));
    KFE_TRY(kfe_i_table_new_dense(p->ctx, p->n, p->n, &p->now.matrix));
    memset(p->now.matrix.values, 0, (size_t)(p->n * p->n) * sizeof *p->now.matrix.values);
    KFE_TRY(kfe_i_gram_precomputed(p->ctx, &p->now.matrix, &p->now.gram));
cleanup:
    return status;
}

kfe_status kfe_i_local_problem_open(kfe_context *ctx, const char *method, const kfe_i_fit_source *given,
                                    const kfe_i_local_settings *settings, int projects,
                                    kfe_i_local_problem *p)
{
    kfe_status status = KFE_OK;
    int gate_view = -1;

    *p = (kfe_i_local_problem){.ctx = ctx, .given = given, .method = method, .projects = projects};
    p->n = given->target->rows;
    p->threads = p->n > FEW_ROWS ? kfe_context_threads(ctx) : 1;
    KFE_TRY(find_gate_view(ctx, method, given, settings->gate, &gate_view));
    KFE_TRY(kfe_i_onevsrest_open(ctx, given->target, 0, settings->c, settings->stop, &p->svms));
    p->svms.newton = 1; /* localized kernels have few dimensions, where pairs alone converge slowly */
    KFE_TRY(open_matrix(p));
    KFE_ALLOC_ZERO(ctx, p->parts, given->kernels->count);
    p->count = given->kernels->count;
    for (int64_t m = 0; m < p->count; m++)
        KFE_TRY(open_columns(p, m, settings->kernel_map));
    lay_out(p, settings, gate_view);
    for (int64_t m = 0; m < p->count; m++)
        KFE_TRY(projects ? open_projection(p, &p->parts[m]) : open_fixed(p, &p->parts[m]));
    KFE_TRY(allocate_workspace(p));
    p->gate_scale = mean_square(p);
cleanup:
    return status;
}

static void free_part(kfe_context *ctx, kfe_i_local_source *part)
{
    kfe_i_points_free(&part->points);
    kfe_i_points_free(&part->support_points);
    kfe_i_table_free(&part->z);
    kfe_i_table_free(&part->support_z);
    kfe_i_table_free(&part->columns);
    kfe_i_free(ctx, part->spectrum);
    kfe_i_free(ctx, part->kept);
    kfe_i_kernel_free(&part->own);
}

void kfe_i_local_problem_free(kfe_i_local_problem *p)
{
    double **blocks[] = {&p->now.gate,      &p->now.shares,  &p->now.factor,   &p->work.pull,
                         &p->work.logits,   &p->work.scaled, &p->work.product, &p->work.sums,
                         &p->work.gathered, &p->work.small,  &p->work.tiles};

    if (!p->ctx)
        return;
    for (int64_t m = 0; m < p->count; m++)
        free_part(p->ctx, &p->parts[m]);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        kfe_i_free(p->ctx, *blocks[i]);
    kfe_i_free(p->ctx, p->parts);
    kfe_i_free(p->ctx, p->work.support);
    kfe_i_gram_free(p->now.gram);
    kfe_i_table_free(&p->now.matrix);
    kfe_i_onevsrest_free(&p->svms);
    memset(p, 0, sizeof *p);
}

void kfe_i_local_block_place(const kfe_i_local_problem *p, kfe_i_local_block block, int64_t *first,
                             int64_t *count)
{
    int64_t weights_at = p->projects ? p->at.weights : p->at.gate;
    int gated = p->count > 1; /* a single part always has the share 1 */

    *first = block == KFE_LOCAL_PROJECTIONS ? 0 : block == KFE_LOCAL_GATE_MAP ? p->at.gate : weights_at;
    if (block == KFE_LOCAL_PROJECTIONS)
        *count = p->at.gate;
    else if (block == KFE_LOCAL_GATE_MAP)
        *count = p->projects && gated ? p->at.weights - p->at.gate : 0;
    else
        *count = gated ? p->at.size - weights_at : 0;
}

double kfe_i_local_gate_length(const kfe_i_local_problem *p, const double *parameters)
{
    int64_t first = p->projects ? p->at.weights : p->at.gate;
    double sum = 0;

    for (int64_t i = first; i < p->at.offset; i++)
        sum += parameters[i] * parameters[i];
    return sum;
}

int kfe_i_local_is_support(const kfe_i_local_problem *p, int64_t i)
{
    for (int64_t k = 0; k < p->svms.count; k++)
        if (p->svms.weights[i * p->svms.count + k] != 0)
            return 1;
    return 0;
}
