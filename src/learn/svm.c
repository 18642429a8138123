/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner svm. Classes: C-SVC on problems of two classes (multiclass.h),
 *     minimise ½‖w‖² + Σ C_i·max(0, 1 − y_i(⟨w, φ(x_i)⟩ − ρ)),   C_i = C · weight of the class.
 * Real targets: ε-SVR,
 *     minimise ½‖w‖² + C·Σ max(0, |y_i − ⟨w, φ(x_i)⟩ + ρ| − epsilon).
 * The answer is Σ_i b_i κ(x_i, z) − ρ with few b_i ≠ 0; for the linear kernel w = Σ b_i x_i is formed.
 *
 * svm_blocks.c solves them. The answer is judged here, by the violation of the optimality conditions and the duality gap
 * (svm_dual.h), from values in double precision. Records: the primal objective, the relative duality gap, and the violation.
 *
 * Cortes & Vapnik (1995); Chang & Lin, "LIBSVM: a library for support vector machines" (2011).
 * Time: O(n²) to O(n³) kernel values for each problem. Memory: rows of the kernel (blocks/), and n × outputs.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "data/data.h"
#include "data/table/facts.h"
#include "learn/learner.h"
#include "learn/multiclass.h"
#include "learn/svm_dual.h"
#include "learn/svm_job.h"
#include "linalg/linalg.h"

static const kfe_i_param rows[] = {
    KFE_REAL_OR(
        kfe_i_svm_settings, c, "C", "auto", KFE_REAL_POSITIVE, KFE_REAL_MAX, "auto", "auto=-1",
        "weight of the loss against the norm; auto: 1; for classes with a linear kernel on features, 1 / "
        "(total variance of the features, each class counted equally)"),
    KFE_REAL(kfe_i_svm_settings, epsilon, "epsilon", "0.1", 0, KFE_REAL_MAX,
             "real targets: errors up to this cost nothing"),
    KFE_TEXT(kfe_i_svm_settings, kernel, "learner-kernel", "linear",
             "kernel on the features, such as rbf:gamma=scale"),
    KFE_CLASS_WEIGHTS_ROW(kfe_i_svm_settings, class_weights),
    KFE_CHOICE(kfe_i_svm_settings, multiclass, "multiclass", "ovo", KFE_MULTICLASS_WORDS,
               "several classes: one against one, one against the rest, or a chain"),
    KFE_REAL(kfe_i_svm_settings, stop, "stop", "1e-3", KFE_REAL_POSITIVE, KFE_REAL_MAX,
             "accepted violation of the optimality conditions"),
    KFE_CHOICE_NOW(kfe_i_svm_settings, solver, "svm-solver", "smo", "smo", "libsvm",
                   "kfe's own solver (earlier versions also had libsvm)"),
};

/* The job of the solvers, and the certificate of their answer. */
typedef struct svm_job {
    kfe_i_svm_job own;
    kfe_i_svm_certificate certificate; /* largest violation; sums of objectives and gaps */
} svm_job;

/* ---- the job ---- */

static void job_free(kfe_context *ctx, svm_job *job)
{
    kfe_i_free(ctx, job->own.class_weights);
    kfe_i_free(ctx, job->own.coefficients);
    kfe_i_free(ctx, job->own.offset);
    kfe_i_free(ctx, job->own.values);
}

static kfe_status job_begin(kfe_context *ctx, kfe_i_svm_job *job)
{
    kfe_status status = KFE_OK;
    const kfe_i_target *target = job->target;
    int classes = target->task == KFE_TASK_CLASSES;

    job->n = target->rows;
    job->decision = !classes ? KFE_DECIDE_VALUE
                             : kfe_i_multiclass_decision((kfe_i_multiclass)job->settings->multiclass,
                                                         target->class_count);
    job->outputs = classes ? kfe_i_decision_outputs(job->decision, target->class_count) : target->cols;
    KFE_ALLOC(ctx, job->class_weights, target->class_count);
    KFE_TRY(kfe_i_class_weights(ctx, job->settings->class_weights, target, job->class_weights));
    KFE_ALLOC_ZERO(ctx, job->coefficients, job->n * job->outputs);
    KFE_ALLOC_ZERO(ctx, job->offset, job->outputs);
cleanup:
    return status;
}

/* ---- kernels ---- */

static kfe_status choose_kernel(kfe_context *ctx, const char *text, const kfe_i_table *features,
                                const kfe_i_target *target, kfe_i_kernel *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table weighted = kfe_i_weighted_rows(features, target);

    if (strncmp(text, "user:", 5) == 0)
        KFE_FAIL(ctx, KFE_EINVAL, "{learner-kernel} cannot be a function; use a kernel that {kernels} lists");
    KFE_TRY(kfe_i_kernel_parse(ctx, text, out));
    if (out->def->base == KFE_BASE_GIVEN || out->def->base == KFE_BASE_STRING)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "{learner-kernel} must be a kernel on features, which %s is not; use linear or rbf",
                 out->def->name);
    KFE_TRY(kfe_i_kernel_prepare(ctx, out, &weighted));
cleanup:
    if (status != KFE_OK)
        kfe_i_kernel_free(out);
    return status;
}

/* ---- certificates ---- */

static kfe_i_svm_column column_of(const svm_job *job, int64_t output)
{
    return (kfe_i_svm_column){.coefficients = job->own.coefficients + output,
                              .values = job->own.values + output,
                              .stride = job->own.outputs,
                              .offset = job->own.offset[output],
                              .weights = job->own.target->weights};
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
    add_certificate(job, kfe_i_svm_certify_classes(binary, job->own.settings->c, &column));
    return KFE_OK;
}

static void certify_real(svm_job *job)
{
    const kfe_i_target *target = job->own.target;

    for (int64_t j = 0; j < job->own.outputs; j++) {
        kfe_i_svm_column column = column_of(job, j);
        kfe_i_svm_targets targets = {target->values + j, job->own.n, target->cols,
                                     job->own.settings->epsilon};
        add_certificate(job, kfe_i_svm_certify_real(&targets, job->own.settings->c, &column));
    }
}

/* The solver may measure on kernel values in single precision, which are rounded differently. */
#define ACCEPTED_EXCESS 10

static void record(kfe_context *ctx, const svm_job *job, kfe_i_predictor *predictor)
{
    const kfe_i_svm_certificate *found = &job->certificate;
    double gap = found->objective > 0 ? found->gap / found->objective : 0;
    char where[128];

    kfe_i_predictor_record(predictor, "c", job->own.settings->c);
    kfe_i_predictor_record(predictor, "objective", found->objective);
    kfe_i_predictor_record(predictor, "gap", gap);
    kfe_i_predictor_record(predictor, "violation", fmax(0, found->violation));
    if (found->violation > ACCEPTED_EXCESS * job->own.settings->stop) {
        snprintf(where, sizeof where,
                 "a violation of %.3g (accepted: %g) and a duality gap of %.2g of the objective",
                 found->violation, job->own.settings->stop, gap);
        kfe_i_svm_warn(ctx, "svm", where);
    }
}

/* Certifies the answer from the kernel values in job->own.values. */
static kfe_status certify(kfe_context *ctx, svm_job *job, kfe_i_predictor *predictor)
{
    kfe_status status = KFE_OK;
    const kfe_i_svm_job *own = &job->own;

    for (int64_t i = 0; i < own->n * own->outputs; i++)
        if (!isfinite(own->values[i]))
            return kfe_i_svm_overflow(ctx);
    if (own->decision == KFE_DECIDE_VALUE)
        certify_real(job);
    else
        KFE_TRY(
            kfe_i_multiclass_each(ctx, own->target, own->decision, own->class_weights, certify_binary, job));
    record(ctx, job, predictor);
cleanup:
    return status;
}

/* ---- the predictor ---- */

static int supports(const svm_job *job, int64_t i)
{
    for (int64_t j = 0; j < job->own.outputs; j++)
        if (job->own.coefficients[i * job->own.outputs + j] != 0)
            return 1;
    return 0;
}

/* Writes the support examples of all problems to index[n], in order, and returns their number. */
static int64_t find_support(const svm_job *job, int64_t *index)
{
    int64_t count = 0;

    for (int64_t i = 0; i < job->own.n; i++)
        if (supports(job, i))
            index[count++] = i;
    return count;
}

static kfe_status begin_predictor(kfe_context *ctx, const svm_job *job, kfe_i_predictor_kind kind,
                                  int64_t dim, int64_t predictor_rows, int64_t support, kfe_i_predictor *out)
{
    kfe_status status =
        kfe_i_predictor_begin(ctx, kind, job->own.decision, dim, job->own.outputs, predictor_rows, out);

    if (status != KFE_OK)
        return status;
    out->classes = job->own.target->task == KFE_TASK_CLASSES ? job->own.target->class_count : 0;
    out->support_vectors = support;
    memcpy(out->offset, job->own.offset, (size_t)job->own.outputs * sizeof *out->offset);
    return KFE_OK;
}

static kfe_status make_linear(kfe_context *ctx, const svm_job *job, const kfe_i_table *features,
                              const kfe_i_kernel *kernel, int64_t support, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(begin_predictor(ctx, job, KFE_PREDICTOR_LINEAR, features->cols, features->cols, support, out));
    KFE_TRY(
        kfe_i_table_transpose_times(ctx, features, job->own.coefficients, job->own.outputs, out->weights));
    for (int64_t i = 0; i < features->cols * job->own.outputs; i++)
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
    int64_t k = job->own.outputs;

    if (support == 0)
        index[0] = 0;
    KFE_TRY(begin_predictor(ctx, job, KFE_PREDICTOR_EXPANSION, features->cols, kept, support, out));
    KFE_TRY(kfe_i_kernel_copy(ctx, kernel, &out->kernel));
    KFE_TRY(kfe_i_table_gather(ctx, features, index, kept, &out->support));
    for (int64_t r = 0; r < kept; r++)
        memcpy(out->weights + r * k, job->own.coefficients + index[r] * k, (size_t)k * sizeof *out->weights);
cleanup:
    return status;
}

static kfe_status make_predictor(kfe_context *ctx, const svm_job *job, const kfe_i_table *features,
                                 const kfe_i_kernel *kernel, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    int64_t *index = NULL;

    KFE_ALLOC(ctx, index, job->own.n);
    int64_t support = find_support(job, index);
    if (strcmp(kernel->def->name, "linear") == 0)
        KFE_TRY(make_linear(ctx, job, features, kernel, support, out));
    else
        KFE_TRY(make_expansion(ctx, job, features, kernel, index, support, out));
cleanup:
    kfe_i_free(ctx, index);
    return status;
}

/* ---- C=auto ---- */

/* Between these, so that the solvers have digits left. */
#define SMALLEST_C 1e-9
#define LARGEST_C 1e9

/* Weights of rows by which every class counts alike, whatever its size and its weight. */
static kfe_status balance_classes(kfe_context *ctx, const kfe_i_target *target, double *weights)
{
    kfe_status status = KFE_OK;
    double *total = NULL;

    KFE_ALLOC_ZERO(ctx, total, target->class_count);
    for (int64_t i = 0; i < target->rows; i++) {
        weights[i] = target->weights ? target->weights[i] : 1;
        total[target->codes[i]] += weights[i];
    }
    for (int64_t i = 0; i < target->rows; i++)
        weights[i] /= total[target->codes[i]];
cleanup:
    kfe_i_free(ctx, total);
    return status;
}

/* What C=auto is on features. The best C is inversely proportional to the square of the unit that the features have, and units differ by
 * method: the features of kfd with a large ridge are short. Real targets have a unit too. Classes count alike: the variance within a
 * class that has nearly all weight says nothing about the distance to the others. */
static kfe_status choose_c(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                           const kfe_i_kernel *kernel, kfe_i_svm_settings *settings)
{
    kfe_status status = KFE_OK;
    kfe_i_table balanced = kfe_i_table_slice(features, 0, features->rows);
    double *weights = NULL;
    double variance = 1;

    if (settings->c > 0)
        return KFE_OK;
    if (target->task == KFE_TASK_CLASSES && strcmp(kernel->def->name, "linear") == 0) {
        KFE_ALLOC(ctx, weights, target->rows);
        KFE_TRY(balance_classes(ctx, target, weights));
        balanced.weights = weights;
        KFE_TRY(kfe_i_total_variance(ctx, &balanced, &variance));
    }
    settings->c = variance > 0 ? fmin(fmax(1 / variance, SMALLEST_C), LARGEST_C) : 1;
cleanup:
    kfe_i_free(ctx, weights);
    return status;
}

/* ---- fitting ---- */

static kfe_status train_on_features(kfe_context *ctx, kfe_i_svm_job *job, const kfe_i_table *features,
                                    kfe_i_kernel *kernel)
{
    kfe_status status = KFE_OK;
    kfe_i_kernel_list kernels = {ctx, kernel, 1, 1};
    kfe_i_gram *gram = NULL;

    KFE_TRY(kfe_i_gram_open(ctx, &kernels, features, KFE_GRAM_AUTO, &gram));
    KFE_TRY(kfe_i_svm_train_blocks(ctx, job, gram));
cleanup:
    kfe_i_gram_free(gram);
    return status;
}

static kfe_status fit(kfe_context *ctx, const kfe_i_table *features, const kfe_i_target *target,
                      const void *settings, kfe_i_predictor *out)
{
    kfe_status status = KFE_OK;
    kfe_i_svm_settings chosen = *(const kfe_i_svm_settings *)settings;
    svm_job job = {.own = {.settings = &chosen, .target = target}};
    kfe_i_kernel kernel = {0};

    memset(out, 0, sizeof *out);
    KFE_TRY(choose_kernel(ctx, chosen.kernel, features, target, &kernel));
    KFE_TRY(choose_c(ctx, features, target, &kernel, &chosen));
    KFE_TRY(job_begin(ctx, &job.own));
    KFE_TRY(train_on_features(ctx, &job.own, features, &kernel));
    KFE_TRY(make_predictor(ctx, &job, features, &kernel, out));
    KFE_TRY(certify(ctx, &job, out));
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
    kfe_i_svm_settings chosen = *(const kfe_i_svm_settings *)settings;
    svm_job job = {.own = {.settings = &chosen, .target = target}};

    memset(out, 0, sizeof *out);
    if (chosen.c < 0) /* auto */
        chosen.c = 1;
    KFE_TRY(job_begin(ctx, &job.own));
    int64_t n = job.own.n;
    int64_t outputs = job.own.outputs;
    KFE_TRY(kfe_i_svm_train_blocks(ctx, &job.own, gram));
    KFE_TRY(begin_predictor(ctx, &job, KFE_PREDICTOR_DIRECT, outputs, n, 0, out));
    KFE_TRY(certify(ctx, &job, out));
    memcpy(out->weights, job.own.coefficients, (size_t)(n * outputs) * sizeof *out->weights);
    for (int64_t i = 0; i < n; i++)
        out->support_vectors += supports(&job, i);
cleanup:
    job_free(ctx, &job);
    if (status != KFE_OK)
        kfe_i_predictor_free(out);
    return status;
}

const kfe_i_learner kfe_i_learner_svm = {
    .name = "svm",
    .summary = "SVM (support vector machine)",
    .reference = "Cortes & Vapnik (1995); Chang & Lin, LIBSVM (2011)",
    .flags =
        KFE_HAS_SUPERVISION | KFE_HAS_REGRESSION | KFE_HAS_KERNELS | KFE_HAS_SPARSE | KFE_HAS_SAMPLE_WEIGHTS,
    .params = KFE_PARAM_TABLE(rows, kfe_i_svm_settings),
    .fit = fit,
    .fit_gram = fit_gram,
};
