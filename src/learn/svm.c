/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner svm: SVMs by LIBSVM. Classes: C-SVC on problems of two classes (multiclass.h),
 *     minimise ½‖w‖² + Σ C_i·max(0, 1 − y_i(⟨w, φ(x_i)⟩ − ρ)),   C_i = C · weight of the class.
 * Real targets: ε-SVR,
 *     minimise ½‖w‖² + C·Σ max(0, |y_i − ⟨w, φ(x_i)⟩ + ρ| − epsilon).
 * The answer is Σ_i b_i κ(x_i, z) − ρ with few b_i ≠ 0; for the linear kernel w = Σ b_i x_i is formed.
 *
 * LIBSVM computes the kernels that it has (linear, poly, rbf, sigmoid; same formulas as ours) from sparse rows. Other
 * kernels, and Gram operators, are passed as a matrix of 16 bytes an entry. LIBSVM allocates by itself, as much as
 * library_memory.h has checked, and calls rand() only for probabilities, which are not used. It keeps kernel values in single precision. When it stops at its limit of
 * iterations it only tells standard error, so the violation of the optimality conditions is measured here
 * (svm_dual.h). Records: the primal objective, the relative duality gap, and the violation.
 *
 * Cortes & Vapnik (1995); Chang & Lin, "LIBSVM: a library for support vector machines" (2011).
 * Time: O(n²) to O(n³) kernel values for each problem. Memory: the rows, the cache, and n × outputs.
 */
#include <libsvm/svm.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/dense/linalg.h"
#include "gram/form/landmarks.h"
#include "learn/learner.h"
#include "learn/library_memory.h"
#include "learn/multiclass.h"
#include "learn/nodes.h"
#include "learn/stoppable.h"
#include "learn/svm_dual.h"

_Static_assert(sizeof(kfe_i_node) == sizeof(struct svm_node) &&
                   offsetof(kfe_i_node, value) == offsetof(struct svm_node, value),
               "nodes are laid out like LIBSVM's");

enum { SOLVER_LIBSVM, SOLVER_SMO };

typedef struct svm_settings {
    double c, epsilon, stop, cache;
    char kernel[KFE_PARAM_TEXT_SIZE];
    char class_weights[KFE_PARAM_TEXT_SIZE];
    int multiclass, solver;
} svm_settings;

static const kfe_i_param rows[] = {
    KFE_REAL(svm_settings, c, "C", "1", KFE_REAL_POSITIVE, KFE_REAL_MAX,
             "weight of the loss against the norm"),
    KFE_REAL(svm_settings, epsilon, "epsilon", "0.1", 0, KFE_REAL_MAX,
             "real targets: errors up to this cost nothing"),
    KFE_TEXT(svm_settings, kernel, "learner-kernel", "linear",
             "kernel on the features, such as rbf:gamma=scale"),
    KFE_CLASS_WEIGHTS_ROW(svm_settings, class_weights),
    KFE_CHOICE(svm_settings, multiclass, "multiclass", "ovo", KFE_MULTICLASS_WORDS,
               "several classes: one against one, one against the rest, or a chain"),
    KFE_REAL(svm_settings, stop, "stop", "1e-3", KFE_REAL_POSITIVE, KFE_REAL_MAX,
             "accepted violation of the optimality conditions"),
    KFE_REAL(svm_settings, cache, "svm-cache", "200", 1, 1e9, "megabytes for LIBSVM's cache of kernel rows"),
    KFE_CHOICE(svm_settings, solver, "svm-solver", "libsvm", "libsvm|smo",
               "LIBSVM, or kfe's own SMO on the kernel matrix (classes only)"),
};

typedef struct svm_job {
    const svm_settings *settings;
    const kfe_i_target *target;
    kfe_i_decision decision;
    int64_t n, outputs;
    double *class_weights;
    const kfe_i_gram *gram; /* SMO */
    kfe_i_nodes nodes;      /* LIBSVM */
    struct svm_problem problem;
    struct svm_parameter parameter;
    double *coefficients; /* n × outputs */
    double *offset;
    double *part;                      /* n: coefficients of one problem */
    const double *values;              /* n × outputs: values of the examples without the offset */
    kfe_i_svm_certificate certificate; /* largest violation; sums of objectives and gaps */
} svm_job;

/* ---- the job ---- */

static void job_free(kfe_context *ctx, svm_job *job)
{
    kfe_i_nodes_free(&job->nodes);
    kfe_i_free(ctx, job->class_weights);
    kfe_i_free(ctx, job->problem.x);
    kfe_i_free(ctx, job->problem.y);
    kfe_i_free(ctx, job->coefficients);
    kfe_i_free(ctx, job->offset);
    kfe_i_free(ctx, job->part);
}

static kfe_status job_begin(kfe_context *ctx, svm_job *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = job->target;
    int classes = target->task == KFE_TASK_CLASSES;

    if (!classes && job->settings->solver == SOLVER_SMO)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "{svm-solver=smo} is for classes, but the target is real; use {svm-solver=libsvm}");
    job->n = target->rows;
    job->decision = !classes ? KFE_DECIDE_VALUE
                             : kfe_i_multiclass_decision((kfe_i_multiclass)job->settings->multiclass,
                                                         target->class_count);
    job->outputs = classes ? kfe_i_decision_outputs(job->decision, target->class_count) : target->cols;
    KFE_ALLOC(ctx, job->class_weights, target->class_count);
    KFE_TRY(kfe_i_class_weights(ctx, job->settings->class_weights, target, job->class_weights));
    KFE_ALLOC(ctx, job->problem.x, job->n);
    KFE_ALLOC(ctx, job->problem.y, job->n);
    KFE_ALLOC_ZERO(ctx, job->coefficients, job->n * job->outputs);
    KFE_ALLOC_ZERO(ctx, job->offset, job->outputs);
    KFE_ALLOC(ctx, job->part, job->n);
    job->parameter = (struct svm_parameter){
        .svm_type = classes ? C_SVC : EPSILON_SVR,
        .kernel_type = PRECOMPUTED,
        .cache_size = job->settings->cache,
        .eps = job->settings->stop,
        .C = job->settings->c,
        .p = job->settings->epsilon,
        .shrinking = 1,
    };
cleanup:
    return status;
}

/* ---- kernels ---- */

static const void *kernel_setting(const kfe_i_kernel *kernel, const char *name)
{
    const kfe_i_param *row = kfe_i_param_find(&kernel->def->params, name);
    return row ? (const char *)kernel->settings + row->offset : NULL;
}

/* Selects LIBSVM's own kernel; returns 0 if it has no such kernel. */
static int use_own_kernel(const kfe_i_kernel *kernel, struct svm_parameter *parameter)
{
    static const struct {
        const char *name;
        int type;
    } own[] = {{"linear", LINEAR}, {"poly", POLY}, {"rbf", RBF}, {"sigmoid", SIGMOID}};
    const double *gamma = kernel_setting(kernel, "gamma");
    const double *coef0 = kernel_setting(kernel, "coef0");
    const int64_t *degree = kernel_setting(kernel, "degree");

    for (size_t i = 0; i < sizeof own / sizeof *own && kernel->common.weight == 1; i++)
        if (strcmp(own[i].name, kernel->def->name) == 0) {
            parameter->kernel_type = own[i].type;
            parameter->gamma = gamma ? *gamma : 0;
            parameter->coef0 = coef0 ? *coef0 : 0;
            parameter->degree = degree ? (int)*degree : 0;
            return 1;
        }
    return 0;
}

static kfe_status choose_kernel(kfe_context *ctx, const char *text, const kfe_i_table *features,
                                kfe_i_kernel *out)
{
    kfe_status status = KFE_OK;

    if (strncmp(text, "user:", 5) == 0)
        KFE_FAIL(ctx, KFE_EINVAL, "{learner-kernel} cannot be a function; use a kernel that {kernels} lists");
    KFE_TRY(kfe_i_kernel_parse(ctx, text, out));
    if (out->def->base == KFE_BASE_GIVEN || out->def->base == KFE_BASE_STRING)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "{learner-kernel} must be a kernel on features, which %s is not; use linear or rbf",
                 out->def->name);
    KFE_TRY(kfe_i_kernel_prepare(ctx, out, features));
cleanup:
    if (status != KFE_OK)
        kfe_i_kernel_free(out);
    return status;
}

/* ---- one problem ---- */

static kfe_status overflow(kfe_context *ctx)
{
    return kfe_i_fail(
        ctx, KFE_EINPUT,
        "svm: the kernel values are too large for single precision, in which LIBSVM keeps them; use {scale}, "
        "a smaller gamma, or {learner-kernel=rbf}");
}

typedef struct svm_training {
    const svm_job *job;
    struct svm_model *model;
} svm_training;

static void call_libsvm(void *user)
{
    svm_training *training = user;
    training->model = svm_train(&training->job->problem, &training->job->parameter);
}

/* Trains on job->problem, whose row r is example[r] (NULL: r). */
static kfe_status train_libsvm(kfe_context *ctx, svm_job *job, const int64_t *example, int64_t output)
{
    const char *complaint = svm_check_parameter(&job->problem, &job->parameter);

    if (complaint)
        return kfe_i_fail(ctx, KFE_EINVAL, "svm: LIBSVM rejects the problem: %s", complaint);
    job->parameter.cache_size = job->settings->cache;
    kfe_status status = kfe_i_libsvm_reserve(ctx, job->problem.l, &job->parameter.cache_size);
    svm_training training = {.job = job};
    if (status == KFE_OK)
        status = kfe_i_run_stoppable(ctx, "svm", INT64_MAX, call_libsvm, &training);
    if (status != KFE_OK)
        return status;
    struct svm_model *model = training.model;
    int finite = isfinite(model->rho[0]);
    double sign = job->parameter.svm_type == C_SVC && model->label[0] < 0 ? -1 : 1;
    for (int r = 0; r < model->l; r++) {
        int64_t row = model->sv_indices[r] - 1;
        int64_t i = example ? example[row] : row;
        job->coefficients[i * job->outputs + output] = sign * model->sv_coef[0][r];
        finite &= isfinite(model->sv_coef[0][r]);
    }
    job->offset[output] = sign * model->rho[0];
    svm_free_and_destroy_model(&model);
    return finite ? KFE_OK : overflow(ctx);
}

static kfe_status train_smo(kfe_context *ctx, svm_job *job, const kfe_i_binary *binary)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_svm_solve_smo(ctx, job->gram, binary, job->settings->c, job->settings->stop, job->part,
                                &job->offset[binary->output]));
    for (int64_t r = 0; r < binary->count; r++)
        job->coefficients[binary->rows[r] * job->outputs + binary->output] = job->part[r];
cleanup:
    return status;
}

static kfe_status train_binary(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    svm_job *job = user;
    int labels[2] = {1, -1};
    double weights[2] = {binary->positive_weight, binary->negative_weight};

    if (job->settings->solver == SOLVER_SMO)
        return train_smo(ctx, job, binary);
    job->problem.l = (int)binary->count;
    for (int64_t r = 0; r < binary->count; r++) {
        job->problem.y[r] = binary->sign[r];
        job->problem.x[r] = (struct svm_node *)job->nodes.rows[binary->rows[r]];
    }
    job->parameter.nr_weight = 2;
    job->parameter.weight_label = labels;
    job->parameter.weight = weights;
    return train_libsvm(ctx, job, binary->rows, binary->output);
}

static kfe_status train_real(kfe_context *ctx, svm_job *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = job->target;

    job->problem.l = (int)job->n;
    for (int64_t j = 0; j < target->cols; j++) {
        KFE_TRY(kfe_i_checkpoint(ctx, "learning", j, target->cols));
        for (int64_t i = 0; i < job->n; i++) {
            job->problem.y[i] = target->values[i * target->cols + j];
            job->problem.x[i] = (struct svm_node *)job->nodes.rows[i];
        }
        KFE_TRY(train_libsvm(ctx, job, NULL, j));
    }
cleanup:
    return status;
}

static kfe_status train_all(kfe_context *ctx, svm_job *job)
{
    svm_set_print_string_function(kfe_i_stop_if_cancelled); /* for the whole process */
    if (job->decision == KFE_DECIDE_VALUE)
        return train_real(ctx, job);
    return kfe_i_multiclass_each(ctx, job->target, job->decision, job->class_weights, train_binary, job);
}

/* ---- certificates ---- */

static kfe_i_svm_column column_of(const svm_job *job, int64_t output)
{
    return (kfe_i_svm_column){.coefficients = job->coefficients + output,
                              .values = job->values + output,
                              .stride = job->outputs,
                              .offset = job->offset[output]};
}

static void add_certificate(svm_job *job, kfe_i_svm_certificate one)
{
    job->certificate.violation = fmax(job->certificate.violation, one.violation);
    job->certificate.objective += one.objective;
    job->certificate.gap += fmax(0, one.gap);
}

static kfe_status certify_binary(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    svm_job *job = user;
    kfe_i_svm_column column = column_of(job, binary->output);

    (void)ctx;
    add_certificate(job, kfe_i_svm_certify_classes(binary, job->settings->c, &column));
    return KFE_OK;
}

static void certify_real(svm_job *job)
{
    const kfe_i_target *target = job->target;

    for (int64_t j = 0; j < job->outputs; j++) {
        kfe_i_svm_column column = column_of(job, j);
        kfe_i_svm_targets targets = {target->values + j, job->n, target->cols, job->settings->epsilon};
        add_certificate(job, kfe_i_svm_certify_real(&targets, job->settings->c, &column));
    }
}

/* Solvers measure on kernel values that are rounded differently; LIBSVM's are in single precision. */
#define ACCEPTED_EXCESS 10

static void report(kfe_context *ctx, const svm_job *job, kfe_i_predictor *predictor)
{
    const kfe_i_svm_certificate *found = &job->certificate;

    kfe_i_predictor_record(predictor, "objective", found->objective);
    kfe_i_predictor_record(predictor, "gap", found->objective > 0 ? found->gap / found->objective : 0);
    kfe_i_predictor_record(predictor, "violation", fmax(0, found->violation));
    if (found->violation > ACCEPTED_EXCESS * job->settings->stop)
        kfe_i_log(
            ctx, KFE_LOG_WARNING,
            "svm: the solver stopped, at its limit of iterations or of precision, at a violation of %.3g "
            "although {stop=%g}; scale the features, or use a smaller {C} or a larger {stop}",
            found->violation, job->settings->stop);
}

static kfe_status certify(kfe_context *ctx, svm_job *job, const double *values, kfe_i_predictor *predictor)
{
    kfe_status status = KFE_OK;

    job->values = values;
    for (int64_t i = 0; i < job->n * job->outputs; i++)
        if (!isfinite(values[i]))
            return overflow(ctx);
    if (job->decision == KFE_DECIDE_VALUE)
        certify_real(job);
    else
        KFE_TRY(
            kfe_i_multiclass_each(ctx, job->target, job->decision, job->class_weights, certify_binary, job));
    report(ctx, job, predictor);
cleanup:
    return status;
}

/* With more kernel values than this, computing a certificate would take too long. */
#define AFFORDABLE_VALUES 1e8

static kfe_status certify_on_features(kfe_context *ctx, svm_job *job, const kfe_i_table *features,
                                      kfe_i_predictor *predictor)
{
    kfe_status status = KFE_OK;
    double *values = NULL;

    if (predictor->kind == KFE_PREDICTOR_EXPANSION &&
        (double)predictor->rows * (double)job->n > AFFORDABLE_VALUES)
        return KFE_OK;
    KFE_ALLOC(ctx, values, job->n * job->outputs);
    KFE_TRY(kfe_i_predictor_outputs(ctx, predictor, features, values));
    for (int64_t i = 0; i < job->n * job->outputs; i++)
        values[i] += job->offset[i % job->outputs];
    KFE_TRY(certify(ctx, job, values, predictor));
cleanup:
    kfe_i_free(ctx, values);
    return status;
}

static kfe_status certify_on_gram(kfe_context *ctx, svm_job *job, const kfe_i_gram *gram,
                                  kfe_i_predictor *predictor)
{
    kfe_status status = KFE_OK;
    double *values = NULL;

    KFE_ALLOC(ctx, values, job->n * job->outputs);
    KFE_TRY(kfe_i_gram_times(gram, job->coefficients, job->outputs, values));
    KFE_TRY(certify(ctx, job, values, predictor));
cleanup:
    kfe_i_free(ctx, values);
    return status;
}

/* ---- the predictor ---- */

static int supports(const svm_job *job, int64_t i)
{
    for (int64_t j = 0; j < job->outputs; j++)
        if (job->coefficients[i * job->outputs + j] != 0)
            return 1;
    return 0;
}

/* Writes the support examples of all problems to index[n], in order, and returns their number. */
static int64_t find_support(const svm_job *job, int64_t *index)
{
    int64_t count = 0;

    for (int64_t i = 0; i < job->n; i++)
        if (supports(job, i))
            index[count++] = i;
    return count;
}

static kfe_status begin_predictor(kfe_context *ctx, const svm_job *job, kfe_i_predictor_kind kind,
                                  int64_t dim, int64_t predictor_rows, int64_t support, kfe_i_predictor *out)
{
    kfe_status status =
        kfe_i_predictor_begin(ctx, kind, job->decision, dim, job->outputs, predictor_rows, out);

    if (status != KFE_OK)
        return status;
    out->classes = job->target->task == KFE_TASK_CLASSES ? job->target->class_count : 0;
    out->support_vectors = support;
    memcpy(out->offset, job->offset, (size_t)job->outputs * sizeof *out->offset);
    return KFE_OK;
}

static kfe_status make_linear(kfe_context *ctx, const svm_job *job, const kfe_i_table *features,
                              const kfe_i_kernel *kernel, int64_t support, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(begin_predictor(ctx, job, KFE_PREDICTOR_LINEAR, features->cols, features->cols, support, out));
    KFE_TRY(kfe_i_table_transpose_times(ctx, features, job->coefficients, job->outputs, out->weights));
    for (int64_t i = 0; i < features->cols * job->outputs; i++)
        out->weights[i] *= kernel->common.weight;
cleanup:
    return status;
}

/* An SVM without support examples gives every example the same answer; it keeps one row of weight zero. */
static kfe_status make_expansion(kfe_context *ctx, const svm_job *job, const kfe_i_table *features,
                                 const kfe_i_kernel *kernel, int64_t *index, int64_t support,
                                 kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t kept = support > 0 ? support : 1;
    int64_t k = job->outputs;

    if (support == 0)
        index[0] = 0;
    KFE_TRY(begin_predictor(ctx, job, KFE_PREDICTOR_EXPANSION, features->cols, kept, support, out));
    KFE_TRY(kfe_i_kernel_copy(ctx, kernel, &out->kernel));
    KFE_TRY(kfe_i_table_gather(ctx, features, index, kept, &out->support));
    for (int64_t r = 0; r < kept; r++)
        memcpy(out->weights + r * k, job->coefficients + index[r] * k, (size_t)k * sizeof *out->weights);
cleanup:
    return status;
}

static kfe_status make_predictor(kfe_context *ctx, const svm_job *job, const kfe_i_table *features,
                                 const kfe_i_kernel *kernel, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t *index = NULL;

    KFE_ALLOC(ctx, index, job->n);
    int64_t support = find_support(job, index);
    if (strcmp(kernel->def->name, "linear") == 0)
        KFE_TRY(make_linear(ctx, job, features, kernel, support, out));
    else
        KFE_TRY(make_expansion(ctx, job, features, kernel, index, support, out));
cleanup:
    kfe_i_free(ctx, index);
    return status;
}

/* ---- fitting ---- */

/* The kernel FFᵀ is the linear kernel on the rows of F, which take far less memory than the matrix. */
static kfe_status nodes_from_landmarks(kfe_context *ctx, svm_job *job, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_info info = {0};
    kfe_i_table factor = {0};

    kfe_i_gram_has_landmarks(gram, &info);
    KFE_TRY(kfe_i_table_new_dense(ctx, gram->size, info.rank, &factor));
    KFE_TRY(kfe_i_landmark_rows(gram, 0, gram->size, factor.values));
    KFE_TRY(kfe_i_nodes_from_table(ctx, &factor, 0, &job->nodes));
    job->parameter.kernel_type = LINEAR;
cleanup:
    kfe_i_table_free(&factor);
    return status;
}

static kfe_status train_on_gram(kfe_context *ctx, svm_job *job, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;

    job->gram = gram;
    if (job->settings->solver == SOLVER_LIBSVM && kfe_i_gram_has_landmarks(gram, NULL))
        KFE_TRY(nodes_from_landmarks(ctx, job, gram));
    else if (job->settings->solver == SOLVER_LIBSVM)
        KFE_TRY(kfe_i_nodes_from_gram(ctx, gram, &job->nodes));
    KFE_TRY(train_all(ctx, job));
cleanup:
    return status;
}

static kfe_status train_on_features(kfe_context *ctx, svm_job *job, const kfe_i_table *features,
                                    kfe_i_kernel *kernel)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels = {ctx, kernel, 1, 1};
    kfe_i_gram *gram = NULL;

    if (job->settings->solver == SOLVER_LIBSVM && use_own_kernel(kernel, &job->parameter)) {
        KFE_TRY(kfe_i_nodes_from_table(ctx, features, 0, &job->nodes));
        KFE_TRY(train_all(ctx, job));
    } else {
        KFE_TRY(kfe_i_gram_open(ctx, &kernels, features, KFE_GRAM_AUTO, &gram));
        KFE_TRY(train_on_gram(ctx, job, gram));
    }
cleanup:
    kfe_i_gram_free(gram);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    svm_job job = {.settings = settings, .target = target};
    kfe_i_kernel kernel = {0};

    memset(out, 0, sizeof *out);
    KFE_TRY(choose_kernel(ctx, job.settings->kernel, features, &kernel));
    KFE_TRY(job_begin(ctx, &job));
    KFE_TRY(train_on_features(ctx, &job, features, &kernel));
    KFE_TRY(make_predictor(ctx, &job, features, &kernel, out));
    KFE_TRY(certify_on_features(ctx, &job, features, out));
cleanup:
    job_free(ctx, &job);
    kfe_i_kernel_free(&kernel);
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

static kfe_status fit_gram(kfe_context *ctx, const kfe_i_gram *gram, const kfe_i_target *target,
                           const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    svm_job job = {.settings = settings, .target = target};

    memset(out, 0, sizeof *out);
    KFE_TRY(job_begin(ctx, &job));
    int64_t outputs = job.outputs;
    KFE_TRY(train_on_gram(ctx, &job, gram));
    KFE_TRY(begin_predictor(ctx, &job, KFE_PREDICTOR_DIRECT, outputs, job.n, 0, out));
    KFE_TRY(certify_on_gram(ctx, &job, gram, out));
    memcpy(out->weights, job.coefficients, (size_t)(job.n * outputs) * sizeof *out->weights);
    for (int64_t i = 0; i < job.n; i++)
        out->support_vectors += supports(&job, i);
cleanup:
    job_free(ctx, &job);
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

const kfe_i_learner kfe_i_learner_svm = {
    .name = "svm",
    .summary = "SVM (support vector machine), by LIBSVM",
    .reference = "Chang & Lin, LIBSVM (2011)",
    .flags = KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_SPARSE,
    .params = KFE_PARAM_TABLE(rows, svm_settings),
    .fit = fit,
    .fit_gram = fit_gram,
};
