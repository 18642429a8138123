/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read the shortest implementation of the device interface (src/plugin/device.h): "device memory" is the heap, and every call works
 * at once. Tests run the library through it on machines without an accelerator. The files of this folder share this header.
 */
#ifndef KFE_BACKENDS_HOST_HOST_H
#define KFE_BACKENDS_HOST_HOST_H

#include "plugin/device.h"

typedef struct host_allocation host_allocation;

struct kfe_device {
    char text[512];
    int index;
    kfe_device_watch watch;
    void *watch_user;
    host_allocation *allocations; /* a list */
    uint64_t limit, used;         /* bytes */
    int64_t until_failure;        /* allocations until one fails; 0: none does */
};

/* Examples: those given, those with the centre subtracted, and squared norms. Sparse rows are made dense. */
struct kfe_device_points {
    int64_t rows, cols;
    int32_t base;
    double *source, *centred; /* may be the same memory */
    double *norms;
};

kfe_device_status host_fail(kfe_device *device, kfe_device_status status, const char *text);
/* Memory that counts against the device's limit; zeroed. NULL: the text is set. */
void *host_allocate(kfe_device *device, uint64_t bytes);
void host_release(kfe_device *device, void *block);
void host_release_all(kfe_device *device);
/* Nonzero: the caller must return KFE_DEVICE_STOPPED. */
int host_must_stop(const kfe_device *device, int64_t done, int64_t total);

static inline double host_get(const kfe_device_matrix *m, int64_t i, int64_t j)
{
    const char *at = (const char *)(uintptr_t)m->address + (i * m->stride + j) * (int64_t)m->type;
    return m->type == KFE_DEVICE_F64 ? *(const double *)(const void *)at
                                     : (double)*(const float *)(const void *)at;
}

static inline void host_set(const kfe_device_matrix *m, int64_t i, int64_t j, double value)
{
    char *at = (char *)(uintptr_t)m->address + (i * m->stride + j) * (int64_t)m->type;

    if (m->type == KFE_DEVICE_F64)
        *(double *)(void *)at = value;
    else
        *(float *)(void *)at = (float)value;
}

/* memory.c */
kfe_device_status host_upload(kfe_device *device, const double *from, int64_t stride,
                              const kfe_device_matrix *to);
kfe_device_status host_download(kfe_device *device, const kfe_device_matrix *from, double *to,
                                int64_t stride);
kfe_device_status host_copy(kfe_device *device, const kfe_device_matrix *from, const kfe_device_matrix *to);
kfe_device_status host_fill(kfe_device *device, const kfe_device_matrix *to, double value);
kfe_device_status host_gather(kfe_device *device, const kfe_device_matrix *from, const int64_t *rows,
                              const int64_t *cols, const kfe_device_matrix *to);

/* points.c */
kfe_device_status host_points_new(kfe_device *device, const kfe_device_rows *rows, int32_t base,
                                  kfe_device_type precision, kfe_device_points **out);
kfe_device_status host_points_gather(kfe_device *device, const kfe_device_points *points,
                                     const int64_t *index, int64_t count, kfe_device_points **out);
void host_points_free(kfe_device *device, kfe_device_points *points);

/* kernels.c */
kfe_device_status host_block(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                             kfe_device_range cols, const kfe_device_matrix *out, int how);
kfe_device_status host_map(kfe_device *device, const kfe_device_kernel *kernel, const kfe_device_matrix *base,
                           kfe_device_range rows, kfe_device_range cols, const kfe_device_matrix *out);
kfe_device_status host_times(kfe_device *device, const kfe_device_kernel *kernel, kfe_device_range rows,
                             kfe_device_range cols, const kfe_device_product *product);
kfe_device_status host_group_sums(kfe_device *device, const kfe_device_kernel *kernel,
                                  const kfe_device_points *points, const int32_t *group, int64_t groups,
                                  kfe_device_type precision, double *out);
kfe_device_status host_stream(kfe_device *device, const kfe_device_kernel *kernel,
                              const kfe_device_rows *rows, const kfe_device_points *support,
                              const kfe_device_matrix *v, kfe_device_type precision,
                              const kfe_device_output *out);

/* svms.c, nearest.c */
kfe_device_status host_linear_svms(kfe_device *device, const kfe_device_svms *svms, double *w,
                                   kfe_device_svm *out);
kfe_device_status host_nearest(kfe_device *device, kfe_device_range rows, kfe_device_range cols, int64_t k,
                               int64_t *numbers, double *distances);

/* algebra.c */
kfe_device_status host_gemm(kfe_device *device, int transpose_a, int transpose_b, double alpha,
                            const kfe_device_matrix *a, const kfe_device_matrix *b, double beta,
                            const kfe_device_matrix *c);
kfe_device_status host_add(kfe_device *device, double alpha, const kfe_device_matrix *from, double beta,
                           const kfe_device_matrix *to);
kfe_device_status host_shift(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                             const double *by_column);
kfe_device_status host_scale(kfe_device *device, const kfe_device_matrix *to, const double *by_row,
                             const double *by_column);
kfe_device_status host_column_dots(kfe_device *device, const kfe_device_matrix *a, const kfe_device_matrix *b,
                                   double *out);
kfe_device_status host_row_dots(kfe_device *device, const kfe_device_matrix *a, const kfe_device_matrix *b,
                                double *out);
uint64_t host_no_bytes(kfe_device *device, int64_t n, kfe_device_type type);
kfe_device_status host_potrf(kfe_device *device, const kfe_device_matrix *a, int *definite);
kfe_device_status host_potrs(kfe_device *device, const kfe_device_matrix *l, const kfe_device_matrix *b);
kfe_device_status host_trsm(kfe_device *device, int transpose, const kfe_device_matrix *l,
                            const kfe_device_matrix *b);
kfe_device_status host_syevd(kfe_device *device, const kfe_device_matrix *a, double *values);

#endif
