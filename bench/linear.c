/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the learner linear-svm beside LIBLINEAR's primal and dual solvers: the same problems, one class against the rest, on one
 * thread each. Every solver runs with several tolerances; a row of the table has the processor seconds, the duality gap relative to
 * the objective, and the objective relative to the least one that was found.
 * usage: bench_linear FILE [C [REPEATS [THREADS]]]
 */
#include <linear.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/data.h"
#include "floor.h"
#include "learn/learner.h"
#include "linalg/linalg.h"

enum { MOST_RUNS = 64 };

typedef struct problem_set {
    kfe_i_table x;
    kfe_i_target target;
    int64_t outputs;
    double *y; /* outputs × rows */
    double c, epsilon;
    struct feature_node *nodes, **rows;
} problem_set;

typedef struct run {
    const char *solver;
    double stop, seconds, objective, gap;
} run;

static run runs[MOST_RUNS];
static int run_count;

static void check(kfe_context *ctx, kfe_status status)
{
    if (status == KFE_OK)
        return;
    fprintf(stderr, "%s\n", kfe_error_message(ctx));
    exit(1);
}

static void *room(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);

    if (!block)
        exit(1);
    return block;
}

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the problems ---- */

static problem_set make_problems(const kfe_data *data, double c)
{
    problem_set p = {.x = data->views[0].table, .target = data->target, .c = c, .epsilon = 0.1};
    int classes = p.target.task == KFE_TASK_CLASSES;
    int64_t n = p.x.rows;

    p.outputs = !classes ? p.target.cols : p.target.class_count == 2 ? 1 : p.target.class_count;
    p.y = room((size_t)(p.outputs * n), sizeof *p.y);
    for (int64_t k = 0; k < p.outputs; k++)
        for (int64_t i = 0; i < n; i++)
            p.y[k * n + i] =
                classes ? (p.target.codes[i] == k ? 1 : -1) : p.target.values[i * p.target.cols + k];
    return p;
}

static void make_nodes(problem_set *p)
{
    const kfe_i_table *x = &p->x;
    double *row = room((size_t)x->cols, sizeof *row);
    size_t entries = 0;

    for (int pass = 0; pass < 2; pass++) {
        struct feature_node *node = p->nodes;
        for (int64_t i = 0; i < x->rows; i++) {
            kfe_i_table_dense_row(x, i, row);
            if (pass)
                p->rows[i] = node;
            for (int64_t j = 0; j < x->cols; j++) {
                if (row[j] == 0)
                    continue;
                entries++;
                if (pass)
                    *node++ = (struct feature_node){(int)j + 1, row[j]};
            }
            entries += 2;
            if (pass) {
                *node++ = (struct feature_node){(int)x->cols + 1, 1};
                *node++ = (struct feature_node){-1, 0};
            }
        }
        if (!pass) {
            p->nodes = room(entries, sizeof *p->nodes);
            p->rows = room((size_t)x->rows, sizeof *p->rows);
        }
    }
    free(row);
}

/* ---- certificates ---- */

/* Adds objective and duality gap of weights (cols + 1) for one output: with s the slacks, the dual point is 2C·s. */
static void certify(kfe_context *ctx, const problem_set *p, int64_t k, const double *w, run *r)
{
    int64_t n = p->x.rows;
    int64_t d = p->x.cols;
    double *output = room((size_t)n, sizeof *output);
    double *dual = room((size_t)n, sizeof *dual);
    double *v = room((size_t)d, sizeof *v);
    double norm = w[d] * w[d];
    double loss = 0, gain = 0, square = 0, bias = 0;

    check(ctx, kfe_i_table_times(ctx, &p->x, w, 1, output));
    for (int64_t i = 0; i < n; i++) {
        double y = p->y[k * n + i];
        double o = output[i] + w[d];
        double slack =
            p->target.task == KFE_TASK_CLASSES ? fmax(0, 1 - y * o) : fmax(0, fabs(y - o) - p->epsilon);
        dual[i] = 2 * p->c * slack * (p->target.task == KFE_TASK_CLASSES ? y : y > o ? 1 : -1);
        loss += p->c * slack * slack;
        gain += dual[i] * (p->target.task == KFE_TASK_CLASSES ? y : y - (y > o ? p->epsilon : -p->epsilon));
        square += dual[i] * dual[i] / (4 * p->c);
        bias += dual[i];
    }
    check(ctx, kfe_i_table_transpose_times(ctx, &p->x, dual, 1, v));
    double length = bias * bias;
    for (int64_t j = 0; j < d; j++) {
        norm += w[j] * w[j];
        length += v[j] * v[j];
    }
    r->objective += norm / 2 + loss;
    r->gap += norm / 2 + loss - (gain - length / 2 - square);
    free(output);
    free(dual);
    free(v);
}

static void keep(run r)
{
    runs[run_count++] = r;
    fprintf(stderr, "%-18s %8.0e %10.4f s  objective %.10g  gap %.2e\n", r.solver, r.stop, r.seconds,
            r.objective, r.gap / r.objective);
}

/* ---- solvers ---- */

static void run_kfe(kfe_context *ctx, const problem_set *p, double stop, int repeats)
{
    const kfe_i_learner *learner = NULL;
    run r = {.solver = "kfe", .stop = stop};
    double seconds[32];
    char params[128];

    check(ctx, kfe_i_learner_find(ctx, "linear-svm", &learner));
    void *settings = room(1, learner->params.size);
    check(ctx, kfe_i_params_default(ctx, &learner->params, settings));
    snprintf(params, sizeof params, "C=%.17g,stop=%g", p->c, stop);
    check(ctx, kfe_i_params_parse(ctx, &learner->params, "linear-svm", settings, params));
    for (int i = 0; i < repeats; i++) {
        kfe_i_predictor out = {0};
        double begun = processor_seconds();
        check(ctx, learner->fit(ctx, &p->x, &p->target, settings, &out));
        seconds[i] = processor_seconds() - begun;
        for (int64_t k = 0; i == 0 && k < out.outputs; k++) {
            double *w = room((size_t)out.dim + 1, sizeof *w);
            for (int64_t j = 0; j < out.dim; j++)
                w[j] = out.weights[j * out.outputs + k];
            w[out.dim] = -out.offset[k];
            certify(ctx, p, k, w, &r);
            free(w);
        }
        kfe_i_predictor_free(&out);
    }
    r.seconds = bench_median(seconds, repeats);
    free(settings);
    keep(r);
}

static void quiet(const char *text)
{
    (void)text;
}

static void run_liblinear(kfe_context *ctx, problem_set *p, int dual, double stop, int repeats)
{
    int classes = p->target.task == KFE_TASK_CLASSES;
    run r = {.solver = dual ? "LIBLINEAR dual" : "LIBLINEAR primal", .stop = stop};
    int solver = classes ? (dual ? L2R_L2LOSS_SVC_DUAL : L2R_L2LOSS_SVC)
                 : dual  ? L2R_L2LOSS_SVR_DUAL
                         : L2R_L2LOSS_SVR;
    struct parameter parameter = {.solver_type = solver, .eps = stop, .C = p->c, .p = p->epsilon};
    double seconds[32];

    for (int i = 0; i < repeats; i++) {
        seconds[i] = 0;
        for (int64_t k = 0; k < p->outputs; k++) {
            struct problem problem = {.l = (int)p->x.rows,
                                      .n = (int)p->x.cols + 1,
                                      .y = p->y + k * p->x.rows,
                                      .x = p->rows,
                                      .bias = 1};
            double begun = processor_seconds();
            struct model *model = train(&problem, &parameter);
            seconds[i] += processor_seconds() - begun;
            double sign = classes && model->label[0] < 0 ? -1 : 1;
            for (int64_t j = 0; j <= p->x.cols; j++)
                model->w[j] *= sign;
            if (i == 0)
                certify(ctx, p, k, model->w, &r);
            free_and_destroy_model(&model);
        }
    }
    r.seconds = bench_median(seconds, repeats);
    keep(r);
}

int main(int argc, char **argv)
{
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    double c = argc > 2 ? strtod(argv[2], NULL) : 1;
    int repeats = argc > 3 ? atoi(argv[3]) : 3;
    double least = INFINITY;

    if (argc < 2 || repeats < 1 || repeats > 32 || kfe_context_new(&ctx) != KFE_OK)
        return 2;
    kfe_context_set_threads(ctx, argc > 4 ? atoi(argv[4]) : 1);
    check(ctx, kfe_data_read(ctx, argv[1], getenv("BENCH_OPTIONS"), &data));
    problem_set p = make_problems(data, c);
    make_nodes(&p);
    set_print_string_function(quiet);
    for (double stop = 1e-2; stop > 1e-7; stop /= 10) {
        run_kfe(ctx, &p, stop, repeats);
        if (!getenv("BENCH_ALONE")) {
            run_liblinear(ctx, &p, 0, stop, repeats);
            run_liblinear(ctx, &p, 1, stop * 10, repeats);
        }
    }
    for (int i = 0; i < run_count; i++)
        least = fmin(least, runs[i].objective);
    printf(
        "| solver | stop | processor seconds | gap | objective above the least |\n|---|---|---|---|---|\n");
    for (int i = 0; i < run_count; i++)
        printf("| %s | %.0e | %.4f | %.1e | %.1e |\n", runs[i].solver, runs[i].stop, runs[i].seconds,
               runs[i].gap / runs[i].objective, runs[i].objective / least - 1);
    kfe_data_free(data);
    kfe_context_free(ctx);
    return 0;
}
