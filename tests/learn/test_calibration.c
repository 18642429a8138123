/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration: sigmoids are stationary points of the cross-entropy, isotonic curves equal the max-min formula, and coupling
 * recovers probabilities from their own pairwise shares. */
#include <math.h>

#include "learn/calibration.h"
#include "support/fit.h"

enum { ROWS = 60 };

static kfe_i_predictor predictor_of(kfe_i_decision decision, int64_t classes)
{
    return (kfe_i_predictor){
        .decision = decision, .classes = classes, .outputs = kfe_i_decision_outputs(decision, classes)};
}

/* One output that tells two classes apart, with overlap and ties. */
static void make_scores(double scale, double *outputs, int32_t *codes)
{
    uint64_t random = 11;

    for (int i = 0; i < ROWS; i++) {
        codes[i] = i % 3 == 0;
        outputs[i] = scale * (floor(8 * support_normal(&random)) / 8 + (codes[i] ? -1 : 1));
    }
}

/* ---- Platt ---- */

static void test_sigmoid_is_stationary(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_predictor p = predictor_of(KFE_DECIDE_PAIRS, 2);
    double outputs[ROWS];
    int32_t codes[ROWS];

    for (int power = -6; power <= 6; power += 6) {
        double scale = pow(10, power);
        kfe_i_calibration c = {0};
        double positives = 0;
        double gradient[2] = {0};
        make_scores(scale, outputs, codes);
        assert_ok(ctx, kfe_i_calibration_learn(ctx, KFE_CALIBRATION_PLATT, &p,
                                               &(kfe_i_target){.rows = ROWS, .codes = codes}, outputs, &c));
        for (int i = 0; i < ROWS; i++)
            positives += codes[i] == 0;
        for (int i = 0; i < ROWS; i++) {
            double target = codes[i] == 0 ? (positives + 1) / (positives + 2) : 1 / (ROWS - positives + 2);
            double share = 1 / (1 + exp(c.sigmoids[0] * outputs[i] + c.sigmoids[1]));
            gradient[0] += (target - share) * outputs[i] / scale;
            gradient[1] += target - share;
        }
        assert_true(fabs(gradient[0]) < 1e-6 && fabs(gradient[1]) < 1e-6);
        assert_true(c.sigmoids[0] < 0); /* a higher score makes the first class more likely */
        kfe_i_calibration_free(&c);
    }
}

/* ---- isotonic ---- */

/* Least squares among rising functions: at x, the maximum over a ≤ x of the minimum over b ≥ x of the mean in [a, b]. */
static double max_min(const double *x, const double *y, double at)
{
    double best = -INFINITY;

    for (int a = 0; a < ROWS; a++) {
        double least = INFINITY;
        if (x[a] > at)
            continue;
        for (int b = 0; b < ROWS; b++) {
            double sum = 0;
            double count = 0;
            if (x[b] < at)
                continue;
            for (int i = 0; i < ROWS; i++)
                if (x[i] >= x[a] && x[i] <= x[b]) {
                    sum += y[i];
                    count++;
                }
            least = fmin(least, sum / count);
        }
        best = fmax(best, least);
    }
    return best;
}

static void test_isotonic_equals_the_max_min_formula(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_predictor p = predictor_of(KFE_DECIDE_PAIRS, 2);
    kfe_i_calibration c = {0};
    double outputs[ROWS];
    double truth[ROWS];
    double got[2];
    double work[8];
    int32_t codes[ROWS];
    double edge = 1.0 / (ROWS + 2);

    make_scores(1, outputs, codes);
    for (int i = 0; i < ROWS; i++)
        truth[i] = codes[i] == 0;
    assert_ok(ctx, kfe_i_calibration_learn(ctx, KFE_CALIBRATION_ISOTONIC, &p,
                                           &(kfe_i_target){.rows = ROWS, .codes = codes}, outputs, &c));
    for (int i = 0; i < ROWS; i++) {
        double expected = fmin(fmax(max_min(outputs, truth, outputs[i]), edge), 1 - edge);
        kfe_i_calibration_apply(&c, &p, outputs + i, work, got);
        assert_true(fabs(got[0] - expected) < 1e-12 && fabs(got[0] + got[1] - 1) < 1e-15);
    }
    kfe_i_calibration_free(&c);
}

/* ---- weights ---- */

/* A row of weight 3 counts like three equal rows. */
static void test_weights_count_like_repeated_rows(void **state)
{
    enum { CLASSES = 3, MOST = 3 * ROWS };
    kfe_context *ctx = *state;
    kfe_i_predictor p = predictor_of(KFE_DECIDE_LARGEST, CLASSES);
    double *outputs = support_normals(4, ROWS * CLASSES);
    double repeated[MOST * CLASSES];
    double weights[ROWS];
    int32_t codes[ROWS];
    int32_t repeated_codes[MOST];
    double work[2 * CLASSES * CLASSES];
    double one[CLASSES];
    double two[CLASSES];
    double changed = 0;
    int64_t count = 0;

    for (int i = 0; i < ROWS; i++) {
        codes[i] = i % CLASSES;
        weights[i] = 1 + i / CLASSES % 3;
        outputs[i * CLASSES + codes[i]] += 1;
        for (int copy = 0; copy < (int)weights[i]; copy++) {
            memcpy(repeated + count * CLASSES, outputs + (size_t)i * CLASSES, CLASSES * sizeof *outputs);
            repeated_codes[count++] = codes[i];
        }
    }
    for (int kind = KFE_CALIBRATION_PLATT; kind <= KFE_CALIBRATION_ISOTONIC; kind++) {
        kfe_i_calibration weighted = {0};
        kfe_i_calibration copies = {0};
        kfe_i_calibration plain = {0};
        assert_ok(ctx,
                  kfe_i_calibration_learn(ctx, (kfe_i_calibration_kind)kind, &p,
                                          &(kfe_i_target){.rows = ROWS, .codes = codes, .weights = weights},
                                          outputs, &weighted));
        assert_ok(ctx, kfe_i_calibration_learn(ctx, (kfe_i_calibration_kind)kind, &p,
                                               &(kfe_i_target){.rows = count, .codes = repeated_codes},
                                               repeated, &copies));
        assert_ok(ctx,
                  kfe_i_calibration_learn(ctx, (kfe_i_calibration_kind)kind, &p,
                                          &(kfe_i_target){.rows = ROWS, .codes = codes}, outputs, &plain));
        for (int i = 0; i < ROWS; i++) {
            kfe_i_calibration_apply(&weighted, &p, outputs + (size_t)i * CLASSES, work, one);
            kfe_i_calibration_apply(&copies, &p, outputs + (size_t)i * CLASSES, work, two);
            assert_below(support_distance(CLASSES, two, one), 1e-9);
            kfe_i_calibration_apply(&plain, &p, outputs + (size_t)i * CLASSES, work, two);
            changed = fmax(changed, support_distance(CLASSES, two, one));
        }
        kfe_i_calibration_free(&weighted);
        kfe_i_calibration_free(&copies);
        kfe_i_calibration_free(&plain);
    }
    assert_true(changed > 0.01);
    free(outputs);
}

/* ---- several classes ---- */

static void test_coupling_recovers_probabilities(void **state)
{
    enum { CLASSES = 4 };
    static const double truth[CLASSES] = {0.1, 0.5, 0.15, 0.25};
    kfe_i_predictor p = predictor_of(KFE_DECIDE_PAIRS, CLASSES);
    double sigmoids[12];
    double outputs[6];
    double work[2 * CLASSES * CLASSES];
    double got[CLASSES];
    kfe_i_calibration c = {.kind = KFE_CALIBRATION_PLATT, .problems = 6, .sigmoids = sigmoids};
    int pair = 0;

    (void)state;
    for (int g = 0; g < CLASSES; g++)
        for (int h = g + 1; h < CLASSES; h++, pair++) {
            sigmoids[2 * pair] = -1;
            sigmoids[2 * pair + 1] = 0;
            outputs[pair] = log(truth[g] / truth[h]);
        }
    kfe_i_calibration_apply(&c, &p, outputs, work, got);
    for (int g = 0; g < CLASSES; g++)
        assert_true(fabs(got[g] - truth[g]) < 1e-9);
}

static void test_chain_and_one_vs_rest(void **state)
{
    static double sigmoids[6] = {-1, 0, -1, 0, -1, 0};
    kfe_i_predictor chain = predictor_of(KFE_DECIDE_CHAIN, 3);
    kfe_i_predictor rest = predictor_of(KFE_DECIDE_LARGEST, 3);
    kfe_i_calibration c = {.kind = KFE_CALIBRATION_PLATT, .problems = 3, .sigmoids = sigmoids};
    double work[18];
    double got[3];
    const double even[3] = {0, log(3), 0}; /* shares 1/2, 3/4, 1/2 */

    (void)state;
    kfe_i_calibration_apply(&c, &chain, even, work, got);
    assert_true(fabs(got[0] - 0.5) < 1e-15 && fabs(got[1] - 0.375) < 1e-15 && fabs(got[2] - 0.125) < 1e-15);
    kfe_i_calibration_apply(&c, &rest, even, work, got);
    assert_true(fabs(got[0] - 2.0 / 7) < 1e-15 && fabs(got[1] - 3.0 / 7) < 1e-15);
    assert_int_equal(kfe_i_calibration_problems(&rest), 3);
    rest.classes = rest.outputs = 2;
    assert_int_equal(kfe_i_calibration_problems(&rest), 1);
}

static void test_one_class_is_refused(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_predictor p = predictor_of(KFE_DECIDE_PAIRS, 2);
    kfe_i_calibration c = {0};
    const double outputs[2] = {1, 2};
    int32_t codes[2] = {0, 0};

    assert_fails(ctx, KFE_EINPUT, "needs examples of every class",
                 kfe_i_calibration_learn(ctx, KFE_CALIBRATION_PLATT, &p,
                                         &(kfe_i_target){.rows = 2, .codes = codes}, outputs, &c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_sigmoid_is_stationary),
        with_context(test_isotonic_equals_the_max_min_formula),
        with_context(test_weights_count_like_repeated_rows),
        with_context(test_coupling_recovers_probabilities),
        with_context(test_chain_and_one_vs_rest),
        with_context(test_one_class_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
