/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear SVMs of the host plug-in, one after the other, by the finite Newton method of src/learn/linear/newton.c. Its sums are taken over
 * all rows at every point that is tried. With z = (x, output − goal) one sum has everything: Σ c·z·zᵀ over the rows with a loss is half
 * of the Hessian without I, and in its last row half of the gradient without w, and the loss.
 */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "backends/host/host.h"

typedef struct newton {
    const kfe_device_svms *p;
    const signed char *sides; /* of this problem; NULL: values are given */
    const double *values, *cost;
    int64_t cols;                            /* with the bias */
    double *z;                               /* cols + 1 */
    double *w, *next, *direction, *gradient; /* cols */
    double *sums;                            /* (cols + 1)², lower triangle */
    double *system;                          /* cols² */
    int64_t changes;                         /* rows that are not on the same side at w and at next */
} newton;

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;

    for (int64_t j = 0; j < n; j++)
        sum += a[j] * b[j];
    return sum;
}

static double target_of(const newton *s, int64_t i)
{
    return s->sides ? s->sides[s->p->codes[i]] : s->values[i];
}

/* On which side of its goal the output of row i is, 0 without a loss; the goal is where the loss ends. */
static int side_of(const newton *s, int64_t i, double output, double *goal)
{
    double y = target_of(s, i);

    *goal = y;
    if (s->sides)
        return y != 0 && y * output < 1 ? -1 : 0;
    int side = output > y + s->p->epsilon ? 1 : output < y - s->p->epsilon ? -1 : 0;
    *goal = y + side * s->p->epsilon;
    return side;
}

static void add_row(newton *s, int64_t i)
{
    int64_t k = s->cols;
    double goal_before;
    double goal;

    for (int64_t j = 0; j < s->p->rows->cols; j++)
        s->z[j] = host_get(s->p->rows, i, j);
    if (s->p->bias)
        s->z[k - 1] = 1;
    double output = dot(k, s->z, s->next);
    int before = side_of(s, i, dot(k, s->z, s->w), &goal_before);
    int side = side_of(s, i, output, &goal);
    s->changes += side != before;
    if (side == 0)
        return;
    s->z[k] = output - goal;
    double c = s->cost[target_of(s, i) < 0];
    for (int64_t j = 0; j <= k; j++)
        for (int64_t l = 0; l <= j; l++)
            s->sums[j * (k + 1) + l] += c * s->z[j] * s->z[l];
}

/* The sums at `next`; returns the objective there. */
static double look(newton *s)
{
    int64_t k = s->cols;

    memset(s->sums, 0, (size_t)((k + 1) * (k + 1)) * sizeof *s->sums);
    s->changes = 0;
    for (int64_t i = 0; i < s->p->rows->rows; i++)
        add_row(s, i);
    return dot(k, s->next, s->next) / 2 + s->sums[k * (k + 1) + k];
}

/* w = next, where the sums were taken; returns the norm of the gradient there. */
static double arrive(newton *s)
{
    int64_t k = s->cols;

    for (int64_t j = 0; j < k; j++) {
        s->w[j] = s->next[j];
        s->gradient[j] = s->w[j] + 2 * s->sums[k * (k + 1) + j];
    }
    return sqrt(dot(k, s->gradient, s->gradient));
}

/* direction = −(I + 2Σ)⁻¹·gradient; 0: not positive definite */
static int find_direction(newton *s)
{
    int64_t k = s->cols;

    for (int64_t j = 0; j < k; j++) {
        for (int64_t l = 0; l <= j; l++)
            s->system[j * k + l] = 2 * s->sums[j * (k + 1) + l] + (j == l);
        s->direction[j] = -s->gradient[j];
    }
    return LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)k, 1, s->system, (lapack_int)k, s->direction,
                         1) == 0;
}

/* Goes along the direction as far as the objective falls enough; returns that share of it, 0 if there is none. */
static double move(newton *s, double *value)
{
    double slope = dot(s->cols, s->gradient, s->direction);
    double step = 1;

    for (int halving = 0; halving < s->p->halvings_most; halving++) {
        for (int64_t j = 0; j < s->cols; j++)
            s->next[j] = s->w[j] + step * s->direction[j];
        double reached = look(s);
        if (reached <= *value * (1 + s->p->rounding) + s->p->decrease * step * slope) {
            *value = reached;
            return step;
        }
        step /= 2;
    }
    return 0;
}

static kfe_device_status solve(kfe_device *device, newton *s, kfe_device_svm *out)
{
    double value = look(s);

    out->solved = 0;
    out->start = out->gradient = arrive(s);
    for (int iteration = 0; iteration < s->p->steps_most && !out->solved; iteration++) {
        double step = find_direction(s) ? move(s, &value) : 0;
        if (host_must_stop(device, iteration, 0))
            return KFE_DEVICE_STOPPED;
        if (step == 0)
            break;
        out->gradient = arrive(s);
        out->solved = out->gradient <= s->p->rounding * out->start || (s->changes == 0 && step == 1);
    }
    out->objective = value;
    return KFE_DEVICE_OK;
}

kfe_device_status host_linear_svms(kfe_device *device, const kfe_device_svms *svms, double *w,
                                   kfe_device_svm *out)
{
    kfe_device_status status = KFE_DEVICE_OK;
    int64_t k = svms->rows->cols + (svms->bias != 0);
    double *work = NULL;

    if (k > KFE_DEVICE_SVM_COLS)
        return host_fail(device, KFE_DEVICE_UNSUPPORTED, "linear SVMs with so many columns");
    work = host_allocate(device, (uint64_t)(3 * (k + 1) + 2 * (k + 1) * (k + 1) + k) * sizeof *work);
    if (!work)
        return KFE_DEVICE_NO_MEMORY;
    memset(w, 0, (size_t)(svms->problems * k) * sizeof *w);
    for (int64_t p = 0; p < svms->problems && status == KFE_DEVICE_OK; p++) {
        newton s = {.p = svms, .cols = k, .cost = svms->cost + 2 * p, .w = w + p * k};
        if (svms->codes)
            s.sides = svms->sides + svms->target[p] * svms->classes;
        else
            s.values = svms->values + svms->target[p] * svms->rows->rows;
        s.z = work;
        s.next = s.z + k + 1;
        s.direction = s.next + k + 1;
        s.gradient = s.direction + k + 1;
        s.sums = s.gradient + k;
        s.system = s.sums + (k + 1) * (k + 1);
        memset(s.next, 0, (size_t)k * sizeof *s.next);
        status = solve(device, &s, &out[p]);
    }
    host_release(device, work);
    return status;
}
