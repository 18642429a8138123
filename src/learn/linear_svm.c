/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner linear-svm: linear SVMs with squared loss,
 *     classes   minimise ½‖w‖² + Σ C_i·max(0, 1 − y_i·wᵀx_i)²,   y_i = ±1, C_i = C · weight of the class;
 *     real      minimise ½‖w‖² + C·Σ max(0, |y_i − wᵀx_i| − epsilon)².
 * With bias=yes every x has one more coordinate, 1, whose weight is the intercept; it is part of ‖w‖, as in LIBLINEAR.
 * Many dense rows of few columns are solved by finite_newton.c, all others by LIBLINEAR's trust-region Newton method on the primal:
 * its coordinate descent on the dual calls rand(), whose state belongs to the program. LIBLINEAR allocates by itself. A context with
 * a device solves the former there (linear_svm_device.c).
 * Records: the objective, and the norm of the gradient relative to that at w = 0, which vanishes at the optimum of this
 * smooth convex problem.
 *
 * Lin, Weng & Keerthi, "Trust region Newton method for large-scale logistic regression" (2008); Fan et al.,
 * "LIBLINEAR" (2008). Time: O(entries · conjugate gradient steps) per problem. Memory: 16 bytes an
 * entry, shared by all problems of a fit.
 */
#include <linear.h>
#include <math.h>

#include "core/memory.h"
#include "learn/finite_newton.h"
#include "learn/learner.h"
#include "learn/library_memory.h"
#include "learn/linear_svm_job.h"
#include "learn/nodes.h"
#include "learn/stoppable.h"

_Static_assert(sizeof(kfe_i_node) == sizeof(struct feature_node) &&
                   offsetof(kfe_i_node, value) == offsetof(struct feature_node, value),
               "nodes are laid out like LIBLINEAR's");

static const kfe_i_param rows[] = {
    KFE_REAL(kfe_i_linear_settings, c, "C", "1", KFE_REAL_POSITIVE, KFE_REAL_MAX,
             "weight of the loss against the norm"),
    KFE_REAL(kfe_i_linear_settings, epsilon, "epsilon", "0.1", 0, KFE_REAL_MAX,
             "real targets: errors up to this cost nothing"),
    KFE_CLASS_WEIGHTS_ROW(kfe_i_linear_settings, class_weights),
    KFE_CHOICE(kfe_i_linear_settings, multiclass, "multiclass", "ovr", KFE_MULTICLASS_WORDS,
               "several classes: one against one, one against the rest, or a chain"),
    KFE_REAL(kfe_i_linear_settings, stop, "stop", "1e-3", KFE_REAL_POSITIVE, 1,
             "gradient at the end, relative to that at the start"),
    KFE_FLAG(kfe_i_linear_settings, bias, "bias", "yes", "an intercept, which is part of the norm"),
};

typedef struct linear_job {
    const kfe_i_linear_settings *settings;
    const kfe_i_table *features;
    double *
        columns; /* of the features and the bias, one after the other, for finite_newton.c; NULL: for LIBLINEAR */
    kfe_i_nodes nodes; /* made when LIBLINEAR needs them */
    struct problem problem;
    kfe_i_predictor *predictor;
    kfe_i_linear_measures measures;
} linear_job;

/* ---- the objective and its gradient ---- */

static double output_of(const double *w, const struct feature_node *node)
{
    double sum = 0;

    for (; node->index > 0; node++)
        sum += w[node->index - 1] * node->value;
    return sum;
}

/* The error of one example beyond what costs nothing: its loss is the square, and half the derivative by its output. */
static double loss_slope(const linear_job *job, double y, double output)
{
    if (job->predictor->classes > 0)
        return y * output < 1 ? output - y : 0;
    double error = output - y;
    double beyond = fmax(0, fabs(error) - job->settings->epsilon);
    return error > 0 ? beyond : -beyond;
}

/* ‖∇‖ at w, squared. */
static double squared_gradient(const linear_job *job, const double *cost, const double *w, double *gradient)
{
    double sum = 0;

    for (int j = 0; j < job->problem.n; j++)
        gradient[j] = w[j];
    for (int i = 0; i < job->problem.l; i++) {
        const struct feature_node *node = job->problem.x[i];
        double y = job->problem.y[i];
        double slope = 2 * cost[y < 0] * loss_slope(job, y, output_of(w, node));
        for (; slope != 0 && node->index > 0; node++)
            gradient[node->index - 1] += slope * node->value;
    }
    for (int j = 0; j < job->problem.n; j++)
        sum += gradient[j] * gradient[j];
    return sum;
}

static double objective_of(const linear_job *job, const double *cost, const double *w)
{
    double sum = 0;

    for (int j = 0; j < job->problem.n; j++)
        sum += w[j] * w[j] / 2;
    for (int i = 0; i < job->problem.l; i++) {
        double error = loss_slope(job, job->problem.y[i], output_of(w, job->problem.x[i]));
        sum += cost[job->problem.y[i] < 0] * error * error;
    }
    return sum;
}

double kfe_i_linear_rarer_share(double positive, double count)
{
    return fmax(1, fmin(positive, count - positive)) / count;
}

static double rarer_share(const linear_job *job)
{
    double positive = 0;

    if (job->predictor->classes == 0)
        return 1;
    for (int i = 0; i < job->problem.l; i++)
        positive += job->problem.y[i] > 0;
    return kfe_i_linear_rarer_share(positive, job->problem.l);
}

void kfe_i_linear_measure(kfe_i_linear_measures *measures, double objective, double end, double start,
                          double bound)
{
    if (start > 0)
        measures->relative_gradient = fmax(measures->relative_gradient, end / start);
    measures->objective += objective;
    if (bound * start > 0)
        measures->worst_gradient = fmax(measures->worst_gradient, end / (bound * start));
}

static void keep_measures(linear_job *job, double objective, double end, double start)
{
    kfe_i_linear_measure(&job->measures, objective, end, start, job->settings->stop * rarer_share(job));
}

/* LIBLINEAR does not report whether it converged, so the gradient is measured here. */
static kfe_status measure_gradient(kfe_context *ctx, linear_job *job, const double *cost, const double *w)
{
    kfe_status status = KFE_OK;
    double *work = NULL;

    KFE_ALLOC_ZERO(ctx, work, 2 * (int64_t)job->problem.n);
    double start = squared_gradient(job, cost, work, work + job->problem.n);
    double end = squared_gradient(job, cost, w, work);
    keep_measures(job, objective_of(job, cost, w), sqrt(end), sqrt(start));
cleanup:
    kfe_i_free(ctx, work);
    return status;
}

/* Near machine precision the solver gives up a little above its tolerance. */
#define ACCEPTED_EXCESS 10

static void warn_of_gradient(kfe_context *ctx, const kfe_i_linear_settings *settings,
                             const kfe_i_linear_measures *measures)
{
    if (measures->worst_gradient > ACCEPTED_EXCESS)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "linear-svm: the solver stopped with a gradient %.3g times as large as {stop=%g} allows; "
                  "scale the features or use a smaller {C}",
                  measures->worst_gradient, settings->stop);
}

void kfe_i_linear_finish(kfe_context *ctx, const kfe_i_linear_settings *settings,
                         const kfe_i_linear_measures *measures, kfe_i_predictor *out)
{
    kfe_i_predictor_record(out, "objective", measures->objective);
    kfe_i_predictor_record(out, "gradient", measures->relative_gradient);
    warn_of_gradient(ctx, settings, measures);
}

/* ---- training ---- */

static kfe_status check_size(kfe_context *ctx, const linear_job *job)
{
    double largest = 0;

    for (int64_t i = 0; i < job->nodes.count; i++) {
        double sum = 0;
        for (const kfe_i_node *node = job->nodes.rows[i]; node->index > 0; node++)
            sum += node->value * node->value;
        largest = fmax(largest, sum);
    }
    if (job->settings->c * largest <= KFE_LINEAR_CURVATURE_MOST)
        return KFE_OK;
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "linear-svm: the features are too large: the square of a row times {C} is %.3g, and LIBLINEAR "
        "takes up to %g; use {scale=standard} or a smaller {C}",
        job->settings->c * largest, KFE_LINEAR_CURVATURE_MOST);
}

void kfe_i_linear_take_weights(const kfe_i_linear_settings *settings, int64_t output, double sign,
                               const double *w, kfe_i_predictor *out)
{
    for (int64_t j = 0; j < out->dim; j++)
        out->weights[j * out->outputs + output] = sign * w[j];
    if (settings->bias)
        out->offset[output] = -sign * w[out->dim];
}

/* LIBLINEAR ends after 1,000 steps, but it does not count those that it rejects. Where rounding decides, it rejects
 * them without end. */
enum { MOST_STEPS = 20000 };

typedef struct linear_training {
    const struct problem *problem;
    const kfe_i_nodes *nodes;
    int *first; /* the first index of every row, while rows are empty */
    const struct parameter *parameter;
    struct model *model;
} linear_training;

static void call_liblinear(void *user)
{
    linear_training *training = user;
    training->model = train(training->problem, training->parameter);
}

/* Steps on rows without entries. Each rejected one divides the trust region by 2 to 4, and its square must not become 0. */
enum { EMPTY_STEPS = 200 };

/* Makes LIBLINEAR end by itself. On rows without entries it either takes w = 0, the solution, or finds every step worse
 * than the last objective and makes its trust region tiny. Then the rows are put back, and a step in that region changes
 * so little that LIBLINEAR takes it for the end. */
static void end_by_tiny_steps(void *user, int64_t call)
{
    linear_training *training = user;
    const kfe_i_nodes *nodes = training->nodes;

    for (int64_t i = 0; call == 0 && i < nodes->count; i++) {
        training->first[i] = nodes->rows[i]->index;
        nodes->rows[i]->index = -1;
    }
    for (int64_t i = 0; call == EMPTY_STEPS && i < nodes->count; i++)
        nodes->rows[i]->index = training->first[i];
}

/* Trains on job->problem. LIBLINEAR's weights are for the class of its first label, whose sign they are multiplied by. */
static kfe_status train_one(kfe_context *ctx, linear_job *job, double positive_weight, double negative_weight,
                            int64_t output)
{
    kfe_status status = KFE_OK;
    int classes = job->predictor->classes > 0;
    int labels[2] = {1, -1};
    double weights[2] = {positive_weight, negative_weight};
    double cost[2] = {job->settings->c * positive_weight, job->settings->c * negative_weight};
    struct parameter parameter = {
        .solver_type = classes ? L2R_L2LOSS_SVC : L2R_L2LOSS_SVR,
        .eps = job->settings->stop,
        .C = job->settings->c,
        .nr_weight = classes ? 2 : 0,
        .weight_label = labels,
        .weight = weights,
        .p = job->settings->epsilon,
    };
    const char *complaint = check_parameter(&job->problem, &parameter);

    if (complaint)
        return kfe_i_fail(ctx, KFE_EINVAL, "linear-svm: LIBLINEAR rejects the problem: %s", complaint);
    linear_training training = {.problem = &job->problem, .nodes = &job->nodes, .parameter = &parameter};
    const kfe_i_stoppable task = {"linear-svm", MOST_STEPS, call_liblinear, end_by_tiny_steps, &training};
    KFE_ALLOC(ctx, training.first, job->nodes.count);
    KFE_TRY(kfe_i_liblinear_reserve(ctx, job->problem.l, job->problem.n));
    KFE_TRY(kfe_i_run_stoppable(ctx, &task));
    struct model *model = training.model;
    double sign = classes && model->label[0] < 0 ? -1 : 1;
    kfe_i_linear_take_weights(job->settings, output, sign, model->w, job->predictor);
    for (int j = 0; j < job->problem.n; j++)
        model->w[j] *= sign;
    KFE_TRY(measure_gradient(ctx, job, cost, model->w));
cleanup:
    kfe_i_free(ctx, training.first);
    if (training.model)
        free_and_destroy_model(&training.model);
    return status;
}

/* ---- many rows of few columns ---- */

/* The columns of these rows; NULL: of all. */
static kfe_status gather_columns(kfe_context *ctx, const linear_job *job, const int64_t *index, int64_t count,
                                 double **copy)
{
    kfe_status status = KFE_OK;
    int64_t all = job->features->rows;

    *copy = NULL;
    if (count == all)
        return KFE_OK;
    KFE_ALLOC(ctx, *copy, count * job->problem.n);
    for (int64_t j = 0; j < job->problem.n; j++)
        for (int64_t i = 0; i < count; i++)
            (*copy)[j * count + i] = job->columns[j * all + index[i]];
cleanup:
    return status;
}

/* Trains on these rows with the targets of job->problem. *done 0: they are few, or rounding stopped the solver early. */
static kfe_status train_by_newton(kfe_context *ctx, linear_job *job, const int64_t *index,
                                  const double cost[2], int64_t output, int *done)
{
    kfe_status status = KFE_OK;
    int64_t count = job->problem.l;
    double *copy = NULL;
    double *w = NULL;
    kfe_i_newton_result result;

    *done = 0;
    if (!job->columns || !kfe_i_newton_suits(count, job->problem.n))
        return KFE_OK;
    KFE_ALLOC(ctx, w, job->problem.n);
    KFE_TRY(gather_columns(ctx, job, index, count, &copy));
    kfe_i_newton_problem problem = {.rows = count,
                                    .cols = job->problem.n,
                                    .columns = copy ? copy : job->columns,
                                    .y = job->problem.y,
                                    .cost = {cost[0], cost[1]},
                                    .epsilon = job->predictor->classes > 0 ? -1 : job->settings->epsilon};
    KFE_TRY(kfe_i_newton_solve(ctx, &problem, w, &result));
    if (!result.solved && !(result.gradient <= job->settings->stop * rarer_share(job) * result.start))
        goto cleanup;
    kfe_i_linear_take_weights(job->settings, output, 1, w, job->predictor);
    keep_measures(job, result.objective, result.gradient, result.start);
    *done = 1;
cleanup:
    kfe_i_free(ctx, copy);
    kfe_i_free(ctx, w);
    return status;
}

/* Features that are not finite or too large go to LIBLINEAR, which refuses them. */
static kfe_status make_columns(kfe_context *ctx, linear_job *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *features = job->features;
    int64_t count = features->rows;
    double largest = 0;

    if (features->kind != KFE_TABLE_DENSE || !kfe_i_newton_suits(count, job->problem.n))
        return KFE_OK;
    KFE_ALLOC(ctx, job->columns, count * job->problem.n);
    for (int64_t i = 0; i < count; i++) {
        double sum = job->settings->bias;
        for (int64_t j = 0; j < features->cols; j++) {
            double value = kfe_i_table_value(features, i, j);
            job->columns[j * count + i] = value;
            sum += value * value;
        }
        if (job->settings->bias)
            job->columns[features->cols * count + i] = 1;
        largest = sum <= largest ? largest : sum;
    }
    if (!(job->settings->c * largest <= KFE_LINEAR_CURVATURE_MOST)) {
        kfe_i_free(ctx, job->columns);
        job->columns = NULL;
    }
cleanup:
    return status;
}

/* ---- problems ---- */

/* Trains on these rows (NULL: all) with the targets of job->problem. */
static kfe_status train_rows(kfe_context *ctx, linear_job *job, const int64_t *index, double positive_weight,
                             double negative_weight, int64_t output)
{
    kfe_status status = KFE_OK;
    double cost[2] = {job->settings->c * positive_weight, job->settings->c * negative_weight};
    int done = 0;

    KFE_TRY(train_by_newton(ctx, job, index, cost, output, &done));
    if (done)
        return KFE_OK;
    if (!job->nodes.rows) {
        KFE_TRY(kfe_i_nodes_from_table(ctx, job->features, job->settings->bias, &job->nodes));
        KFE_TRY(check_size(ctx, job));
    }
    for (int64_t i = 0; i < job->problem.l; i++)
        job->problem.x[i] = (struct feature_node *)job->nodes.rows[index ? index[i] : i];
    KFE_TRY(train_one(ctx, job, positive_weight, negative_weight, output));
cleanup:
    return status;
}

static kfe_status train_binary(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    linear_job *job = user;

    job->problem.l = (int)binary->count;
    for (int64_t i = 0; i < binary->count; i++)
        job->problem.y[i] = binary->sign[i];
    return train_rows(ctx, job, binary->rows, binary->positive_weight, binary->negative_weight,
                      binary->output);
}

static kfe_status train_classes(kfe_context *ctx, linear_job *job, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;
    double *weights = NULL;

    KFE_ALLOC(ctx, weights, target->class_count);
    KFE_TRY(kfe_i_class_weights(ctx, job->settings->class_weights, target, weights));
    KFE_TRY(kfe_i_multiclass_each(ctx, target, job->predictor->decision, weights, train_binary, job));
cleanup:
    kfe_i_free(ctx, weights);
    return status;
}

static kfe_status train_real(kfe_context *ctx, linear_job *job, const kfe_i_target *target)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_class_weights(ctx, job->settings->class_weights, target, NULL));
    job->problem.l = (int)target->rows;
    for (int64_t j = 0; j < target->cols; j++) {
        for (int64_t i = 0; i < target->rows; i++)
            job->problem.y[i] = target->values[i * target->cols + j];
        KFE_TRY(train_rows(ctx, job, NULL, 1, 1, j));
    }
cleanup:
    return status;
}

kfe_status kfe_i_linear_begin(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                              const kfe_i_linear_settings *s, kfe_i_predictor *out)
{
    int64_t classes = target->task == KFE_TASK_CLASSES ? target->class_count : 0;
    kfe_i_decision decision =
        classes ? kfe_i_multiclass_decision((kfe_i_multiclass)s->multiclass, classes) : KFE_DECIDE_VALUE;
    int64_t outputs = classes ? kfe_i_decision_outputs(decision, classes) : target->cols;
    kfe_status status = kfe_i_predictor_begin(ctx, KFE_PREDICTOR_LINEAR, decision, features->cols, outputs,
                                              features->cols, out);

    if (status == KFE_OK)
        out->classes = classes;
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_linear_settings *s = settings;
    linear_job job = {.settings = s, .features = features, .predictor = out};

    KFE_TRY(kfe_i_linear_fit_on_device(ctx, features, target, &settings, 1, out));
    if (out->outputs > 0) {
        kfe_i_log(ctx, KFE_LOG_INFO, "linear-svm: %lld problems of %lld rows were solved on %s",
                  (long long)out->outputs, (long long)features->rows, kfe_context_device(ctx));
        return KFE_OK;
    }
    set_print_string_function(kfe_i_stop_if_cancelled); /* for the whole process */
    KFE_TRY(kfe_i_linear_begin(ctx, features, target, s, out));
    KFE_ALLOC(ctx, job.problem.x, features->rows);
    KFE_ALLOC(ctx, job.problem.y, features->rows);
    job.problem.n = (int)features->cols + (s->bias ? 1 : 0);
    job.problem.bias = s->bias ? 1 : -1;
    KFE_TRY(make_columns(ctx, &job));
    if (out->classes > 0)
        KFE_TRY(train_classes(ctx, &job, target));
    else
        KFE_TRY(train_real(ctx, &job, target));
    kfe_i_linear_finish(ctx, s, &job.measures, out);
cleanup:
    kfe_i_nodes_free(&job.nodes);
    kfe_i_free(ctx, job.columns);
    kfe_i_free(ctx, job.problem.x);
    kfe_i_free(ctx, job.problem.y);
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

const kfe_i_learner kfe_i_learner_linear_svm = {
    .name = "linear-svm",
    .summary = "linear SVM with squared loss",
    .reference = "Fan, Chang, Hsieh, Wang & Lin, LIBLINEAR (2008)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_SPARSE,
    .params = KFE_PARAM_TABLE(rows, kfe_i_linear_settings),
    .fit = fit,
    .fit_on_device = kfe_i_linear_fit_on_device,
};
