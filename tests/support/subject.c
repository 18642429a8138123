/* SPDX-License-Identifier: Apache-2.0 */
/* Methods, kernels and data of the conformance suite, and fits of them; subject_compare.c compares their features. */
#include "support/subject.h"

#include <math.h>
#include <stdio.h>

#define GIVEN_GAMMA 0.05

/* ---- subjects ---- */

const kfe_entry_info support_no_kernel = {.name = ""};

int support_subject_is_precomputed(const support_subject *subject)
{
    return strcmp(subject->kernel->name, "precomputed") == 0;
}

int support_subject_takes_strings(const support_subject *subject)
{
    return (subject->kernel->flags & KFE_HAS_STRINGS) != 0;
}

int support_subject_has_points(const support_subject *subject)
{
    return !support_subject_is_precomputed(subject) && !support_subject_takes_strings(subject);
}

const char *support_subject_kernel(const support_subject *subject)
{
    return subject->kernel->name[0] ? subject->kernel->name : NULL;
}

static int takes_kernel(const support_subject *subject)
{
    if (!(subject->method->flags & KFE_HAS_KERNELS))
        return 0;
    if (subject->method->flags & KFE_HAS_DERIVATIVE && !(subject->kernel->flags & KFE_HAS_DERIVATIVE))
        return 0;
    return !(subject->method->flags & KFE_HAS_SYNTHETIC) || support_subject_has_points(subject);
}

/* The place of a row in its table; -1: it is in none. */
static int place_of(const kfe_entry_info *(*entry)(int index), const kfe_entry_info *wanted)
{
    const kfe_entry_info *row;

    for (int i = 0; (row = entry(i)); i++)
        if (row == wanted)
            return i;
    return -1;
}

int support_is_in_turn(const kfe_entry_info *method, const kfe_entry_info *kernel)
{
    const int turns = 4;

    if (getenv("KFE_TEST_ALL") || getenv("KFE_TEST_FILTER") || !kernel->name[0] ||
        strcmp(kernel->name, "rbf") == 0)
        return 1;
    return (place_of(kfe_method, method) + place_of(kfe_kernel, kernel)) % turns == 0;
}

support_subject *support_subjects(int *count)
{
    int capacity = 0;
    support_subject *list = NULL;
    support_subject subject = {0};

    *count = 0;
    for (int m = 0; (subject.method = kfe_method(m)); m++)
        for (int k = -1; (subject.kernel = k < 0 ? &support_no_kernel : kfe_kernel(k)); k++) {
            int wanted = k < 0 ? !(subject.method->flags & KFE_HAS_KERNELS) : takes_kernel(&subject);
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
        if (subject->method->flags & KFE_HAS_TWO_CLASSES)
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
    int svms = (subject->method->flags & KFE_HAS_PREDICTOR) != 0;

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

    assert_ok(ctx,
              kfe_spec_parse(ctx, subject->method->name, params, support_subject_kernel(subject), &spec));
    support_subject_tighten(subject, spec);
    kfe_status status = kfe_fit(ctx, spec, train, &model);
    if (status != KFE_ENUMERIC || !(subject->kernel->flags & KFE_HAS_INDEFINITE))
        assert_ok(ctx, status);
    kfe_spec_free(spec);
    return model;
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
