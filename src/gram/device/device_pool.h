/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep candidate columns of a kernel matrix, and the orthonormal features made of them, on the device of an operator. The pursuit
 * methods use it: what they decide by are the few numbers that come back.
 */
#ifndef KFE_GRAM_DEVICE_DEVICE_POOL_H
#define KFE_GRAM_DEVICE_DEVICE_POOL_H

#include "gram/device/form.h"

/* Number of columns loaded at a time. An iteration replaces a twentieth of the pool, and every load is a pass over the features. */
enum { KFE_DEVICE_POOL_CHUNK = 32 };

typedef struct kfe_i_device_pool_shape {
    int64_t size;         /* candidates */
    int64_t most;         /* features */
    int64_t targets;      /* columns of the residual */
    kfe_device_type type; /* of the candidates' columns */
    double scale;         /* columns are multiplied by this */
} kfe_i_device_pool_shape;

typedef struct kfe_i_device_pool {
    const kfe_i_gram *gram; /* not centred */
    kfe_i_device *device;
    kfe_i_device_pool_shape shape;
    kfe_device_matrix candidates; /* size × n */
    kfe_device_matrix basis;      /* most × n: q_1, q_2, … */
    kfe_device_matrix residual;   /* n × targets */
    kfe_device_matrix chunk;      /* KFE_DEVICE_POOL_CHUNK × n: columns as they are evaluated */
    kfe_device_matrix rounded;    /* the same in the type of the pool, if that is another */
    kfe_device_matrix small;      /* room for products that go to the host */
    int gave_up;                  /* the device cannot go on, and the caller may start again on the CPU */
} kfe_i_device_pool;

/* What is measured of new columns c. */
typedef struct kfe_i_device_pool_measures {
    double *squares;    /* count: ‖c‖² as it is kept */
    double *covariance; /* count × targets: cᵀ(residual) */
    double *along;      /* features × count: q_jᵀc; NULL: not wanted */
} kfe_i_device_pool_measures;

/* An empty pool; `residual` (n × targets) is copied. *open 0: the operator is not on a device, or that has no room. Close it also
 * after a failure. */
kfe_status kfe_i_device_pool_open(const kfe_i_gram *gram, const kfe_i_device_pool_shape *shape,
                                  const double *residual, kfe_i_device_pool *out, int *open);
void kfe_i_device_pool_close(kfe_i_device_pool *pool);

/* Evaluates the columns of the examples `index` into these places and measures them against the first `features` of the basis. */
kfe_status kfe_i_device_pool_load(kfe_i_device_pool *pool, const int64_t *index, const int64_t *places,
                                  int64_t count, int64_t features, const kfe_i_device_pool_measures *out);
/* along[size] = cᵀq_j for the columns c of all candidates. */
kfe_status kfe_i_device_pool_along(kfe_i_device_pool *pool, int64_t j, double *along);
/* weight·(column of example), made orthogonal to the first `features` of the basis twice, becomes the next row of it, without being
 * scaled. column[features] receives its parts along them, *whole and *length its norms before and after. */
kfe_status kfe_i_device_pool_pick(kfe_i_device_pool *pool, int64_t example, double weight, int64_t features,
                                  double *column, double *whole, double *length);
/* Divides that row by `length`; along[targets] = residualᵀq, which the residual loses. */
kfe_status kfe_i_device_pool_accept(kfe_i_device_pool *pool, int64_t features, double length, double *along);

#endif
