/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibration of classifiers: Platt's sigmoids, isotonic curves, and the coupling of binary probabilities. The fit learns
 * one (model/calibrate.c), and the model applies it.
 *
 * A sigmoid 1/(1 + exp(a·f + b)) minimises the cross-entropy to targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), by Newton's
 * method with a line search. An isotonic curve is the rising step function nearest to the labels (pool adjacent
 * violators), kept within 1/(n + 2) of 0 and 1, since n examples cannot show that a class is impossible.
 *
 * Examples count by their weights, N and n included.
 *
 * Platt (1999); Lin, Lin & Weng (2007); Zadrozny & Elkan (2002); Wu, Lin & Weng (2004). Time O(n log n) per problem.
 */
#include "learn/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

void kfe_i_calibration_free(kfe_i_calibration *c)
{
    if (c->ctx) {
        kfe_i_free(c->ctx, c->sigmoids);
        kfe_i_free(c->ctx, c->start);
        kfe_i_free(c->ctx, c->scores);
        kfe_i_free(c->ctx, c->values);
    }
    memset(c, 0, sizeof *c);
}

/* ---- binary problems ---- */

/* One example of a binary problem. */
typedef struct example {
    double score;
    int positive;
    double weight;
} example;

int64_t kfe_i_calibration_problems(const kfe_i_predictor *p)
{
    return p->decision == KFE_DECIDE_LARGEST && p->classes == 2 ? 1 : p->outputs;
}

static double score_of(const kfe_i_predictor *p, const double *outputs, int64_t problem)
{
    return p->decision == KFE_DECIDE_LARGEST && p->classes == 2 ? outputs[0] - outputs[1] : outputs[problem];
}

/* The two classes of pair number `problem`. */
static void sides_of(int64_t classes, int64_t problem, int64_t *first, int64_t *second)
{
    *first = 0;
    for (int64_t rivals = classes - 1; problem >= rivals; rivals--) {
        problem -= rivals;
        (*first)++;
    }
    *second = *first + 1 + problem;
}

/* 1: the class is the positive one of a problem; 0: it is negative; -1: it does not belong to the problem. */
static int side_of(const kfe_i_predictor *p, int64_t problem, int32_t code)
{
    int64_t first = problem;
    int64_t second = 0;

    if (p->decision == KFE_DECIDE_PAIRS) {
        sides_of(p->classes, problem, &first, &second);
        return code == first ? 1 : code == second ? 0 : -1;
    }
    if (p->decision == KFE_DECIDE_CHAIN && code < problem)
        return -1;
    return code == first;
}

/* ---- Platt ---- */

typedef struct sigmoid_fit {
    const example *examples;
    int64_t count;
    double high, low; /* targets of the two classes */
} sigmoid_fit;

/* −log of the likelihood, without overflow. */
static double entropy_at(const sigmoid_fit *fit, double a, double b)
{
    double sum = 0;

    for (int64_t i = 0; i < fit->count; i++) {
        double t = fit->examples[i].positive ? fit->high : fit->low;
        double z = a * fit->examples[i].score + b;
        sum += fit->examples[i].weight * (z >= 0 ? t * z + log1p(exp(-z)) : (t - 1) * z + log1p(exp(z)));
    }
    return sum;
}

static double sigmoid(double z)
{
    return z >= 0 ? exp(-z) / (1 + exp(-z)) : 1 / (1 + exp(z));
}

/* The Newton step (da, db) and the derivative along it. */
static double newton_step(const sigmoid_fit *fit, double a, double b, double *da, double *db)
{
    double h11 = 1e-12;
    double h22 = 1e-12;
    double h21 = 0;
    double g1 = 0;
    double g2 = 0;

    for (int64_t i = 0; i < fit->count; i++) {
        double f = fit->examples[i].score;
        double p = sigmoid(a * f + b);
        double weight = fit->examples[i].weight * (p * (1 - p));
        double left = fit->examples[i].weight * ((fit->examples[i].positive ? fit->high : fit->low) - p);
        h11 += f * f * weight;
        h22 += weight;
        h21 += f * weight;
        g1 += f * left;
        g2 += left;
    }
    double determinant = h11 * h22 - h21 * h21;
    *da = -(h22 * g1 - h21 * g2) / determinant;
    *db = -(h11 * g2 - h21 * g1) / determinant;
    return fabs(g1) < 1e-9 && fabs(g2) < 1e-9 ? 0 : g1 * *da + g2 * *db;
}

static void fit_sigmoid(const sigmoid_fit *fit, double start, double out[2])
{
    enum { MOST_ITERATIONS = 100 };
    double a = 0;
    double b = start;
    double value = entropy_at(fit, a, b);

    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        double da = 0;
        double db = 0;
        double step = 1;
        double slope = newton_step(fit, a, b, &da, &db);
        double next = 0;
        if (!(slope < 0))
            break;
        while (step > 1e-10 &&
               !((next = entropy_at(fit, a + step * da, b + step * db)) < value + 1e-4 * step * slope))
            step /= 2;
        if (step <= 1e-10)
            break;
        a += step * da;
        b += step * db;
        value = next;
    }
    out[0] = a;
    out[1] = b;
}

/* A shared sigmoid rises at least this much over the scores, so that no probability contradicts a decision. */
#define KFE_LEAST_SLOPE 1e-6

/* Scores are divided by their size first, so that Newton's tolerances fit any scale. */
static void learn_sigmoid(example *examples, int64_t count, double out[2])
{
    sigmoid_fit fit = {.examples = examples, .count = count};
    double positives = 0;
    double negatives = 0;
    double size = 0;

    for (int64_t i = 0; i < count; i++) {
        positives += examples[i].positive ? examples[i].weight : 0;
        negatives += examples[i].positive ? 0 : examples[i].weight;
        size = fmax(size, fabs(examples[i].score));
    }
    size = size > 0 ? size : 1;
    for (int64_t i = 0; i < count; i++)
        examples[i].score /= size;
    fit.high = (positives + 1) / (positives + 2);
    fit.low = 1 / (negatives + 2);
    fit_sigmoid(&fit, log((negatives + 1) / (positives + 1)), out);
    out[0] /= size;
}

/* ---- isotonic ---- */

static int by_score(const void *a, const void *b)
{
    const example *x = a;
    const example *y = b;

    return x->score < y->score ? -1 : x->score > y->score;
}

/* Rows that share one value of the curve. */
typedef struct block {
    double positives, rows, first, last; /* the lowest and the highest score */
} block;

/* Pools neighbours until the shares of positives rise; returns the number of blocks. Examples of equal scores begin as
 * one block. */
static int64_t pool(const example *sorted, int64_t count, block *blocks)
{
    int64_t used = 0;

    for (int64_t i = 0; i < count; i++) {
        if (used > 0 && blocks[used - 1].last == sorted[i].score) {
            blocks[used - 1].positives += sorted[i].positive ? sorted[i].weight : 0;
            blocks[used - 1].rows += sorted[i].weight;
        } else {
            blocks[used++] = (block){sorted[i].positive ? sorted[i].weight : 0, sorted[i].weight,
                                     sorted[i].score, sorted[i].score};
        }
        if (i + 1 < count && sorted[i + 1].score == sorted[i].score)
            continue;
        while (used > 1 && blocks[used - 2].positives * blocks[used - 1].rows >=
                               blocks[used - 1].positives * blocks[used - 2].rows) {
            blocks[used - 2].positives += blocks[used - 1].positives;
            blocks[used - 2].rows += blocks[used - 1].rows;
            blocks[used - 2].last = blocks[used - 1].last;
            used--;
        }
    }
    return used;
}

static void add_point(kfe_i_calibration *out, int64_t *place, double score, double value)
{
    out->scores[*place] = score;
    out->values[(*place)++] = value;
}

/* Appends the curve of one problem from *place on: both ends of every block. */
static kfe_status learn_curve(kfe_i_calibration *out, example *examples, int64_t count, int64_t *place)
{
    kfe_status status = KFE_OK;
    block *blocks = NULL;
    double mass = 0;

    for (int64_t i = 0; i < count; i++)
        mass += examples[i].weight;
    double edge = 1 / (mass + 2);
    KFE_ALLOC(out->ctx, blocks, count);
    qsort(examples, (size_t)count, sizeof *examples, by_score);
    int64_t used = pool(examples, count, blocks);
    for (int64_t b = 0; b < used; b++) {
        double value = fmin(fmax(blocks[b].positives / blocks[b].rows, edge), 1 - edge);
        add_point(out, place, blocks[b].first, value);
        if (blocks[b].last > blocks[b].first)
            add_point(out, place, blocks[b].last, value);
    }
cleanup:
    kfe_i_free(out->ctx, blocks);
    return status;
}

static double curve_at(const double *scores, const double *values, int64_t count, double score)
{
    int64_t low = 0;
    int64_t high = count - 1;

    if (!(score > scores[0]))
        return values[0];
    if (score >= scores[high])
        return values[high];
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (scores[middle] <= score)
            low = middle;
        else
            high = middle;
    }
    double share = (score - scores[low]) / (scores[high] - scores[low]);
    return values[low] + share * (values[high] - values[low]);
}

/* ---- learning ---- */

/* The examples of one problem; *positives of them are of its first class. */
static int64_t collect(const kfe_i_predictor *p, int64_t problem, const kfe_i_target *target,
                       const double *outputs, example *examples)
{
    int64_t count = 0;

    for (int64_t i = 0; i < target->rows; i++) {
        int side = side_of(p, problem, target->codes[i]);
        if (side >= 0)
            examples[count++] =
                (example){score_of(p, outputs + i * p->outputs, problem), side, kfe_i_weight_of(target, i)};
    }
    return count;
}

static int has_both(const example *examples, int64_t count)
{
    int64_t positives = 0;

    for (int64_t i = 0; i < count; i++)
        positives += examples[i].positive;
    return positives > 0 && positives < count;
}

static kfe_status begin(kfe_context *ctx, kfe_i_calibration_kind kind, int64_t problems, int64_t rows,
                        kfe_i_calibration *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_calibration){.ctx = ctx, .kind = kind, .problems = problems};
    if (kind == KFE_CALIBRATION_PLATT) {
        KFE_ALLOC_ZERO(ctx, out->sigmoids, 2 * problems);
        goto cleanup;
    }
    KFE_ALLOC_ZERO(ctx, out->start, problems + 1);
    KFE_ALLOC(ctx, out->scores, 2 * problems * rows);
    KFE_ALLOC(ctx, out->values, 2 * problems * rows);
cleanup:
    return status;
}

kfe_status kfe_i_calibration_learn(kfe_context *ctx, kfe_i_calibration_kind kind, const kfe_i_predictor *p,
                                   const kfe_i_target *target, const double *outputs, kfe_i_calibration *out)
{
    kfe_status status = KFE_OK;
    example *examples = NULL;
    int64_t place = 0;

    KFE_TRY(begin(ctx, kind, kfe_i_calibration_problems(p), target->rows, out));
    KFE_ALLOC(ctx, examples, target->rows);
    for (int64_t problem = 0; problem < out->problems; problem++) {
        int64_t count = collect(p, problem, target, outputs, examples);
        if (!has_both(examples, count))
            KFE_FAIL(ctx, KFE_EINPUT,
                     "{calibration} needs examples of every class; leave out the classes without any");
        if (kind == KFE_CALIBRATION_PLATT) {
            learn_sigmoid(examples, count, out->sigmoids + 2 * problem);
            continue;
        }
        KFE_TRY(learn_curve(out, examples, count, &place));
        out->start[problem + 1] = place;
    }
cleanup:
    kfe_i_free(ctx, examples);
    if (status != KFE_OK)
        kfe_i_calibration_free(out);
    return status;
}

/* One output per class; the examples of all problems. Of two classes, the problem and its mirror image, so that 0 means ½. */
static int64_t collect_all(const kfe_i_predictor *p, const kfe_i_target *target, const double *outputs,
                           example *examples)
{
    int64_t problems = kfe_i_calibration_problems(p);
    int64_t count = 0;

    for (int64_t problem = 0; problem < problems; problem++)
        count += collect(p, problem, target, outputs, examples + count);
    for (int64_t i = 0; problems == 1 && i < target->rows; i++)
        examples[count++] = (example){-examples[i].score, !examples[i].positive, examples[i].weight};
    return count;
}

kfe_status kfe_i_calibration_learn_shared(kfe_context *ctx, const kfe_i_predictor *p,
                                          const kfe_i_target *target, const double *outputs,
                                          kfe_i_calibration *out)
{
    kfe_status status = KFE_OK;
    example *examples = NULL;
    double shared[2];
    double size = 0;

    KFE_TRY(kfe_i_calibration_learn(ctx, KFE_CALIBRATION_PLATT, p, target, outputs, out));
    KFE_ALLOC(ctx, examples, target->rows * (out->problems + 1));
    int64_t count = collect_all(p, target, outputs, examples);
    for (int64_t i = 0; i < count; i++)
        size = fmax(size, fabs(examples[i].score));
    learn_sigmoid(examples, count, shared);
    shared[0] = fmin(shared[0], -KFE_LEAST_SLOPE / (size > 0 ? size : 1));
    for (int64_t problem = 0; problem < out->problems; problem++) {
        out->sigmoids[2 * problem] = shared[0];
        out->sigmoids[2 * problem + 1] = out->problems == 1 ? 0 : shared[1];
    }
cleanup:
    kfe_i_free(ctx, examples);
    if (status != KFE_OK)
        kfe_i_calibration_free(out);
    return status;
}

/* ---- applying ---- */

static double probability_of(const kfe_i_calibration *c, int64_t problem, double score)
{
    if (c->kind == KFE_CALIBRATION_PLATT)
        return sigmoid(c->sigmoids[2 * problem] * score + c->sigmoids[2 * problem + 1]);
    int64_t first = c->start[problem];
    return curve_at(c->scores + first, c->values + first, c->start[problem + 1] - first, score);
}

static void normalise(int64_t classes, double *p)
{
    double sum = 0;

    for (int64_t g = 0; g < classes; g++)
        sum += p[g];
    for (int64_t g = 0; g < classes; g++)
        p[g] = sum > 0 ? p[g] / sum : 1 / (double)classes;
}

/* Minimises Σ (r_hg p_g − r_gh p_h)² over probabilities: q (classes²) is the matrix of that problem, and its stationary
 * point is reached by updating one probability after the other. */
static void couple(int64_t classes, const double *r, double *q, double *p)
{
    enum { MOST_SWEEPS = 1000 };

    for (int64_t g = 0; g < classes; g++) {
        q[g * classes + g] = 0;
        p[g] = 1 / (double)classes;
        for (int64_t h = 0; h < classes; h++) {
            if (h == g)
                continue;
            q[g * classes + g] += r[h * classes + g] * r[h * classes + g];
            q[g * classes + h] = -r[h * classes + g] * r[g * classes + h];
        }
    }
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        double moved = 0;
        for (int64_t g = 0; g < classes; g++) {
            double qp = 0;
            double pqp = 0;
            for (int64_t a = 0; a < classes; a++) {
                double row = 0;
                for (int64_t b = 0; b < classes; b++)
                    row += q[a * classes + b] * p[b];
                pqp += p[a] * row;
                qp = a == g ? row : qp;
            }
            double change = (pqp - qp) / q[g * classes + g];
            p[g] += change;
            for (int64_t a = 0; a < classes; a++)
                p[a] /= 1 + change;
            moved = fmax(moved, fabs(change));
        }
        if (moved < 1e-12)
            break;
    }
}

/* r (classes²): r_gh is the probability of g, given that it is g or h. Kept from 0 and 1, where coupling has no solution. */
static void apply_pairs(const kfe_i_calibration *c, int64_t classes, const double *outputs, double *work,
                        double *p)
{
    double *r = work;
    double *q = work + classes * classes;
    int64_t problem = 0;

    for (int64_t g = 0; g < classes; g++)
        for (int64_t h = g + 1; h < classes; h++, problem++) {
            double share = fmin(fmax(probability_of(c, problem, outputs[problem]), 1e-7), 1 - 1e-7);
            r[g * classes + h] = share;
            r[h * classes + g] = 1 - share;
        }
    couple(classes, r, q, p);
    normalise(classes, p);
}

static void apply_chain(const kfe_i_calibration *c, int64_t classes, const double *outputs, double *p)
{
    double left = 1;

    for (int64_t g = 0; g < classes - 1; g++) {
        double share = probability_of(c, g, outputs[g]);
        p[g] = left * share;
        left *= 1 - share;
    }
    p[classes - 1] = left;
}

void kfe_i_calibration_apply(const kfe_i_calibration *c, const kfe_i_predictor *predictor,
                             const double *outputs, double *work, double *p)
{
    int64_t classes = predictor->classes;

    if (predictor->decision == KFE_DECIDE_CHAIN) {
        apply_chain(c, classes, outputs, p);
    } else if (classes == 2) {
        p[0] = probability_of(c, 0, score_of(predictor, outputs, 0));
        p[1] = 1 - p[0];
    } else if (predictor->decision == KFE_DECIDE_PAIRS) {
        apply_pairs(c, classes, outputs, work, p);
    } else {
        for (int64_t g = 0; g < classes; g++)
            p[g] = probability_of(c, g, outputs[g]);
        normalise(classes, p);
    }
}
