/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The solver of large SVMs, for the learner svm. In each round every problem that is not solved yet
 *     1. chooses a working set of some hundred variables (problem.c);
 *     2. gets the kernel rows of their examples, which are evaluated for all problems together (kernel_rows.c);
 *     3. solves the problem of these variables by SMO, the others being fixed (subproblem.c);
 *     4. adds the rows, times the changes of β, to its values f = Gβ.
 * An example of one-against-one problems belongs to several of them, which share its row.
 *
 * Precision: rows are in single precision, values in double. When all problems are solved, f is computed from β again with
 * the operator, in double precision. If that shows a violation, the rounds go on: errors of the rows then count only in
 * proportion to what β changes from there on, as in iterative refinement.
 *
 * A problem that is then not solved, or has taken many pairs, is finished by exact.c. Problems on a linear kernel are brought down
 * to rounding there: that takes a few Newton steps on their few free variables, and equal problems then have equal answers, whether
 * a row has weight 2 or is there twice.
 *
 * Problems are divided among threads, and no sum depends on which thread computes it.
 *
 * Wen, Shi, Li, He & Chen, "ThunderSVM: a fast SVM library on GPUs and CPUs" (2018).
 * Time: O(n·rows) kernel values, rows ≤ n if they all fit; twice as many in double precision for the values at the end.
 * Memory: up to half of what is left of the limit for rows.
 */
#include "learn/blocks/blocks.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "learn/blocks/exact.h"
#include "learn/blocks/kernel_rows.h"
#include "learn/blocks/problem.h"
#include "learn/blocks/subproblem.h"
#include "learn/svm_dual.h"

enum { WORKING_SET = 512, LEAST_WORKING_SET = 8 };
/* Share of the memory that is left which rows may take. */
#define ROWS_SHARE 0.5
/* A working set is solved to this share of the violation outside, or to half of what is accepted. */
#define INNER_SHARE 0.1
enum { INNER_ITERATIONS_PER_VARIABLE = 50 };
/* Rounds aim at a little less than what is accepted, because the values at the end differ by rounding. */
#define AIM 0.9
/* f is computed this often at most, and again only if the violation has become smaller than this share of the last one. */
enum { MOST_REFINEMENTS = 10 };
#define WORTHWHILE 0.9
/* Problems whose rows should fit at once, if possible. */
enum { FEW_PROBLEMS = 16 };
/* Number of problems per product with the operator, as in tiled operators. */
enum { TOGETHER = 64 };
/* LIBSVM's limit of iterations. */
enum { LEAST_LIMIT = 10000000, LIMIT_PER_EXAMPLE = 100 };
/* A problem that is not solved after this number of pairs is left to exact.h. */
enum { PAIRS_PER_VARIABLE = 300 };
/* Problems on a linear kernel are solved to this violation, relative to the largest target, unless that takes too many pairs. */
#define POLISHED 1e-11
enum { POLISHING_PAIRS_PER_VARIABLE = 20 };
/* Values that one thread updates at a time. */
enum { PANEL = 2048 };
/* Kernel values in the rows of one working set; with fewer, more threads do not pay off. */
enum { SMALL_ROUND = 1 << 19 };

typedef struct solver {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    const kfe_i_blocks_options *options;
    kfe_i_block_problem *problems;
    int64_t count;
    int64_t most; /* variables in a working set */
    int threads;
    kfe_i_kernel_rows *rows;
    kfe_i_subproblem *subs; /* one per thread */
    int64_t slots;
    int64_t *wanted;        /* slots: rows of a batch */
    uint64_t *wanted_parts; /* slots: and which parts of them */
    int64_t *batch;         /* problems that are solved together */
    int64_t *last_wanted;   /* n: the batch that wanted this row last */
    int64_t *wanted_at;     /* n: and where it is in `wanted` */
    const float **row_list; /* per thread: `most` rows */
    double *weights;        /* per thread: their weights */
    int64_t *examples;      /* per thread: the examples of a working set */
    float *block_work;      /* per thread */
    int64_t block_own;
    int64_t batches;
} solver;

/* ---- opening ---- */

static int64_t rows_that_fit(const solver *s)
{
    double n = (double)s->gram->size;
    int64_t columns = s->count < TOGETHER ? s->count : TOGETHER;
    double own = 24 * n * (double)columns + s->threads * kfe_i_subproblem_bytes(WORKING_SET);
    double rows = (ROWS_SHARE * (double)kfe_i_memory_left(s->ctx) - own) / (4 * n);

    return rows < LEAST_WORKING_SET ? LEAST_WORKING_SET : rows < n ? (int64_t)rows : s->gram->size;
}

static int64_t largest_problem(const kfe_i_svm_dual *problems, int64_t count)
{
    int64_t largest = 2;

    for (int64_t k = 0; k < count; k++) {
        int64_t variables = problems[k].real ? 2 * problems[k].count : problems[k].count;
        largest = variables > largest ? variables : largest;
    }
    return largest;
}

/* Small problems are solved on one thread: waking others would take longer than a round. */
static int useful_threads(const solver *s)
{
    return s->most * s->gram->size < SMALL_ROUND ? 1 : kfe_context_threads(s->ctx);
}

static void find_parts(const solver *s, kfe_i_block_problem *p)
{
    for (int64_t k = 0; k < p->span_count; k++)
        p->parts |= kfe_i_kernel_rows_parts(s->rows, p->spans[k].position, p->spans[k].count);
}

static kfe_status open_solver(solver *s, kfe_i_svm_dual *duals)
{
    kfe_status status = KFE_OK;
    int64_t largest = largest_problem(duals, s->count);

    s->most = s->options->working_set > 0 ? s->options->working_set : WORKING_SET;
    s->most = s->most < largest ? s->most : largest;
    s->threads = useful_threads(s);
    KFE_ALLOC_ZERO(s->ctx, s->problems, s->count);
    KFE_ALLOC_ZERO(s->ctx, s->subs, s->threads);
    KFE_ALLOC_ZERO(s->ctx, s->last_wanted, s->gram->size);
    KFE_ALLOC(s->ctx, s->batch, s->count);
    for (int64_t k = 0; k < s->count; k++)
        KFE_TRY(kfe_i_block_problem_open(s->ctx, &duals[k], s->gram->size, s->options->position, s->most,
                                         &s->problems[k]));
    kfe_i_room_for_rows room = {.most = rows_that_fit(s),
                                .at_once = s->most * kfe_i_least(s->count, FEW_PROBLEMS)};
    KFE_TRY(kfe_i_kernel_rows_new(s->gram, s->options->position, room, &s->rows));
    s->slots = kfe_i_kernel_rows_slots(s->rows);
    s->most = s->most < s->slots ? s->most : s->slots;
    KFE_ALLOC(s->ctx, s->wanted, s->slots);
    KFE_ALLOC(s->ctx, s->wanted_parts, s->slots);
    KFE_ALLOC(s->ctx, s->wanted_at, s->gram->size);
    KFE_ALLOC(s->ctx, s->row_list, s->most * s->threads);
    KFE_ALLOC(s->ctx, s->weights, s->most * s->threads);
    KFE_ALLOC(s->ctx, s->examples, s->most * s->threads);
    s->block_own = kfe_i_kernel_rows_block_work(s->rows, s->most);
    KFE_ALLOC(s->ctx, s->block_work, s->block_own * s->threads);
    for (int64_t k = 0; k < s->count; k++)
        find_parts(s, &s->problems[k]);
    for (int t = 0; t < s->threads; t++)
        KFE_TRY(kfe_i_subproblem_new(s->ctx, s->most, &s->subs[t]));
cleanup:
    return status;
}

static void close_solver(solver *s)
{
    for (int64_t k = 0; s->problems && k < s->count; k++)
        kfe_i_block_problem_free(s->ctx, &s->problems[k]);
    for (int t = 0; s->subs && t < s->threads; t++)
        kfe_i_subproblem_free(s->ctx, &s->subs[t]);
    kfe_i_kernel_rows_free(s->rows);
    kfe_i_free(s->ctx, s->problems);
    kfe_i_free(s->ctx, s->subs);
    kfe_i_free(s->ctx, s->last_wanted);
    kfe_i_free(s->ctx, s->batch);
    kfe_i_free(s->ctx, s->wanted);
    kfe_i_free(s->ctx, s->row_list);
    kfe_i_free(s->ctx, s->weights);
    kfe_i_free(s->ctx, s->wanted_parts);
    kfe_i_free(s->ctx, s->wanted_at);
    kfe_i_free(s->ctx, s->examples);
    kfe_i_free(s->ctx, s->block_work);
}

/* ---- one working set ---- */

/* Copies the problem of the working set. */
static void fill_subproblem(const solver *s, const kfe_i_block_problem *p, kfe_i_subproblem *sub, int thread)
{
    int64_t *examples = s->examples + s->most * thread;

    sub->count = p->set_count;
    for (int64_t a = 0; a < sub->count; a++)
        examples[a] = kfe_i_row_of(p, p->set[a]);
    kfe_i_kernel_rows_block(s->rows, examples, sub->count, s->block_work + s->block_own * thread, sub->block,
                            sub->capacity);
    for (int64_t a = 0; a < sub->count; a++) {
        int64_t t = p->set[a];
        sub->diagonal[a] = (double)sub->block[a * sub->capacity + a];
        sub->beta[a] = p->beta[t];
        sub->lowest[a] = kfe_i_lowest_of(p, t);
        sub->highest[a] = kfe_i_highest_of(p, t);
        sub->residual[a] = p->target[t] - p->values[kfe_i_example_of(p, t)];
    }
}

static int64_t limit_of(const kfe_i_block_problem *p)
{
    int64_t limit = LIMIT_PER_EXAMPLE * p->examples;
    return limit > LEAST_LIMIT ? limit : LEAST_LIMIT;
}

static int64_t pairs_of(const kfe_i_block_problem *p)
{
    return kfe_i_least(limit_of(p), PAIRS_PER_VARIABLE * p->variables);
}

static int diagonal_is_finite(const kfe_i_subproblem *sub)
{
    for (int64_t a = 0; a < sub->count; a++)
        if (!isfinite(sub->diagonal[a]))
            return 0;
    return 1;
}

/* A problem whose working set does not move, although it violates the conditions, is as good as rounding allows. */
static void solve_working_set(const solver *s, kfe_i_block_problem *p, int thread)
{
    kfe_i_subproblem *sub = &s->subs[thread];
    double violation = p->extremes.highest - p->extremes.lowest;
    double tolerance = fmax(s->options->stop / 2, INNER_SHARE * violation);
    int64_t limit = INNER_ITERATIONS_PER_VARIABLE * p->set_count;

    fill_subproblem(s, p, sub, thread);
    int64_t done = kfe_i_subproblem_solve(sub, tolerance, limit);
    p->dual->iterations += done;
    p->finished = done == 0 || p->dual->iterations >= pairs_of(p);
    p->overflowed = !diagonal_is_finite(sub);
    for (int64_t a = 0; a < p->set_count; a++) {
        p->change[a] = sub->beta[a] - p->beta[p->set[a]];
        kfe_i_block_set(p, p->set[a], sub->beta[a]);
    }
}

/* ---- values ---- */

/* Adds the changes to the values of up to PANEL examples of one span, from `from` on; `start` is the span's first one. */
static void add_changes(const solver *s, kfe_i_block_problem *p, kfe_i_span span, int64_t start, int64_t from,
                        int thread)
{
    const float **list = s->row_list + s->most * thread;
    double *weights = s->weights + s->most * thread;
    int64_t width = span.count - from < PANEL ? span.count - from : PANEL;
    int64_t used = 0;

    for (int64_t a = 0; a < p->set_count; a++) {
        if (p->change[a] == 0)
            continue;
        list[used] = kfe_i_kernel_rows_get(s->rows, kfe_i_row_of(p, p->set[a])) + span.position + from;
        weights[used++] = p->change[a];
    }
    kfe_i_add_kernel_rows(weights, list, used, width, p->values + start + from);
}

/* The panels of all spans, dealt out to the threads in turn. */
static void update_values(const solver *s, kfe_i_block_problem *p, int thread, int threads)
{
    int64_t start = 0;
    int64_t panel = 0;

    for (int64_t k = 0; k < p->span_count; k++) {
        for (int64_t from = 0; from < p->spans[k].count; from += PANEL)
            if (panel++ % threads == thread)
                add_changes(s, p, p->spans[k], start, from, thread);
        start += p->spans[k].count;
    }
}

/* ---- rounds ---- */

/* Adds the rows of a problem to the batch; returns 0 if they do not fit. */
static int join_batch(solver *s, const kfe_i_block_problem *p, int64_t *wanted)
{
    int64_t before = *wanted;

    for (int64_t a = 0; a < p->set_count; a++) {
        int64_t row = kfe_i_row_of(p, p->set[a]);
        if (s->last_wanted[row] == s->batches) {
            s->wanted_parts[s->wanted_at[row]] |= p->parts;
            continue;
        }
        if (*wanted == s->slots) {
            while (*wanted > before)
                s->last_wanted[s->wanted[--*wanted]] = 0;
            return 0;
        }
        s->last_wanted[row] = s->batches;
        s->wanted_at[row] = *wanted;
        s->wanted_parts[*wanted] = p->parts;
        s->wanted[(*wanted)++] = row;
    }
    return 1;
}

static kfe_status run_batch(solver *s, int64_t size, int64_t wanted)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_kernel_rows_fetch(s->rows, s->wanted, s->wanted_parts, wanted));
#pragma omp parallel num_threads(s->threads)
    {
        int thread = omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < size; k++)
            solve_working_set(s, &s->problems[s->batch[k]], thread);
        for (int64_t k = 0; k < size; k++)
            update_values(s, &s->problems[s->batch[k]], thread, omp_get_num_threads());
    }
    for (int64_t k = 0; k < size; k++)
        if (s->problems[s->batch[k]].overflowed)
            return kfe_i_svm_overflow(s->ctx);
cleanup:
    return status;
}

/* One working set of every problem, as many problems at a time as their rows fit. */
static kfe_status run_round(solver *s)
{
    kfe_status status = KFE_OK;
    int64_t next = 0;

    while (next < s->count) {
        int64_t size = 0;
        int64_t wanted = 0;
        s->batches++;
        for (; next < s->count; next++) {
            if (s->problems[next].finished)
                continue;
            if (!join_batch(s, &s->problems[next], &wanted))
                break;
            s->batch[size++] = next;
        }
        if (size > 0)
            KFE_TRY(run_batch(s, size, wanted));
    }
cleanup:
    return status;
}

/* Returns the number of problems that are not solved. */
static int64_t choose_working_sets(solver *s)
{
    int64_t open = 0;

#pragma omp parallel for num_threads(s->threads) schedule(dynamic, 1) reduction(+ : open)
    for (int64_t k = 0; k < s->count; k++) {
        kfe_i_block_problem *p = &s->problems[k];
        if (p->finished)
            continue;
        p->finished = !(kfe_i_block_violation(p) > AIM * s->options->stop);
        if (p->finished)
            continue;
        kfe_i_block_choose(p, s->most);
        open++;
    }
    return open;
}

static kfe_status run_rounds(solver *s)
{
    kfe_status status = KFE_OK;
    int64_t open;

    while ((open = choose_working_sets(s)) > 0) {
        KFE_TRY(kfe_i_progress(s->ctx, "training SVMs", s->count - open, s->count));
        KFE_TRY(run_round(s));
    }
cleanup:
    return status;
}

/* ---- values from scratch ---- */

static void scatter(const kfe_i_block_problem *p, double *column, int64_t stride)
{
    for (int64_t t = 0; t < p->variables; t++)
        column[kfe_i_row_of(p, t) * stride] += p->beta[t];
}

static kfe_status compute_values_of(solver *s, int64_t first, int64_t count)
{
    kfe_status status = KFE_OK;
    int64_t n = s->gram->size;
    double *beta = NULL;
    double *product = NULL;

    KFE_ALLOC_ZERO(s->ctx, beta, n * count);
    KFE_ALLOC(s->ctx, product, n * count);
    for (int64_t k = 0; k < count; k++)
        scatter(&s->problems[first + k], beta + k, count);
    KFE_TRY(kfe_i_gram_times_sparse(s->gram, beta, count, product));
    for (int64_t k = 0; k < count; k++) {
        kfe_i_block_problem *p = &s->problems[first + k];
        for (int64_t e = 0; e < p->examples; e++)
            p->values[e] = product[kfe_i_row_of(p, e) * count + k];
    }
cleanup:
    kfe_i_free(s->ctx, beta);
    kfe_i_free(s->ctx, product);
    return status;
}

/* Computes the values of all problems from β. *violation is the largest of all. */
static kfe_status compute_values(solver *s, double *violation)
{
    kfe_status status = KFE_OK;

    *violation = 0;
    for (int64_t first = 0; first < s->count; first += TOGETHER)
        KFE_TRY(compute_values_of(s, first, s->count - first < TOGETHER ? s->count - first : TOGETHER));
    for (int64_t k = 0; k < s->count; k++) {
        double one = kfe_i_block_violation(&s->problems[k]);
        s->problems[k].finished = !(one > s->options->stop);
        *violation = fmax(*violation, one);
    }
cleanup:
    return status;
}

/* Finishes the problems that are left, one after the other. */
static kfe_status solve_the_rest(solver *s, double *violation)
{
    kfe_status status = KFE_OK;

    for (int64_t k = 0; k < s->count; k++) {
        kfe_i_block_problem *p = &s->problems[k];
        kfe_i_exact_options options = {s->options->stop, s->most, limit_of(p)};
        if (!p->finished)
            KFE_TRY(kfe_i_block_solve_exactly(s->ctx, s->gram, p, &options));
    }
    KFE_TRY(compute_values(s, violation));
cleanup:
    return status;
}

static double polished(const solver *s, const kfe_i_block_problem *p)
{
    double largest = 0;

    for (int64_t t = 0; t < p->variables; t++)
        largest = fmax(largest, fabs(p->target[t]));
    return fmin(s->options->stop, POLISHED * largest);
}

/* Brings problems on a linear kernel, which has few free variables and cheap rows, down to rounding. */
static kfe_status polish(solver *s)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *transposed;
    double violation;
    int64_t done = 0;

    if (!kfe_i_gram_factor(s->gram, &transposed))
        return KFE_OK;
    for (int64_t k = 0; k < s->count; k++) {
        kfe_i_block_problem *p = &s->problems[k];
        kfe_i_exact_options options = {polished(s, p), kfe_i_least(s->most, p->variables),
                                       POLISHING_PAIRS_PER_VARIABLE * p->variables};
        if (!p->finished || kfe_i_block_violation(p) <= options.stop)
            continue;
        KFE_TRY(kfe_i_block_solve_exactly(s->ctx, s->gram, p, &options));
        done++;
    }
    if (done > 0)
        KFE_TRY(compute_values(s, &violation));
cleanup:
    return status;
}

static int is_warm(const solver *s)
{
    for (int64_t k = 0; k < s->count; k++)
        for (int64_t t = 0; t < s->problems[k].variables; t++)
            if (s->problems[k].beta[t] != 0)
                return 1;
    return 0;
}

static kfe_status solve(solver *s)
{
    kfe_status status = KFE_OK;
    double violation = INFINITY;
    double before;
    int refinements = 0;

    if (is_warm(s))
        KFE_TRY(compute_values(s, &violation));
    violation = INFINITY;
    do {
        before = violation;
        KFE_TRY(run_rounds(s));
        KFE_TRY(compute_values(s, &violation));
    } while (violation > s->options->stop && violation <= WORTHWHILE * before &&
             ++refinements < MOST_REFINEMENTS);
    if (violation > s->options->stop)
        KFE_TRY(solve_the_rest(s, &violation));
    KFE_TRY(polish(s));
    kfe_i_log(s->ctx, KFE_LOG_INFO,
              "SVMs: %lld problems, %lld working sets, %lld rows of the kernel evaluated of %lld",
              (long long)s->count, (long long)s->batches, (long long)kfe_i_kernel_rows_evaluated(s->rows),
              (long long)s->gram->size);
cleanup:
    return status;
}

kfe_status kfe_i_blocks_solve(kfe_context *ctx, const kfe_i_gram *gram, kfe_i_svm_dual *problems,
                              int64_t count, const kfe_i_blocks_options *options)
{
    kfe_status status = KFE_OK;
    solver s = {.ctx = ctx, .gram = gram, .options = options, .count = count};

    for (int64_t k = 0; k < count; k++)
        problems[k].iterations = 0;
    KFE_TRY(open_solver(&s, problems));
    KFE_TRY(solve(&s));
    for (int64_t k = 0; k < count; k++)
        kfe_i_block_answer(&s.problems[k]);
cleanup:
    close_solver(&s);
    return status;
}
