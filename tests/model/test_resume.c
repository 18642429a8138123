/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: a fit that was stopped in the middle of a long loop and resumed ends with the bytes of the fit that was not stopped,
 * for every loop that saves its state, and does not repeat the iterations before the stop. Files of another fit are refused.
 */
#include "support/support.h"

#include <stdio.h>
#include <unistd.h>

#include "core/resume_file.h"
#include "gram/solve/block_cg.h"
#include "support/fit.h"
#include "support/points.h"
#include "support/sweep.h"
#include "system/system.h"

enum { COLS = 4, CLASSES = 3, MOST_ROWS = 1100 };

/* ---- fits that stop ---- */

/* Counts the iterations of a stage, and cancels when there have been so many. */
typedef struct watch {
    const char *stage;
    int64_t seen, stop_at; /* 0: never */
} watch;

static void count_stage(void *user, const char *stage, int64_t done, int64_t total)
{
    watch *w = user;

    (void)done;
    (void)total;
    w->seen += strcmp(stage, w->stage) == 0;
}

static int is_over(void *user)
{
    const watch *w = user;

    return w->stop_at > 0 && w->seen >= w->stop_at;
}

typedef struct loop_case {
    const char *stage;                     /* of the loop, as progress says it */
    const char *method, *params, *kernels; /* kernels: separated by blanks */
    int64_t rows;
    int64_t memory; /* 0: the default */
    int64_t stop_at;
} loop_case;

static const loop_case cases[] = {
    {"computing eigenvectors", "kpca", "dim=5", "rbf:gamma=2", 1100, 0, 3},
    {"picking examples", "sma", "dim=9,columns=50", "rbf:gamma=0.3", 200, 0, 5},
    {"picking examples", "smc", "dim=8,columns=30,sparsity=2", "rbf:gamma=0.3", 120, 0, 4},
    {"picking examples", "sma", "dim=6,columns=30,sparsity=2", "rbf:gamma=0.3", 120, 0, 3},
    {"picking examples", "skfa", "dim=9,columns=40,low-memory=yes", "rbf:gamma=0.3", 200, 0, 5},
    {"alternation", "svm-joint", "step=plain,max-iter=9,settled=0", "rbf:gamma=0.3", 120, 0, 4},
    {"alternation", "usvm-joint", "step=plain,max-iter=7,settled=0", "rbf:gamma=0.3", 120, 0, 4},
    {"subspace", "svm-joint", "max-iter=8", "rbf:gamma=0.3", 1100, 12 << 20, 4},
    {"points", "slmc", "dim=4,max-iter=12,settled=0", "rbf:gamma=0.3", 120, 0, 5},
    {"localizing", "sldr", "local-dim=2,max-iter=6,settled=0,restarts=3", "linear", 90, 0, 9},
    {"localizing", "lmkl", "max-iter=6,settled=0,restarts=1", "rbf:gamma=0.3 linear", 90, 0, 3},
    {"localizing", "lmkl", "max-iter=30", "rbf:gamma=0.3 linear", 90, 0, 100},
    {"localizing", "lmkl", "max-iter=30", "rbf:gamma=0.3 linear", 90, 0, 130},
    {"localizing", "lmkl", "max-iter=30", "rbf:gamma=0.3 linear", 90, 0, 150},
    {"searching the subspace", "skfe", "dim=2,max-iter=20", "rbf:gamma=0.3", 120, 0, 6},
};

static kfe_spec *make_spec(kfe_context *ctx, const loop_case *c)
{
    kfe_spec *spec = NULL;
    char kernels[64];

    assert_ok(ctx, kfe_spec_parse(ctx, c->method, c->params, NULL, &spec));
    snprintf(kernels, sizeof kernels, "%s", c->kernels);
    for (char *one = strtok(kernels, " "); one; one = strtok(NULL, " "))
        assert_ok(ctx, kfe_spec_add_kernel(ctx, spec, one));
    return spec;
}

typedef struct outcome {
    kfe_status status;
    char *bytes;
    size_t size;
    int64_t seen;
} outcome;

/* Every iteration is saved, however long that takes, so that a test may stop anywhere. */
static kfe_status save_always(kfe_context *ctx, const char *path, int resume)
{
    kfe_status status = kfe_context_set_checkpoint(ctx, path, 0, resume);

    if (status == KFE_OK && ctx->resume)
        ctx->resume->always = 1;
    return status;
}

/* One fit in a context of its own; `path` NULL: without a checkpoint. */
static outcome fit_once(const loop_case *c, uint64_t seed, const char *path, int resume, int64_t stop_at)
{
    outcome out = {0};
    kfe_context *ctx = NULL;
    kfe_model *model = NULL;
    double *values = NULL;
    int *class_of = NULL;
    watch w = {.stage = c->stage, .stop_at = stop_at};

    support_clouds(seed, c->rows, COLS, CLASSES, 1.0, &values, &class_of);
    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_ok(ctx, kfe_context_set_threads(ctx, 1));
    assert_ok(ctx, kfe_context_set_memory(ctx, c->memory));
    kfe_context_on_progress(ctx, count_stage, &w);
    kfe_context_on_cancel(ctx, is_over, &w);
    assert_ok(ctx, save_always(ctx, path, resume));
    kfe_data *train = support_dense(ctx, c->rows, COLS, values, class_of);
    kfe_spec *spec = make_spec(ctx, c);
    out.status = kfe_fit(ctx, spec, train, &model);
    if (out.status == KFE_OK)
        assert_ok(ctx, kfe_model_save_bytes(ctx, model, &out.bytes, &out.size));
    if (out.bytes) { /* it must outlive the context */
        char *copy = malloc(out.size);
        memcpy(copy, out.bytes, out.size);
        kfe_string_free(ctx, out.bytes);
        out.bytes = copy;
    }
    out.seen = w.seen;
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(train);
    kfe_context_free(ctx);
    free(values);
    free(class_of);
    return out;
}

static void test_stopped_fits_go_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const loop_case *c = &cases[i];
        const char *path = support_path("fit.state");
        outcome whole = fit_once(c, 1, NULL, 0, 0);
        if (whole.seen <= c->stop_at)
            fail_msg("%s %s: the stage '%s' has only %lld iterations", c->method, c->params, c->stage,
                     (long long)whole.seen);
        outcome stopped = fit_once(c, 1, path, 0, c->stop_at);
        assert_int_equal(stopped.status, KFE_ECANCEL);
        assert_int_equal(access(path, F_OK), 0);
        outcome resumed = fit_once(c, 1, path, 1, 0);
        assert_int_equal(resumed.status, KFE_OK);
        if (resumed.seen > whole.seen - c->stop_at + 2)
            fail_msg("%s %s: %lld iterations after the stop, of %lld in all", c->method, c->params,
                     (long long)resumed.seen, (long long)whole.seen);
        if (resumed.size != whole.size || memcmp(resumed.bytes, whole.bytes, whole.size) != 0)
            fail_msg("%s %s: the resumed fit has another model", c->method, c->params);
        outcome again = fit_once(c, 1, path, 1, 0); /* from the last state */
        assert_int_equal(again.status, KFE_OK);
        assert_memory_equal(again.bytes, whole.bytes, whole.size);
        free(whole.bytes);
        free(resumed.bytes);
        free(again.bytes);
        assert_int_equal(remove(path), 0);
    }
}

/* Conjugate gradients alone, since fits use them only for thousands of examples. A second system follows the first. */
static kfe_status copy_block(void *state, int64_t k, const double *x, double *z)
{
    memcpy(z, x, (size_t)(*(int64_t *)state * k) * sizeof *z);
    return KFE_OK;
}

static kfe_status solve_twice(kfe_context *ctx, const kfe_i_gram *gram, double *x, int *iterations)
{
    enum { K = 2 };
    int64_t n = gram->size;
    kfe_status status = KFE_OK;
    kfe_i_cg_work *work = NULL;
    double goals[K] = {1e-8, 1e-8};
    kfe_i_cg_end end;
    kfe_i_cg_problem problem = {.gram = gram,
                                .ridge = 0.01,
                                .k = K,
                                .goals = goals,
                                .most = 200,
                                .rival = HUGE_VAL,
                                .preconditioner = {copy_block, &n}};
    double *residual = NULL;

    *iterations = 0;
    KFE_TRY(kfe_i_cg_work_new(ctx, n, K, &work));
    for (int system = 0; system < 2; system++) {
        free(residual);
        residual = support_normals(7 + (uint64_t)system, n * K);
        memset(x, 0, (size_t)(n * K) * sizeof *x);
        KFE_TRY(kfe_i_block_cg(&problem, work, residual, x, &end, iterations));
        assert_int_equal(end, KFE_CG_CONVERGED);
    }
cleanup:
    free(residual);
    kfe_i_cg_work_free(work);
    return status;
}

static void test_conjugate_gradients_go_on(void **state)
{
    enum { N = 150, K = 2 };
    kfe_context *ctx = *state;
    support_points points;
    kfe_i_kernel_list kernels;
    kfe_i_kernel kernel;
    kfe_i_gram *gram = NULL;
    double whole[N * K], resumed[N * K];
    int iterations = 0, all = 0;
    watch w = {.stage = "solving"};

    support_points_make(&points, 5, N, COLS, 0);
    kfe_i_table table = support_points_table(&points, 0);
    kfe_i_kernel_list_init(ctx, &kernels);
    assert_ok(ctx, kfe_i_kernel_parse(ctx, "rbf:gamma=1", &kernel));
    assert_ok(ctx, kfe_i_kernel_list_add(&kernels, &kernel));
    assert_ok(ctx, kfe_i_gram_open(ctx, &kernels, &table, KFE_GRAM_AUTO, &gram));
    assert_ok(ctx, solve_twice(ctx, gram, whole, &all));
    for (int stop_at = 2; stop_at < all; stop_at += all / 4) {
        const char *path = support_path("solve.state");
        w = (watch){.stage = "solving", .stop_at = stop_at};
        kfe_context_on_progress(ctx, count_stage, &w);
        kfe_context_on_cancel(ctx, is_over, &w);
        assert_ok(ctx, save_always(ctx, path, 0));
        assert_ok(ctx, kfe_i_resume_begin(ctx, "a\nb"));
        assert_int_equal(solve_twice(ctx, gram, resumed, &iterations), KFE_ECANCEL);
        kfe_i_resume_end(ctx);
        w = (watch){.stage = "solving"};
        assert_ok(ctx, save_always(ctx, path, 1));
        assert_ok(ctx, kfe_i_resume_begin(ctx, "a\nb"));
        assert_ok(ctx, solve_twice(ctx, gram, resumed, &iterations));
        kfe_i_resume_end(ctx);
        assert_memory_equal(whole, resumed, sizeof whole);
        assert_true(w.seen <= all - stop_at + 3);
    }
    kfe_i_gram_free(gram);
    kfe_i_kernel_list_free(&kernels);
    support_points_free(&points);
}

/* ---- loops within loops ---- */

/* Three outer iterations with an inner loop each, which add numbers up; every step counts. */
static kfe_status nested(kfe_context *ctx, int64_t *steps, int64_t stop_at, double *total)
{
    kfe_status status = KFE_OK;
    int64_t outer = 0;
    int restored = 0;
    kfe_i_loop out_loop;

    *total = 0;
    kfe_i_loop_begin(ctx, "outer", 0, &out_loop);
    KFE_LOOP_VALUE(&out_loop, outer);
    KFE_LOOP_VALUE(&out_loop, *total);
    KFE_TRY(kfe_i_loop_restore(&out_loop, &restored));
    for (; outer < 3;) {
        int64_t inner = 0;
        double part = 0;
        kfe_i_loop in_loop;
        kfe_i_loop_begin(ctx, "inner", 0, &in_loop);
        KFE_LOOP_VALUE(&in_loop, inner);
        KFE_LOOP_VALUE(&in_loop, part);
        KFE_TRY(kfe_i_loop_restore(&in_loop, &restored));
        for (; inner < 4;) {
            if (++*steps == stop_at)
                return KFE_ECANCEL;
            part += (double)(++inner * (outer + 1));
            KFE_TRY(kfe_i_loop_save(&in_loop));
        }
        *total += part;
        outer++;
        KFE_TRY(kfe_i_loop_save(&out_loop));
    }
cleanup:
    return status;
}

static void test_loops_within_loops_go_on(void **state)
{
    kfe_context *ctx = *state;
    const char *path = support_path("nested.state");

    for (int64_t stop_at = 1; stop_at <= 12; stop_at++) {
        int64_t steps = 0;
        double total = 0;
        assert_ok(ctx, save_always(ctx, path, 0));
        assert_ok(ctx, kfe_i_resume_begin(ctx, "a\nb"));
        assert_int_equal(nested(ctx, &steps, stop_at, &total), KFE_ECANCEL);
        kfe_i_resume_end(ctx);
        steps = 0;
        assert_ok(ctx, save_always(ctx, path, 1));
        assert_ok(ctx, kfe_i_resume_begin(ctx, "a\nb"));
        assert_ok(ctx, nested(ctx, &steps, 0, &total));
        kfe_i_resume_end(ctx);
        assert_true(total == 10 * (1 + 2 + 3));
        assert_int_equal(steps, 13 - stop_at);
        (void)remove(path);
    }
}

/* Also if the user asks for a checkpoint every 0 seconds. */
static void test_saving_takes_a_twentieth_of_the_time(void **state)
{
    static const double seconds[] = {0, 1e-9};
    kfe_context *ctx = *state;
    kfe_i_loop loop;

    for (int i = 0; i < 2; i++) {
        assert_ok(ctx, kfe_context_set_checkpoint(ctx, support_path("twentieth.state"), seconds[i], 0));
        assert_ok(ctx, kfe_i_resume_begin(ctx, "a\nb"));
        kfe_i_loop_begin(ctx, "counting", 0, &loop);
        ctx->resume->saved_at = kfe_i_clock() - 10;
        ctx->resume->took = 0.4; /* of the last time: 20 × 0.4 s are over */
        assert_true(kfe_i_loop_is_due(&loop));
        ctx->resume->took = 0.6;
        assert_false(kfe_i_loop_is_due(&loop));
        kfe_i_resume_end(ctx);
    }
    assert_ok(ctx, kfe_context_set_checkpoint(ctx, NULL, 0, 0));
}

/* ---- refusals ---- */

static void fit_refused(const loop_case *c, uint64_t seed, const char *path, const char *text)
{
    kfe_context *ctx = NULL;
    kfe_model *model = NULL;
    double *values = NULL;
    int *class_of = NULL;

    support_clouds(seed, c->rows, COLS, CLASSES, 1.0, &values, &class_of);
    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_ok(ctx, save_always(ctx, path, 1));
    kfe_data *train = support_dense(ctx, c->rows, COLS, values, class_of);
    kfe_spec *spec = make_spec(ctx, c);
    assert_fails(ctx, KFE_EINPUT, text, kfe_fit(ctx, spec, train, &model));
    kfe_spec_free(spec);
    kfe_data_free(train);
    kfe_context_free(ctx);
    free(values);
    free(class_of);
}

static void flip_byte(const char *path, long from_end)
{
    FILE *file = fopen(path, "r+b");

    assert_non_null(file);
    assert_int_equal(fseek(file, -from_end, SEEK_END), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, -from_end, SEEK_END), 0);
    fputc(byte ^ 1, file);
    fclose(file);
}

static void test_other_fits_are_refused(void **state)
{
    const loop_case *c = &cases[1];
    loop_case other = *c;
    const char *path = support_path("fit.state");

    (void)state;
    outcome stopped = fit_once(c, 1, path, 0, c->stop_at);
    assert_int_equal(stopped.status, KFE_ECANCEL);
    fit_refused(c, 2, path, "this checkpoint belongs to a fit on other data");
    other.params = "dim=10,columns=50";
    fit_refused(&other, 1, path, "this checkpoint belongs to a fit with 'dim=9', not with 'dim=10'");
    other = *c;
    other.kernels = "rbf:gamma=0.31";
    fit_refused(&other, 1, path, "this checkpoint belongs to a fit with 'gamma=0.3', not with 'gamma=0.31'");
    flip_byte(path, 200);
    fit_refused(c, 1, path, "damaged");
    assert_int_equal(truncate(path, 100), 0);
    fit_refused(c, 1, path, "damaged");
    (void)support_text("fit.state", "x,y\n1,2\n");
    fit_refused(c, 1, path, "not a checkpoint of kfe");
    assert_int_equal(remove(path), 0);
}

static void test_paths_are_checked_at_the_start(void **state)
{
    kfe_context *ctx = *state;

    assert_fails(ctx, KFE_EINVAL, "name of a file", kfe_context_set_checkpoint(ctx, "-", 1, 0));
    assert_fails(ctx, KFE_EINVAL, "name of a file", kfe_context_set_checkpoint(ctx, "", 1, 0));
    assert_fails(ctx, KFE_EINVAL, "0 or more", kfe_context_set_checkpoint(ctx, "a", -1, 0));
    assert_ok(ctx, kfe_context_set_checkpoint(ctx, support_path("absent/fit.state"), 0, 0));
    assert_fails(ctx, KFE_EIO, "directory does not exist", kfe_i_resume_begin(ctx, "a\nb"));
    assert_false(kfe_i_resume_is_on(ctx));
    support_catch_log(ctx);
    assert_ok(ctx, kfe_context_set_checkpoint(ctx, support_path("absent.state"), 0, 1));
    assert_ok(ctx, kfe_i_resume_begin(ctx, "a\nb"));
    assert_non_null(strstr(support_log(), "there is no checkpoint; the fit starts from the beginning"));
    kfe_i_resume_end(ctx);
}

/* ---- memory ---- */

static kfe_status use_checkpoint(kfe_context *ctx, void *user)
{
    kfe_status status = KFE_OK;
    int64_t steps = 0;
    double total = 0;

    (void)user;
    KFE_TRY(save_always(ctx, support_path("sweep.state"), 0));
    KFE_TRY(kfe_i_resume_begin(ctx, "a\nb"));
    KFE_TRY(nested(ctx, &steps, 0, &total));
    kfe_i_resume_end(ctx);
    KFE_TRY(save_always(ctx, support_path("sweep.state"), 1));
    KFE_TRY(kfe_i_resume_begin(ctx, "a\nb"));
    KFE_TRY(nested(ctx, &steps, 0, &total));
cleanup:
    kfe_i_resume_end(ctx);
    return status;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    support_sweep_all("checkpoints", use_checkpoint, NULL, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stopped_fits_go_on),
        with_context(test_conjugate_gradients_go_on),
        with_context(test_loops_within_loops_go_on),
        cmocka_unit_test(test_other_fits_are_refused),
        with_context(test_paths_are_checked_at_the_start),
        cmocka_unit_test(test_failing_allocations),
        with_context(test_saving_takes_a_twentieth_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
