/* SPDX-License-Identifier: Apache-2.0 */
/* SVMs by LIBSVM (Chang & Lin, 2011). */
#include "oracles/libsvm.h"

#include <libsvm/svm.h>
#include <math.h>

#include "support/fit.h"

static void quiet(const char *text)
{
    (void)text;
}

/* Rows of a matrix as LIBSVM's precomputed kernel: entry 0 is the number of the row. */
static struct svm_node **make_rows(const oracle_svm *p)
{
    size_t n = (size_t)p->n;
    struct svm_node *nodes = malloc(n * (n + 2) * sizeof *nodes);
    struct svm_node **rows = malloc(n * sizeof *rows);

    assert_true(nodes && rows);
    for (size_t i = 0; i < n; i++) {
        rows[i] = nodes + i * (n + 2);
        rows[i][0] = (struct svm_node){0, (double)(i + 1)};
        for (size_t j = 0; j < n; j++)
            rows[i][j + 1] = (struct svm_node){(int)j + 1, p->kernel[i * n + j]};
        rows[i][n + 1].index = -1;
    }
    return rows;
}

void oracle_libsvm(const oracle_svm *p, double *b, double *offset)
{
    int classes = p->epsilon < 0;
    int labels[] = {1, -1};
    double weights[] = {p->positive, p->negative};
    struct svm_parameter parameter = {.svm_type = classes ? C_SVC : EPSILON_SVR,
                                      .kernel_type = PRECOMPUTED,
                                      .cache_size = 100,
                                      .eps = p->stop,
                                      .C = classes ? 1 : p->positive,
                                      .nr_weight = classes ? 2 : 0,
                                      .weight_label = labels,
                                      .weight = weights,
                                      .p = p->epsilon,
                                      .shrinking = 1};
    struct svm_node **rows = make_rows(p);
    struct svm_problem problem = {(int)p->n, (double *)p->y, rows};

    svm_set_print_string_function(quiet);
    assert_null(svm_check_parameter(&problem, &parameter));
    struct svm_model *model = svm_train(&problem, &parameter);
    double sign = classes && model->label[0] < 0 ? -1 : 1;
    memset(b, 0, (size_t)p->n * sizeof *b);
    for (int k = 0; k < model->l; k++)
        b[model->sv_indices[k] - 1] = sign * model->sv_coef[0][k];
    *offset = sign * model->rho[0];
    svm_free_and_destroy_model(&model);
    free(rows[0]);
    free(rows);
}

void oracle_compare_smo(const smo_problem *p, const kfe_i_smo_result *result, double positive,
                        double negative, double stop)
{
    double *theirs = smo_zeros(p->n);
    double offset = 0;
    double farthest = 0;
    double largest = 1;

    oracle_libsvm(&(oracle_svm){p->n, p->kernel, p->sign, positive, negative, -1, stop}, theirs, &offset);
    for (int64_t i = 0; i < p->n; i++)
        theirs[i] *= p->sign[i];
    double expected = smo_objective_of(p, theirs);
    assert_below(fabs(result->objective - expected), 1e-6 * fabs(expected));
    for (int64_t i = 0; i < p->n; i++) {
        double ours = smo_value_of(p, p->alpha, i) - result->offset;
        farthest = fmax(farthest, fabs(ours - smo_value_of(p, theirs, i) + offset));
        largest = fmax(largest, fabs(ours));
    }
    assert_below(farthest, 1e-4 * largest);
    free(theirs);
}

double oracle_svms_optimum(int64_t n, const double *kernel, const int *class_of, int classes, double c,
                           double *a)
{
    int svms = classes == 2 ? 1 : classes;
    smo_problem p = {.n = n, .kernel = (double *)kernel, .sign = smo_zeros(n), .alpha = smo_zeros(n)};
    double optimum = 0;
    double offset;

    for (int g = 0; g < svms; g++) {
        for (int64_t i = 0; i < n; i++)
            p.sign[i] = class_of[i] == g ? 1 : -1;
        oracle_libsvm(&(oracle_svm){n, kernel, p.sign, c, c, -1, 1e-6}, p.alpha, &offset);
        for (int64_t i = 0; i < n; i++) {
            if (a)
                a[i * svms + g] = p.alpha[i];
            p.alpha[i] *= p.sign[i];
        }
        optimum -= smo_objective_of(&p, p.alpha);
    }
    free(p.sign);
    free(p.alpha);
    return optimum;
}
