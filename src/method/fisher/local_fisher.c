/* SPDX-License-Identifier: Apache-2.0 */
/* Local Fisher discriminants of points; used by lfda.c and klfda.c. */
#include "method/fisher/local_fisher.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/sort.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "method/shared/groups.h"

enum { PANEL = 256 };
/* Squared distances below this share of the squared norms are rounding error: the points are equal. */
#define KFE_EQUAL_POINTS 1e-13

/* One class, and the sums over all classes. */
typedef struct local_scatter {
    kfe_context *ctx;
    kfe_i_arena memory;
    int64_t rank;
    int64_t count;               /* examples of the class at hand */
    double *points;              /* count × rank */
    double *norms, *width;       /* count: ‖f‖², σ */
    double *weights;             /* count; NULL: ones */
    double mass;                 /* of the class: `count`, or the sum of the weights */
    double *panel;               /* PANEL × count: squared distances, then affinities */
    double *product;             /* PANEL × rank */
    double *order;               /* count, to find the k-th smallest */
    kfe_i_sorted *sorted;        /* the same with weights */
    double *class_local, *local; /* S(A) of the class; Σ_c S(A_c) */
    double *within, *plain;      /* Σ_c S(A_c)/n_c; Σ_c S(1_c) */
} local_scatter;

static kfe_status open_scatter(local_scatter *s, int64_t largest, int weighted)
{
    kfe_status status = KFE_OK;
    int64_t square = s->rank * s->rank;

    KFE_TAKE(&s->memory, s->points, largest * s->rank);
    KFE_TAKE(&s->memory, s->norms, largest);
    KFE_TAKE(&s->memory, s->width, largest);
    KFE_TAKE(&s->memory, s->order, largest);
    if (weighted) {
        KFE_TAKE(&s->memory, s->weights, largest);
        KFE_TAKE(&s->memory, s->sorted, largest);
    }
    KFE_TAKE(&s->memory, s->panel, PANEL * largest);
    KFE_TAKE(&s->memory, s->product, PANEL * s->rank);
    KFE_TAKE(&s->memory, s->class_local, square);
    KFE_TAKE_ZERO(&s->memory, s->local, square);
    KFE_TAKE_ZERO(&s->memory, s->within, square);
    KFE_TAKE_ZERO(&s->memory, s->plain, square);
cleanup:
    return status;
}

/* panel (rows × count) = squared distances from the examples `first` … to all of the class. */
static void measure_panel(local_scatter *s, int64_t first, int64_t rows)
{
    blasint r = (blasint)s->rank;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)rows, (blasint)s->count, r, -2,
                s->points + first * s->rank, r, s->points, r, 0, s->panel, (blasint)s->count);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < s->count; j++) {
            double norms = s->norms[first + i] + s->norms[j];
            double *value = &s->panel[i * s->count + j];
            *value += norms;
            if (!(*value > KFE_EQUAL_POINTS * norms) || first + i == j)
                *value = 0;
        }
}

/* The value that has exactly k smaller or equal ones before it in order; reorders a (quickselect, by the middle). */
static double kth_smallest(double *a, int64_t count, int64_t k)
{
    int64_t low = 0;
    int64_t high = count - 1;

    while (low < high) {
        double pivot = a[low + (high - low) / 2];
        int64_t i = low;
        int64_t j = high;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i <= j) {
                double moved = a[i];
                a[i++] = a[j];
                a[j--] = moved;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return a[k];
    }
    return a[k];
}

/* The smallest value such that the examples up to it weigh more than k. */
static double weighted_kth_smallest(local_scatter *s, const double *values, double k)
{
    double sum = 0;
    int64_t at = s->count;

    for (int64_t i = 0; i < s->count; i++)
        s->sorted[i] = (kfe_i_sorted){.value = values[i], .index = i};
    kfe_i_sort_falling(s->sorted, s->count);
    while (at > 0 && !(sum > k))
        sum += s->weights[s->sorted[--at].index];
    return s->sorted[at].value;
}

/* σ of every example of the class; the example itself is the nearest and does not count. */
static void find_widths(local_scatter *s, int64_t neighbours)
{
    double k = fmin((double)neighbours, fmax(0, s->mass - 1));

    for (int64_t first = 0; first < s->count; first += PANEL) {
        int64_t rows = s->count - first < PANEL ? s->count - first : PANEL;
        measure_panel(s, first, rows);
        for (int64_t i = 0; i < rows; i++) {
            memcpy(s->order, s->panel + i * s->count, (size_t)s->count * sizeof *s->order);
            s->width[first + i] = sqrt(s->weights ? weighted_kth_smallest(s, s->order, k)
                                                  : kth_smallest(s->order, s->count, (int64_t)k));
        }
    }
}

/* Zero for equal points, whose term w_i·w_j·(f_i − f_j)(f_i − f_j)ᵀ is zero: heavy examples then leave no rounding error behind. */
static double affinity(double squared, double widths)
{
    return squared > 0 && widths > 0 ? exp(-squared / widths) : 0;
}

/* class_local += F_Pᵀ(D_P F_P − A_P F) for one panel P of rows. */
static void add_panel(local_scatter *s, int64_t first, int64_t rows)
{
    blasint r = (blasint)s->rank;

    measure_panel(s, first, rows);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < s->count; j++)
            s->panel[i * s->count + j] =
                (s->weights ? s->weights[first + i] * s->weights[j] : 1) *
                affinity(s->panel[i * s->count + j], s->width[first + i] * s->width[j]);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, r, (blasint)s->count, -1, s->panel,
                (blasint)s->count, s->points, r, 0, s->product, r);
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < s->count; j++)
            sum += s->panel[i * s->count + j];
        cblas_daxpy(r, sum, s->points + (first + i) * s->rank, 1, s->product + i * s->rank, 1);
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, r, r, (blasint)rows, 1, s->points + first * s->rank,
                r, s->product, r, 1, s->class_local, r);
}

/* Points that carry the roots of their weights, √w_i·f_i. */
typedef struct rooted_points {
    int64_t count, rank;
    const double *values;  /* count × rank */
    const double *weights; /* NULL: ones */
    double mass;           /* their sum */
} rooted_points;

/* out += factor·(mass·Σ w_i f_i f_iᵀ − (Σ w_i f_i)(Σ w_i f_i)ᵀ), the scatter with all affinities one. */
static kfe_status add_plain(kfe_context *ctx, const rooted_points *p, double factor, double *out)
{
    kfe_status status = KFE_OK;
    blasint r = (blasint)p->rank;
    double *sum = NULL;

    KFE_ALLOC_ZERO(ctx, sum, p->rank);
    for (int64_t i = 0; i < p->count; i++)
        cblas_daxpy(r, p->weights ? sqrt(p->weights[i]) : 1, p->values + i * p->rank, 1, sum, 1);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, r, r, (blasint)p->count, factor * p->mass, p->values,
                r, p->values, r, 1, out, r);
    cblas_dger(CblasRowMajor, r, r, -factor, sum, 1, sum, 1, out, r);
cleanup:
    kfe_i_free(ctx, sum);
    return status;
}

/* The rows of a class, with the roots of their weights. */
static void take_class(local_scatter *s, const kfe_i_factor *f, const kfe_i_groups *groups, int32_t g)
{
    s->count = 0;
    s->mass = groups->sizes[g];
    for (int64_t i = 0; i < f->n; i++)
        if (groups->of[i] == g) {
            if (s->weights)
                s->weights[s->count] = groups->weights[i];
            memcpy(s->points + s->count * s->rank, f->points + i * s->rank,
                   (size_t)s->rank * sizeof *s->points);
            s->count++;
        }
}

/* Takes the roots of the weights out of the rows of a class: distances are between the examples themselves. */
static void divide_by_roots(local_scatter *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        double *row = s->points + i * s->rank;
        if (s->weights)
            cblas_dscal((blasint)s->rank, 1 / sqrt(s->weights[i]), row, 1);
        s->norms[i] = cblas_ddot((blasint)s->rank, row, 1, row, 1);
    }
}

static kfe_status add_class(local_scatter *s, const kfe_i_factor *f, const kfe_i_groups *groups, int32_t g,
                            int64_t neighbours)
{
    kfe_status status = KFE_OK;
    int64_t square = s->rank * s->rank;

    take_class(s, f, groups, g);
    const rooted_points all = {s->count, s->rank, s->points, s->weights, s->mass};
    KFE_TRY(add_plain(s->ctx, &all, 1, s->plain));
    divide_by_roots(s);
    find_widths(s, neighbours);
    memset(s->class_local, 0, (size_t)square * sizeof *s->class_local);
    for (int64_t first = 0; first < s->count; first += PANEL) {
        KFE_TRY(kfe_i_progress(s->ctx, "comparing neighbours", first, s->count));
        add_panel(s, first, s->count - first < PANEL ? s->count - first : PANEL);
    }
    cblas_daxpy((blasint)square, 1, s->class_local, 1, s->local, 1);
    cblas_daxpy((blasint)square, 1 / s->mass, s->class_local, 1, s->within, 1);
cleanup:
    return status;
}

/* between (into `plain`) = (S(1) − Σ S(1_c) + Σ S(A_c))/n − S_w */
static kfe_status make_between(local_scatter *s, const kfe_i_factor *f, const kfe_i_groups *groups)
{
    kfe_status status = KFE_OK;
    blasint square = (blasint)(s->rank * s->rank);
    double n = kfe_i_groups_mass(groups);
    const rooted_points all = {f->n, s->rank, f->points, groups->weights, n};

    cblas_dscal(square, -1 / n, s->plain, 1);
    KFE_TRY(add_plain(s->ctx, &all, 1 / n, s->plain));
    cblas_daxpy(square, 1 / n, s->local, 1, s->plain, 1);
    cblas_daxpy(square, -1, s->within, 1, s->plain, 1);
cleanup:
    return status;
}

/* Rounding makes sums of products slightly unsymmetric. */
static void symmetrise(int64_t n, double *a)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            a[i * n + j] = a[j * n + i] = (a[i * n + j] + a[j * n + i]) / 2;
}

static kfe_status solve(local_scatter *s, const char *method, const kfe_i_factor *f, int64_t classes,
                        const kfe_i_local_fisher_settings *settings, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    int64_t r = s->rank;
    int64_t usual = classes < r ? classes : r;
    int64_t dim = kfe_i_clamp_dim(s->ctx, method, settings->dim > 0 ? settings->dim : usual, r,
                                  "the examples differ in no more directions");
    double *values, *vectors;

    KFE_TAKE(&s->memory, values, r);
    KFE_TAKE(&s->memory, vectors, r * r);
    symmetrise(r, s->within);
    symmetrise(r, s->plain);
    double trace = kfe_i_trace(r, s->within);
    double between = kfe_i_trace(r, s->plain);
    if (!(trace > KFE_EQUAL_POINTS * between)) { /* every class is one point */
        memset(s->within, 0, (size_t)(r * r) * sizeof *s->within);
        trace = between;
    }
    double ridge = settings->ridge > 0
                       ? settings->ridge
                       : trace / (double)r * (settings->ridge == KFE_LOCAL_RIDGE_THOUSANDTH ? 1e-3 : 1);
    if (!(ridge > 0))
        KFE_FAIL(s->ctx, KFE_EINPUT, "%s: all examples are the same; there is nothing to discriminate",
                 method);
    kfe_i_add_to_diagonal(r, ridge, s->within);
    KFE_TRY(kfe_i_generalized_eigen(s->ctx, r, s->plain, s->within, values, vectors));
    kfe_i_copy_block(r, dim, vectors, r, vectors, dim);
    KFE_TRY(kfe_i_factor_solution(f, vectors, dim, out));
    KFE_TRY(kfe_i_solution_record(out, "criterion", values, dim));
    KFE_TRY(kfe_i_solution_record(out, "ridge", &ridge, 1));
    KFE_TRY(kfe_i_solution_fix_signs(out));
cleanup:
    return status;
}

static int64_t largest_class(const kfe_i_groups *groups)
{
    int64_t largest = 0;

    for (int32_t g = 0; g < groups->count; g++) {
        int64_t count = 0;
        for (int64_t i = 0; i < groups->rows; i++)
            count += groups->of[i] == g;
        largest = count > largest ? count : largest;
    }
    return largest;
}

kfe_status kfe_i_local_fisher_fit(const char *method, const kfe_i_factor *factor, const kfe_i_target *target,
                                  const kfe_i_local_fisher_settings *settings, kfe_i_solution *out)
{
    kfe_status status = KFE_OK;
    local_scatter s = {.ctx = factor->ctx, .memory = {.ctx = factor->ctx}, .rank = factor->rank};
    kfe_i_groups groups = {0};

    KFE_TRY(kfe_i_groups_from_classes(factor->ctx, target, &groups));
    KFE_TRY(open_scatter(&s, largest_class(&groups), groups.weights != NULL));
    for (int32_t g = 0; g < groups.count; g++)
        if (groups.sizes[g] > 0)
            KFE_TRY(add_class(&s, factor, &groups, g, settings->neighbours));
    KFE_TRY(make_between(&s, factor, &groups));
    KFE_TRY(solve(&s, method, factor, groups.count, settings, out));
cleanup:
    kfe_i_arena_free(&s.memory);
    kfe_i_groups_free(&groups);
    return status;
}
