/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times lmkl and sldr on the six views of MULTIFEAT: digits 0-4 against 5-9, a third of the examples for
 * training. Prints the seconds of the fit, the seconds spent in SVMs, and their share. With `libsvm`, prints
 * instead of the share the time that LIBSVM takes for the same SVMs without a warm start, which is not part
 * of the fit.
 * usage: bench_local FOLDER [METHOD [PARAMS [REPEATS [libsvm]]]]
 * If FOLDER is a number, the program generates that many training examples of six views.
 */
#include <libsvm/svm.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "floor.h"
#include "method/local/local_problem.h"

enum { VIEWS = 6, DIGITS = 10 };

typedef struct fold {
    kfe_i_table train[VIEWS], test[VIEWS];
    kfe_i_target target;
    int *train_class, *test_class;
    int64_t train_rows, test_rows;
} fold;

static void check(kfe_context *ctx, kfe_status status)
{
    if (status == KFE_OK)
        return;
    fprintf(stderr, "%s\n", kfe_error_message(ctx));
    exit(1);
}

static void *room(size_t size)
{
    void *block = calloc(1, size);

    if (!block)
        exit(1);
    return block;
}

static kfe_data *read_views(kfe_context *ctx, const char *folder)
{
    static const char *const files[VIEWS] = {"mfeat-fac.csv.gz", "mfeat-fou.csv", "mfeat-kar.csv",
                                             "mfeat-mor.csv",    "mfeat-pix.csv", "mfeat-zer.csv"};
    static char paths[VIEWS][1024];
    const char *pointers[VIEWS];
    char options[2048];
    kfe_data *data = NULL;

    for (int v = 0; v < VIEWS; v++) {
        snprintf(paths[v], sizeof paths[v], "%s/mfeat/%s", folder, files[v]);
        pointers[v] = paths[v];
    }
    snprintf(options, sizeof options, "label-file=%s/mfeat/labels.csv", folder);
    check(ctx, kfe_data_read_views(ctx, VIEWS, pointers, NULL, options, &data));
    return data;
}

/* Gives columns mean 0 and variance 1 on the training rows; constant columns become 0. */
static void standardise(kfe_i_table *train, kfe_i_table *test)
{
    for (int64_t j = 0; j < train->cols; j++) {
        double mean = 0;
        double square = 0;
        for (int64_t i = 0; i < train->rows; i++)
            mean += train->values[i * train->stride + j] / (double)train->rows;
        for (int64_t i = 0; i < train->rows; i++)
            square += pow(train->values[i * train->stride + j] - mean, 2) / (double)train->rows;
        double factor = square > 0 ? 1 / sqrt(square) : 0;
        for (int64_t i = 0; i < train->rows; i++)
            train->values[i * train->stride + j] = (train->values[i * train->stride + j] - mean) * factor;
        for (int64_t i = 0; i < test->rows; i++)
            test->values[i * test->stride + j] = (test->values[i * test->stride + j] - mean) * factor;
    }
}

static void make_fold(kfe_context *ctx, const kfe_data *data, int repeat, fold *f)
{
    int64_t n = kfe_data_rows(data);
    int64_t *index = room((size_t)n * sizeof *index);
    const char **labels = room((size_t)n * sizeof *labels);
    kfe_i_rng rng;

    memset(f, 0, sizeof *f);
    f->train_rows = (n + 2) / 3;
    f->test_rows = n - f->train_rows;
    f->train_class = room((size_t)n * sizeof *f->train_class);
    f->test_class = f->train_class + f->train_rows;
    kfe_i_rng_init(&rng, (uint64_t)repeat, KFE_STREAM_SPLITS);
    kfe_i_rng_choose(&rng, n, n, index);
    for (int64_t i = 0; i < n; i++) {
        int digit = atoi(kfe_data_class_name(data, kfe_data_class_of(data, index[i])));
        f->train_class[i] = digit >= DIGITS / 2;
        labels[i] = f->train_class[i] ? "large" : "small";
    }
    check(ctx, kfe_i_target_from_labels(ctx, f->train_rows, labels, &f->target));
    for (int v = 0; v < VIEWS; v++) {
        check(ctx, kfe_i_table_gather(ctx, &data->views[v].table, index, f->train_rows, &f->train[v]));
        check(ctx, kfe_i_table_gather(ctx, &data->views[v].table, index + f->train_rows, f->test_rows,
                                      &f->test[v]));
        standardise(&f->train[v], &f->test[v]);
    }
    free(index);
    free(labels);
}

/* Views as wide as MULTIFEAT's. In each view one column shows the class of the examples that a hidden
 * variable assigns to it. */
static void generate_fold(kfe_context *ctx, int64_t rows, fold *f)
{
    static const int64_t widths[VIEWS] = {216, 76, 64, 6, 240, 47};
    const char **labels = room((size_t)(2 * rows) * sizeof *labels);
    kfe_i_rng rng;

    memset(f, 0, sizeof *f);
    f->train_rows = f->test_rows = rows;
    f->train_class = room((size_t)(2 * rows) * sizeof *f->train_class);
    f->test_class = f->train_class + rows;
    kfe_i_rng_init(&rng, 1, KFE_STREAM_GENERATE);
    for (int v = 0; v < VIEWS; v++) {
        check(ctx, kfe_i_table_new_dense(ctx, rows, widths[v], &f->train[v]));
        check(ctx, kfe_i_table_new_dense(ctx, rows, widths[v], &f->test[v]));
    }
    for (int64_t i = 0; i < 2 * rows; i++) {
        int64_t where = kfe_i_rng_below(&rng, VIEWS);
        f->train_class[i] = kfe_i_rng_uniform(&rng) < 0.5;
        labels[i] = f->train_class[i] ? "large" : "small";
        for (int v = 0; v < VIEWS; v++) {
            kfe_i_table *table = i < rows ? &f->train[v] : &f->test[v];
            double *row = table->values + (i % rows) * table->stride;
            for (int64_t j = 0; j < table->cols; j++)
                row[j] = kfe_i_rng_normal(&rng);
            row[0] += where == v ? 4 : 0;
            row[1] += (where == v ? 2 : 0.2) * (f->train_class[i] ? 1 : -1);
        }
    }
    check(ctx, kfe_i_target_from_labels(ctx, rows, labels, &f->target));
    free(labels);
}

static void free_fold(fold *f)
{
    for (int v = 0; v < VIEWS; v++) {
        kfe_i_table_free(&f->train[v]);
        kfe_i_table_free(&f->test[v]);
    }
    kfe_i_target_free(&f->target);
    free(f->train_class);
}

/* ---- LIBSVM without warm starts ---- */

typedef struct peer {
    double seconds;
    struct svm_node *nodes, **rows;
} peer;

static void silent(const char *text)
{
    (void)text;
}

/* Solves the current SVM from scratch by LIBSVM; copying its rows is not timed. */
static void solve_cold(void *user, const kfe_i_local_problem *p, const double *parameters)
{
    peer *s = user;
    size_t n = (size_t)p->n;
    struct svm_parameter settings = {.svm_type = C_SVC,
                                     .kernel_type = PRECOMPUTED,
                                     .cache_size = 1000,
                                     .eps = p->svms.stop,
                                     .C = p->svms.upper[0],
                                     .shrinking = 1};
    struct svm_problem problem = {.l = (int)n, .y = p->svms.sign, .x = s->rows};

    (void)parameters;
    if (!s->nodes) {
        s->nodes = room(n * (n + 2) * sizeof *s->nodes);
        s->rows = room(n * sizeof *s->rows);
        problem.x = s->rows;
    }
    for (size_t i = 0; i < n; i++) {
        struct svm_node *row = s->rows[i] = s->nodes + i * (n + 2);
        row[0] = (struct svm_node){0, (double)(i + 1)};
        for (size_t j = 0; j < n; j++)
            row[j + 1] = (struct svm_node){(int)(j + 1), p->now.matrix.values[i * n + j]};
        row[n + 1].index = -1;
    }
    double began = bench_now();
    struct svm_model *model = svm_train(&problem, &settings);
    s->seconds += bench_now() - began;
    svm_free_and_destroy_model(&model);
}

/* ---- one fit ---- */

static double test_accuracy(kfe_context *ctx, const kfe_i_fit_source *source, const kfe_i_solution *solution,
                            const fold *f)
{
    kfe_i_local_data data = {.kernels = source->kernels, .views = f->test, .support = f->train};
    double *outputs = room((size_t)f->test_rows * sizeof *outputs);
    double right = 0;

    check(ctx, kfe_i_local_outputs(ctx, solution->local, &data, outputs));
    for (int64_t i = 0; i < f->test_rows; i++) {
        int32_t code = kfe_i_predictor_decide(&solution->predictor, outputs + i);
        right += strcmp(f->target.names[code], f->test_class[i] ? "large" : "small") == 0;
    }
    free(outputs);
    return right / (double)f->test_rows;
}

static double record(const kfe_i_solution *solution, const char *name)
{
    for (int64_t i = 0; i < solution->record_count; i++)
        if (strcmp(solution->records[i].name, name) == 0)
            return solution->records[i].values[solution->records[i].count - 1];
    return NAN;
}

static void print_gate(const kfe_i_solution *solution)
{
    for (int64_t i = 0; i < solution->record_count; i++)
        if (strcmp(solution->records[i].name, "gate-share") == 0)
            for (int64_t m = 0; m < solution->records[i].count; m++)
                printf(" %.2f", solution->records[i].values[m]);
}

/* Runs the alternation again and times its SVMs. */
static void profile(kfe_context *ctx, const char *method, const kfe_i_fit_source *source,
                    const kfe_i_local_settings *settings, int against_libsvm)
{
    kfe_i_local_problem p = {0};
    kfe_i_local_path path = {0};
    peer cold = {0};

    check(ctx, kfe_i_local_problem_open(ctx, method, source, settings, strcmp(method, "sldr") == 0, &p));
    if (against_libsvm) {
        svm_set_print_string_function(silent);
        p.watch.call = solve_cold;
        p.watch.user = &cold;
    }
    double began = bench_now();
    check(ctx, kfe_i_local_search(&p, settings, &path));
    double all = bench_now() - began;
    if (against_libsvm)
        printf(" | %.3f | %.3f | %.1f", p.watch.svm_seconds, cold.seconds,
               cold.seconds / p.watch.svm_seconds);
    else
        printf(" | %.3f | %.0f %%", p.watch.svm_seconds, 100 * p.watch.svm_seconds / all);
    kfe_i_local_path_free(ctx, &path);
    kfe_i_local_problem_free(&p);
    free(cold.nodes);
    free(cold.rows);
}

static void run(kfe_context *ctx, const char *method, const char *params, const fold *f, int against_libsvm)
{
    const kfe_i_method *found = NULL;
    kfe_i_local_settings settings = {0};
    kfe_i_kernel_list kernels;
    kfe_i_solution solution = {0};
    kfe_i_fit_source source = {
        .target = &f->target, .kernels = &kernels, .views = f->train, .view_count = VIEWS};

    kfe_i_kernel_list_init(ctx, &kernels);
    for (int v = 0; v < VIEWS; v++) {
        kfe_i_kernel kernel = {0};
        check(ctx, kfe_i_kernel_parse(ctx, "linear", &kernel));
        kernel.view = v;
        check(ctx, kfe_i_kernel_list_add(&kernels, &kernel));
    }
    check(ctx, kfe_i_method_find(ctx, method, &found));
    check(ctx, kfe_i_params_default(ctx, &found->params, &settings));
    check(ctx, kfe_i_params_parse(ctx, &found->params, method, &settings, params));
    double began = bench_now();
    check(ctx, found->fit(ctx, &source, &settings, &solution));
    double seconds = bench_now() - began;
    printf("| %s %s | %.2f | %.0f | %.5g | %.2f %% | %.1f %%", method, params, seconds,
           record(&solution, "iterations"), record(&solution, "objective"),
           100 * test_accuracy(ctx, &source, &solution, f), 100 * record(&solution, "support-share"));
    profile(ctx, method, &source, &settings, against_libsvm);
    printf(" | ");
    print_gate(&solution);
    printf(" |\n");
    fflush(stdout);
    kfe_i_solution_free(&solution);
    kfe_i_kernel_list_free(&kernels);
}

static void show(void *user, kfe_level level, const char *text)
{
    (void)user;
    if (level <= KFE_LOG_WARNING || getenv("KFE_BENCH_VERBOSE"))
        fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    kfe_context *ctx = NULL;
    const char *method = argc > 2 ? argv[2] : "sldr";
    const char *params = argc > 3 ? argv[3] : "local-dim=2,gate-dim=10,svm-C=10";
    int repeats = argc > 4 ? atoi(argv[4]) : 1;

    if (argc < 2 || kfe_context_new(&ctx) != KFE_OK)
        return 2;
    kfe_context_on_log(ctx, show, NULL);
    int64_t generated = atoll(argv[1]);
    kfe_data *data = generated > 0 ? NULL : read_views(ctx, argv[1]);
    for (int r = 0; r < repeats; r++) {
        fold f;
        if (generated > 0)
            generate_fold(ctx, generated, &f);
        else
            make_fold(ctx, data, r + 1, &f);
        run(ctx, method, params, &f, argc > 5);
        free_fold(&f);
    }
    if (generated > 0)
        printf("peak memory: %.2f GiB\n", bench_peak_memory() / 1073741824);
    kfe_data_free(data);
    kfe_context_free(ctx);
    return 0;
}
