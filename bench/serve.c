/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times requests of one row: kfe_transform_into, and kfe_transform on wrapped data, beside the floor, which is reading
 * the support examples once. Prints rows of a table: median and 99th percentile in microseconds, and the median's ratio
 * to the floor.
 * usage: bench_serve
 */
#include <stdio.h>
#include <stdlib.h>

#include "floor.h"
#include "kernel/tile/rows.h"
#include "kfe.h"

enum { REQUESTS = 400, CLASSES = 4 };

typedef struct service {
    kfe_context *ctx;
    kfe_model *model;
    double *x;
    int64_t rows, cols;
    double features[CLASSES];
} service;

static void check(kfe_context *ctx, kfe_status status)
{
    if (status == KFE_OK)
        return;
    fprintf(stderr, "%s\n", kfe_error_message(ctx));
    exit(1);
}

static void *room(size_t size)
{
    void *block = malloc(size);

    if (!block)
        exit(1);
    return block;
}

/* A koc model whose support is all of rows × cols random numbers. */
static service begin(int64_t rows, int64_t cols, int threads)
{
    static const char *const names[CLASSES] = {"a", "b", "c", "d"};
    service s = {.rows = rows, .cols = cols};
    const char **labels = room((size_t)rows * sizeof *labels);
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;

    s.x = room((size_t)(rows * cols) * sizeof *s.x);
    srand(1);
    for (int64_t p = 0; p < rows * cols; p++)
        s.x[p] = (double)rand() / RAND_MAX;
    for (int64_t i = 0; i < rows; i++)
        labels[i] = names[i % CLASSES];
    if (kfe_context_new(&s.ctx) != KFE_OK)
        exit(1);
    check(s.ctx, kfe_context_set_threads(s.ctx, threads));
    check(s.ctx, kfe_data_wrap_dense(s.ctx, rows, cols, cols, s.x, &data));
    check(s.ctx, kfe_data_set_labels(s.ctx, data, labels));
    check(s.ctx, kfe_spec_parse(s.ctx, "koc", NULL, "rbf", &spec));
    check(s.ctx, kfe_fit(s.ctx, spec, data, &s.model));
    kfe_spec_free(spec);
    kfe_data_free(data);
    free(labels);
    return s;
}

static void end(service *s)
{
    kfe_model_free(s->model);
    kfe_context_free(s->ctx);
    free(s->x);
}

static void into(service *s, int64_t request)
{
    kfe_rows row = {s->x + request % s->rows * s->cols, KFE_F64, 1, s->cols, s->cols};

    check(s->ctx, kfe_transform_into(s->ctx, s->model, &row, s->features));
}

static void wrapped(service *s, int64_t request)
{
    kfe_data *data = NULL;
    kfe_matrix features;

    check(s->ctx,
          kfe_data_wrap_dense(s->ctx, 1, s->cols, s->cols, s->x + request % s->rows * s->cols, &data));
    check(s->ctx, kfe_transform(s->ctx, s->model, data, &features));
    kfe_matrix_free(&features);
    kfe_data_free(data);
}

/* One pass over as many numbers as the support has, on one thread. */
static void read_once(service *s, int64_t request)
{
    (void)request;
    s->features[0] = kfe_i_row_sum(s->x, s->rows * s->cols);
}

/* Microseconds: the median, and the 99th percentile into *slow. */
static double time_requests(service *s, void (*ask)(service *, int64_t), double *slow)
{
    double times[REQUESTS];

    for (int64_t i = 0; i < 20; i++)
        ask(s, i);
    for (int64_t i = 0; i < REQUESTS; i++) {
        double begun = bench_now();
        ask(s, i);
        times[i] = 1e6 * (bench_now() - begun);
    }
    double median = bench_median(times, REQUESTS);
    *slow = times[REQUESTS * 99 / 100];
    return median;
}

static void report(int64_t rows, int64_t cols, int threads)
{
    service s = begin(rows, cols, threads);
    double slow[3];
    double floor = time_requests(&s, read_once, &slow[0]);
    double direct = time_requests(&s, into, &slow[1]);
    double data = time_requests(&s, wrapped, &slow[2]);

    printf("| %lld × %lld, %s | %.1f | %.1f (%.1f) | %.1f (%.1f) | %.2f |\n", (long long)rows,
           (long long)cols, threads == 1 ? "1 thread" : "all threads", floor, direct, slow[1], data, slow[2],
           direct / floor);
    end(&s);
}

int main(void)
{
    printf("| support | reading it once, µs | `kfe_transform_into`, µs (99 %%) | `kfe_transform`, µs (99 %%) "
           "| into / reading |\n");
    printf("|---|---|---|---|---|\n");
    report(5000, 784, 1);
    report(5000, 784, 0);
    report(64, 48, 1);
    report(64, 48, 0);
    return 0;
}
