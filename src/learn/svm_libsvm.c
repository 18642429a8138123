/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SVMs of the learner svm by LIBSVM, one problem after the other.
 *
 * LIBSVM computes the kernels that it has (linear, poly, rbf, sigmoid; same formulas as ours) from sparse rows. Other
 * kernels, and Gram operators, are passed as a matrix of 16 bytes an entry. It allocates by itself, as much as
 * library_memory.h has checked, and calls rand() only for probabilities, which are not used. It keeps kernel values in
 * single precision. When it stops at its limit of iterations it only tells standard error; the caller measures the
 * violation.
 */
#include <math.h>
#include <string.h>

#if defined(__has_include) && !__has_include(<libsvm/svm.h>)
#include <svm.h> /* where LIBSVM installs it by itself */
#else
#include <libsvm/svm.h>
#endif

#include "core/memory.h"
#include "gram/form/landmarks.h"
#include "learn/library_memory.h"
#include "learn/nodes.h"
#include "learn/stoppable.h"
#include "learn/svm_dual.h"
#include "learn/svm_job.h"

_Static_assert(sizeof(kfe_i_node) == sizeof(struct svm_node) &&
                   offsetof(kfe_i_node, value) == offsetof(struct svm_node, value),
               "nodes are laid out like LIBSVM's");

typedef struct libsvm_job {
    kfe_i_svm_job *own;
    kfe_i_nodes nodes;
    struct svm_problem problem;
    struct svm_parameter parameter;
} libsvm_job;

static void job_free(kfe_context *ctx, libsvm_job *job)
{
    kfe_i_nodes_free(&job->nodes);
    kfe_i_free(ctx, job->problem.x);
    kfe_i_free(ctx, job->problem.y);
}

static kfe_status job_begin(kfe_context *ctx, libsvm_job *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_svm_settings *settings = job->own->settings;

    KFE_ALLOC(ctx, job->problem.x, job->own->n);
    KFE_ALLOC(ctx, job->problem.y, job->own->n);
    job->parameter = (struct svm_parameter){
        .svm_type = job->own->decision == KFE_DECIDE_VALUE ? EPSILON_SVR : C_SVC,
        .kernel_type = PRECOMPUTED,
        .cache_size = settings->cache,
        .eps = settings->stop,
        .C = settings->c,
        .p = settings->epsilon,
        .shrinking = 1,
    };
cleanup:
    return status;
}

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

/* ---- one problem ---- */

typedef struct svm_training {
    const libsvm_job *job;
    struct svm_model *model;
} svm_training;

static void call_libsvm(void *user)
{
    svm_training *training = user;
    training->model = svm_train(&training->job->problem, &training->job->parameter);
}

/* Trains on job->problem, whose row r is example[r] (NULL: r). */
static kfe_status train_libsvm(kfe_context *ctx, libsvm_job *job, const int64_t *example, int64_t output)
{
    const char *complaint = svm_check_parameter(&job->problem, &job->parameter);

    if (complaint)
        return kfe_i_fail(ctx, KFE_EINVAL, "svm: LIBSVM rejects the problem: %s", complaint);
    job->parameter.cache_size = job->own->settings->cache;
    kfe_status status = kfe_i_libsvm_reserve(ctx, job->problem.l, &job->parameter.cache_size);
    svm_training training = {.job = job};
    const kfe_i_stoppable task = {.name = "svm", .most = INT64_MAX, .train = call_libsvm, .job = &training};
    if (status == KFE_OK)
        status = kfe_i_run_stoppable(ctx, &task);
    if (status != KFE_OK)
        return status;
    struct svm_model *model = training.model;
    int finite = isfinite(model->rho[0]);
    double sign = job->parameter.svm_type == C_SVC && model->label[0] < 0 ? -1 : 1;
    for (int r = 0; r < model->l; r++) {
        int64_t row = model->sv_indices[r] - 1;
        int64_t i = example ? example[row] : row;
        job->own->coefficients[i * job->own->outputs + output] = sign * model->sv_coef[0][r];
        finite &= isfinite(model->sv_coef[0][r]);
    }
    job->own->offset[output] = sign * model->rho[0];
    svm_free_and_destroy_model(&model);
    return finite ? KFE_OK : kfe_i_svm_overflow(ctx);
}

static kfe_status train_binary(kfe_context *ctx, void *user, const kfe_i_binary *binary)
{
    libsvm_job *job = user;
    int labels[2] = {1, -1};
    double weights[2] = {binary->positive_weight, binary->negative_weight};

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

static kfe_status train_real(kfe_context *ctx, libsvm_job *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = job->own->target;

    job->problem.l = (int)job->own->n;
    for (int64_t j = 0; j < target->cols; j++) {
        KFE_TRY(kfe_i_progress(ctx, "learning", j, target->cols));
        for (int64_t i = 0; i < job->own->n; i++) {
            job->problem.y[i] = target->values[i * target->cols + j];
            job->problem.x[i] = (struct svm_node *)job->nodes.rows[i];
        }
        KFE_TRY(train_libsvm(ctx, job, NULL, j));
    }
cleanup:
    return status;
}

static kfe_status train_all(kfe_context *ctx, libsvm_job *job)
{
    svm_set_print_string_function(kfe_i_stop_if_cancelled); /* for the whole process */
    if (job->own->decision == KFE_DECIDE_VALUE)
        return train_real(ctx, job);
    return kfe_i_multiclass_each(ctx, job->own->target, job->own->decision, job->own->class_weights,
                                 train_binary, job);
}

/* ---- all problems ---- */

/* The kernel FFᵀ is the linear kernel on the rows of F, which take far less memory than the matrix. */
static kfe_status nodes_from_landmarks(kfe_context *ctx, libsvm_job *job, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_info info = kfe_i_landmarks_of(gram);
    kfe_i_table factor = {0};

    KFE_TRY(kfe_i_table_new_dense(ctx, gram->size, info.rank, &factor));
    KFE_TRY(kfe_i_landmark_rows(gram, 0, gram->size, factor.values));
    KFE_TRY(kfe_i_nodes_from_table(ctx, &factor, 0, &job->nodes));
    job->parameter.kernel_type = LINEAR;
cleanup:
    kfe_i_table_free(&factor);
    return status;
}

kfe_status kfe_i_svm_train_libsvm(kfe_context *ctx, kfe_i_svm_job *own, const kfe_i_gram *gram)
{
    kfe_status status = KFE_OK;
    libsvm_job job = {.own = own};

    KFE_TRY(job_begin(ctx, &job));
    int64_t count = 0;
    if (kfe_i_gram_support(gram, &count))
        KFE_TRY(nodes_from_landmarks(ctx, &job, gram));
    else
        KFE_TRY(kfe_i_nodes_from_gram(ctx, gram, &job.nodes));
    KFE_TRY(train_all(ctx, &job));
cleanup:
    job_free(ctx, &job);
    return status;
}

kfe_status kfe_i_svm_train_libsvm_features(kfe_context *ctx, kfe_i_svm_job *own, const kfe_i_table *features,
                                           const kfe_i_kernel *kernel, int *done)
{
    kfe_status status = KFE_OK;
    libsvm_job job = {.own = own};

    KFE_TRY(job_begin(ctx, &job));
    *done = use_own_kernel(kernel, &job.parameter);
    if (*done) {
        KFE_TRY(kfe_i_nodes_from_table(ctx, features, 0, &job.nodes));
        KFE_TRY(train_all(ctx, &job));
    }
cleanup:
    job_free(ctx, &job);
    return status;
}
