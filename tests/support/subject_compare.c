/* SPDX-License-Identifier: Apache-2.0 */
/* The distance that features of the conformance suite may have, and the runner of its checks. */
#include <math.h>
#include <stdio.h>

#include "support/subject.h"
#include "support/tolerance.h"

#define PERTURBATION 1e-7
enum { MORE_PERTURBATIONS = 4 };

/* ---- how much features react to small changes ---- */

static double noise(uint64_t *random)
{
    return 1 + PERTURBATION * (2 * support_uniform(random) - 1);
}

/* Adds symmetric relative noise to a kernel matrix. */
static void perturb_kernel(uint64_t random, double *k)
{

    for (int64_t i = 0; i < SUBJECT_ROWS; i++)
        for (int64_t j = 0; j <= i; j++)
            k[j * SUBJECT_ROWS + i] = k[i * SUBJECT_ROWS + j] *= noise(&random);
}

static kfe_matrix kernel_of(const support_subject *subject, const kfe_data *data)
{
    kfe_matrix k = {0};

    if (support_subject_is_precomputed(subject)) {
        static double copy[SUBJECT_ROWS * SUBJECT_ROWS];
        for (int64_t i = 0; i < SUBJECT_ROWS; i++)
            assert_ok(subject->ctx, kfe_data_row(subject->ctx, data, 0, i, copy + i * SUBJECT_ROWS));
        k = (kfe_matrix){SUBJECT_ROWS, SUBJECT_ROWS, SUBJECT_ROWS, copy, NULL};
    } else {
        assert_ok(subject->ctx, kfe_kernel_matrix(subject->ctx, subject->kernel->name, data, NULL, &k));
    }
    return k;
}

static kfe_model *fit_matrix(const support_subject *subject, const kfe_data *train, kfe_matrix *k,
                             kfe_data **matrix)
{
    support_subject given = *subject;
    kfe_entry_info kernel = *subject->kernel;
    int class_of[SUBJECT_ROWS];

    kernel.name = "precomputed";
    given.kernel = &kernel;
    for (int64_t i = 0; i < SUBJECT_ROWS; i++)
        class_of[i] = (int)kfe_data_class_of(train, i);
    *matrix = support_dense(subject->ctx, SUBJECT_ROWS, SUBJECT_ROWS, k->values, class_of);
    return support_subject_fit(&given, NULL, *matrix);
}

/* Distance between the features of new points by one model and, after a change of their kernel values as
 * well, by another model. */
static double distance_at_new_points(const support_subject *subject, uint64_t random, const kfe_data *train,
                                     const kfe_model *a, const kfe_model *b)
{
    support_made test = support_make(subject, &(support_variant){.test = 1});
    kfe_data *matrix = NULL;
    kfe_matrix k = {0};

    assert_ok(subject->ctx, kfe_kernel_matrix(subject->ctx, subject->kernel->name, test.data, train, &k));
    assert_ok(subject->ctx, kfe_data_wrap_dense(subject->ctx, k.rows, k.cols, k.stride, k.values, &matrix));
    kfe_matrix expected = support_transform(subject->ctx, a, matrix);
    for (int64_t i = 0; i < k.rows; i++)
        for (int64_t j = 0; j < k.cols; j++)
            k.values[i * k.stride + j] *= noise(&random);
    kfe_matrix got = support_transform(subject->ctx, b, matrix);
    double distance =
        support_distance_up_to_rotation(k.rows, expected.cols, expected.values, got.cols, got.values);

    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_matrix_free(&k);
    kfe_data_free(matrix);
    support_made_free(&test);
    return distance;
}

static double matrix_sensitivity(const support_subject *subject, uint64_t seed, const kfe_data *train)
{
    kfe_matrix k = kernel_of(subject, train);
    kfe_data *plain_data, *changed_data;
    kfe_model *plain = fit_matrix(subject, train, &k, &plain_data);
    kfe_matrix expected = support_transform(subject->ctx, plain, plain_data);
    perturb_kernel(seed, k.values);
    kfe_model *changed = fit_matrix(subject, train, &k, &changed_data);
    kfe_matrix got = support_transform(subject->ctx, changed, changed_data);
    double distance =
        support_distance_up_to_rotation(SUBJECT_ROWS, expected.cols, expected.values, got.cols, got.values);

    if (!support_subject_is_precomputed(subject))
        distance = fmax(distance, distance_at_new_points(subject, seed + 1, train, plain, changed));
    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_matrix_free(&k);
    kfe_model_free(plain);
    kfe_model_free(changed);
    kfe_data_free(plain_data);
    kfe_data_free(changed_data);
    return distance / PERTURBATION;
}

static double point_sensitivity(const support_subject *subject, uint64_t seed, const kfe_data *train)
{
    support_made moved =
        support_make(subject, &(support_variant){.perturbation = PERTURBATION, .perturbation_seed = seed});
    kfe_model *plain = support_subject_fit(subject, NULL, train);
    kfe_model *changed = support_subject_fit(subject, NULL, moved.data);
    kfe_matrix expected = support_transform(subject->ctx, plain, train);
    kfe_matrix got = support_transform(subject->ctx, changed, moved.data);
    double distance =
        support_distance_up_to_rotation(SUBJECT_ROWS, expected.cols, expected.values, got.cols, got.values);

    kfe_matrix_free(&expected);
    kfe_matrix_free(&got);
    kfe_model_free(plain);
    kfe_model_free(changed);
    support_made_free(&moved);
    return distance / PERTURBATION;
}

static double sensitivity(const support_subject *subject, uint64_t seed)
{
    support_made train = support_make(subject, &(support_variant){0});
    unsigned flags = subject->method->flags;
    double change = flags & KFE_HAS_KERNELS && !(flags & KFE_HAS_SYNTHETIC)
                        ? matrix_sensitivity(subject, seed, train.data)
                        : point_sensitivity(subject, seed, train.data);

    support_made_free(&train);
    return change;
}

/* The largest of several sensitivities: a method that chooses examples answers some changes with another
 * choice. */
static double worst_sensitivity(const support_subject *subject)
{
    double worst = 0;

    for (uint64_t seed = 10; seed < 10 + 2 * MORE_PERTURBATIONS; seed += 2)
        worst = fmax(worst, sensitivity(subject, seed));
    return worst;
}

/* ---- comparing ---- */

/* The largest distance in the running test that exceeds the cap although the sensitivity of the problem
 * explains it; 0: none. */
static double undecided;

kfe_matrix support_subject_features(const support_subject *s, const char *params, const kfe_data *train,
                                    const kfe_data *data)
{
    kfe_model *model = support_subject_fit(s, params, train);

    kfe_matrix f = support_transform(s->ctx, model, data);
    kfe_model_free(model);
    return f;
}

void support_same_bits(const kfe_matrix *a, const kfe_matrix *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_memory_equal(a->values, b->values, (size_t)(a->rows * a->cols) * sizeof(double));
}

static int is_localized(const support_subject *s)
{
    const kfe_param_info *row;

    for (int i = 0; (row = kfe_method_param(s->method_index, i)); i++)
        if (strcmp(row->name, "gate") == 0)
            return 1;
    return 0;
}

/* The allowed distance of features if numbers have this relative precision and the problem multiplies
 * relative changes by `sensitivity`. */
static double allowed_distance(const support_subject *s, double precision, double sensitivity)
{
    double allowed = 0;

    /* margins are of order one, so violating them changes the features as much as an equally large change of
     * the kernel */
    if (s->tight && s->method->flags & KFE_HAS_PREDICTOR)
        precision = fmax(precision, SUBJECT_STOP);
    /* the objective alone determines SVMs on the few dimensions of a localized kernel: a hyperplane whose
     * objective misses the optimum by ε may lie √(2ε) from the best one, and the projections follow it */
    if (s->tight && is_localized(s))
        allowed = sqrt(2 * SUBJECT_STOP);
    return allowed + tolerance_sensitivity(SUBJECT_ROWS, precision, sensitivity);
}

void support_assert_distance(const support_subject *s, double distance, double precision)
{
    double allowed = allowed_distance(s, precision, sensitivity(s, 3));

    if (distance <= fmin(allowed, SUBJECT_CAP))
        return;
    if (distance > allowed)
        allowed = allowed_distance(s, precision, worst_sensitivity(s));
    if (!(distance <= allowed))
        fail_msg("%s %s: the features are %.3g apart, allowed are %.3g", s->method->name, s->kernel->name,
                 distance, allowed);
    undecided = fmax(undecided, distance);
}

static double *first_columns(const kfe_matrix *a, int64_t cols)
{
    double *out = calloc((size_t)(a->rows * cols), sizeof *out);

    for (int64_t i = 0; i < a->rows; i++)
        memcpy(out + i * cols, a->values + i * a->stride, (size_t)cols * sizeof *out);
    return out;
}

void support_same_features(const support_subject *s, const kfe_matrix *a, const kfe_matrix *b,
                           double precision)
{
    assert_int_equal(a->rows, b->rows);
    int64_t most = a->cols < b->cols ? a->cols : b->cols;
    int nested = a->cols != b->cols && s->method->flags & KFE_HAS_NESTING;
    double *first = first_columns(a, nested ? most : a->cols);
    double *second = first_columns(b, nested ? most : b->cols);
    double distance = support_distance_up_to_rotation(a->rows, nested ? most : a->cols, first,
                                                      nested ? most : b->cols, second);

    free(first);
    free(second);
    support_assert_distance(s, distance, precision);
}

/* ---- checks ---- */

typedef struct job {
    char name[128];
    const support_check *check;
    support_subject subject;
} job;

/* No, if the method refuses the kernel as indefinite. Also no for tight fits if an SVM warns that it stopped
 * early, which happens for kernel values in the thousands. */
static int can_be_fitted(const support_subject *s)
{
    support_made train = support_make(s, &(support_variant){0});

    support_catch_log(s->ctx);
    kfe_model *model = support_subject_fit(s, NULL, train.data);
    int fitted = model && (!s->tight || !strstr(support_log(), "the SVM did not reach its optimum"));
    kfe_context_on_log(s->ctx, NULL, NULL);
    if (!model)
        assert_non_null(strstr(kfe_error_message(s->ctx), "positive definite"));
    kfe_model_free(model);
    support_made_free(&train);
    return fitted;
}

static int undecided_tests;

static void run_job(void **state)
{
    job *task = *state;

    if (kfe_context_new(&task->subject.ctx) != KFE_OK)
        fail_msg("no context");
    kfe_context_set_seed(task->subject.ctx, 3);
    task->subject.tight = task->check->tight;
    if (!can_be_fitted(&task->subject))
        skip();
    undecided = 0;
    task->check->run(&task->subject);
    if (undecided > 0) {
        print_message(
            "%s: undecided: the features are %.2g apart, which the sensitivity of the problem explains\n",
            task->name, undecided);
        undecided_tests++;
        skip();
    }
}

static int end_job(void **state)
{
    job *task = *state;

    kfe_context_free(task->subject.ctx);
    return 0;
}

int support_run_checks(const char *group, size_t count, const support_check *checks)
{
    int subject_count = 0;
    size_t filled = 0;
    support_subject *subjects = support_subjects(&subject_count);
    job *jobs = calloc((size_t)subject_count * count, sizeof *jobs);
    struct CMUnitTest *tests = calloc((size_t)subject_count * count, sizeof *tests);

    for (int i = 0; i < subject_count; i++)
        for (size_t c = 0; c < count; c++) {
            job *task = &jobs[filled];
            if (!support_is_in_turn(subjects[i].method, subjects[i].kernel) ||
                !checks[c].applies(&subjects[i]))
                continue;
            task->check = &checks[c];
            task->subject = subjects[i];
            snprintf(task->name, sizeof task->name, "%s %s: %s", subjects[i].method->name,
                     subjects[i].kernel->name, checks[c].name);
            tests[filled++] = (struct CMUnitTest){task->name, run_job, NULL, end_job, task};
        }
    cmocka_set_test_filter(getenv("KFE_TEST_FILTER"));
    int failures = _cmocka_run_group_tests(group, tests, filled, NULL, NULL);
    print_message("%d tests undecided: distances above %g (at most %d may be)\n", undecided_tests,
                  SUBJECT_CAP, SUBJECT_MOST_UNDECIDED);
    failures += undecided_tests > SUBJECT_MOST_UNDECIDED;
    free(subjects);
    free(jobs);
    free(tests);
    return failures;
}
