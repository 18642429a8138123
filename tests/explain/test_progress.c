/* SPDX-License-Identifier: Apache-2.0 */
/* The progress of an explanation counts the columns or views that are permuted, from the first to the last, and not what each of their many
 * predictions does inside, which would hide it. */
#include "support/fit.h"

#include <stdio.h>

enum { ROWS = 60, COLS = 12, CLASSES = 2, VIEWS = 3, MOST = 4096 };

typedef struct stages {
    int count;
    char text[MOST][48]; /* "permuting columns 3/12" */
} stages;

static void note(void *user, const char *stage, int64_t done, int64_t total)
{
    stages *s = user;

    assert_true(s->count < MOST);
    snprintf(s->text[s->count++], sizeof s->text[0], "%.30s %d/%d", stage, (int)done, (int)total);
}

static int place_of(const stages *s, const char *stage, int done, int total)
{
    char wanted[48];

    snprintf(wanted, sizeof wanted, "%s %d/%d", stage, done, total);
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->text[i], wanted) == 0)
            return i;
    fail_msg("progress never said %s", wanted);
    return -1;
}

/* Between the first and the last step there are only these steps. */
static void check(kfe_context *ctx, const kfe_model *model, const kfe_data *data, const char *options,
                  const char *stage, int steps)
{
    stages seen = {0};
    kfe_result *e = NULL;

    kfe_context_on_progress(ctx, note, &seen);
    assert_ok(ctx, kfe_explain(ctx, model, data, options, &e));
    kfe_context_on_progress(ctx, NULL, NULL);
    int first = place_of(&seen, stage, 0, steps);
    for (int k = 0; k < steps; k++)
        assert_int_equal(place_of(&seen, stage, k, steps), first + k);
    kfe_result_free(e);
}

static kfe_model *fit(kfe_context *ctx, const kfe_data *data)
{
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "kfd", "ridge=1", "rbf:gamma=0.1", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "svm", NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    kfe_spec_free(spec);
    return model;
}

static void test_steps_are_counted(void **state)
{
    static const char *const names[VIEWS] = {"a", "b", "c"};
    kfe_context *ctx = *state;
    double *x = support_normals(3, ROWS * COLS);
    int class_of[ROWS];
    kfe_data *parts[VIEWS];
    const kfe_data *views[VIEWS];
    kfe_data *joined = NULL;

    for (int i = 0; i < ROWS; i++)
        class_of[i] = i % CLASSES;
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, class_of);
    kfe_model *model = fit(ctx, data);
    check(ctx, model, data, "parts=permutation,top=0", "permuting columns", COLS);
    kfe_model_free(model);
    for (int v = 0; v < VIEWS; v++)
        views[v] = parts[v] = support_dense(ctx, ROWS, COLS / VIEWS, x + v * ROWS * (COLS / VIEWS), class_of);
    assert_ok(ctx, kfe_data_join_views(ctx, VIEWS, views, names, &joined));
    model = fit(ctx, joined);
    check(ctx, model, joined, "parts=views", "permuting views", VIEWS);
    kfe_model_free(model);
    kfe_data_free(joined);
    for (int v = 0; v < VIEWS; v++)
        kfe_data_free(parts[v]);
    kfe_data_free(data);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {with_context(test_steps_are_counted)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
