/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pre-images of kpca with a Gaussian kernel, for kfe_inverse_transform: the row x whose image is nearest to a point of the
 * feature space that is given by its features t. With unit directions v_a = Σ A_ia φ(x_i), the point is Σ γ_i φ(x_i),
 * γ = At + s with the shares s of the examples in the mean, 1/n without weights (without centring: γ = At), and nearest means that g(x) = Σ γ_i κ(x_i, x) is largest. A stationary point obeys
 *
 *     x = Σ γ_i κ(x_i, x) x_i / Σ γ_i κ(x_i, x),
 *
 * which is iterated. g may have several peaks: the iteration starts at the best support example and at the mean of all;
 * where both do not lead to the same row, a warning says so, and the better one is returned.
 *
 * Mika et al. (1999), Kernel PCA and de-noising in feature spaces. Time: iterations × support × columns per row.
 */
#include "explain/preimage.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "kernel/kernel.h"

enum { MOST_ITERATIONS = 500 };

typedef struct preimage {
    kfe_context *ctx;
    const kfe_model *model;
    int64_t support, cols;
    double width;    /* gamma */
    double *points;  /* support × cols */
    double *gamma;   /* support: γ */
    double *shares;  /* support: of each example in the mean */
    double *values;  /* support: γ_i κ(x_i, x) */
    double *starts;  /* 2 × cols */
    double *best;    /* support: g at each support example */
    int64_t several; /* rows with more than one pre-image */
} preimage;

static void preimage_free(preimage *p)
{
    kfe_i_free(p->ctx, p->points);
    kfe_i_free(p->ctx, p->gamma);
    kfe_i_free(p->ctx, p->shares);
    kfe_i_free(p->ctx, p->values);
    kfe_i_free(p->ctx, p->starts);
    kfe_i_free(p->ctx, p->best);
}

static int is_centred(const kfe_model *model)
{
    return strstr(model->params, "center=no") == NULL;
}

kfe_status kfe_i_preimage_check(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features)
{
    if (strcmp(model->method, "kpca") != 0)
        return kfe_i_fail(
            ctx, KFE_EUNSUPPORTED,
            "rows from features are available for linear models and for kpca; the directions of "
            "%s are not orthonormal in the feature space",
            model->method);
    if (model->view_count != 1 || model->kernels.count != 1 ||
        strcmp(model->kernels.items[0].def->name, "rbf") != 0)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "pre-images are available for one Gaussian or linear kernel on one view");
    if (is_centred(model) && model->rows != model->origin.train_rows)
        return kfe_i_fail(ctx, KFE_EUNSUPPORTED,
                          "pre-images need all training examples, but the model keeps %lld of %lld",
                          (long long)model->rows, (long long)model->origin.train_rows);
    if (features->cols != model->dim)
        return kfe_i_fail(ctx, KFE_EINVAL, "the model has %lld features, but the rows have %lld",
                          (long long)model->dim, (long long)features->cols);
    return KFE_OK;
}

/* The share of each training example in the mean of all, which is weighted if they are. */
static void set_shares(preimage *p)
{
    int64_t count = 0;
    const double *weights = kfe_model_record(p->model, "example-weights", &count);
    double mass = 0;

    for (int64_t i = 0; i < p->support; i++)
        p->shares[i] = !is_centred(p->model) ? 0 : weights && count == p->support ? weights[i] : 1;
    for (int64_t i = 0; i < p->support; i++)
        mass += p->shares[i];
    for (int64_t i = 0; mass > 0 && i < p->support; i++)
        p->shares[i] /= mass;
}

/* The parameter gamma of the kernel, as the kernel writes it. */
static kfe_status find_width(kfe_context *ctx, const kfe_i_kernel *kernel, double *out)
{
    kfe_status status = KFE_OK;
    char *text = NULL;

    KFE_TRY(kfe_i_kernel_text(ctx, kernel, &text));
    const char *found = strstr(text, "gamma=");
    if (!found || !kfe_i_parse_number(found + 6, found + 6 + strcspn(found + 6, ","), out))
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "the kernel %s has no width", text);
cleanup:
    kfe_i_free(ctx, text);
    return status;
}

static kfe_status begin(preimage *p)
{
    kfe_status status = KFE_OK;

    KFE_TRY(find_width(p->ctx, &p->model->kernels.items[0], &p->width));
    p->support = p->model->rows;
    p->cols = p->model->views[0].cols;
    KFE_ALLOC(p->ctx, p->points, p->support * p->cols);
    KFE_ALLOC(p->ctx, p->gamma, p->support);
    KFE_ALLOC(p->ctx, p->shares, p->support);
    set_shares(p);
    KFE_ALLOC(p->ctx, p->values, p->support);
    KFE_ALLOC(p->ctx, p->best, p->support);
    KFE_ALLOC(p->ctx, p->starts, 2 * p->cols);
    for (int64_t i = 0; i < p->support; i++)
        kfe_i_table_dense_row(&p->model->views[0].support, i, p->points + i * p->cols);
cleanup:
    return status;
}

/* g(x), with its terms in p->values. */
static double height(preimage *p, const double *x)
{
    double sum = 0;

    for (int64_t i = 0; i < p->support; i++) {
        double distance = 0;
        for (int64_t j = 0; j < p->cols; j++) {
            double d = x[j] - p->points[i * p->cols + j];
            distance += d * d;
        }
        p->values[i] = p->gamma[i] * exp(-p->width * distance);
        sum += p->values[i];
    }
    return sum;
}

/* Iterates from x to a stationary point, in place; returns g there. */
static double climb(preimage *p, double *x, double *next)
{
    double value = height(p, x);

    for (int iteration = 0; iteration < MOST_ITERATIONS && value > 0; iteration++) {
        double moved = 0;
        double size = 0;
        cblas_dgemv(CblasRowMajor, CblasTrans, (blasint)p->support, (blasint)p->cols, 1 / value, p->points,
                    (blasint)p->cols, p->values, 1, 0, next, 1);
        for (int64_t j = 0; j < p->cols; j++) {
            moved = fmax(moved, fabs(next[j] - x[j]));
            size = fmax(size, fabs(next[j]));
        }
        memcpy(x, next, (size_t)p->cols * sizeof *x);
        value = height(p, x);
        if (moved <= 1e-12 * (1 + size))
            break;
    }
    return value;
}

static void set_gamma(preimage *p, const double *t)
{
    for (int64_t i = 0; i < p->support; i++)
        p->gamma[i] = p->shares[i] +
                      cblas_ddot((blasint)p->model->dim, p->model->coefficients + i * p->model->dim, 1, t, 1);
}

/* The two rows where the iterations start: the support example of the largest g, and the mean of all. */
static void set_starts(preimage *p)
{
    int64_t best = 0;

    memset(p->starts, 0, (size_t)(2 * p->cols) * sizeof *p->starts);
    for (int64_t i = 0; i < p->support; i++) {
        p->best[i] = height(p, p->points + i * p->cols);
        best = p->best[i] > p->best[best] ? i : best;
        cblas_daxpy((blasint)p->cols, is_centred(p->model) ? p->shares[i] : 1 / (double)p->support,
                    p->points + i * p->cols, 1, p->starts + p->cols, 1);
    }
    memcpy(p->starts, p->points + best * p->cols, (size_t)p->cols * sizeof *p->starts);
}

static void find_one(preimage *p, const double *t, double *out)
{
    double moved = 0;
    double size = 0;

    set_gamma(p, t);
    set_starts(p);
    double first = climb(p, p->starts, out);
    double second = climb(p, p->starts + p->cols, out);
    for (int64_t j = 0; j < p->cols; j++) {
        moved = fmax(moved, fabs(p->starts[j] - p->starts[p->cols + j]));
        size = fmax(size, fabs(p->starts[j]));
    }
    p->several += moved > 1e-6 * (1 + size);
    memcpy(out, second > first ? p->starts + p->cols : p->starts, (size_t)p->cols * sizeof *out);
}

kfe_status kfe_i_preimages(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features, double *out)
{
    kfe_status status = KFE_OK;
    preimage p = {.ctx = ctx, .model = model};

    KFE_TRY(begin(&p));
    for (int64_t i = 0; i < features->rows; i++) {
        KFE_TRY(kfe_i_progress(ctx, "finding pre-images", i, features->rows));
        find_one(&p, features->values + i * features->stride, out + i * p.cols);
    }
    if (p.several > 0)
        kfe_i_log(ctx, KFE_LOG_WARNING,
                  "%lld of %lld pre-images are not unique: iterations from two starts end at different "
                  "rows, and the nearer one in the feature space is given",
                  (long long)p.several, (long long)features->rows);
cleanup:
    preimage_free(&p);
    return status;
}
