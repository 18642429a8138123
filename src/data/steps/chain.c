/* SPDX-License-Identifier: Apache-2.0 */
/* Learns and applies chains of steps (chain.h), row by row. */
#include "data/steps/chain.h"

#include <string.h>

#include "core/memory.h"
#include "core/wording.h"

static void free_step(kfe_i_fitted_step *fit)
{
    if (!fit->ctx)
        return;
    kfe_i_free(fit->ctx, fit->settings);
    kfe_i_free(fit->ctx, fit->learned);
    kfe_i_free(fit->ctx, fit->plan);
    kfe_i_free(fit->ctx, fit->kept);
}

static void free_names(kfe_i_chain *chain)
{
    for (int64_t j = 0; chain->names && j < chain->made; j++)
        kfe_i_free(chain->ctx, chain->names[j]);
    if (chain->names)
        kfe_i_free(chain->ctx, chain->names);
    chain->names = NULL;
}

void kfe_i_chain_free(kfe_i_chain *chain)
{
    if (chain->ctx) {
        free_names(chain);
        for (int s = 0; s < chain->count; s++)
            free_step(&chain->steps[s]);
        kfe_i_free(chain->ctx, chain->steps);
    }
    memset(chain, 0, sizeof *chain);
}

int kfe_i_chain_learns(const kfe_i_chain *chain, const char **which)
{
    for (int s = 0; s < chain->count; s++)
        if (chain->steps[s].step->learns > 0) {
            if (which)
                *which = chain->steps[s].step->name;
            return 1;
        }
    return 0;
}

int kfe_i_chain_chooses(const kfe_i_chain *chain, const char **which)
{
    for (int s = 0; s < chain->count; s++)
        if (chain->steps[s].step->choose) {
            if (which)
                *which = chain->steps[s].step->name;
            return 1;
        }
    return 0;
}

int kfe_i_chain_origins(const kfe_i_chain *chain, int s, int64_t *origins)
{
    for (int64_t j = 0; j < chain->steps[s].cols; j++)
        origins[j] = j;
    for (int before = s; before-- > 0;) { /* from the columns of step s back to those of the data */
        const kfe_i_fitted_step *fit = &chain->steps[before];
        if (!fit->kept && fit->step->name_of)
            return 0;
        for (int64_t j = 0; fit->kept && j < chain->steps[s].cols; j++)
            origins[j] = fit->kept[origins[j]];
    }
    return 1;
}

int kfe_i_chain_is_linear(const kfe_i_chain *chain, const char **which)
{
    for (int s = 0; s < chain->count; s++)
        if (!chain->steps[s].step->pull) {
            if (which)
                *which = chain->steps[s].step->name;
            return 0;
        }
    return 1;
}

/* ---- plans ---- */

/* Names of the columns after a step that makes other columns, in place of the chain's. */
static kfe_status rename_columns(kfe_context *ctx, kfe_i_chain *chain, const kfe_i_fitted_step *fit,
                                 char *const *names)
{
    kfe_status status = KFE_OK;
    kfe_i_chain old = {.ctx = ctx, .names = chain->names, .made = chain->made};
    kfe_i_text text;

    chain->names = NULL;
    chain->made = fit->made;
    KFE_ALLOC_ZERO(ctx, chain->names, fit->made);
    for (int64_t j = 0; j < fit->made; j++) {
        kfe_i_text_init(&text, ctx);
        fit->step->name_of(fit, names, j, &text);
        KFE_TRY(kfe_i_text_take(&text, &chain->names[j]));
    }
cleanup:
    free_names(&old);
    return status;
}

/* The plan of one step for the columns that the steps before it make. */
static kfe_status plan_step(kfe_context *ctx, kfe_i_chain *chain, int s, char *const *names)
{
    kfe_status status = KFE_OK;
    kfe_i_fitted_step *fit = &chain->steps[s];
    char *const *now = chain->names ? chain->names : names;

    kfe_i_free(ctx, fit->plan);
    kfe_i_free(ctx, fit->kept);
    fit->plan = NULL;
    fit->kept = NULL;
    fit->cols = fit->made = chain->made;
    if (fit->step->plan)
        KFE_TRY(fit->step->plan(ctx, now, fit));
    if (fit->step->name_of)
        KFE_TRY(rename_columns(ctx, chain, fit, now));
    chain->made = fit->made;
cleanup:
    return status;
}

static kfe_status begin_plan(kfe_context *ctx, kfe_i_chain *chain, int64_t cols)
{
    if (chain->count > 0 && cols > KFE_MOST_CHAIN_COLUMNS)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "{prepare}: steps take up to %d columns, but there are %lld",
                          KFE_MOST_CHAIN_COLUMNS, (long long)cols);
    free_names(chain);
    chain->cols = chain->made = cols;
    return KFE_OK;
}

kfe_status kfe_i_chain_plan(kfe_context *ctx, kfe_i_chain *chain, int64_t cols, char *const *names)
{
    kfe_status status = KFE_OK;

    KFE_TRY(begin_plan(ctx, chain, cols));
    for (int s = 0; s < chain->count; s++)
        KFE_TRY(plan_step(ctx, chain, s, names));
cleanup:
    return status;
}

/* ---- rows ---- */

static int64_t most_columns(const kfe_i_chain *chain)
{
    int64_t most = chain->cols;

    for (int s = 0; s < chain->count; s++)
        most = chain->steps[s].made > most ? chain->steps[s].made : most;
    return most;
}

int64_t kfe_i_chain_room(const kfe_i_chain *chain)
{
    int work = 0;

    for (int s = 0; s < chain->count; s++)
        work = chain->steps[s].step->work > work ? chain->steps[s].step->work : work;
    return most_columns(chain) * (2 + work);
}

int64_t kfe_i_chain_row(const kfe_i_chain *chain, const double *row, double *room, double *out, int *at)
{
    int64_t most = most_columns(chain);
    const double *from = row;

    for (int s = 0; s < chain->count; s++) {
        double *to = s == chain->count - 1 ? out : room + s % 2 * most;
        int64_t col = chain->steps[s].step->apply(&chain->steps[s], from, to, room + 2 * most);
        if (col >= 0) {
            *at = s;
            return col;
        }
        from = to;
    }
    return -1;
}

kfe_status kfe_i_chain_refuse(kfe_context *ctx, const kfe_i_chain *chain, int at, const char *shown,
                              int64_t row, int64_t col)
{
    kfe_status status = KFE_OK;
    char takes[KFE_WORDING_TEXT];

    kfe_i_word_format(ctx, chain->steps[at].step->takes, takes);
    status = kfe_i_fail(ctx, KFE_EINPUT, "%s: row %lld, column %lld: step %s %s", shown, (long long)row + 1,
                        (long long)col + 1, chain->steps[at].step->name, takes);
    return status;
}

/* Where a step refused a value. */
typedef struct refusal {
    int64_t row, col; /* row -1: nowhere */
    int at;
} refusal;

static void note(refusal *all, const refusal *one)
{
    if (one->row >= 0 && (all->row < 0 || one->row < all->row))
        *all = *one;
}

/* Rows of a thread, from a table into another. */
static void apply_rows(const kfe_i_chain *chain, const kfe_i_table *table, int64_t first, int64_t last,
                       double *room, kfe_i_table *out, refusal *found)
{
    double *row = room + kfe_i_chain_room(chain);

    for (int64_t i = first; i < last && found->row < 0; i++) {
        kfe_i_table_dense_row(table, i, row);
        int64_t col = kfe_i_chain_row(chain, row, room, out->values + i * out->stride, &found->at);
        if (col >= 0) {
            found->row = i;
            found->col = col;
        }
    }
}

static kfe_status fill(kfe_context *ctx, const kfe_i_chain *chain, const kfe_i_table *table, kfe_i_table *out,
                       refusal *found)
{
    kfe_status status = KFE_OK;
    int threads = table->rows * table->cols < 1 << 16 ? 1 : kfe_context_threads(ctx);
    int64_t room = kfe_i_chain_room(chain) + chain->cols;
    double *rooms = NULL;

    KFE_ALLOC(ctx, rooms, threads * room);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        refusal own = {.row = -1};
        apply_rows(chain, table, table->rows * t / threads, table->rows * (t + 1) / threads, rooms + t * room,
                   out, &own);
#pragma omp critical(kfe_chain_refusal)
        note(found, &own);
    }
cleanup:
    kfe_i_free(ctx, rooms);
    return status;
}

static kfe_status refuse_strings(kfe_context *ctx, const kfe_i_table *table)
{
    if (table->kind != KFE_TABLE_TEXT)
        return KFE_OK;
    return kfe_i_fail(ctx, KFE_EUNSUPPORTED, "strings cannot be prepared; leave out {prepare}");
}

kfe_status kfe_i_chain_apply(kfe_context *ctx, const kfe_i_chain *chain, const kfe_i_table *table,
                             const char *shown, int64_t first_row, kfe_i_table *out)
{
    kfe_status status = KFE_OK;
    refusal found = {.row = -1};

    memset(out, 0, sizeof *out);
    KFE_TRY(refuse_strings(ctx, table));
    if (table->cols != chain->cols)
        KFE_FAIL(ctx, KFE_EINPUT, "the data has %lld columns, but {prepare} was learned on %lld",
                 (long long)table->cols, (long long)chain->cols);
    if (table->kind == KFE_TABLE_CSR)
        KFE_TRY(kfe_i_check_memory(ctx, (double)table->rows * (double)chain->made * sizeof(double),
                                   "sparse data, prepared and therefore dense,", "leave out {prepare}"));
    KFE_TRY(kfe_i_table_new_dense(ctx, table->rows, chain->made, out));
    KFE_TRY(fill(ctx, chain, table, out, &found));
    if (found.row >= 0)
        KFE_TRY(kfe_i_chain_refuse(ctx, chain, found.at, shown, first_row + found.row, found.col));
cleanup:
    if (status != KFE_OK)
        kfe_i_table_free(out);
    return status;
}

/* ---- learning ---- */

/* The steps from `first` to `last` as a chain of their own, which borrows them. */
static kfe_i_chain part_of(const kfe_i_chain *chain, int first, int last)
{
    kfe_i_chain part = {.ctx = chain->ctx, .count = last - first, .steps = chain->steps + first};

    part.cols = chain->steps[first].cols;
    part.made = chain->steps[last - 1].made;
    return part;
}

/* Replaces the rows by what the steps make of them. */
static kfe_status advance(kfe_context *ctx, const kfe_i_chain *part, const char *shown, kfe_i_table *rows)
{
    kfe_status status = KFE_OK;
    kfe_i_table next = {0};

    KFE_TRY(kfe_i_chain_apply(ctx, part, rows, shown, 0, &next));
    next.weights = rows->weights;
    kfe_i_table_free(rows);
    *rows = next;
cleanup:
    return status;
}

static kfe_status learn_step(kfe_context *ctx, const kfe_i_table *rows, const kfe_i_step_target *target,
                             kfe_i_fitted_step *fit)
{
    kfe_status status = KFE_OK;

    if (fit->step->choose && !target)
        KFE_FAIL(
            ctx, KFE_EINPUT,
            "{prepare}: step %s chooses columns by how they predict a target, and the data has none; give "
            "{labels}, or leave out the step",
            fit->step->name);
    if (rows->rows == 0)
        KFE_FAIL(ctx, KFE_EINPUT, "{prepare}: there are no rows for step %s to learn from", fit->step->name);
    if (fit->step->is_transfer)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "{prepare}: step %s is learned from spectra of the same samples on two instruments; fit the "
                 "model without it, then use {transfer}",
                 fit->step->name);
    kfe_i_free(ctx, fit->learned);
    fit->learned = NULL;
    KFE_ALLOC(ctx, fit->learned, kfe_i_step_learns(fit) * fit->cols);
    if (fit->step->choose)
        KFE_TRY(fit->step->choose(ctx, rows, target, fit));
    else
        KFE_TRY(fit->step->learn(ctx, rows, fit));
cleanup:
    return status;
}

kfe_status kfe_i_chain_learn(kfe_context *ctx, kfe_i_chain *chain, const kfe_i_table *table,
                             const kfe_i_step_target *target, char *const *names, const char *shown)
{
    kfe_status status = KFE_OK;
    kfe_i_table rows = kfe_i_table_slice(table, 0, table->rows);
    int done = 0; /* steps that `rows` went through */

    rows.weights = table->weights;
    KFE_TRY(refuse_strings(ctx, table));
    KFE_TRY(kfe_i_chain_plan(ctx, chain, table->cols, names));
    if (kfe_i_chain_learns(chain, NULL)) {
        KFE_TRY(kfe_i_table_make_dense(ctx, &rows));
        rows.weights = table->weights;
    }
    for (int s = 0; s < chain->count; s++) {
        if (chain->steps[s].step->learns == 0)
            continue;
        if (s > done) {
            kfe_i_chain part = part_of(chain, done, s);
            KFE_TRY(advance(ctx, &part, shown, &rows));
        }
        done = s;
        KFE_TRY(learn_step(ctx, &rows, target, &chain->steps[s]));
        if (chain->steps[s].step->choose) /* later steps see fewer columns */
            KFE_TRY(kfe_i_chain_plan(ctx, chain, table->cols, names));
    }
cleanup:
    kfe_i_table_free(&rows);
    return status;
}

/* ---- a learned step before the others ---- */

kfe_status kfe_i_chain_prepend(kfe_context *ctx, kfe_i_chain *chain, const kfe_i_fitted_step *step,
                               char *const *names)
{
    kfe_status status = KFE_OK;
    int64_t count = kfe_i_step_learns(step) * step->cols;
    kfe_i_fitted_step added;

    KFE_TRY(kfe_i_chain_add(ctx, chain, step->step->name, NULL));
    added = chain->steps[chain->count - 1];
    memmove(chain->steps + 1, chain->steps, (size_t)(chain->count - 1) * sizeof *chain->steps);
    chain->steps[0] = added;
    memcpy(added.settings, step->settings, step->step->params.size);
    KFE_ALLOC(ctx, chain->steps[0].learned, count);
    memcpy(chain->steps[0].learned, step->learned, (size_t)count * sizeof *step->learned);
    KFE_TRY(kfe_i_chain_plan(ctx, chain, step->cols, names));
cleanup:
    return status;
}

int kfe_i_chain_is_transferred(const kfe_i_chain *chain)
{
    return chain->count > 0 && chain->steps[0].step->is_transfer;
}

/* ---- linear chains ---- */

/* constants[o] += Σ_j weights[j·dim + o]·zero[j]: what the outputs add where all columns are 0. */
static void add_constants(const kfe_i_chain *chain, int64_t dim, const double *weights, const double *zero,
                          double *constants)
{
    for (int64_t o = 0; o < dim; o++)
        constants[o] = 0;
    for (int64_t j = 0; j < chain->made; j++)
        for (int64_t o = 0; o < dim; o++)
            constants[o] += weights[j * dim + o] * zero[j];
}

/* One column of weights back through all steps; `room` has 2·most numbers. */
static void pull_column(const kfe_i_chain *chain, double *room, int64_t most, int64_t dim, double *out)
{
    double *from = room;
    double *to = room + most;

    for (int s = chain->count; s-- > 0;) {
        double *swap = from;
        chain->steps[s].step->pull(&chain->steps[s], from, to);
        from = to;
        to = swap;
    }
    for (int64_t j = 0; j < chain->cols; j++)
        out[j * dim] = from[j];
}

kfe_status kfe_i_chain_pull(kfe_context *ctx, const kfe_i_chain *chain, int64_t dim, const double *weights,
                            double *out, double *constants)
{
    kfe_status status = KFE_OK;
    int64_t most = most_columns(chain);
    double *room = NULL;
    double *zero = NULL; /* a row of zeros, and what becomes of it */
    int at = 0;

    KFE_ALLOC(ctx, room, kfe_i_chain_room(chain));
    KFE_ALLOC_ZERO(ctx, zero, 2 * most);
    if (kfe_i_chain_row(chain, zero, room, zero + most, &at) >= 0)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "{prepare}: the steps are not linear");
    add_constants(chain, dim, weights, zero + most, constants);
    for (int64_t o = 0; o < dim; o++) {
        for (int64_t j = 0; j < chain->made; j++)
            room[j] = weights[j * dim + o];
        pull_column(chain, room, most, dim, out + o);
    }
cleanup:
    kfe_i_free(ctx, room);
    kfe_i_free(ctx, zero);
    return status;
}
