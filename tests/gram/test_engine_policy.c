/* SPDX-License-Identifier: Apache-2.0 */
/* Memory limits through the public calls: the engine chooses a form, logs it, gives the same answers, and
 * stays within the limit. */
#include "support/support.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>

#include "gram/gram.h"
#include "support/engine.h"
#include "support/fit.h"
#include "support/points.h"
#include "support/tolerance.h"

/* A fit in a context of its own, whose allocations and log are recorded. */
typedef struct watched {
    support_allocator allocator;
    kfe_context *ctx;
    kfe_data *data;
    kfe_matrix features;
    double *eigenvalues;
    int64_t dim;
    char log[4096];
} watched;

static void watched_begin(watched *w, int64_t memory)
{
    memset(w, 0, sizeof *w);
    assert_int_equal(kfe_context_new_with(support_reallocate, &w->allocator, &w->ctx), KFE_OK);
    assert_ok(w->ctx, kfe_context_set_threads(w->ctx, 1));
    assert_ok(w->ctx, kfe_context_set_memory(w->ctx, memory));
    support_catch_log(w->ctx);
}

/* Fits on the data and keeps the features; the recorded peak is that of the fit. */
static void watched_fit(watched *w, const char *method, const char *params, const char *kernel)
{
    int64_t count = 0;
    kfe_model *model = support_fit(w->ctx, method, params, kernel, w->data);

    snprintf(w->log, sizeof w->log, "%s", support_log());
    w->dim = kfe_model_dim(model);
    const double *values = kfe_model_record(model, "eigenvalues", &count);
    if (values) {
        assert_int_equal(count, w->dim);
        w->eigenvalues = malloc((size_t)count * sizeof *values);
        assert_non_null(w->eigenvalues);
        memcpy(w->eigenvalues, values, (size_t)count * sizeof *values);
    }
    w->features = support_transform(w->ctx, model, w->data);
    kfe_model_free(model);
}

static void watched_end(watched *w)
{
    kfe_matrix_free(&w->features);
    kfe_data_free(w->data);
    kfe_context_free(w->ctx);
    free(w->eigenvalues);
    assert_int_equal(w->allocator.live, 0);
}

static double feature_distance(const watched *a, const watched *b)
{
    assert_int_equal(a->features.rows, b->features.rows);
    assert_int_equal(a->features.cols, b->features.cols);
    assert_int_equal(a->features.stride, a->features.cols);
    return support_distance_up_to_sign(a->features.rows, a->features.cols, a->features.values,
                                       b->features.values);
}

/* ---- kpca ---- */

enum { KPCA_ROWS = 1500, KPCA_COLS = 4 };

static void run_kpca(watched *w, int64_t memory, const double *values)
{
    watched_begin(w, memory);
    w->data = support_dense(w->ctx, KPCA_ROWS, KPCA_COLS, values, NULL);
    watched_fit(w, "kpca", "dim=5", "rbf:gamma=0.1");
}

/* Half of the matrix takes 9.4 MB in double precision, the vectors 5.0 MB. Without a limit the basis is larger, so that
 * results agree up to the tolerance, not to the last bit. */
static void test_kpca(void **state)
{
    static const struct {
        int64_t memory;
        const char *log;
        double features, eigenvalues;
        int64_t kept; /* bytes of the stored matrix */
    } cases[] = {
        {17000000, "stored in double precision (9.4 MB in double precision, limit 17.0 MB)", 1e-8, 1e-12,
         9000000},
        {12000000, "stored in single precision (9.4 MB in double precision, limit 12.0 MB)", 1e-6, 1e-12,
         4600000},
        {8000000,
         "partly stored in single precision, the rest computed tile by tile (9.4 MB in double precision, "
         "limit 8.0 MB)",
         1e-6, 1e-12, 2000000},
    };
    double *values = support_normals(21, KPCA_ROWS * KPCA_COLS);
    watched unlimited;
    (void)state;

    run_kpca(&unlimited, 0, values);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        watched limited;
        run_kpca(&limited, cases[c].memory, values);
        if (!strstr(limited.log, cases[c].log) ||
            !strstr(limited.log, "kernel matrix of 1500 examples: computed tile by tile, not stored"))
            fail_msg("'%s' is not in '%s'", cases[c].log, limited.log);
        assert_below(feature_distance(&unlimited, &limited), cases[c].features);
        assert_below(support_distance(5, unlimited.eigenvalues, limited.eigenvalues), cases[c].eigenvalues);
        /* within the limit, apart from one panel of the matrix */
        assert_in_range(limited.allocator.peak, cases[c].kept, cases[c].memory + 4000000);
        watched_end(&limited);
    }
    watched_end(&unlimited);
    free(values);
}

static void test_too_little(void **state)
{
    double *values = support_normals(21, KPCA_ROWS * KPCA_COLS);
    watched w;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    (void)state;

    watched_begin(&w, 2000000);
    w.data = support_dense(w.ctx, KPCA_ROWS, KPCA_COLS, values, NULL);
    assert_ok(w.ctx, kfe_spec_parse(w.ctx, "kpca", "dim=5", "rbf:gamma=0.1", &spec));
    assert_fails(w.ctx, KFE_ELIMIT,
                 "the block of eigenvectors needs 5.0 MB of memory, but the limit is 2.0 MB",
                 kfe_fit(w.ctx, spec, w.data, &model));
    assert_null(model);
    assert_non_null(strstr(kfe_error_message(w.ctx), "raise memory"));
    assert_ok(w.ctx, kfe_spec_set(w.ctx, spec, "gram", "f64"));
    assert_fails(w.ctx, KFE_ELIMIT, "needs 9.4 MB of memory, but the limit is 2.0 MB",
                 kfe_fit(w.ctx, spec, w.data, &model));
    kfe_spec_free(spec);
    watched_end(&w);
    free(values);
}

/* ---- kfd ---- */

enum { KFD_ROWS = 3100, KFD_COLS = 2 };

static void run_kfd(watched *w, int64_t memory, const double *values, const int *class_of)
{
    watched_begin(w, memory);
    w->data = support_dense(w->ctx, KFD_ROWS, KFD_COLS, values, class_of);
    watched_fit(w, "kfd", "ridge=0.1", "rbf:gamma=0.2");
}

/* Half of the matrix takes 39 MB in double precision, a factor in single precision 19 MB; refinement gives every way the same residual. */
static void test_kfd(void **state)
{
    static const struct {
        int64_t memory;
        const char *form;
    } cases[] = {
        {60000000, "solve: "}, /* whichever way is fastest */
        {18000000, "partly stored in single precision"},
    };
    double *values = NULL;
    int *class_of = NULL;
    watched unlimited;
    (void)state;

    support_clouds(22, KFD_ROWS, KFD_COLS, 3, 2, &values, &class_of);
    run_kfd(&unlimited, 0, values, class_of);
    assert_non_null(strstr(unlimited.log, "stored in double precision"));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        watched limited;
        run_kfd(&limited, cases[c].memory, values, class_of);
        assert_non_null(strstr(limited.log, cases[c].form));
        double reached = engine_number_after(strstr(limited.log, "solve: "), "relative residual ");
        assert_true(reached >= 0 && reached <= KFE_TOLERANCE);
        assert_below(feature_distance(&unlimited, &limited), 1e-7);
        assert_in_range(limited.allocator.peak, 1, cases[c].memory * 6 / 5);
        watched_end(&limited);
    }
    watched_end(&unlimited);
    free(values);
    free(class_of);
}

/* ---- pca on sparse rows ---- */

enum { TEXTS = 1500, TERMS = 20000, TERMS_PER_TEXT = 20, TOPICS = 3, PCA_DIM = 5 };

typedef struct texts {
    int64_t row_start[TEXTS + 1];
    int32_t columns[TEXTS * TERMS_PER_TEXT];
    double values[TEXTS * TERMS_PER_TEXT];
} texts;

/* Texts as sparse rows. The steps between terms keep the terms of a row distinct; texts on one topic share
 * their first terms, which gives leading directions. */
static texts *make_texts(void)
{
    texts *t = calloc(1, sizeof *t);
    uint64_t random = 31;

    assert_non_null(t);
    for (int64_t i = 0; i < TEXTS; i++) {
        int32_t step = TERMS / TERMS_PER_TEXT;
        for (int32_t p = 0; p < TERMS_PER_TEXT; p++) {
            int64_t place = i * TERMS_PER_TEXT + p;
            int32_t within = p < 8 ? (int32_t)(i % TOPICS) : (int32_t)(support_uniform(&random) * step);
            t->columns[place] = p * step + within;
            t->values[place] = 0.2 + support_uniform(&random) * (p < 8 ? (double)(i % TOPICS + 1) : 1);
        }
        t->row_start[i + 1] = (i + 1) * TERMS_PER_TEXT;
    }
    return t;
}

/* XXᵀ entry by entry, centred on request. */
static double *dot_products(const texts *t, int centred)
{
    double *row = calloc(TERMS, sizeof *row);
    double *matrix = malloc((size_t)TEXTS * TEXTS * sizeof *matrix);

    assert_true(row && matrix);
    for (int64_t i = 0; i < TEXTS; i++) {
        for (int64_t p = t->row_start[i]; p < t->row_start[i + 1]; p++)
            row[t->columns[p]] = t->values[p];
        for (int64_t j = 0; j < TEXTS; j++) {
            double sum = 0;
            for (int64_t p = t->row_start[j]; p < t->row_start[j + 1]; p++)
                sum += row[t->columns[p]] * t->values[p];
            matrix[i * TEXTS + j] = sum;
        }
        for (int64_t p = t->row_start[i]; p < t->row_start[i + 1]; p++)
            row[t->columns[p]] = 0;
    }
    if (centred)
        support_centre_kernel(TEXTS, matrix);
    free(row);
    return matrix;
}

/* The features of the rows are UΣ for X = UΣVᵀ: orthogonal, with norms σ, and eigenvectors of XXᵀ. */
static void check_features(const watched *w, const double *matrix)
{
    const double *z = w->features.values;
    double *product = engine_product(TEXTS, matrix, 0, z, PCA_DIM);
    double largest = w->eigenvalues[0];

    for (int64_t i = 0; i < TEXTS; i++)
        for (int64_t j = 0; j < PCA_DIM; j++)
            product[i * PCA_DIM + j] -= w->eigenvalues[j] * z[i * PCA_DIM + j];
    assert_below(engine_largest_column(TEXTS, PCA_DIM, product),
                 10 * KFE_TOLERANCE * largest * sqrt(largest));
    for (int a = 0; a < PCA_DIM; a++)
        for (int b = 0; b < PCA_DIM; b++) {
            double inner = cblas_ddot(TEXTS, z + a, PCA_DIM, z + b, PCA_DIM);
            assert_below(fabs(inner - (a == b ? w->eigenvalues[a] : 0)), 1e-9 * largest);
        }
    free(product);
}

static void check_pca(const texts *t, int centred)
{
    lapack_int found = 0;
    double *values = malloc(TEXTS * sizeof *values);
    double *matrix = dot_products(t, centred);
    double *copy = dot_products(t, centred);
    watched w;

    assert_non_null(values);
    watched_begin(&w, 0);
    assert_ok(w.ctx, kfe_data_wrap_csr(w.ctx, TEXTS, TERMS, t->row_start, t->columns, t->values, &w.data));
    watched_fit(&w, "pca", centred ? "dim=5" : "dim=5,center=no", NULL);
    assert_int_equal(w.dim, PCA_DIM);
    assert_non_null(strstr(w.log, "factored"));
    assert_int_equal(LAPACKE_dsyevr(LAPACK_ROW_MAJOR, 'N', 'I', 'U', TEXTS, copy, TEXTS, 0, 0,
                                    TEXTS - PCA_DIM + 1, TEXTS, 0, &found, values, NULL, 1, NULL),
                     0);
    assert_int_equal(found, PCA_DIM);
    for (int j = 0; j < PCA_DIM; j++)
        assert_below(fabs(w.eigenvalues[j] - values[PCA_DIM - 1 - j]), KFE_TOLERANCE * values[PCA_DIM - 1]);
    check_features(&w, matrix);
    assert_in_range(w.allocator.peak, 1,
                    (int64_t)TEXTS * TERMS); /* an eighth of the size of the dense table */
    watched_end(&w);
    free(values);
    free(matrix);
    free(copy);
}

static void test_sparse_pca(void **state)
{
    texts *t = make_texts();
    (void)state;

    check_pca(t, 0);
    check_pca(t, 1);
    free(t);
}

/* The same rows with fewer columns, against the singular values of the dense table. */
static void test_sparse_pca_against_svd(void **state)
{
    enum { ROWS = 1010, COLS = 1203 };
    kfe_context *ctx = *state;
    support_points points;
    double *singular = support_random(1, ROWS);
    int64_t count = 0;

    support_points_make(&points, 9, ROWS, COLS, 1);
    kfe_data *data = support_points_data(ctx, &points, 1);
    for (int centred = 0; centred < 2; centred++) {
        double *dense = support_random(2, ROWS * COLS);
        for (int64_t i = 0; i < ROWS; i++)
            memcpy(dense + i * COLS, support_points_row(&points, i), COLS * sizeof *dense);
        if (centred)
            free(support_centre_columns(ROWS, COLS, dense));
        kfe_model *model = support_fit(ctx, "pca", centred ? "dim=4" : "dim=4,center=no", NULL, data);
        const double *values = kfe_model_record(model, "eigenvalues", &count);
        assert_int_equal(count, 4);
        assert_int_equal(
            LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', COLS, ROWS, dense, COLS, singular, NULL, 1, NULL, 1), 0);
        for (int j = 0; j < 4; j++)
            assert_below(fabs(values[j] - singular[j] * singular[j]),
                         KFE_TOLERANCE * singular[0] * singular[0]);
        kfe_model_free(model);
        free(dense);
    }
    kfe_data_free(data);
    support_points_free(&points);
    free(singular);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kpca),
        cmocka_unit_test(test_too_little),
        cmocka_unit_test(test_kfd),
        cmocka_unit_test(test_sparse_pca),
        cmocka_unit_test(test_sparse_pca_against_svd),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
