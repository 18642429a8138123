/* SPDX-License-Identifier: Apache-2.0 */
/* Linear SVMs by LIBLINEAR (Fan et al., 2008). */
#include "oracles/liblinear.h"

#include <linear.h>

#include "support/support.h"

static void quiet(const char *text)
{
    (void)text;
}

static struct feature_node *fill_row(const oracle_linear_svm *p, int64_t i, struct feature_node *node)
{
    for (int64_t j = 0; j < p->cols; j++)
        if (p->x[i * p->cols + j] != 0)
            *node++ = (struct feature_node){(int)j + 1, p->x[i * p->cols + j]};
    node->index = -1;
    return node + 1;
}

static int solver_of(const oracle_linear_svm *p)
{
    if (p->epsilon < 0)
        return p->dual ? L2R_L2LOSS_SVC_DUAL : L2R_L2LOSS_SVC;
    return p->dual ? L2R_L2LOSS_SVR_DUAL : L2R_L2LOSS_SVR;
}

void oracle_liblinear(const oracle_linear_svm *p, double *w)
{
    int classes = p->epsilon < 0;
    struct feature_node *nodes = calloc((size_t)(p->rows * (p->cols + 1)), sizeof *nodes);
    struct feature_node **rows = calloc((size_t)p->rows, sizeof *rows);
    struct feature_node *node = nodes;
    int labels[2] = {1, -1};
    double weights[2] = {1, p->negative};
    struct problem problem = {
        .l = (int)p->rows, .n = (int)p->cols, .y = (double *)p->y, .x = rows, .bias = -1};
    struct parameter parameter = {.solver_type = solver_of(p),
                                  .eps = p->stop,
                                  .C = p->cost,
                                  .nr_weight = classes ? 2 : 0,
                                  .weight_label = labels,
                                  .weight = weights,
                                  .p = classes ? 0 : p->epsilon};

    assert_true(nodes && rows);
    for (int64_t i = 0; i < p->rows; i++) {
        rows[i] = node;
        node = fill_row(p, i, node);
    }
    set_print_string_function(quiet);
    assert_null(check_parameter(&problem, &parameter));
    struct model *model = train(&problem, &parameter);
    double sign = classes && model->label[0] < 0 ? -1 : 1;
    for (int64_t j = 0; j < p->cols; j++)
        w[j] = sign * model->w[j];
    free_and_destroy_model(&model);
    free(nodes);
    free(rows);
}
