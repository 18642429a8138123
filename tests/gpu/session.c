/* SPDX-License-Identifier: Apache-2.0 */
/* Random matrices and points on a device, and the numbers that come back. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double next(session *s)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (double)(s->random >> 11) / 9007199254740992.0 - 0.5;
}

double *random_numbers(session *s, int64_t count)
{
    double *out = malloc((size_t)(count + 1) * sizeof *out);

    for (int64_t i = 0; i < count; i++)
        out[i] = next(s);
    return out;
}

int session_failed(session *s, kfe_device_status status, const char *call)
{
    if (status != KFE_DEVICE_OK && s->status == KFE_DEVICE_OK) {
        s->status = status;
        s->call = call;
    }
    return s->status != KFE_DEVICE_OK;
}

kfe_device_matrix new_matrix(session *s, int64_t rows, int64_t cols, int64_t stride, kfe_device_type type)
{
    kfe_device_matrix m = {0, rows, cols, stride, type};

    CALL(allocate, (uint64_t)(rows * stride) * (uint64_t)type + 8, &m.address);
    return m;
}

kfe_device_matrix random_matrix(session *s, int64_t rows, int64_t cols, kfe_device_type type)
{
    kfe_device_matrix m = new_matrix(s, rows, cols, cols + 2, type);
    double *numbers = random_numbers(s, rows * cols);

    if (s->status == KFE_DEVICE_OK)
        CALL(upload, numbers, cols, &m);
    free(numbers);
    return m;
}

void free_matrix(session *s, kfe_device_matrix *m)
{
    s->table->release(s->device, m->address);
}

void keep(session *s, const double *numbers, int64_t count)
{
    if (s->count + count > NUMBERS_MOST) {
        fprintf(stderr, "a case makes too many numbers\n");
        exit(2);
    }
    memcpy(s->numbers + s->count, numbers, (size_t)count * sizeof *numbers);
    s->count += count;
}

void keep_matrix(session *s, const kfe_device_matrix *m, int lower)
{
    double *numbers = malloc((size_t)(m->rows * m->cols + 1) * sizeof *numbers);

    if (s->status == KFE_DEVICE_OK)
        CALL(download, m, numbers, m->cols);
    for (int64_t i = 0; s->status == KFE_DEVICE_OK && i < m->rows; i++)
        keep(s, numbers + i * m->cols, lower ? i + 1 : m->cols);
    free(numbers);
}

/* ---- points ---- */

/* Every third row is a copy of an earlier one, or almost. */
static void make_rows(session *s, int64_t n, int64_t d, int base, point_set *p)
{
    p->values = random_numbers(s, n * d);
    p->centre = random_numbers(s, d);
    for (int64_t i = 0; i < n * d; i++)
        p->values[i] = base == KFE_FORMULA_COORDINATE ? p->values[i] + 0.5 : p->values[i] + 0.2;
    for (int64_t i = 3; i < n; i += 3) {
        memcpy(p->values + i * d, p->values + (i / 2) * d, (size_t)d * sizeof(double));
        p->values[i * d] += i % 2 ? 1e-9 : 0;
    }
    p->rows = (kfe_device_rows){.rows = n, .cols = d, .values = p->values, .stride = d};
    if (base == KFE_FORMULA_DISTANCE)
        p->rows.centre = p->centre;
}

/* Keeps about a third of the numbers of dense rows, as compressed rows. */
static void make_sparse(session *s, point_set *p)
{
    int64_t n = p->rows.rows;
    int64_t d = p->rows.cols;
    int64_t count = 0;

    p->row_start = malloc((size_t)(n + 1) * sizeof *p->row_start);
    p->columns = malloc((size_t)(n * d + 1) * sizeof *p->columns);
    for (int64_t i = 0; i < n; i++) {
        p->row_start[i] = count;
        for (int64_t j = 0; j < d; j++)
            if (next(s) < -0.17) {
                p->columns[count] = (int32_t)j;
                p->values[count++] = p->values[i * d + j];
            }
    }
    p->row_start[n] = count;
    p->rows = (kfe_device_rows){
        .rows = n, .cols = d, .values = p->values, .row_start = p->row_start, .columns = p->columns};
}

void new_points(session *s, int64_t n, int64_t d, int base, int sparse, point_set *p)
{
    memset(p, 0, sizeof *p);
    make_rows(s, n, d, base, p);
    if (sparse)
        make_sparse(s, p);
    if (s->status == KFE_DEVICE_OK)
        CALL(points_new, &p->rows, base, KFE_DEVICE_F32, &p->points);
}

void free_points(session *s, point_set *p)
{
    s->table->points_free(s->device, p->points);
    free(p->values);
    free(p->centre);
    free(p->row_start);
    free(p->columns);
}
