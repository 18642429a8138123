/* SPDX-License-Identifier: Apache-2.0 */
/* Methods, kernels and data of the conformance suite, and the distance that their features may have. */
#include "support/subject.h"

#include <math.h>
#include <stdio.h>

#include "support/tolerance.h"

#define PERTURBATION 1e-7
#define GIVEN_GAMMA 0.05
enum { MORE_PERTURBATIONS = 4 };

/* ---- subjects ---- */

int support_subject_is_precomputed(const support_subject *subject)
{
    return strcmp(subject->kernel.name, "precomputed") == 0;
}

int support_subject_takes_strings(const support_subject *subject)
{
    return (subject->kernel.flags & KFE_HAS_STRINGS) != 0;
}

int support_subject_has_points(const support_subject *subject)
{
    return !support_subject_is_precomputed(subject) && !support_subject_takes_strings(subject);
}

const char *support_subject_kernel(const support_subject *subject)
{
    return subject->kernel.name[0] ? subject->kernel.name : NULL;
}

static int takes_kernel(const support_subject *subject)
{
    if (!(subject->method.flags & KFE_HAS_KERNELS))
        return 0;
    if (subject->method.flags & KFE_HAS_DERIVATIVE && !(subject->kernel.flags & KFE_HAS_DERIVATIVE))
        return 0;
    return !(subject->method.flags & KFE_HAS_SYNTHETIC) || support_subject_has_points(subject);
}

support_subject *support_subjects(int *count)
{
    int capacity = 0;
    support_subject *list = NULL;
    support_subject subject = {0};

    *count = 0;
    for (int m = 0; kfe_method(m, &subject.method); m++)
        for (int k = -1; k < 0 || kfe_kernel(k, &subject.kernel); k++) {
            if (k < 0)
                subject.kernel = (kfe_entry_info){.name = ""};
            int wanted = k < 0 ? !(subject.method.flags & KFE_HAS_KERNELS) : takes_kernel(&subject);
            if (!wanted)
                continue;
            if (*count == capacity) {
                capacity = 2 * capacity + 64;
                list = realloc(list, (size_t)capacity * sizeof *list);
            }
            subject.method_index = m;
            list[(*count)++] = subject;
        }
    return list;
}

/* ---- points ---- */

int64_t support_reversed_row(int64_t i)
{
    /* the first example of each class stays in front, so that the classes keep their order */
    return i < SUBJECT_CLASSES ? i : SUBJECT_ROWS - 1 - (i - SUBJECT_CLASSES);
}

static int64_t row_of(const support_variant *variant, int64_t i)
{
    return variant->reversed ? support_reversed_row(i) : i;
}

/* Nonnegative numbers, a quarter of them zero: every kernel on numbers accepts them, dense or sparse. */
static double *base_points(int64_t rows, int test, int **class_of)
{
    double *x;

    support_clouds(test ? 78 : 77, rows, SUBJECT_COLS, SUBJECT_CLASSES, 1.5, &x, class_of);
    for (int64_t i = 0; i < rows * SUBJECT_COLS; i++)
        x[i] = fabs(x[i]) < 0.5 ? 0 : fabs(x[i]);
    return x;
}

static double *points(const support_variant *variant, int64_t rows, int64_t cols, int **class_of)
{
    uint64_t random = variant->perturbation_seed ? variant->perturbation_seed : 5;
    double *base = base_points(rows, variant->test, class_of);
    double *x = calloc((size_t)(rows * cols), sizeof *x);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            x[i * cols + j] = base[row_of(variant, i) * SUBJECT_COLS + j % SUBJECT_COLS] *
                              (1 + variant->perturbation * (2 * support_uniform(&random) - 1));
    free(base);
    return x;
}

/* A given kernel matrix between these points and the plain training points (in the same order). */
static double *given_matrix(const support_variant *variant, int64_t rows, int **class_of)
{
    const support_variant plain = {.reversed = variant->reversed};
    uint64_t random = variant->perturbation_seed ? variant->perturbation_seed : 9;
    int *ignored;
    support_variant exact = *variant;
    exact.perturbation = 0;
    double *x = points(&exact, rows, SUBJECT_COLS, class_of);
    double *train = points(&plain, SUBJECT_ROWS, SUBJECT_COLS, &ignored);
    double *k = support_rbf(rows, x, SUBJECT_ROWS, train, SUBJECT_COLS, GIVEN_GAMMA);

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j <= i && j < SUBJECT_ROWS; j++) {
            k[i * SUBJECT_ROWS + j] *= 1 + variant->perturbation * (2 * support_uniform(&random) - 1);
            if (rows == SUBJECT_ROWS)
                k[j * SUBJECT_ROWS + i] = k[i * SUBJECT_ROWS + j];
        }
    free(x);
    free(train);
    free(ignored);
    return k;
}

/* Strings of four letters; each class prefers one letter. */
static void make_strings(const support_subject *subject, const support_variant *variant, int64_t rows,
                         support_made *made)
{
    const char *pointers[SUBJECT_ROWS];

    made->strings = calloc((size_t)rows, sizeof *made->strings);
    for (int64_t i = 0; i < rows; i++) {
        int64_t source = row_of(variant, i);
        uint64_t random = (uint64_t)source + (variant->test ? 1000 : 100);
        for (int64_t c = 0; c < 25 + source % 12; c++) {
            double draw = support_uniform(&random) * 6;
            made->strings[i][c] = draw < 4 ? "acgt"[(int)draw] : "acg"[source % SUBJECT_CLASSES];
        }
        pointers[i] = made->strings[i];
    }
    assert_ok(subject->ctx, kfe_data_from_text(subject->ctx, rows, pointers, &made->data));
}

static void set_target(const support_subject *subject, const support_variant *variant, int64_t rows,
                       const int *base_class, support_made *made)
{
    int class_of[SUBJECT_ROWS];
    double real[SUBJECT_ROWS];

    for (int64_t i = 0; i < rows; i++) {
        class_of[i] = variant->one_class ? 0 : base_class[row_of(variant, i)];
        if (subject->method.flags & KFE_HAS_TWO_CLASSES)
            class_of[i] = class_of[i] > 0;
        real[i] = class_of[i] + 0.01 * (double)i;
    }
    if (variant->real_targets)
        assert_ok(subject->ctx, kfe_data_set_targets(subject->ctx, made->data, 1, real));
    else
        support_label(subject->ctx, made->data, rows, class_of);
}

support_made support_make(const support_subject *subject, const support_variant *variant)
{
    support_made made = {0};
    int64_t rows = variant->test ? SUBJECT_TEST_ROWS : SUBJECT_ROWS;
    int64_t cols = variant->cols ? variant->cols : SUBJECT_COLS;
    int *class_of = NULL;

    if (support_subject_takes_strings(subject)) {
        free(base_points(rows, variant->test, &class_of));
        make_strings(subject, variant, rows, &made);
    } else {
        int given = support_subject_is_precomputed(subject);
        made.values = given ? given_matrix(variant, rows, &class_of) : points(variant, rows, cols, &class_of);
        if (given)
            cols = variant->cols ? variant->cols : SUBJECT_ROWS;
        for (int64_t i = 0; variant->zeros && i < rows * cols; i += 3)
            made.values[i] = 0;
        if (variant->first_value != 0)
            made.values[0] = variant->first_value;
        if (variant->sparse)
            made.data = support_sparse(subject->ctx, rows, cols, made.values, NULL, &made.arrays);
        else
            assert_ok(subject->ctx, kfe_data_wrap_dense(subject->ctx, rows, cols, given ? SUBJECT_ROWS : cols,
                                                        made.values, &made.data));
    }
    if (!variant->test && !variant->unlabelled)
        set_target(subject, variant, rows, class_of, &made);
    free(class_of);
    return made;
}

void support_made_free(support_made *made)
{
    kfe_data_free(made->data);
    free(made->values);
    free(made->strings);
    support_csr_free(&made->arrays);
    memset(made, 0, sizeof *made);
}

/* ---- fitting ---- */

/* The value of a parameter in a tight fit; NULL: the usual value. SVMs are solved up to SUBJECT_STOP. The
 * alternation converges slowly, and rounding may end a search one step earlier or later, so both make the
 * same few steps, which are continuous functions of the data. `dim` is the number of classes,
 * because further points start at clusters that depend on the seed and on the order of the examples. */
static const char *tight_value(const char *name)
{
    static const char *const values[][2] = {
        {"svm-stop", "1e-11"}, {"settled", "0"}, {"max-iter", "3"}, {"tolerance", "1e-12"}, {"dim", "3"}};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i][0], name) == 0)
            return values[i][1];
    return NULL;
}

void support_subject_tighten(const support_subject *subject, kfe_spec *spec)
{
    const kfe_param_info *row;
    int svms = (subject->method.flags & KFE_HAS_PREDICTOR) != 0;

    for (int i = 0; (row = kfe_method_param(subject->method_index, i)); i++) {
        const char *tight = tight_value(row->name);
        char value[32];
        if (!svms && strcmp(row->name, "max-iter") == 0)
            assert_ok(subject->ctx, kfe_spec_set(subject->ctx, spec, row->name, "10"));
        if (!svms || !subject->tight || !tight)
            continue;
        snprintf(value, sizeof value, "%.17g", fmax(row->min, atof(tight)));
        assert_ok(subject->ctx, kfe_spec_set(subject->ctx, spec, row->name, value));
    }
}

kfe_model *support_subject_fit(const support_subject *subject, const char *params, const kfe_data *train)
{
    kfe_context *ctx = subject->ctx;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, subject->method.name, params, support_subject_kernel(subject), &spec));
    support_subject_tighten(subject, spec);
    kfe_status status = kfe_fit(ctx, spec, train, &model);
    if (status != KFE_ENUMERIC || !(subject->kernel.flags & KFE_HAS_INDEFINITE))
        assert_ok(ctx, status);
    kfe_spec_free(spec);
    return model;
}

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
        assert_ok(subject->ctx, kfe_kernel_matrix(subject->ctx, subject->kernel.name, data, NULL, &k));
    }
    return k;
}

static kfe_model *fit_matrix(const support_subject *subject, const kfe_data *train, kfe_matrix *k,
                             kfe_data **matrix)
{
    support_subject given = *subject;
    int class_of[SUBJECT_ROWS];

    given.kernel.name = "precomputed";
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

    assert_ok(subject->ctx, kfe_kernel_matrix(subject->ctx, subject->kernel.name, test.data, train, &k));
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
    unsigned flags = subject->method.flags;
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
    if (s->tight && s->method.flags & KFE_HAS_PREDICTOR)
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
        fail_msg("%s %s: the features are %.3g apart, allowed are %.3g", s->method.name, s->kernel.name,
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
    int nested = a->cols != b->cols && s->method.flags & KFE_HAS_NESTING;
    double *first = first_columns(a, nested ? most : a->cols);
    double *second = first_columns(b, nested ? most : b->cols);
    double distance = support_distance_up_to_rotation(a->rows, nested ? most : a->cols, first,
                                                      nested ? most : b->cols, second);

    free(first);
    free(second);
    support_assert_distance(s, distance, precision);
}

kfe_data *support_read_halves(const support_subject *s, const support_made *whole)
{
    enum { HALF = SUBJECT_COLS / 2 };
    const char *const paths[] = {support_path("left.npy"), support_path("right.npy")};
    kfe_data *views = NULL;
    int class_of[SUBJECT_ROWS];

    for (int v = 0; v < 2; v++) {
        kfe_matrix half = {SUBJECT_ROWS, HALF, SUBJECT_COLS, whole->values + v * HALF, NULL};
        assert_ok(s->ctx, kfe_matrix_write(s->ctx, &half, paths[v]));
    }
    assert_ok(s->ctx, kfe_data_read_views(s->ctx, 2, paths, NULL, "label=none", &views));
    for (int64_t i = 0; i < SUBJECT_ROWS; i++)
        class_of[i] = (int)kfe_data_class_of(whole->data, i);
    support_label(s->ctx, views, SUBJECT_ROWS, class_of);
    return views;
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
    int fitted = model && (!s->tight || !strstr(support_log(), "the SVM stopped after"));
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
            if (!checks[c].applies(&subjects[i]))
                continue;
            task->check = &checks[c];
            task->subject = subjects[i];
            snprintf(task->name, sizeof task->name, "%s %s: %s", subjects[i].method.name,
                     subjects[i].kernel.name, checks[c].name);
            tests[filled++] = (struct CMUnitTest){task->name, run_job, NULL, end_job, task};
        }
    int failures = _cmocka_run_group_tests(group, tests, filled, NULL, NULL);
    print_message("%d tests undecided: distances above %g (at most %d may be)\n", undecided_tests,
                  SUBJECT_CAP, SUBJECT_MOST_UNDECIDED);
    failures += undecided_tests > SUBJECT_MOST_UNDECIDED;
    free(subjects);
    free(jobs);
    free(tests);
    return failures;
}
