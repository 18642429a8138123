/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the device interface with random matrices and points, whose results are kept for the comparison; the cases use them. */
#ifndef KFE_TESTS_GPU_SESSION_H
#define KFE_TESTS_GPU_SESSION_H

#include "plugin/device.h"

enum { NUMBERS_MOST = 1 << 22 };

/* A device with the numbers that a case has made so far. */
typedef struct session {
    const kfe_device_table *table;
    kfe_device *device;
    uint64_t random;
    double *numbers;
    int64_t count;
    kfe_device_status status; /* of the first call that failed */
    const char *call;
} session;

/* Remembers the first failure; what follows is skipped by its callers' checks of s->status. */
int session_failed(session *s, kfe_device_status status, const char *call);
#define CALL(function, ...) session_failed(s, s->table->function(s->device, __VA_ARGS__), #function)

/* count + 1 numbers between −½ and ½; for free(). */
double *random_numbers(session *s, int64_t count);
kfe_device_matrix new_matrix(session *s, int64_t rows, int64_t cols, int64_t stride, kfe_device_type type);
/* A matrix of random numbers, with two columns between its rows. */
kfe_device_matrix random_matrix(session *s, int64_t rows, int64_t cols, kfe_device_type type);
void free_matrix(session *s, kfe_device_matrix *m);
void keep(session *s, const double *numbers, int64_t count);
/* Keeps the numbers of a matrix; only the lower triangle if `lower`. */
void keep_matrix(session *s, const kfe_device_matrix *m, int lower);

typedef struct point_set {
    kfe_device_rows rows;
    double *values, *centre;
    int64_t *row_start;
    int32_t *columns;
    kfe_device_points *points;
} point_set;

/* n points of d columns for the base of a formula; a third of them are copies of others, or almost. */
void new_points(session *s, int64_t n, int64_t d, int base, int sparse, point_set *p);
void free_points(session *s, point_set *p);

#endif
