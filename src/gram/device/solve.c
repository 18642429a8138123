/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solves (G + λI)B = R on a device, for operators that are there (kfd, hsic and the other ridge methods).
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
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "gram/device/whole.h"
#include "gram/form/centred.h"
#include "gram/solve/precondition.h"
#include "gram/solve/refine.h"

typedef struct device_solver {
    kfe_i_solver base; /* the system, its residual and its corrections */
    kfe_i_device_whole matrix;
    kfe_device_matrix l;     /* n × n: the factor */
    kfe_device_matrix block; /* n × k, in double precision */
    double scale;            /* the matrix was multiplied by this */
    double largest;          /* diagonal entry of G */
} device_solver;

/* ---- the factor ---- */

static double bytes_needed(const device_solver *s, kfe_device_type type)
{
    double n = (double)s->base.n;
    kfe_i_device *device = s->matrix.device;
    double panel = type == KFE_DEVICE_F32 ? 8 * n * (double)kfe_i_device_panel_rows(s->base.n) : 0;

    return n * n * (double)type + (double)device->table->potrf_bytes(device->handle, s->base.n, type) +
           8 * n * (double)s->base.k * 4 + panel;
}

/* Memory for the matrix: new, or that of a stored operator, with the matrix in it. */
static kfe_device_status take_or_allocate(device_solver *s, kfe_device_type type, int *filled)
{
    const kfe_i_gram *gram = s->matrix.gram;
    const kfe_i_device_calls *calls = gram->form->device;

    *filled = 0;
    if (bytes_needed(s, type) <= kfe_i_device_room(s->matrix.device))
        return kfe_i_device_matrix_new(s->matrix.device, s->base.n, s->base.n, type, &s->l);
    if (calls->take)
        s->l = calls->take(gram, type);
    *filled = s->l.address != 0 && type == KFE_DEVICE_F64; /* in single precision it is not scaled */
    return s->l.address ? KFE_DEVICE_OK : KFE_DEVICE_NO_MEMORY;
}

static kfe_status fill(device_solver *s, int filled, double ridge, kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    const kfe_i_device *device = s->matrix.device;
    double shift = s->scale * ridge;
    kfe_device_matrix diagonal = kfe_device_diagonal(s->l);

    KFE_TRY(kfe_i_device_whole_fill(&s->matrix, s->scale, filled, &s->l, result));
    if (*result == KFE_DEVICE_OK)
        *result = device->table->shift(device->handle, &diagonal, NULL, &shift);
cleanup:
    return status;
}

/* *result NO_MEMORY: it does not fit; *definite 0: no small shift makes the matrix positive definite. */
static kfe_status factorise(device_solver *s, kfe_device_type type, kfe_device_status *result, int *definite)
{
    kfe_status status = KFE_OK;
    kfe_i_device *device = s->matrix.device;
    int single = type == KFE_DEVICE_F32;
    double rounding = (double)FLT_EPSILON * sqrt((double)s->base.n) * (s->largest + s->base.ridge);
    double extra = 0;
    int filled = 0;

    *definite = 0;
    s->scale = single ? 1 / (s->largest + s->base.ridge) : 1;
    *result = take_or_allocate(s, type, &filled);
    for (int attempt = 0; attempt < (single ? KFE_SHIFT_TRIES : 1) && !*definite; attempt++) {
        if (*result == KFE_DEVICE_OK)
            KFE_TRY(fill(s, filled, s->base.ridge + extra, result));
        device->stage = "factorising the kernel matrix";
        if (*result == KFE_DEVICE_OK)
            *result = device->table->potrf(device->handle, &s->l, definite);
        if (*result != KFE_DEVICE_OK)
            break;
        extra = kfe_i_next_shift(extra, rounding);
    }
    if (*result == KFE_DEVICE_OK)
        *result = kfe_i_device_matrix_new(device, s->base.n, s->base.k, KFE_DEVICE_F64, &s->block);
cleanup:
    if (status != KFE_OK || *result != KFE_DEVICE_OK || !*definite)
        kfe_i_device_matrix_free(device, &s->l);
    return status;
}

/* z = (LLᵀ)⁻¹x, scaled back; columns of single-precision factors are scaled to entries of at most 1. */
static kfe_status apply(void *state, int64_t k, const double *x, double *z)
{
    device_solver *s = state;
    const kfe_i_device *device = s->matrix.device;
    const kfe_device_table *table = device->table;
    int64_t n = s->l.rows;
    kfe_device_matrix block = kfe_device_part(s->block, 0, n, 0, k);
    kfe_device_status failure;
    double largest = 0;

    block.stride = k;
    for (int64_t i = 0; i < n * k; i++)
        largest = fmax(largest, fabs(x[i]));
    double unit = s->l.type == KFE_DEVICE_F32 && largest > 0 ? largest : 1;
    for (int64_t i = 0; i < n * k; i++)
        z[i] = x[i] / unit;
    failure = table->upload(device->handle, z, k, &block);
    if (failure == KFE_DEVICE_OK)
        failure = table->potrs(device->handle, &s->l, &block);
    if (failure == KFE_DEVICE_OK)
        failure = table->download(device->handle, &block, z, k);
    for (int64_t i = 0; i < n * k; i++)
        z[i] = failure == KFE_DEVICE_OK ? z[i] * unit * s->scale : 0;
    kfe_status sent =
        kfe_i_device_whole_share(&s->matrix, z, n * k); /* also after a failure: the others wait for it */
    return failure == KFE_DEVICE_OK ? sent : kfe_i_device_status(device, failure);
}

/* ---- all together ---- */

static kfe_status begin(device_solver *s)
{
    kfe_status status = KFE_OK;
    kfe_i_solver *base = &s->base;
    double *diagonal = NULL;

    KFE_TRY(kfe_i_solver_allocate(base));
    KFE_ALLOC(base->ctx, diagonal, base->n);
    KFE_TRY(kfe_i_device_whole_means(&s->matrix));
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
    kfe_i_outcome how = *result == KFE_DEVICE_NO_MEMORY     ? KFE_OUTCOME_NO_ROOM
                        : *result == KFE_DEVICE_UNSUPPORTED ? KFE_OUTCOME_UNSUPPORTED
                        : *definite                         ? KFE_OUTCOME_GOOD
                                                            : KFE_OUTCOME_INDEFINITE;

    if (*result != KFE_DEVICE_OK && how > KFE_OUTCOME_NO_ROOM)
        return kfe_i_device_status(s->matrix.device, *result);
    KFE_TRY(kfe_i_device_whole_agree(&s->matrix, &how));
    *definite = how == KFE_OUTCOME_GOOD;
    if (how < KFE_OUTCOME_INDEFINITE)
        *result = how == KFE_OUTCOME_NO_ROOM ? KFE_DEVICE_NO_MEMORY : KFE_DEVICE_UNSUPPORTED;
cleanup:
    if (status != KFE_OK || *result != KFE_DEVICE_OK || !*definite) {
        kfe_i_device_matrix_free(s->matrix.device, &s->l);
        kfe_i_device_matrix_free(s->matrix.device, &s->block);
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
        s->base.effort.first = s->base.effort.way = i == 0 ? KFE_SOLVE_F64 : KFE_SOLVE_F32;
        KFE_TRY(factorise(s, types[i], &result, definite));
        KFE_TRY(agree_on_factor(s, &result, definite));
        if (result == KFE_DEVICE_OK)
            kfe_i_log(s->base.ctx, KFE_LOG_INFO, "solve: Cholesky in %s precision on %s",
                      i == 0 ? "double" : "single", s->matrix.device->name);
    }
    *done = result == KFE_DEVICE_OK;
    if (!*done)
        (void)kfe_i_device_gives_up(s->matrix.device, result, "factorisation of the kernel matrix");
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
    KFE_TRY(kfe_i_solver_correct(&s->base, (kfe_i_preconditioner){.apply = apply, .state = s}));
    if (!kfe_i_is_solved(&s->base))
        KFE_FAIL(s->base.ctx, KFE_ENUMERIC,
                 "the solver reached a relative residual of %.1e, not %.1e; increase the ridge",
                 s->base.effort.residual, s->base.tolerance);
cleanup:
    return status;
}

/* *done 0: no factor fits, or the operator is not on a device in all processes, and nothing has happened. */
static kfe_status try_device(const kfe_i_system *system, const kfe_i_gram *inside, kfe_i_solve_effort *effort,
                             int *done)
{
    kfe_status status = KFE_OK;
    device_solver s = {.scale = 1,
                       .base = {.ctx = system->gram->ctx,
                                .gram = system->gram,
                                .exact = system->gram,
                                .ridge = system->ridge,
                                .tolerance = system->tolerance,
                                .right = system->right,
                                .n = system->gram->size,
                                .k = system->k,
                                .out = system->out}};
    kfe_context *ctx = s.base.ctx;

    *done = 0;
    if (s.base.k == 0 || s.base.n == 0)
        return KFE_OK;
    status = kfe_i_device_whole_open(system->gram, inside, &s.matrix);
    if (status != KFE_OK || !s.matrix.device)
        return status;
    status = solve(&s, done);
    if (*done && status == KFE_OK)
        kfe_i_log(ctx, KFE_LOG_INFO, "solve: on %s: %d corrections, relative residual %.1e",
                  s.matrix.device->name, s.base.effort.iterations, s.base.effort.residual);
    if (*done && effort)
        *effort = s.base.effort;
    kfe_i_device_matrix_free(s.matrix.device, &s.l);
    kfe_i_device_matrix_free(s.matrix.device, &s.block);
    kfe_i_solver_free(&s.base);
    return status;
}

static kfe_status solve_anywhere(const kfe_i_system *system, const kfe_i_gram *inside,
                                 kfe_i_solve_effort *effort)
{
    int done = 0;
    kfe_status status = try_device(system, inside, effort, &done);

    return status != KFE_OK || done ? status : kfe_i_solve_by(system, KFE_SOLVE_AUTO, effort);
}

kfe_status kfe_i_device_solve(const kfe_i_system *system, kfe_i_solve_effort *effort)
{
    return solve_anywhere(system, system->gram, effort);
}

/* ---- centred ---- */

static kfe_status solve_centred(const kfe_i_system *system, kfe_i_solve_effort *effort)
{
    return solve_anywhere(system, kfe_i_centred_inner(system->gram), effort);
}

static kfe_status eigen_centred(const kfe_i_gram *gram, int64_t k, double tolerance, double *values,
                                double *vectors)
{
    return kfe_i_device_eigen_of(gram, kfe_i_centred_inner(gram), k, tolerance, values, vectors);
}

static const kfe_i_gram_form form_centred = {
    .name = "centred, on a device", KFE_CENTRED_CALLS, .solve = solve_centred, .eigen = eigen_centred};

kfe_status kfe_i_device_centre(const kfe_i_gram *gram, kfe_i_gram **out)
{
    return kfe_i_centred_new(gram, &form_centred, out);
}
