/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel values with support examples times coefficients on a device, for transforms and predictions of many rows, which pass
 * through the device in pieces. model/ and learn/ use it. */
#include "gram/device/expand.h"
#include "core/memory.h"
#include "gram/device/form.h"

typedef struct expansion {
    kfe_i_device *device;
    const kfe_i_kernel *kernel;
    const kfe_i_table *view, *support;
    const double *v; /* support × k */
    int64_t k;
    double *out; /* rows × k */
    int add;
} expansion;

/* All on the device: support examples and coefficients; then the rows stream through it. */
static kfe_device_status run(const expansion *e, const double *centre)
{
    kfe_device_status status = KFE_DEVICE_OK;
    const kfe_device_table *table = e->device->table;
    kfe_device_kernel kernel = {kfe_i_kernel_formula(e->kernel), e->kernel->common.weight};
    kfe_device_rows support = kfe_i_device_rows(e->support);
    kfe_device_rows rows = kfe_i_device_rows(e->view);
    kfe_device_points *points = NULL;
    kfe_device_matrix coefficients = {0};

    support.centre = rows.centre = centre;
    KFE_DEVICE_TRY(
        table->points_new(e->device->handle, &support, kernel.formula.base, KFE_DEVICE_F64, &points));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(e->device, e->support->rows, e->k, KFE_DEVICE_F64, &coefficients));
    KFE_DEVICE_TRY(table->upload(e->device->handle, e->v, e->k, &coefficients));
    KFE_DEVICE_TRY(table->stream(e->device->handle, &kernel, &rows, points, &coefficients, KFE_DEVICE_F64,
                                 &(kfe_device_output){e->out, e->k, e->add}));
cleanup:
    if (points)
        table->points_free(e->device->handle, points);
    kfe_i_device_matrix_free(e->device, &coefficients);
    return status;
}

/* Distances need a common centre: that of the support. A dense centre would make sparse rows dense, so the device takes none for
 * them. */
static kfe_status expand_one(const expansion *e, kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    double *centre = NULL;
    int dense = e->view->kind == KFE_TABLE_DENSE && e->support->kind == KFE_TABLE_DENSE;

    if (dense && e->kernel->def->base == KFE_BASE_DISTANCE) {
        KFE_ALLOC(e->device->ctx, centre, e->support->cols);
        kfe_i_column_means(e->device->ctx, e->support, centre);
    }
    e->device->stage = "computing features";
    *result = run(e, centre);
cleanup:
    kfe_i_free(e->device->ctx, centre);
    return status;
}

kfe_status kfe_i_device_expand(kfe_i_device *device, const kfe_i_kernel_list *kernels,
                               const kfe_i_table *views, const kfe_i_table *supports, const double *v,
                               int64_t k, double *out, int *done)
{
    kfe_status status = KFE_OK;
    kfe_device_status result = KFE_DEVICE_OK;
    expansion e = {.device = device, .v = v, .k = k, .out = out};

    for (int64_t m = 0; m < kernels->count && result == KFE_DEVICE_OK; m++) {
        e.kernel = &kernels->items[m];
        e.view = &views[e.kernel->view];
        e.support = &supports[e.kernel->view];
        e.add = m > 0;
        KFE_TRY(expand_one(&e, &result));
    }
    *done = result == KFE_DEVICE_OK;
    if (*done)
        kfe_i_log(device->ctx, KFE_LOG_INFO, "features of %lld examples: on %s",
                  (long long)views[kernels->items[0].view].rows, device->name);
    else if (!kfe_i_device_gives_up(device, result, "features"))
        status = kfe_i_device_status(device, result);
cleanup:
    return status;
}
