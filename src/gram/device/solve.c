/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solves (G + λI)B = R on a device, for operators that are there (kfd, hsic and the other ridge methods), and finds all eigenvectors.
 * gram/solve/solve.c and eigen.c try it first.
 *
 * The matrix is evaluated into the device's memory (or taken from a stored operator, if there is no room for a second one),
 * centred there, and factored in double precision, or, if that does not fit, in single precision. Corrections with residuals in
 * double precision follow: plain ones while each gains a digit, then conjugate gradients with the factor as preconditioner. The
 * residual that counts is computed from the operator.
 *
 * Time: n³/3 operations on the device. Memory there: 8n² or 4n² bytes.
 *
 * If the operator is divided over the devices of several processes, every device factors the whole matrix, provided it fits on all of them.
 * Process 0 sends what it solved to the others, so that all take the same decisions.
 */
#include "gram/device/solve.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/cluster/on_devices.h"
#include "gram/device/form.h"
#include "gram/solve/precondition.h"
#include "gram/solve/refine.h"

typedef struct device_factor {
    kfe_i_device *device;
    kfe_device_matrix l;     /* n × n */
    kfe_device_matrix block; /* n × k, in double precision */
    double scale;            /* the matrix was multiplied by this */
    kfe_context *together;   /* its processes factor together; NULL: this process factors alone */
} device_factor;

typedef struct device_solver {
    kfe_i_solver base; /* the system, its residual and its corrections */
    device_factor factor;
    double largest; /* diagonal entry of G */
} device_solver;

/* ---- the factor ---- */

/* G on the device: PKP of a centred operator needs K's row means. */
static kfe_status centre(const kfe_i_gram *gram, const device_factor *f, kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    const double *means = NULL;
    double overall = 0;
    double *by_row = NULL;
    double *by_col = NULL;

    if (!kfe_i_gram_centred_inner(gram))
        return KFE_OK;
    KFE_ALLOC(gram->ctx, by_row, gram->size);
    KFE_ALLOC(gram->ctx, by_col, gram->size);
    KFE_TRY(kfe_i_gram_row_means(gram, &means, &overall));
    for (int64_t i = 0; i < gram->size; i++) {
        by_row[i] = f->scale * (overall - means[i]);
        by_col[i] = -f->scale * means[i];
    }
    *result = f->device->table->shift(f->device->handle, &f->l, by_row, by_col);
cleanup:
    kfe_i_free(gram->ctx, by_row);
    kfe_i_free(gram->ctx, by_col);
    return status;
}

/* The operator of the whole matrix on this process's device, without centring. */
static const kfe_i_gram *inside(const kfe_i_gram *gram)
{
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(gram);
    return kfe_i_gram_own_device(inner ? inner : gram);
}

/* How a step on a device went, the worst first; for processes that factor together, the worst outcome counts. */
typedef enum outcome { UNSUPPORTED, NO_ROOM, INDEFINITE, DEFINITE } outcome;

static kfe_status agree(const device_factor *f, outcome *how)
{
    double least = *how;
    kfe_status status = f->together ? kfe_i_cluster_least(f->together, &least) : KFE_OK;

    *how = (outcome)least;
    return status;
}

/* A factor without values; device NULL: the operator is not on a device, or not in all processes. */
static kfe_status factor_begin(const kfe_i_gram *gram, device_factor *out)
{
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(gram);
    kfe_i_device *device = kfe_i_gram_device(inside(gram));
    outcome how = device ? DEFINITE : UNSUPPORTED;
    kfe_status status;

    *out = (device_factor){.scale = 1};
    if (kfe_i_gram_is_on_devices(inner ? inner : gram))
        out->together = gram->ctx;
    status = agree(out, &how);
    out->device = status == KFE_OK && how == DEFINITE ? device : NULL;
    return status;
}

/* Row means must be computed before the matrix takes the memory. */
static kfe_status measure_means(const kfe_i_gram *gram)
{
    const double *means = NULL;
    double overall = 0;

    return kfe_i_gram_centred_inner(gram) ? kfe_i_gram_row_means(gram, &means, &overall) : KFE_OK;
}

static double bytes_needed(const device_solver *s, kfe_device_type type)
{
    double n = (double)s->base.n;
    kfe_i_device *device = s->factor.device;
    double panel = type == KFE_DEVICE_F32 ? 8 * n * (double)kfe_i_device_panel_rows(s->base.n) : 0;

    return n * n * (double)type + (double)device->table->potrf_bytes(device->handle, s->base.n, type) +
           8 * n * (double)s->base.k * 4 + panel;
}

/* Memory for the matrix: new, or that of a stored operator, with the matrix in it. */
static kfe_device_status take_or_allocate(device_solver *s, kfe_device_type type, int *filled)
{
    device_factor *f = &s->factor;
    const kfe_i_gram *gram = inside(s->base.gram);

    *filled = 0;
    if (bytes_needed(s, type) <= kfe_i_device_room(f->device))
        return kfe_i_device_matrix_new(f->device, s->base.n, s->base.n, type, &f->l);
    f->l = kfe_i_device_take(gram, type);
    *filled = f->l.address != 0 && type == KFE_DEVICE_F64; /* in single precision it is not scaled */
    return f->l.address ? KFE_DEVICE_OK : KFE_DEVICE_NO_MEMORY;
}

static kfe_status fill(device_solver *s, int filled, double ridge, kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    device_factor *f = &s->factor;
    double shift = f->scale * ridge;
    kfe_device_matrix diagonal = kfe_device_diagonal(f->l);

    f->device->stage = "computing the kernel matrix";
    if (!filled)
        *result = kfe_i_device_fill(inside(s->base.gram), f->scale, 1, &f->l);
    if (*result == KFE_DEVICE_OK)
        KFE_TRY(centre(s->base.gram, f, result));
    if (*result == KFE_DEVICE_OK)
        *result = f->device->table->shift(f->device->handle, &diagonal, NULL, &shift);
cleanup:
    return status;
}

/* *result NO_MEMORY: it does not fit; *definite 0: no small shift makes the matrix positive definite. */
static kfe_status factorise(device_solver *s, kfe_device_type type, kfe_device_status *result, int *definite)
{
    kfe_status status = KFE_OK;
    device_factor *f = &s->factor;
    int single = type == KFE_DEVICE_F32;
    double rounding = (double)FLT_EPSILON * sqrt((double)s->base.n) * (s->largest + s->base.ridge);
    double extra = 0;
    int filled = 0;

    *definite = 0;
    f->scale = single ? 1 / (s->largest + s->base.ridge) : 1;
    *result = take_or_allocate(s, type, &filled);
    for (int attempt = 0; attempt < (single ? KFE_SHIFT_TRIES : 1) && !*definite; attempt++) {
        if (*result == KFE_DEVICE_OK)
            KFE_TRY(fill(s, filled, s->base.ridge + extra, result));
        f->device->stage = "factorising the kernel matrix";
        if (*result == KFE_DEVICE_OK)
            *result = f->device->table->potrf(f->device->handle, &f->l, definite);
        if (*result != KFE_DEVICE_OK)
            break;
        extra = kfe_i_next_shift(extra, rounding);
    }
    if (*result == KFE_DEVICE_OK)
        *result = kfe_i_device_matrix_new(f->device, s->base.n, s->base.k, KFE_DEVICE_F64, &f->block);
cleanup:
    if (status != KFE_OK || *result != KFE_DEVICE_OK || !*definite)
        kfe_i_device_matrix_free(f->device, &f->l);
    return status;
}

/* z = (LLᵀ)⁻¹x, scaled back; columns of single-precision factors are scaled to entries of at most 1. */
static kfe_status apply(void *state, int64_t k, const double *x, double *z)
{
    device_factor *f = state;
    int64_t n = f->l.rows;
    kfe_device_matrix block = kfe_device_part(f->block, 0, n, 0, k);
    const kfe_device_table *table = f->device->table;
    kfe_device_status failure;
    double largest = 0;

    block.stride = k;
    for (int64_t i = 0; i < n * k; i++)
        largest = fmax(largest, fabs(x[i]));
    double unit = f->l.type == KFE_DEVICE_F32 && largest > 0 ? largest : 1;
    for (int64_t i = 0; i < n * k; i++)
        z[i] = x[i] / unit;
    failure = table->upload(f->device->handle, z, k, &block);
    if (failure == KFE_DEVICE_OK)
        failure = table->potrs(f->device->handle, &f->l, &block);
    if (failure == KFE_DEVICE_OK)
        failure = table->download(f->device->handle, &block, z, k);
    for (int64_t i = 0; i < n * k; i++)
        z[i] = failure == KFE_DEVICE_OK ? z[i] * unit * f->scale : 0;
    kfe_status sent = KFE_OK;
    if (f->together) /* also after a failure: the others wait for it */
        sent = kfe_i_cluster_broadcast(f->together, 0, z, n * k * (int64_t)sizeof *z);
    return failure == KFE_DEVICE_OK ? sent : kfe_i_device_status(f->device, failure);
}

/* ---- all together ---- */

static kfe_status begin(device_solver *s)
{
    kfe_status status = KFE_OK;
    kfe_i_solver *base = &s->base;
    double *diagonal = NULL;

    KFE_TRY(kfe_i_solver_allocate(base));
    KFE_ALLOC(base->ctx, diagonal, base->n);
    KFE_TRY(measure_means(base->gram));
    KFE_TRY(kfe_i_gram_diagonal(base->gram, diagonal));
    for (int64_t i = 0; i < base->n; i++) {
        base->mean += diagonal[i] / (double)base->n;
        s->largest = fmax(s->largest, fabs(diagonal[i]));
    }
    kfe_i_solver_start_over(base);
cleanup:
    kfe_i_free(base->ctx, diagonal);
    return status;
}

/* Processes that factor together agree on the worst outcome: if *result is NO_MEMORY or UNSUPPORTED in one of them, none has a factor. */
static kfe_status agree_on_factor(device_solver *s, kfe_device_status *result, int *definite)
{
    kfe_status status = KFE_OK;
    device_factor *f = &s->factor;
    outcome how = *result == KFE_DEVICE_NO_MEMORY     ? NO_ROOM
                  : *result == KFE_DEVICE_UNSUPPORTED ? UNSUPPORTED
                  : *definite                         ? DEFINITE
                                                      : INDEFINITE;

    if (*result != KFE_DEVICE_OK && how > NO_ROOM)
        return kfe_i_device_status(f->device, *result);
    KFE_TRY(agree(f, &how));
    *definite = how == DEFINITE;
    if (how < INDEFINITE)
        *result = how == NO_ROOM ? KFE_DEVICE_NO_MEMORY : KFE_DEVICE_UNSUPPORTED;
cleanup:
    if (status != KFE_OK || *result != KFE_DEVICE_OK || !*definite) {
        kfe_i_device_matrix_free(f->device, &f->l);
        kfe_i_device_matrix_free(f->device, &f->block);
    }
    return status;
}

/* The first precision whose factor fits. *done 0: neither does. */
static kfe_status choose_factor(device_solver *s, int *done, int *definite)
{
    static const kfe_device_type types[] = {KFE_DEVICE_F64, KFE_DEVICE_F32};
    kfe_status status = KFE_OK;
    kfe_device_status result = KFE_DEVICE_NO_MEMORY;

    for (int i = 0; i < 2 && result == KFE_DEVICE_NO_MEMORY; i++) {
        s->base.report.first = s->base.report.way = i == 0 ? KFE_SOLVE_F64 : KFE_SOLVE_F32;
        KFE_TRY(factorise(s, types[i], &result, definite));
        KFE_TRY(agree_on_factor(s, &result, definite));
        if (result == KFE_DEVICE_OK)
            kfe_i_log(s->base.ctx, KFE_LOG_INFO, "solve: Cholesky in %s precision on %s",
                      i == 0 ? "double" : "single", s->factor.device->name);
    }
    *done = result == KFE_DEVICE_OK;
    if (!*done)
        (void)kfe_i_device_gives_up(s->factor.device, result, "factorisation of the kernel matrix");
cleanup:
    return status;
}

static kfe_status solve(device_solver *s, int *done)
{
    kfe_status status = KFE_OK;
    int definite = 0;

    KFE_TRY(begin(s));
    KFE_TRY(choose_factor(s, done, &definite));
    if (!*done)
        return KFE_OK;
    if (!definite)
        KFE_FAIL(
            s->base.ctx, KFE_ENUMERIC,
            "the kernel matrix plus the ridge is not positive definite to rounding; increase the ridge, or "
            "use a positive definite kernel");
    KFE_TRY(kfe_i_solver_correct(&s->base, (kfe_i_preconditioner){.apply = apply, .state = &s->factor}));
    if (!kfe_i_is_solved(&s->base))
        KFE_FAIL(s->base.ctx, KFE_ENUMERIC,
                 "the solver reached a relative residual of %.1e, not %.1e; increase the ridge",
                 s->base.report.residual, s->base.tolerance);
cleanup:
    return status;
}

kfe_status kfe_i_device_solve(const kfe_i_system *system, kfe_i_solve_report *report, int *done)
{
    device_solver s = {.base = {.ctx = system->gram->ctx,
                                .gram = system->gram,
                                .exact = system->gram,
                                .ridge = system->ridge,
                                .tolerance = system->tolerance,
                                .right = system->right,
                                .n = system->gram->size,
                                .k = system->k,
                                .out = system->out,
                                .report = *report}};
    kfe_context *ctx = s.base.ctx;
    kfe_status status = KFE_OK;

    *done = 0;
    if (s.base.k == 0 || s.base.n == 0)
        return KFE_OK;
    status = factor_begin(system->gram, &s.factor);
    if (status != KFE_OK || !s.factor.device)
        return status;
    status = solve(&s, done);
    *report = s.base.report;
    if (*done && status == KFE_OK)
        kfe_i_log(ctx, KFE_LOG_INFO, "solve: on %s: %d corrections, relative residual %.1e",
                  s.factor.device->name, report->iterations, report->residual);
    kfe_i_device_matrix_free(s.factor.device, &s.factor.l);
    kfe_i_device_matrix_free(s.factor.device, &s.factor.block);
    kfe_i_solver_free(&s.base);
    return status;
}

/* ---- all eigenvectors ---- */

static kfe_device_status leading_vectors(const device_factor *f, int64_t k, double *vectors, double *row)
{
    kfe_device_status status = KFE_DEVICE_OK;
    int64_t n = f->l.rows;

    for (int64_t j = 0; j < k; j++) { /* the largest come last; every row is a vector */
        kfe_device_matrix vector = kfe_device_part(f->l, n - 1 - j, 1, 0, n);
        KFE_DEVICE_TRY(f->device->table->download(f->device->handle, &vector, row, n));
        for (int64_t i = 0; i < n; i++)
            vectors[i * k + j] = row[i];
    }
cleanup:
    return status;
}

static kfe_status dense_eigen(const kfe_i_gram *gram, int64_t k, device_factor *f, double *work,
                              double *vectors, kfe_device_status *result)
{
    kfe_status status = KFE_OK;

    *result = kfe_i_device_matrix_new(f->device, gram->size, gram->size, KFE_DEVICE_F64, &f->l);
    if (*result == KFE_DEVICE_OK)
        *result = kfe_i_device_fill(inside(gram), 1, 1, &f->l);
    if (*result == KFE_DEVICE_OK)
        KFE_TRY(centre(gram, f, result));
    if (*result == KFE_DEVICE_OK)
        *result = f->device->table->syevd(f->device->handle, &f->l, work);
    if (*result == KFE_DEVICE_OK)
        *result = leading_vectors(f, k, vectors, work + gram->size);
cleanup:
    return status;
}

/* All processes take the eigenvectors of process 0, if all have found theirs. */
static kfe_status share_eigenvectors(const device_factor *f, int found, int64_t n, int64_t k, double *values,
                                     double *vectors, int *done)
{
    kfe_status status = KFE_OK;
    outcome how = found ? DEFINITE : NO_ROOM;

    KFE_TRY(agree(f, &how));
    *done = how == DEFINITE;
    if (f->together && *done) {
        KFE_TRY(kfe_i_cluster_broadcast(f->together, 0, values, k * (int64_t)sizeof *values));
        KFE_TRY(kfe_i_cluster_broadcast(f->together, 0, vectors, n * k * (int64_t)sizeof *vectors));
    }
cleanup:
    return status;
}

kfe_status kfe_i_device_dense_eigen(const kfe_i_gram *gram, int64_t k, double *values, double *vectors,
                                    int *done)
{
    kfe_status status = KFE_OK;
    device_factor f = {0};
    kfe_device_status result = KFE_DEVICE_OK;
    double *work = NULL;

    *done = 0;
    if (gram->size == 0)
        return KFE_OK;
    KFE_TRY(factor_begin(gram, &f));
    if (!f.device)
        return KFE_OK;
    KFE_ALLOC(gram->ctx, work, 2 * gram->size);
    f.device->stage = "computing eigenvectors";
    KFE_TRY(measure_means(gram));
    KFE_TRY(dense_eigen(gram, k, &f, work, vectors, &result));
    if (result != KFE_DEVICE_OK && !kfe_i_device_gives_up(f.device, result, "eigenvectors"))
        KFE_TRY(kfe_i_device_status(f.device, result));
    for (int64_t j = 0; result == KFE_DEVICE_OK && j < k; j++)
        values[j] = work[gram->size - 1 - j];
    KFE_TRY(share_eigenvectors(&f, result == KFE_DEVICE_OK, gram->size, k, values, vectors, done));
cleanup:
    if (f.device)
        kfe_i_device_matrix_free(f.device, &f.l);
    kfe_i_free(gram->ctx, work);
    return status;
}
