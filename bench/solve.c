/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the solver. Prints rows of bench/RESULTS.md.
 *
 * usage: bench_solve fits N [REPEATS]   hsic, kfd and kopls with defaults beside the Gram matrix and one Cholesky
 *                                       factorisation, the faster of double and single precision
 *        bench_solve ways N [NOISE]     every way of solving at several ridges: predicted and measured seconds; less
 *                                       noise makes the spectrum fall faster
 *        bench_solve large N MEGABYTES  hsic with defaults and a memory limit beside a Cholesky factorisation in single
 *                                       precision at the rate of sgemm
 *
 * Seconds are processor seconds divided by the number of threads, or wall seconds where those are less: on a busy machine
 * wall time measures its other programs.
 */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/context.h"
#include "core/rng.h"
#include "floor.h"
#include "gram/solve/solve.h"

static double noise = 0.3;

enum { COLUMNS = 256, CLASSES = 10, LATENT = 20, MOST_REPEATS = 9 };

static void check(kfe_context *ctx, kfe_status status)
{
    if (status != KFE_OK) {
        fprintf(stderr, "solve: %s\n", kfe_error_message(ctx));
        exit(1);
    }
}

/* ---- time ---- */

typedef struct stamp {
    double wall, processor;
} stamp;

static stamp now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (stamp){bench_now(), (double)t.tv_sec + 1e-9 * (double)t.tv_nsec};
}

static double since(kfe_context *ctx, stamp start)
{
    stamp end = now();
    return fmin(end.wall - start.wall, (end.processor - start.processor) / kfe_context_threads(ctx));
}

/* ---- data: ten classes in 20 latent dimensions, bent into 256 columns with noise ---- */

typedef struct sample {
    kfe_context *ctx;
    int64_t rows;
    double *values;
    int32_t *codes;
} sample;

static double *normals(kfe_i_rng *rng, int64_t count, double scale)
{
    double *values = malloc((size_t)count * sizeof *values);

    for (int64_t i = 0; i < count; i++)
        values[i] = scale * kfe_i_rng_normal(rng);
    return values;
}

static void make_sample(int64_t rows, sample *out)
{
    kfe_i_rng rng;

    memset(out, 0, sizeof *out);
    check(NULL, kfe_context_new(&out->ctx));
    kfe_i_rng_init(&rng, 1, 1);
    double *means = normals(&rng, CLASSES * LATENT, 1.5);
    double *map = normals(&rng, LATENT * COLUMNS, 0.2);
    double *latent = normals(&rng, rows * LATENT, 1);
    out->rows = rows;
    out->values = normals(&rng, rows * COLUMNS, noise);
    out->codes = malloc((size_t)rows * sizeof *out->codes);
    for (int64_t i = 0; i < rows; i++) {
        out->codes[i] = (int32_t)kfe_i_rng_below(&rng, CLASSES);
        for (int64_t j = 0; j < LATENT; j++)
            latent[i * LATENT + j] += means[out->codes[i] * LATENT + j];
        for (int64_t c = 0; c < COLUMNS; c++) {
            double sum = 0;
            for (int64_t j = 0; j < LATENT; j++)
                sum += latent[i * LATENT + j] * map[j * COLUMNS + c];
            out->values[i * COLUMNS + c] += tanh(sum);
        }
    }
    free(means);
    free(map);
    free(latent);
}

static void free_sample(sample *s)
{
    kfe_context_free(s->ctx);
    free(s->values);
    free(s->codes);
}

/* ---- the operator ---- */

typedef struct operator_of {
    kfe_i_table table;
    kfe_i_kernel kernel;
    kfe_i_gram *gram;
} operator_of;

static void open_operator(const sample *s, const char *kernel, operator_of *out)
{
    memset(out, 0, sizeof *out);
    out->table = (kfe_i_table){.ctx = s->ctx,
                               .kind = KFE_TABLE_DENSE,
                               .rows = s->rows,
                               .cols = COLUMNS,
                               .stride = COLUMNS,
                               .values = s->values};
    check(s->ctx, kfe_i_kernel_parse(s->ctx, kernel, &out->kernel));
    check(s->ctx, kfe_i_gram_tiled(s->ctx, &out->kernel, &out->table, &out->gram));
}

static void close_operator(operator_of *o)
{
    kfe_i_gram_free(o->gram);
    kfe_i_kernel_free(&o->kernel);
}

/* ---- fits ---- */

/* Seconds of the Gram matrix and of the faster factorisation. */
static double floor_seconds(const sample *s, double *gram_seconds)
{
    operator_of o;
    int64_t n = s->rows;
    float *narrow = malloc((size_t)(n * n) * sizeof *narrow);

    open_operator(s, "rbf:gamma=0.004", &o);
    stamp start = now();
    double *matrix = malloc((size_t)(n * n) * sizeof *matrix); /* fresh memory, as every fit must take it */
    check(s->ctx, kfe_i_gram_block(o.gram, 0, n, 0, n, matrix, n));
    *gram_seconds = since(s->ctx, start);
    for (int64_t i = 0; i < n; i++)
        matrix[i * n + i] += 1e-3 * (double)n;
    for (int64_t i = 0; i < n * n; i++)
        narrow[i] = (float)matrix[i];
    start = now();
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, matrix, (lapack_int)n);
    double wide = since(s->ctx, start);
    start = now();
    LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, narrow, (lapack_int)n);
    double single = since(s->ctx, start);
    fprintf(stderr, "floor: Gram %.3f, dpotrf %.3f, spotrf %.3f\n", *gram_seconds, wide, single);
    close_operator(&o);
    free(matrix);
    free(narrow);
    return *gram_seconds + fmin(wide, single);
}

static double fit_seconds(const sample *s, kfe_data *data, const char *method)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    check(s->ctx, kfe_spec_parse(s->ctx, method, NULL, "rbf:gamma=0.004", &spec));
    stamp start = now();
    check(s->ctx, kfe_fit(s->ctx, spec, data, &model));
    double seconds = since(s->ctx, start);
    kfe_model_free(model);
    kfe_spec_free(spec);
    return seconds;
}

static kfe_data *wrap(const sample *s)
{
    static const char *const names[CLASSES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    kfe_data *data = NULL;
    const char **labels = malloc((size_t)s->rows * sizeof *labels);

    for (int64_t i = 0; i < s->rows; i++)
        labels[i] = names[s->codes[i]];
    check(s->ctx, kfe_data_wrap_dense(s->ctx, s->rows, COLUMNS, COLUMNS, s->values, &data));
    check(s->ctx, kfe_data_set_labels(s->ctx, data, labels));
    free(labels);
    return data;
}

static void print_log(void *user, kfe_level level, const char *text)
{
    (void)user;
    if (level <= KFE_LOG_DEBUG)
        fprintf(stderr, "%s\n", text);
}

static void bench_fits(int64_t n, int repeats)
{
    static const char *const methods[] = {"hsic", "kfd", "kopls"};
    double times[3][MOST_REPEATS];
    double ratios[3][MOST_REPEATS];
    double floors[MOST_REPEATS];
    double gram = 0;
    sample s;

    make_sample(n, &s);
    kfe_context_on_log(s.ctx, print_log, NULL);
    kfe_data *data = wrap(&s);
    for (int r = 0; r < repeats; r++) {
        floors[r] = floor_seconds(&s, &gram);
        for (int i = 0; i < 3; i++) {
            int m = (i + r) % 3; /* each is first in turn: fresh memory costs the first one most */
            times[m][r] = fit_seconds(&s, data, methods[m]);
            ratios[m][r] = times[m][r] / floors[r];
            fprintf(stderr, "%s: %.3f, ratio %.2f\n", methods[m], times[m][r], ratios[m][r]);
        }
    }
    double floor_median = bench_median(floors, repeats);
    for (int m = 0; m < 3; m++)
        printf("| %s with defaults, rbf, n=%lld, d=%d | %.3f | %.3f | %.2f | <= 1.30 |\n", methods[m],
               (long long)n, COLUMNS, bench_median(times[m], repeats), floor_median,
               bench_median(ratios[m], repeats));
    kfe_data_free(data);
    free_sample(&s);
}

/* ---- ways ---- */

static void bench_ways(int64_t n)
{
    static const double ridges[] = {10, 1e-1, 1e-3, 1e-5};
    static const char *const names[KFE_SOLVE_WAYS] = {"chosen", "f64", "f32", "cg", "divided"};
    sample s;
    operator_of o;
    kfe_i_rng rng;

    make_sample(n, &s);
    kfe_context_on_log(s.ctx, print_log, NULL);
    open_operator(&s, "rbf:gamma=0.004", &o);
    kfe_i_rng_init(&rng, 2, 2);
    double *right = normals(&rng, n * CLASSES, 1);
    double *out = normals(&rng, n * CLASSES, 1);
    for (int r = 0; r < 4; r++)
        for (int way = KFE_SOLVE_AUTO; way < KFE_SOLVE_WAYS; way++) {
            kfe_i_solve_effort effort = {0};
            stamp start = now();
            kfe_i_system system = {o.gram, ridges[r], 1e-10, right, CLASSES, out};
            kfe_status status = kfe_i_solve_by(&system, (kfe_i_solve_way)way, &effort);
            double seconds = since(s.ctx, start);
            printf("| n=%lld, ridge %g, %s | %s | %.3f | %.3f | %d | %lld | %.1e |\n", (long long)n,
                   ridges[r], names[way], status == KFE_OK ? names[effort.way] : kfe_error_message(s.ctx),
                   seconds, effort.predicted, effort.iterations, (long long)effort.rank, effort.residual);
        }
    free(right);
    free(out);
    close_operator(&o);
    free_sample(&s);
}

/* ---- a matrix that is as large as the memory ---- */

/* Operations per second of a large product, the best of some tries. */
static double sgemm_rate(kfe_context *ctx)
{
    enum { ORDER = 4096, TRIES = 3 };
    int64_t entries = (int64_t)ORDER * ORDER;
    float *a = malloc((size_t)(3 * entries) * sizeof *a);
    double best = INFINITY;

    for (int64_t i = 0; i < 3 * entries; i++)
        a[i] = (float)(i % 17) / 17;
    for (int i = 0; i < TRIES; i++) {
        stamp start = now();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, ORDER, ORDER, ORDER, 1, a, ORDER, a + entries,
                    ORDER, 0, a + 2 * entries, ORDER);
        best = fmin(best, since(ctx, start));
    }
    free(a);
    return 2.0 * ORDER * ORDER * ORDER / best;
}

static void bench_large(int64_t n, int64_t megabytes)
{
    sample s;

    make_sample(n, &s);
    kfe_context_on_log(s.ctx, print_log, NULL);
    check(s.ctx, kfe_context_set_memory(s.ctx, megabytes * 1000000));
    kfe_data *data = wrap(&s);
    double rate = sgemm_rate(s.ctx);
    double floor = (double)n * (double)n * (double)n / 3 / rate;
    double seconds = fit_seconds(&s, data, "hsic");
    printf("| hsic with defaults, rbf, n=%lld, d=%d, limit %lld MB, peak %.2f GB; floor: n^3/3 at sgemm's "
           "%.0f Gflop/s | "
           "%.1f | %.1f | %.2f | <= 1.50 |\n",
           (long long)n, COLUMNS, (long long)megabytes, bench_peak_memory() / 1e9, 1e-9 * rate, seconds,
           floor, seconds / floor);
    kfe_data_free(data);
    free_sample(&s);
}

int main(int count, char **arguments)
{
    int64_t n = count > 2 ? atoll(arguments[2]) : 4000;
    int repeats = count > 3 ? atoi(arguments[3]) : 3;

    if (count > 3 && strcmp(arguments[1], "ways") == 0)
        noise = atof(arguments[3]);
    if (count > 1 && strcmp(arguments[1], "ways") == 0)
        bench_ways(n);
    else if (count > 3 && strcmp(arguments[1], "large") == 0)
        bench_large(n, atoll(arguments[3]));
    else
        bench_fits(n, repeats < MOST_REPEATS ? repeats : MOST_REPEATS);
    return 0;
}
