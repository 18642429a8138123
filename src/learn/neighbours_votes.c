/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Votes of the nearest rows (neighbours.c finds them), for predictions and for the choice of their number.
 *
 * Support rows of equal content lie side by side (knn.c). Where the number of neighbours ends among such rows, all of them share the votes
 * that are left, so that the order of the training rows decides nothing. In the choice, a table given twice has the same errors as given once.
 */
#include "learn/neighbours.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/share.h"
#include "learn/neighbours_search.h"

/* Shares of votes are equal but for rounding. */
#define ROUNDING 1e-12

/* 1/distance, relative to that of the nearest row, so that nothing overflows. An exact match leaves the others no weight. */
static double vote_weight(const kfe_i_predictor *predictor, double nearest, double distance)
{
    if (!predictor->by_distance || distance == nearest)
        return 1;
    return sqrt(nearest / distance);
}

/* The rows from `first` up to `end` vote, each with this weight. */
static void add_votes(const kfe_i_predictor *predictor, int64_t first, int64_t end, double weight,
                      double *out)
{
    for (int64_t row = first; row < end; row++) {
        if (predictor->classes > 0)
            out[(int64_t)predictor->answers[row]] += weight;
        for (int64_t j = 0; predictor->classes == 0 && j < predictor->outputs; j++)
            out[j] += weight * predictor->answers[row * predictor->outputs + j];
    }
}

/* ---- predictions ---- */

/* Of classes with equal votes the nearest neighbour decides, not their names: its class gets one rounding unit more. */
static void settle_equal_votes(const kfe_i_predictor *predictor, const kfe_i_neighbour *found, double *out)
{
    int64_t equal = 0;
    double most = 0;

    for (int64_t j = 0; j < predictor->classes; j++)
        most = fmax(most, out[j]);
    for (int64_t j = 0; j < predictor->classes; j++)
        equal += out[j] >= most * (1 - ROUNDING);
    for (int64_t r = 0; equal > 1 && r < predictor->neighbours; r++) {
        int64_t class = (int64_t)predictor->answers[found[r].row];
        if (out[class] >= most * (1 - ROUNDING)) {
            out[class] = nextafter(most, INFINITY);
            return;
        }
    }
}

/* The support rows of the same content as the last neighbour: from *first up to *end. */
static void find_last_group(const kfe_i_table *support, int64_t last, int64_t *first, int64_t *end)
{
    *first = last;
    *end = last + 1;
    while (*first > 0 && kfe_i_neighbour_distance(support, *first - 1, support, last) == 0)
        --*first;
    while (*end < support->rows && kfe_i_neighbour_distance(support, *end, support, last) == 0)
        ++*end;
}

static void vote(const void *user, int64_t query, const kfe_i_neighbour *found, double *out)
{
    const kfe_i_predictor *predictor = user;
    int64_t k = predictor->neighbours;
    double farthest = found[k - 1].distance;
    double total = isfinite(farthest) ? 0 : (double)NAN; /* rows beyond any distance are alike */
    int64_t first, end;
    int64_t whole = k; /* votes of the rows before the last group */

    (void)query;
    memset(out, 0, (size_t)predictor->outputs * sizeof *out);
    find_last_group(&predictor->support, found[k - 1].row, &first, &end);
    while (whole > 0 && found[whole - 1].row >= first && found[whole - 1].row < end)
        whole--;
    for (int64_t r = 0; r < whole; r++) {
        double weight = vote_weight(predictor, found[0].distance, found[r].distance);
        add_votes(predictor, found[r].row, found[r].row + 1, weight, out);
        total += weight;
    }
    double weight = vote_weight(predictor, found[0].distance, farthest);
    double left = (double)(k - whole);
    add_votes(predictor, first, end, weight * left / (double)(end - first), out);
    total += weight * left;
    for (int64_t j = 0; j < predictor->outputs; j++)
        out[j] /= total;
    settle_equal_votes(predictor, found, out);
}

kfe_status kfe_i_neighbours_outputs(kfe_context *ctx, const kfe_i_predictor *predictor,
                                    const kfe_i_table *features, double *out)
{
    const kfe_i_neighbour_search search = {.support = &predictor->support,
                                           .k = predictor->neighbours,
                                           .answer = vote,
                                           .user = predictor,
                                           .width = predictor->outputs};

    return kfe_i_neighbours_search(ctx, &search, features, out);
}

/* ---- leave-one-out ---- */

typedef struct leaving {
    const kfe_i_predictor *predictor;
    const kfe_i_neighbour_groups *groups;
    int64_t k, unit, numbers;
    double *sums; /* groups × outputs: the votes of all rows of a group */
} leaving;

/* The votes for one training row. */
typedef struct tally {
    const leaving *job;
    int64_t row;
    int64_t m, voted;
    double total;  /* of the weights */
    double *votes; /* outputs */
    double *shared;
} tally;

/* The share of the classes with most votes that are not that of the row: names of classes decide nothing here. */
static double share_of_wrong(const kfe_i_predictor *predictor, int64_t row, const double *votes)
{
    double own = votes[(int64_t)predictor->answers[row]];
    int equal = 0;

    for (int64_t j = 0; j < predictor->classes; j++) {
        if (votes[j] > own * (1 + ROUNDING))
            return 1;
        equal += votes[j] >= own * (1 - ROUNDING);
    }
    return 1 - 1.0 / equal;
}

/* The loss of votes for a training row: 0 to 1 for classes, else the squared error of the means. */
static double loss_of(const kfe_i_predictor *predictor, int64_t row, const double *votes, double total)
{
    double loss = 0;

    if (predictor->classes > 0)
        return share_of_wrong(predictor, row, votes);
    for (int64_t j = 0; j < predictor->outputs; j++) {
        double error = votes[j] / total - predictor->answers[row * predictor->outputs + j];
        loss += error * error;
    }
    return loss;
}

/* `size` rows vote, whose votes add up to `sum`. out[m] += the loss, counted `count` times, for each number that is reached. */
static void take_votes(tally *t, const double *sum, int64_t size, double weight, double count, double *out)
{
    const leaving *job = t->job;
    int64_t outputs = job->predictor->outputs;

    for (; t->m < job->numbers && (2 * t->m + 1) * job->unit <= t->voted + size; t->m++) {
        double left = weight * (double)((2 * t->m + 1) * job->unit - t->voted);
        for (int64_t j = 0; j < outputs; j++)
            t->shared[j] = t->votes[j] + left / (double)size * sum[j];
        out[t->m] += count * loss_of(job->predictor, t->row, t->shared, t->total + left);
    }
    for (int64_t j = 0; j < outputs; j++)
        t->votes[j] += weight * sum[j];
    t->total += weight * (double)size;
    t->voted += size;
}

/* The votes of the rows beside `own` that remain when `gone` rows with the answer of t->row are left out. */
static void take_own_votes(tally *t, int64_t own, int64_t size, int64_t gone, double count, double *out)
{
    const kfe_i_predictor *predictor = t->job->predictor;
    int64_t outputs = predictor->outputs;
    double *sum = t->shared + outputs;

    memcpy(sum, t->job->sums + own * outputs, (size_t)outputs * sizeof *sum);
    add_votes(predictor, t->row, t->row + 1, -(double)gone, sum);
    if (size > gone)
        take_votes(t, sum, size - gone, 1, count, out);
}

/* The number of rows from `row` up to `end` with the same answer, side by side. */
static int64_t count_alike(const kfe_i_predictor *predictor, int64_t row, int64_t end)
{
    int64_t width = predictor->classes > 0 ? 1 : predictor->outputs;
    int64_t count = 1;

    while (row + count < end &&
           memcmp(predictor->answers + row * width, predictor->answers + (row + count) * width,
                  (size_t)width * sizeof *predictor->answers) == 0)
        count++;
    return count;
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : greatest_divisor(b, a % b);
}

int64_t kfe_i_neighbours_repeats(const kfe_i_predictor *predictor, const kfe_i_neighbour_groups *groups)
{
    int64_t divisor = 0;
    int64_t alike;

    for (int64_t g = 0; g < groups->count && divisor != 1; g++)
        for (int64_t row = groups->starts[g]; row < groups->starts[g + 1]; row += alike) {
            alike = count_alike(predictor, row, groups->starts[g + 1]);
            divisor = greatest_divisor(alike, divisor);
        }
    return divisor;
}

/* out[m] += the losses of the rows of group `own` from `row` on, which are alike. */
static void leave_out_alike(const leaving *job, int64_t own, int64_t row, int64_t alike,
                            const kfe_i_neighbour *found, double *work, double *out)
{
    const kfe_i_predictor *predictor = job->predictor;
    int64_t outputs = predictor->outputs;
    const int64_t *starts = job->groups->starts;
    int64_t size = starts[own + 1] - starts[own];
    int64_t gone = kfe_i_least(job->unit, alike);
    double count = (double)alike;
    double nearest = size > gone ? 0 : found[found[0].row == own].distance;
    tally t = {.job = job, .row = row, .votes = work, .shared = work + outputs};

    memset(t.votes, 0, (size_t)outputs * sizeof *t.votes);
    take_own_votes(&t, own, size, gone, count, out);
    for (int64_t r = 0; r < job->k && t.m < job->numbers; r++) {
        int64_t group = found[r].row;
        if (group != own)
            take_votes(&t, job->sums + group * outputs, starts[group + 1] - starts[group],
                       vote_weight(predictor, nearest, found[r].distance), count, out);
    }
    for (; t.m < job->numbers; t.m++)
        out[t.m] += count * loss_of(predictor, row, t.votes, t.total);
}

/* out: numbers, the losses of all rows of a group; behind them three times as many numbers as outputs to work with. */
static void leave_out(const void *user, int64_t query, const kfe_i_neighbour *found, double *out)
{
    const leaving *job = user;
    int64_t end = job->groups->starts[query + 1];
    int64_t alike;

    memset(out, 0, (size_t)job->numbers * sizeof *out);
    for (int64_t row = job->groups->starts[query]; row < end; row += alike) {
        alike = count_alike(job->predictor, row, end);
        leave_out_alike(job, query, row, alike, found, out + job->numbers, out);
    }
}

/* One row of each group. */
static kfe_status gather_groups(kfe_context *ctx, const kfe_i_table *support,
                                const kfe_i_neighbour_groups *groups, kfe_i_table *out)
{
    if (groups->count == support->rows) {
        *out = kfe_i_table_slice(support, 0, support->rows);
        return KFE_OK;
    }
    return kfe_i_table_gather(ctx, support, groups->starts, groups->count, out);
}

kfe_status kfe_i_neighbours_leave_one_out(kfe_context *ctx, const kfe_i_predictor *predictor,
                                          const kfe_i_neighbour_groups *groups, int64_t queries, int64_t unit,
                                          int64_t numbers, double *errors)
{
    kfe_status status = KFE_OK;
    int64_t outputs = predictor->outputs;
    kfe_i_table support = {0};
    double *losses = NULL;
    leaving job = {.predictor = predictor,
                   .groups = groups,
                   .k = kfe_i_least(groups->count, (2 * numbers - 1) * unit + 1),
                   .unit = unit,
                   .numbers = numbers};
    const kfe_i_neighbour_search search = {
        .support = &support, .k = job.k, .answer = leave_out, .user = &job, .width = numbers + 3 * outputs};

    KFE_ALLOC(ctx, losses, queries * search.width);
    KFE_ALLOC_ZERO(ctx, job.sums, groups->count * outputs);
    for (int64_t g = 0; g < groups->count; g++)
        add_votes(predictor, groups->starts[g], groups->starts[g + 1], 1, job.sums + g * outputs);
    KFE_TRY(gather_groups(ctx, &predictor->support, groups, &support));
    kfe_i_table asking = kfe_i_table_slice(&support, 0, queries);
    KFE_TRY(kfe_i_neighbours_search(ctx, &search, &asking, losses));
    memset(errors, 0, (size_t)numbers * sizeof *errors);
    for (int64_t g = 0; g < queries; g++)
        for (int64_t m = 0; m < numbers; m++)
            errors[m] += losses[g * search.width + m] / (double)groups->starts[queries];
cleanup:
    kfe_i_table_free(&support);
    kfe_i_free(ctx, job.sums);
    kfe_i_free(ctx, losses);
    return status;
}
