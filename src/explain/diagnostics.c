/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distances of rows from the training data, and their limits: kfe_diagnose, the figures of outliers, and the part "diagnostics" of an
 * explanation (row_tables.c) call this file. With T² and Q of model/diagnose.c, n training rows, r features and d columns:
 *
 *     T²         limit r(n² − 1)/(n(n − r)) · F(r, n − r), that of a new row (Tracy, Young & Mason 1992)
 *     Q          limit m·χ²(h)/h, h = 2m²/v, with the mean m and variance v of Q over the training rows (Box 1954; Nomikos & MacGregor
 *                1995). The same with T² gives limits that do not assume normal scores (Pomerantsev & Rodionova 2014)
 *     leverage   1/n + T²/(n − 1), limit 3(r + 1)/n
 *     DModX      √(Q(n − r − 1)/ΣQ), the residual standard deviation of the row over that of the training rows; limit √F(e, e(n − r − 1)),
 *                e = min(d, n − 1) − r (Wold 1976)
 *     distance   h·T²/mean + h·Q/mean, limit χ² with the sum of both degrees of freedom; p-value: its tail. All n training rows together
 *                stay below the limit of level^(1/n). This is DD-SIMCA (Pomerantsev & Rodionova 2014)
 *
 * A row is an outlier if its T² or its Q is above the limit.
 */
#include "explain/diagnostics.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/distribution.h"
#include "core/memory.h"
#include "model/arrange.h"
#include "model/linear.h"

/* Residuals below this share of the variance of the columns are rounding. */
#define ROUNDING 1e-13

const char *kfe_i_not_diagnosed(const kfe_model *model)
{
    if (model->projector == KFE_PROJECT_IDENTITY)
        return "it works on the columns themselves, without features; fit it with a method such as pca or pls";
    if (model->moments.dim == 0)
        return "it keeps no sums of its features; fit it with a learner, or with a linear method or kernel";
    if (!model->moments.spread)
        return "it does not know how far its training rows were from their centre, as it was fitted before kfe "
               "measured that; fit it again";
    return NULL;
}

const char *kfe_i_no_residuals(const kfe_model *model)
{
    const kfe_i_moments *m = &model->moments;
    double total = 0;

    if (m->cols == 0)
        return kfe_i_features_not_linear(model) ? kfe_i_features_not_linear(model)
                                                : "a learned distance mixed its columns";
    for (int64_t j = 0; j < m->cols; j++)
        total += m->column_squares[j];
    if (m->spread[KFE_SPREAD_Q_MEAN] * m->spread[KFE_SPREAD_MASS] <= ROUNDING * total)
        return "its features explain the columns of the training data completely";
    return NULL;
}

/* ---- limits ---- */

static double degrees_of(double mean, double variance)
{
    return variance > 0 ? 2 * mean * mean / variance : (double)NAN;
}

static double chi_square_limit(double level, double mean, double degrees)
{
    return mean * kfe_i_chi_square_limit(level, degrees) / degrees;
}

static void find_residual_limits(const kfe_i_moments *m, double level, kfe_i_row_limits *out)
{
    double n = out->rows;
    double columns = (double)m->cols;
    double free = (columns < n - 1 ? columns : n - 1) - out->rank;

    out->q_mean = m->spread[KFE_SPREAD_Q_MEAN];
    out->q_degrees = degrees_of(out->q_mean, m->spread[KFE_SPREAD_Q_VARIANCE]);
    out->of[KFE_DIAGNOSTIC_Q] = chi_square_limit(level, out->q_mean, out->q_degrees);
    out->of[KFE_DIAGNOSTIC_DMODX] = sqrt(kfe_i_f_limit(level, free, free * (n - out->rank - 1)));
    out->distance_degrees = out->t2_degrees + out->q_degrees;
    out->of[KFE_DIAGNOSTIC_DISTANCE] = kfe_i_chi_square_limit(level, out->distance_degrees);
    out->distance_of_all = kfe_i_chi_square_limit(pow(level, 1 / n), out->distance_degrees);
}

kfe_status kfe_i_find_row_limits(kfe_context *ctx, const kfe_model *model, double level,
                                 kfe_i_row_limits *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_moments *m = &model->moments;
    kfe_i_whitening whitening = {0};

    KFE_TRY(kfe_i_whiten(ctx, m, &whitening));
    double n = m->spread[KFE_SPREAD_MASS];
    double r = (double)whitening.rank;
    *out = (kfe_i_row_limits){.rows = n,
                              .rank = r,
                              .q_mean = NAN,
                              .q_degrees = NAN,
                              .distance_degrees = NAN,
                              .distance_of_all = NAN};
    for (int i = 0; i < KFE_DIAGNOSTICS; i++)
        out->of[i] = (double)NAN;
    out->t2_mean = r * (n - 1) / n;
    out->t2_degrees = degrees_of(out->t2_mean, m->spread[KFE_SPREAD_T2_VARIANCE]);
    out->t2_by_moments = chi_square_limit(level, out->t2_mean, out->t2_degrees);
    out->of[KFE_DIAGNOSTIC_T2] = r * (n * n - 1) / (n * (n - r)) * kfe_i_f_limit(level, r, n - r);
    out->of[KFE_DIAGNOSTIC_LEVERAGE] = 3 * (r + 1) / n;
    out->studentized = kfe_i_student_limit(level, n - r - 1);
    if (!kfe_i_no_residuals(model))
        find_residual_limits(m, level, out);
cleanup:
    kfe_i_whitening_free(&whitening);
    return status;
}

/* ---- rows ---- */

static void fill_row(const kfe_i_row_limits *limits, double t2, double q, double *row)
{
    double n = limits->rows;

    row[KFE_DIAGNOSTIC_T2] = t2;
    row[KFE_DIAGNOSTIC_Q] = q;
    row[KFE_DIAGNOSTIC_LEVERAGE] = 1 / n + t2 / (n - 1);
    row[KFE_DIAGNOSTIC_DMODX] = sqrt(q * (n - limits->rank - 1) / (limits->q_mean * n));
    row[KFE_DIAGNOSTIC_DISTANCE] =
        limits->t2_degrees * t2 / limits->t2_mean + limits->q_degrees * q / limits->q_mean;
    row[KFE_DIAGNOSTIC_P] =
        isfinite(row[KFE_DIAGNOSTIC_DISTANCE])
            ? kfe_i_chi_square_above(row[KFE_DIAGNOSTIC_DISTANCE], limits->distance_degrees)
            : (double)NAN;
    row[KFE_DIAGNOSTIC_OUTLIER] = t2 > limits->of[KFE_DIAGNOSTIC_T2] || q > limits->of[KFE_DIAGNOSTIC_Q];
}

static kfe_status measure(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                          kfe_i_row_distances distances)
{
    kfe_status status = KFE_OK;
    double *features = NULL;
    kfe_i_table *scaled = NULL;

    KFE_ALLOC(ctx, features, kfe_data_rows(data) * model->dim);
    KFE_TRY(kfe_i_model_project(ctx, model, data, features));
    KFE_ALLOC_ZERO(ctx, scaled, model->view_count);
    KFE_TRY(kfe_i_model_scale(ctx, model, data, scaled));
    KFE_TRY(kfe_i_measure_rows(ctx, model, scaled, features, distances));
cleanup:
    for (int v = 0; scaled && v < model->view_count; v++)
        kfe_i_table_free(&scaled[v]);
    kfe_i_free(ctx, scaled);
    kfe_i_free(ctx, features);
    return status;
}

kfe_status kfe_i_diagnose(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                          const kfe_i_row_limits *limits, double *values, double *residuals)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(data);
    kfe_i_row_distances distances = {.residuals = residuals};

    KFE_ALLOC(ctx, distances.t2, rows);
    if (model->moments.cols > 0)
        KFE_ALLOC(ctx, distances.q, rows);
    KFE_TRY(measure(ctx, model, data, distances));
    for (int64_t i = 0; i < rows; i++)
        fill_row(limits, distances.t2[i], distances.q ? distances.q[i] : (double)NAN,
                 values + i * KFE_DIAGNOSTICS);
cleanup:
    kfe_i_free(ctx, distances.t2);
    kfe_i_free(ctx, distances.q);
    return status;
}

kfe_status kfe_diagnose(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double level,
                        kfe_matrix *out, double *limits)
{
    kfe_status status = KFE_OK;
    const char *reason = kfe_i_not_diagnosed(model);
    kfe_data arranged = {0};
    kfe_i_row_limits found;
    kfe_i_thread_state saved_threads = kfe_i_threads_enter(ctx);

    memset(out, 0, sizeof *out);
    if (!(level > 0 && level < 1))
        KFE_FAIL(ctx, KFE_EINVAL, "{level} is %g, but must be between 0 and 1, such as 0.95", level);
    if (reason)
        KFE_FAIL(ctx, KFE_EUNSUPPORTED, "this model cannot compare rows with its training data: %s", reason);
    KFE_TRY(kfe_i_arrange(ctx, model, data, &arranged));
    KFE_TRY(kfe_i_find_row_limits(ctx, model, level, &found));
    *out = (kfe_matrix){.owner = ctx, .rows = kfe_data_rows(data), .cols = KFE_DIAGNOSTICS};
    out->stride = KFE_DIAGNOSTICS;
    KFE_ALLOC(ctx, out->values, out->rows * KFE_DIAGNOSTICS);
    KFE_TRY(kfe_i_diagnose(ctx, model, &arranged, &found, out->values, NULL));
    if (limits)
        memcpy(limits, found.of, sizeof found.of);
cleanup:
    kfe_i_arrange_free(&arranged);
    if (status != KFE_OK)
        kfe_matrix_free(out);
    kfe_i_threads_leave(saved_threads);
    return status;
}
