/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The average gradient outer product on a device, for methods that learn a distance (kernel/tile/gradient.h has the mathematics).
 *
 * A panel of derivatives Φ (rows × m) is evaluated there and multiplied with [diag(A_c)S] of all outputs c side by side, which gives the
 * gradients of the panel; then these are multiplied with themselves. If the products of all outputs do not fit on the device, they are
 * made for some outputs at a time. All in double precision. Processes of a cluster divide the rows.
 */
#include "gram/device/gradient.h"

#include <math.h>
#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/device/form.h"

/* Shares of the device's memory: for [diag(A_c)S] of all outputs, and for a panel; the panel takes no more than so many bytes. */
#define KFE_OUTPUTS_SHARE 0.4
#define KFE_PANEL_SHARE 0.3
#define KFE_PANEL_MOST 4e9
enum { PANEL_LEAST = 32 };

typedef struct gradient_job {
    kfe_i_device *device;
    const kfe_i_expansion_sum *f;
    const kfe_i_table *table; /* the rows */
    int by_distance, diagonal;
    int64_t m, d, begin, end; /* support examples, columns, rows of this process */
    int64_t outputs, side;    /* at a time */
    double *host;             /* room for max(m, n) × max(d, 1) numbers on the host */
    double *centre;           /* d; zeros for dot products */
    double *sums;             /* d, for the diagonal */
    kfe_device_points *rows, *support;
    kfe_device_matrix x, s;     /* n × d, m × d */
    kfe_device_matrix weighted; /* m × outputs·d */
    kfe_device_matrix a;        /* m × outputs */
    kfe_device_matrix phi;      /* side × m */
    kfe_device_matrix gradients, factors, moved;
    kfe_device_matrix result; /* d × d */
} gradient_job;

/* ---- memory ---- */

static void free_job(gradient_job *j)
{
    kfe_device_matrix *all[] = {&j->x,         &j->s,       &j->weighted, &j->a,     &j->phi,
                                &j->gradients, &j->factors, &j->moved,    &j->result};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        kfe_i_device_matrix_free(j->device, all[i]);
    if (j->rows)
        j->device->table->points_free(j->device->handle, j->rows);
    if (j->support)
        j->device->table->points_free(j->device->handle, j->support);
    kfe_i_free(j->device->ctx, j->host);
    kfe_i_free(j->device->ctx, j->centre);
    kfe_i_free(j->device->ctx, j->sums);
}

/* Rows of a table, less the centre, as a matrix on the device and as points for kernels. */
static kfe_device_status upload(gradient_job *j, const kfe_i_table *table, int64_t first, int64_t count,
                                kfe_device_matrix *matrix, kfe_device_points **points)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *t = j->device->table;
    kfe_device_rows rows = {.rows = count, .cols = j->d, .values = j->host, .stride = j->d};

    for (int64_t i = 0; i < count; i++) {
        kfe_i_table_dense_row(table, first + i, j->host + i * j->d);
        for (int64_t c = 0; c < j->d; c++)
            j->host[i * j->d + c] -= j->centre[c];
    }
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(j->device, count, j->d, KFE_DEVICE_F64, matrix));
    KFE_DEVICE_TRY(t->upload(j->device->handle, j->host, j->d, matrix));
    KFE_DEVICE_TRY(t->points_new(j->device->handle, &rows,
                                 j->by_distance ? KFE_FORMULA_DISTANCE : KFE_FORMULA_DOT, KFE_DEVICE_F64,
                                 points));
cleanup:
    return status;
}

static int64_t at_most(double number, int64_t most)
{
    return number < (double)most ? (int64_t)number : most;
}

static kfe_device_status make_matrices(gradient_job *j)
{
    kfe_device_status status = KFE_DEVICE_OK;
    double room = kfe_i_device_room(j->device);
    double panel = room * KFE_PANEL_SHARE < KFE_PANEL_MOST ? room * KFE_PANEL_SHARE : KFE_PANEL_MOST;
    int64_t n = j->end - j->begin;

    j->outputs = at_most(room * KFE_OUTPUTS_SHARE / (8.0 * (double)j->m * (double)(j->d + 1)), j->f->k);
    if (j->outputs < 1)
        return KFE_DEVICE_NO_MEMORY;
    j->side = at_most(panel / (8.0 * (double)(j->m + (j->outputs + 1) * (j->d + 1))), n);
    j->side = j->side < PANEL_LEAST ? PANEL_LEAST : j->side;
    j->side = j->side > n ? n : j->side;
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(j->device, j->m, j->outputs * j->d, KFE_DEVICE_F64, &j->weighted));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(j->device, j->m, j->outputs, KFE_DEVICE_F64, &j->a));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(j->device, j->side, j->m, KFE_DEVICE_F64, &j->phi));
    KFE_DEVICE_TRY(
        kfe_i_device_matrix_new(j->device, j->side, j->outputs * j->d, KFE_DEVICE_F64, &j->gradients));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(j->device, j->side, j->outputs, KFE_DEVICE_F64, &j->factors));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(j->device, j->side, j->d, KFE_DEVICE_F64, &j->moved));
    if (!j->diagonal) {
        KFE_DEVICE_TRY(kfe_i_device_matrix_new(j->device, j->d, j->d, KFE_DEVICE_F64, &j->result));
        KFE_DEVICE_TRY(j->device->table->fill(j->device->handle, &j->result, 0));
    }
cleanup:
    return status;
}

/* ---- products ---- */

/* The coefficients of outputs first … first + count − 1, and the support times each of them. */
static kfe_device_status weigh_support(gradient_job *j, int64_t first, int64_t count)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *t = j->device->table;
    kfe_device_matrix a = kfe_device_part(j->a, 0, j->m, 0, count);

    KFE_DEVICE_TRY(t->upload(j->device->handle, j->f->coefficients + first, j->f->k, &a));
    for (int64_t c = 0; c < count; c++) {
        kfe_device_matrix part = kfe_device_part(j->weighted, 0, j->m, c * j->d, j->d);
        for (int64_t i = 0; i < j->m; i++)
            j->host[i] = j->f->coefficients[i * j->f->k + first + c];
        KFE_DEVICE_TRY(t->copy(j->device->handle, &j->s, &part));
        KFE_DEVICE_TRY(t->scale(j->device->handle, &part, j->host, NULL));
    }
cleanup:
    return status;
}

/* gradients += diag(F_c)X for each output, with F = −Φ·A. */
static kfe_device_status add_rows(gradient_job *j, int64_t row, int64_t rows, int64_t count)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *t = j->device->table;
    kfe_device_matrix phi = kfe_device_part(j->phi, 0, rows, 0, j->m);
    kfe_device_matrix a = kfe_device_part(j->a, 0, j->m, 0, count);
    kfe_device_matrix factors = kfe_device_part(j->factors, 0, rows, 0, count);
    kfe_device_matrix moved = kfe_device_part(j->moved, 0, rows, 0, j->d);
    kfe_device_matrix x = kfe_device_part(j->x, row, rows, 0, j->d);

    KFE_DEVICE_TRY(t->gemm(j->device->handle, 0, 0, -1, &phi, &a, 0, &factors));
    for (int64_t c = 0; c < count; c++) {
        kfe_device_matrix column = kfe_device_part(factors, 0, rows, c, 1);
        kfe_device_matrix part = kfe_device_part(j->gradients, 0, rows, c * j->d, j->d);
        KFE_DEVICE_TRY(t->download(j->device->handle, &column, j->host, 1));
        KFE_DEVICE_TRY(t->copy(j->device->handle, &x, &moved));
        KFE_DEVICE_TRY(t->scale(j->device->handle, &moved, j->host, NULL));
        KFE_DEVICE_TRY(t->add(j->device->handle, 1, &moved, 1, &part));
    }
cleanup:
    return status;
}

/* The gradients of a panel with one kernel's derivatives, added to those of the kernels before it. */
static kfe_device_status add_kernel(gradient_job *j, const kfe_i_kernel *kernel, int64_t row, int64_t rows,
                                    int64_t count)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *t = j->device->table;
    kfe_device_kernel slope = {.weight = (j->by_distance ? -2 : 1) * kernel->common.weight};
    kfe_device_matrix phi = kfe_device_part(j->phi, 0, rows, 0, j->m);
    kfe_device_matrix weighted = kfe_device_part(j->weighted, 0, j->m, 0, count * j->d);
    kfe_device_matrix gradients = kfe_device_part(j->gradients, 0, rows, 0, count * j->d);

    slope.weight *= kernel->def->slope(kernel->settings, &slope.formula);
    KFE_DEVICE_TRY(t->block(j->device->handle, &slope, (kfe_device_range){j->rows, row, rows},
                            (kfe_device_range){j->support, 0, j->m}, &phi, 0));
    KFE_DEVICE_TRY(t->gemm(j->device->handle, 0, 0, 1, &phi, &weighted, 1, &gradients));
    if (j->by_distance)
        KFE_DEVICE_TRY(add_rows(j, row, rows, count));
cleanup:
    return status;
}

/* Adds GᵀG of the gradients G ((rows·count) × d), or its diagonal. */
static kfe_device_status add_products(gradient_job *j, int64_t rows, int64_t count)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *t = j->device->table;
    int tight = count == j->outputs;

    for (int64_t c = 0; c < (tight ? 1 : count); c++) {
        kfe_device_matrix g = kfe_device_part(j->gradients, 0, rows, c * j->d, j->d);
        if (tight) { /* a row of the matrix is `count` gradients, one behind the other */
            g.rows = rows * count;
            g.stride = j->d;
        }
        if (!j->diagonal) {
            KFE_DEVICE_TRY(t->gemm(j->device->handle, 1, 0, 1, &g, &g, 1, &j->result));
            continue;
        }
        KFE_DEVICE_TRY(t->column_dots(j->device->handle, &g, &g, j->host));
        for (int64_t i = 0; i < j->d; i++)
            j->sums[i] += j->host[i];
    }
cleanup:
    return status;
}

static kfe_device_status run_panel(gradient_job *j, int64_t row, int64_t rows, int64_t count)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *t = j->device->table;
    kfe_device_matrix gradients = kfe_device_part(j->gradients, 0, rows, 0, count * j->d);

    KFE_DEVICE_TRY(t->fill(j->device->handle, &gradients, 0));
    for (int64_t m = 0; m < j->f->kernels->count; m++)
        KFE_DEVICE_TRY(add_kernel(j, &j->f->kernels->items[m], row, rows, count));
    if (j->table->weights) {
        for (int64_t i = 0; i < rows; i++)
            j->host[i] = sqrt(j->table->weights[j->begin + row + i]);
        KFE_DEVICE_TRY(t->scale(j->device->handle, &gradients, j->host, NULL));
    }
    KFE_DEVICE_TRY(add_products(j, rows, count));
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_device_status prepare(gradient_job *j)
{
    kfe_device_status status = KFE_DEVICE_OK;

    KFE_DEVICE_TRY(upload(j, j->f->support, 0, j->m, &j->s, &j->support));
    KFE_DEVICE_TRY(upload(j, j->table, j->begin, j->end - j->begin, &j->x, &j->rows));
    KFE_DEVICE_TRY(make_matrices(j));
cleanup:
    return status;
}

/* *result tells what the device said; the status is that of the host. */
static kfe_status run(gradient_job *j, kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    int64_t n = j->end - j->begin;

    *result = prepare(j);
    for (int64_t first = 0; *result == KFE_DEVICE_OK && first < j->f->k; first += j->outputs) {
        int64_t count = j->f->k - first < j->outputs ? j->f->k - first : j->outputs;
        *result = weigh_support(j, first, count);
        for (int64_t row = 0; *result == KFE_DEVICE_OK && row < n; row += j->side) {
            KFE_TRY(kfe_i_progress(j->device->ctx, "computing gradients", row, n));
            *result = run_panel(j, row, n - row < j->side ? n - row : j->side, count);
        }
    }
cleanup:
    return status;
}

/* out = the sums of this process. */
static kfe_device_status take_result(gradient_job *j, double *out)
{
    if (!j->diagonal)
        return j->device->table->download(j->device->handle, &j->result, out, j->d);
    memcpy(out, j->sums, (size_t)j->d * sizeof *out);
    return KFE_DEVICE_OK;
}

static kfe_status begin(gradient_job *j)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = j->device->ctx;
    int64_t rows = j->end - j->begin > j->m ? j->end - j->begin : j->m;

    KFE_ALLOC(ctx, j->host, rows * j->d);
    KFE_ALLOC_ZERO(ctx, j->sums, j->d);
    KFE_ALLOC_ZERO(ctx, j->centre, j->d);
    if (j->by_distance)
        kfe_i_column_means(ctx, j->f->support, j->centre);
cleanup:
    return status;
}

/* Divides by the number of rows, or by the sum of their weights. */
static void divide(const kfe_i_table *rows, int64_t count, double *out)
{
    double mass = 0;

    for (int64_t i = 0; i < rows->rows; i++)
        mass += kfe_i_row_weight(rows, i);
    for (int64_t p = 0; p < count; p++)
        out[p] /= mass;
}

kfe_status kfe_i_device_agop(kfe_i_device *device, const kfe_i_expansion_sum *f, const kfe_i_table *rows,
                             int diagonal, double *out, int *done)
{
    kfe_status status = KFE_OK;
    kfe_device_status result = KFE_DEVICE_OK;
    kfe_i_share share = kfe_i_own_share(device->ctx);
    double all = 0;
    gradient_job j = {.device = device,
                      .f = f,
                      .table = rows,
                      .by_distance = f->kernels->items[0].def->base == KFE_BASE_DISTANCE,
                      .diagonal = diagonal,
                      .m = f->support->rows,
                      .d = rows->cols,
                      .begin = kfe_i_share_begin(rows->rows, share.part, share.parts),
                      .end = kfe_i_share_begin(rows->rows, share.part + 1, share.parts)};

    device->stage = "computing gradients";
    KFE_TRY(begin(&j));
    KFE_TRY(run(&j, &result));
    if (result == KFE_DEVICE_OK)
        result = take_result(&j, out);
    all = result == KFE_DEVICE_OK;
    if (all == 0 && !kfe_i_device_gives_up(device, result, "gradients"))
        KFE_TRY(kfe_i_device_status(device, result));
    KFE_TRY(kfe_i_cluster_least(device->ctx, &all));
    *done = all > 0;
    if (!*done)
        goto cleanup;
    KFE_TRY(kfe_i_cluster_sum(device->ctx, out, diagonal ? j.d : j.d * j.d));
    divide(rows, diagonal ? j.d : j.d * j.d, out);
    kfe_i_log(device->ctx, KFE_LOG_INFO, "gradients at %lld examples: on %s", (long long)rows->rows,
              device->name);
cleanup:
    free_job(&j);
    return status;
}
