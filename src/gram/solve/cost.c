/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of this machine, and the seconds that each way of solving is predicted to take; solve.c chooses by them. */
#include "gram/solve/cost.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/form.h"
#include "linalg/cholesky.h"
#include "linalg/thin.h"
#include "system/system.h"

/* ---- time ---- */

/* No measured time is less than this, so that rates are finite. */
#define LEAST_SECONDS 1e-7

kfe_i_stamp kfe_i_start_clock(const kfe_context *ctx)
{
    return (kfe_i_stamp){
        .wall = kfe_i_clock(), .processor = kfe_i_processor_seconds(), .threads = kfe_context_threads(ctx)};
}

double kfe_i_seconds_since(const kfe_context *ctx, kfe_i_stamp start)
{
    kfe_i_stamp now = kfe_i_start_clock(ctx);
    double seconds = fmin(now.wall - start.wall, (now.processor - start.processor) / start.threads);

    return kfe_i_cluster_agree(ctx, fmax(seconds, LEAST_SECONDS)); /* plans depend on it */
}

/* ---- rates ---- */

enum {
    GEMM_ORDER = 384,
    FACTOR_ORDER = 640,
    BUFFER = 1 << 21, /* doubles: 16 MB, more than the caches of two cores hold */
    SAMPLE_COLUMNS = 32,
    MESSAGE = 1 << 18, /* doubles: 2 MB, as the panels of a factorisation */
    TRIES = 3
};
/* Double precision is never faster than this, relative to single precision: registers hold half as many numbers. */
#define MOST_DOUBLE_SHARE 0.6
/* Measuring takes memory; where less than this is left, typical rates are used. */
#define MEASURING_MEMORY 300e6

/* Rates of one core of 2023, for contexts that have no memory for a measurement. */
static const kfe_i_rates typical = {.dgemm = 40e9,
                                    .sgemm = 80e9,
                                    .dpotrf = 25e9,
                                    .spftrf = 45e9,
                                    .bytes = 8e9,
                                    .gathered = 2e9,
                                    .message = 20e-6};

static double gemm_seconds(const kfe_context *ctx, double *buffer, int single)
{
    blasint m = GEMM_ORDER;
    float *narrow = (float *)buffer;

    for (int64_t i = 0; i < 2 * (int64_t)m * m; i++) {
        double value = 1.0 / (double)(1 + i % 64);
        if (single)
            narrow[i] = (float)value;
        else
            buffer[i] = value;
    }
    kfe_i_stamp start = kfe_i_start_clock(ctx);
    if (single)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, narrow, m, narrow, m, 0,
                    narrow + m * m, m);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, buffer, m, buffer, m, 0,
                    buffer + m * m, m);
    return kfe_i_seconds_since(ctx, start);
}

/* The matrix is diagonally dominant, so that the factorisation runs to its end. */
static kfe_status factor_seconds(kfe_context *ctx, double *buffer, int single, double *seconds)
{
    int64_t n = FACTOR_ORDER;
    int definite;
    kfe_status status;
    float *narrow = (float *)buffer;

    memset(buffer, 0, (size_t)(n * n) * sizeof *buffer);
    if (single) /* rectangular full packed: both diagonals, at (j, j) and (j + 1, j) of n + 1 rows */
        for (int64_t j = 0; j < n / 2; j++)
            narrow[j * (n + 1) + j] = narrow[j * (n + 1) + j + 1] = 1;
    for (int64_t j = 0; !single && j < n; j++)
        buffer[j * n + j] = 1;
    kfe_i_stamp start = kfe_i_start_clock(ctx);
    status = single ? kfe_i_factorise_packed(ctx, n, narrow, &definite)
                    : kfe_i_factorise(ctx, n, buffer, &definite);
    *seconds = kfe_i_seconds_since(ctx, start);
    return status;
}

static double read_seconds(const kfe_context *ctx, const double *buffer, double *sum)
{
    double total = 0;
    kfe_i_stamp start = kfe_i_start_clock(ctx);

#pragma omp parallel for num_threads(kfe_context_threads(ctx)) reduction(+ : total)
    for (int64_t i = 0; i < BUFFER; i += 8)
        for (int64_t j = 0; j < 8; j++)
            total += buffer[i + j];
    *sum += total; /* so that the compiler keeps the loop */
    return kfe_i_seconds_since(ctx, start);
}

/* Gathers `count` numbers, or adds one. Wall time: a message keeps at most one thread busy, and none while it waits. */
static double message_seconds(const kfe_context *ctx, double *buffer, int64_t count)
{
    double start = kfe_i_clock();

    (void)(count > 1 ? kfe_i_cluster_gather_rows(ctx, buffer, count, 1) : kfe_i_cluster_sum(ctx, buffer, 1));
    return kfe_i_cluster_agree(ctx, fmax(kfe_i_clock() - start, LEAST_SECONDS));
}

static double middle(const double *three)
{
    double smallest = fmin(three[0], fmin(three[1], three[2]));
    double largest = fmax(three[0], fmax(three[1], three[2]));

    return three[0] + three[1] + three[2] - smallest - largest;
}

/* The middle one of three tries: other programs slow a measurement down, and one that ran on fewer threads than it may
 * use looks too fast. */
static kfe_status measure(kfe_context *ctx, double *buffer, kfe_i_rates *out)
{
    kfe_status status = KFE_OK;
    enum { DGEMM, SGEMM, DPOTRF, SPFTRF, BYTES, RATES };
    double gemm_work = 2.0 * GEMM_ORDER * GEMM_ORDER * GEMM_ORDER;
    double factor_work = (double)FACTOR_ORDER * FACTOR_ORDER * FACTOR_ORDER / 3;
    double rates[RATES][TRIES];
    double sum = 0;
    double seconds = 0;

    for (int i = 0; i < TRIES; i++) {
        rates[DGEMM][i] = gemm_work / gemm_seconds(ctx, buffer, 0);
        rates[SGEMM][i] = gemm_work / gemm_seconds(ctx, buffer, 1);
        KFE_TRY(factor_seconds(ctx, buffer, 0, &seconds));
        rates[DPOTRF][i] = factor_work / seconds;
        KFE_TRY(factor_seconds(ctx, buffer, 1, &seconds));
        rates[SPFTRF][i] = factor_work / seconds;
        rates[BYTES][i] = 8.0 * BUFFER / read_seconds(ctx, buffer, &sum);
    }
    buffer[0] = sum;
    out->sgemm = middle(rates[SGEMM]);
    out->dgemm = fmin(middle(rates[DGEMM]), MOST_DOUBLE_SHARE * out->sgemm);
    out->spftrf = middle(rates[SPFTRF]);
    out->dpotrf = fmin(middle(rates[DPOTRF]), MOST_DOUBLE_SHARE * out->spftrf);
    out->bytes = middle(rates[BYTES]);
cleanup:
    return status;
}

/* Failures are not looked at: the next message reports them. */
static void measure_messages(const kfe_context *ctx, double *buffer, kfe_i_rates *out)
{
    double gather[TRIES];
    double add[TRIES];

    out->gathered = INFINITY;
    if (kfe_i_processes(ctx) == 1)
        return;
    for (int i = 0; i < TRIES; i++) {
        gather[i] = message_seconds(ctx, buffer, MESSAGE);
        add[i] = message_seconds(ctx, buffer, 1);
    }
    out->gathered = MESSAGE * sizeof *buffer / middle(gather);
    out->message = middle(add);
}

kfe_status kfe_i_measure_rates(kfe_context *ctx, kfe_i_rates *out)
{
    kfe_status status = KFE_OK;
    double *buffer = NULL;
    kfe_i_rates rates = {.threads = kfe_context_threads(ctx), .processes = kfe_i_processes(ctx)};

    *out = ctx->rates;
    if (ctx->rates.threads == rates.threads && ctx->rates.processes == rates.processes)
        return KFE_OK;
    if ((double)kfe_i_memory_left(ctx) < MEASURING_MEMORY) {
        *out = typical;
        return KFE_OK;
    }
    KFE_ALLOC_ZERO(ctx, buffer, BUFFER);
    KFE_TRY(measure(ctx, buffer, &rates));
    measure_messages(ctx, buffer, &rates);
    ctx->rates = *out = rates;
    kfe_i_log(
        ctx, KFE_LOG_DEBUG,
        "this machine: GEMM %.0f and %.0f Gflop/s in double and single precision, Cholesky %.0f and %.0f, "
        "memory %.1f GB/s",
        rates.dgemm * 1e-9, rates.sgemm * 1e-9, rates.dpotrf * 1e-9, rates.spftrf * 1e-9, rates.bytes * 1e-9);
    if (rates.processes > 1)
        kfe_i_log(ctx, KFE_LOG_DEBUG, "messages: %.1f GB/s gathered, %.0f µs for a short one",
                  rates.gathered * 1e-9, rates.message * 1e6);
cleanup:
    kfe_i_free(ctx, buffer);
    return status;
}

/* ---- the operator ---- */

kfe_status kfe_i_gram_time_columns(const kfe_i_gram *gram, double *out)
{
    kfe_status status = KFE_OK;
    int64_t index[SAMPLE_COLUMNS];
    int64_t count = gram->size < SAMPLE_COLUMNS ? gram->size : SAMPLE_COLUMNS;
    double *columns = NULL;

    for (int64_t j = 0; j < count; j++)
        index[j] = j * (gram->size / count);
    KFE_ALLOC(gram->ctx, columns, gram->size * count);
    kfe_i_stamp start = kfe_i_start_clock(gram->ctx);
    KFE_TRY(kfe_i_gram_columns(gram, index, count, columns));
    *out = kfe_i_seconds_since(gram->ctx, start) / (double)count;
cleanup:
    kfe_i_free(gram->ctx, columns);
    return status;
}

kfe_status kfe_i_cost_of(const kfe_i_gram *gram, double ridge, int64_t k, double tolerance, kfe_i_cost *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_cost){.n = (double)gram->size, .k = (double)k, .ridge = ridge, .tolerance = tolerance};
    KFE_TRY(kfe_i_measure_rates(gram->ctx, &out->rates));
    KFE_TRY(kfe_i_gram_mean_diagonal(gram, &out->mean));
    out->processes = kfe_i_processes(gram->ctx);
    out->dealt = gram->processes;
    KFE_TRY(kfe_i_gram_column_seconds(gram, &out->column_seconds));
    if (out->column_seconds == 0)
        out->entry_bytes = gram->precision->entry_bytes / 2.0; /* half of the matrix is read */
cleanup:
    return status;
}

/* ---- predictions ---- */

/* Factorisations come nearer to the rate of GEMM as n grows: rate = gemm·n/(n + h), and the measurement gives h. */
static double factor_cost(double n, double gemm, double measured)
{
    double half = fmax(0, FACTOR_ORDER * (gemm / measured - 1));
    return n * n / 3 * (n + half) / gemm;
}

/* Evaluating the matrix once: half of the columns, by symmetry. */
static double evaluate_once(const kfe_i_cost *c)
{
    return 0.5 * c->n * c->column_seconds;
}

/* A gather after which every process has so many bytes. */
static double gather_seconds(const kfe_i_cost *c, double bytes)
{
    return c->processes > 1 ? bytes / c->rates.gathered + c->rates.message : 0;
}

static double product_seconds(const kfe_i_cost *c)
{
    double passes = ceil(c->k / KFE_THIN);
    double arithmetic = 2 * c->n * c->n * c->k / c->rates.dgemm;
    double reading = passes * c->n * c->n * c->entry_bytes / c->rates.bytes;
    double adding = c->dealt > 1 ? gather_seconds(c, 2 * 8 * c->n * c->k) : 0;

    return evaluate_once(c) + (arithmetic + reading) / c->dealt + adding;
}

double kfe_i_cg_iterations(double condition, double tolerance)
{
    double root = sqrt(fmax(condition, 1));
    double rate = fmax((root - 1) / (root + 1), 1e-3);

    return fmax(1, ceil(log(tolerance) / log(rate)));
}

/* An iteration's products of vectors with each other, beside the operator and the preconditioner. */
static double block_seconds(const kfe_i_cost *c)
{
    return 16 * c->n * c->k * c->k / c->rates.dgemm + 100 * c->n * c->k / c->rates.bytes;
}

/* Gathering the lower half of a divided matrix in every process. */
static double collect_matrix(const kfe_i_cost *c)
{
    return c->dealt > 1 ? gather_seconds(c, 4 * c->n * c->n) : 0;
}

double kfe_i_f64_seconds(const kfe_i_cost *c)
{
    double copy = 3 * 8 * c->n * c->n / c->rates.bytes;
    double solve = 4 * 8 * c->n * c->n / c->rates.bytes + 4 * c->n * c->n * c->k / c->rates.dgemm;

    return evaluate_once(c) + collect_matrix(c) + copy + factor_cost(c->n, c->rates.dgemm, c->rates.dpotrf) +
           solve + product_seconds(c);
}

/* Rounding in the factorisation changes the matrix by about this much (measured; the bound is far larger). */
static double single_error(const kfe_i_cost *c)
{
    return 4 * (double)FLT_EPSILON * sqrt(c->n) * (c->mean + c->ridge);
}

/* With eigenvalues that fall like i^(−slope−1), the largest of G − FFᵀ is about slope/rank of its trace. */
static double next_eigenvalue(const kfe_i_decay *decay, double rank)
{
    return fmax(decay->slope, 0.05) * decay->trace / rank * pow(rank / decay->rank, -decay->slope);
}

static double last_eigenvalue(const kfe_i_cost *c, const kfe_i_decay *decay)
{
    double slope = fmax(decay->slope, 0.05);
    return next_eigenvalue(decay, decay->rank) * pow(fmax(1, c->n / decay->rank), -slope - 1);
}

static double single_iterations(const kfe_i_cost *c, const kfe_i_decay *decay)
{
    double condition = 1 + 2 * single_error(c) / (c->ridge + last_eigenvalue(c, decay));

    return kfe_i_cg_iterations(condition, c->tolerance);
}

/* Seconds to fill a matrix in single precision, and to solve with its factor, by one process. */
static double single_copy(const kfe_i_cost *c)
{
    return (c->entry_bytes + 8) * c->n * c->n / c->rates.bytes;
}

static double single_solve(const kfe_i_cost *c)
{
    return 2 * 4 * c->n * c->n / c->rates.bytes + 2 * c->n * c->n * c->k / c->rates.sgemm;
}

double kfe_i_f32_seconds(const kfe_i_cost *c, const kfe_i_decay *decay)
{
    double factor = factor_cost(c->n, c->rates.sgemm, c->rates.spftrf);

    return evaluate_once(c) + collect_matrix(c) + single_copy(c) + factor +
           single_iterations(c, decay) * (single_solve(c) + block_seconds(c) + product_seconds(c));
}

/* Each step factors its diagonal block in every process and takes two messages; it takes two more in each solve. */
double kfe_i_divided_seconds(const kfe_i_cost *c, const kfe_i_decay *decay)
{
    double steps = ceil(c->n / KFE_DIVIDED_STEP);
    double corners = steps * factor_cost(KFE_DIVIDED_STEP, c->rates.sgemm, c->rates.spftrf);
    double messages = 2 * steps * gather_seconds(c, 0);
    double factor = factor_cost(c->n, c->rates.sgemm, c->rates.spftrf) / c->processes + corners;
    double solve = single_solve(c) / c->processes + messages;

    return evaluate_once(c) + single_copy(c) / c->processes + factor + messages +
           gather_seconds(c, 2 * c->n * c->n) +
           single_iterations(c, decay) * (solve + block_seconds(c) + product_seconds(c));
}

/* Random pivots leave some of the directions before the next eigenvalue, hence the factor 2. */
static double cg_seconds_at(const kfe_i_cost *c, const kfe_i_decay *decay, double rank)
{
    double condition = 1 + 2 * next_eigenvalue(decay, rank) / (c->ridge + last_eigenvalue(c, decay));
    double iterations = kfe_i_cg_iterations(condition, c->tolerance);
    double columns = rank * (c->column_seconds + 64 * c->n / c->rates.bytes);
    double factor = 4 * c->n * rank * rank / c->rates.dgemm / c->dealt + gather_seconds(c, 8 * c->n * rank);
    double multiply = 2 * 8 * c->n * rank / c->rates.bytes + 4 * c->n * rank * c->k / c->rates.dgemm;
    double precondition = multiply / c->processes + 2 * gather_seconds(c, 8 * (c->n + rank) * c->k);

    return columns + factor + (iterations + 1) * (precondition + block_seconds(c) + product_seconds(c));
}

double kfe_i_cg_seconds(const kfe_i_cost *cost, const kfe_i_decay *decay, int64_t most, int64_t *rank)
{
    double best = INFINITY;

    for (int step = 0; pow(1.5, step) * decay->rank < 2 * (double)most; step++) {
        double tried = fmax(1, fmin(pow(1.5, step) * decay->rank, (double)most));
        double seconds = cg_seconds_at(cost, decay, tried);
        if (seconds < best) {
            best = seconds;
            *rank = (int64_t)tried;
        }
    }
    return best;
}
