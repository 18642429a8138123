/* SPDX-License-Identifier: Apache-2.0 */
/* Grids: reading, errors, and the numbering of combinations. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>

#include "select/grid.h"
#include "support/fit.h"
#include "support/sweep.h"

/* ---- a grid in one call ---- */

enum { MOST_TEXTS = 5 };

typedef struct request {
    const char *method, *params, *kernel, *second_kernel, *learner;
    const char *texts[MOST_TEXTS];
} request;

static int text_count(const request *r)
{
    int count = 0;
    while (count < MOST_TEXTS && r->texts[count])
        count++;
    return count;
}

static kfe_status make(kfe_context *ctx, const request *r, int optional, int *unused, kfe_i_grid *out)
{
    kfe_spec *spec = NULL;
    kfe_status status = kfe_spec_parse(ctx, r->method, r->params, r->kernel, &spec);

    memset(out, 0, sizeof *out);
    if (status == KFE_OK && r->second_kernel)
        status = kfe_spec_add_kernel(ctx, spec, r->second_kernel);
    if (status == KFE_OK && r->learner)
        status = kfe_spec_set_learner(ctx, spec, r->learner, NULL);
    if (status == KFE_OK)
        status =
            kfe_i_grid_make(ctx, spec, (kfe_i_grid_texts){text_count(r), r->texts, optional}, unused, out);
    kfe_spec_free(spec);
    return status;
}

static kfe_i_grid made(kfe_context *ctx, const request *r)
{
    kfe_i_grid grid;

    assert_ok(ctx, make(ctx, r, 0, NULL, &grid));
    return grid;
}

static const kfe_i_axis *axis_named(const kfe_i_grid *grid, const char *name, int64_t *index)
{
    for (int64_t i = 0; i < grid->axis_count; i++)
        if (strcmp(grid->axes[i].name, name) == 0) {
            *index = i;
            return &grid->axes[i];
        }
    fail_msg("there is no axis %s", name);
    return NULL;
}

/* ---- reading ---- */

static void test_lists_and_ranges(void **state)
{
    static const struct {
        const char *text, *name;
        int count;
        double values[6];
    } cases[] = {
        {"gamma=0.1,2,30", "gamma", 3, {0.1, 2, 30}},
        {"gamma=0.5", "gamma", 1, {0.5}},
        {"kernel.gamma=1e-3,1e3", "gamma", 2, {1e-3, 1e3}},
        {"gamma=0.01:100:log5", "gamma", 5, {0.01, 0.1, 1, 10, 100}},
        {"gamma=100:1:log3", "gamma", 3, {100, 10, 1}},
        {"gamma=1:2:lin5", "gamma", 5, {1, 1.25, 1.5, 1.75, 2}},
        {"gamma=3:9:lin1", "gamma", 1, {3}},
        {"gamma=3:9:log1", "gamma", 1, {3}},
        {"learner.C=1,10", "C", 2, {1, 10}},
        {"C=0.25:4:log5", "C", 5, {0.25, 0.5, 1, 2, 4}},
        {"dim=1:5:lin3", "dim", 3, {1, 3, 5}},
        {"dim=2:6", "dim", 5, {2, 3, 4, 5, 6}},
        {"gamma=1:3", "gamma", 3, {1, 2, 3}},
        {"method.dim=2", "dim", 1, {2}},
    };
    kfe_context *ctx = *state;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        request r = {.method = "koc", .kernel = "rbf", .learner = "svm", .texts = {cases[c].text}};
        kfe_i_grid grid = made(ctx, &r);
        int64_t at = 0;
        const kfe_i_axis *axis = axis_named(&grid, cases[c].name, &at);
        assert_int_equal(axis->count, cases[c].count);
        assert_int_equal(grid.count, cases[c].count);
        for (int i = 0; i < cases[c].count; i++)
            assert_below(fabs(atof(axis->values[i]) / cases[c].values[i] - 1), 1e-5);
        kfe_i_grid_free(&grid);
    }
}

static void test_words_are_values_too(void **state)
{
    request r = {
        .method = "kfd",
        .kernel = "rbf",
        .learner = "knn",
        .texts = {"gamma=scale,0.5", "ridge=auto,0.1", "scale=none,standard", "vote=uniform,distance"}};
    kfe_i_grid grid = made(*state, &r);

    assert_int_equal(grid.count, 16);
    kfe_i_grid_free(&grid);
}

static void test_what_is_refused(void **state)
{
    static const struct {
        const char *texts[2], *message;
    } cases[] = {
        {{"gama=1,2"}, "gamma"},
        {{"kernel.gama=1"}, "gama"},
        {{"learner.gamma=1"}, "gamma"},
        {{"kernel.C=1"}, "C"},
        {{"other.C=1"}, "other.C"},
        {{".C=1"}, "C"},
        {{"=1,2"}, "NAME"},
        {{"gamma"}, "NAME"},
        {{""}, "NAME"},
        {{"gamma="}, "empty"},
        {{"gamma=1,,2"}, "empty"},
        {{"gamma=1,2,"}, "empty"},
        {{"gamma=,1"}, "empty"},
        {{"C=1,0"}, "C"},
        {{"C=-1"}, "C"},
        {{"C=nan"}, "C"},
        {{"C=ten"}, "C"},
        {{"gamma=1,-1"}, "gamma"},
        {{"dim=0,1"}, "dim"},
        {{"dim=1.5"}, "dim"},
        {{"scale=loud"}, "scale"},
        {{"gamma=0:1:log3"}, "above 0"},
        {{"gamma=-1:1:log3"}, "above 0"},
        {{"gamma=1:2:log0"}, "N from 1"},
        {{"gamma=1:2:log-3"}, "N from 1"},
        {{"gamma=1:2:lin100001"}, "N from 1"},
        {{"gamma=1:2:sqrt3"}, "gamma"},
        {{"gamma=a:2:log3"}, "gamma"},
        {{"gamma=1:2:log3x"}, "gamma"},
        {{"gamma=1.5:2"}, "lo:hi:linN"},
        {{"dim=3:1"}, "lo:hi"},
        {{"dim=1:10:2"}, "lo:hi"},
        {{"dim=1:200000"}, "lo:hi"},
        {{"gamma=nan:2:lin3"}, "gamma"},
        {{"gamma=1:inf:lin3"}, "gamma"},
        {{"gamma=1:inf:log3"}, "gamma"},
        {{"gamma=1,2", "gamma=3"}, "twice"},
        {{"gamma=1,2", "kernel.gamma=3"}, "twice"},
    };
    kfe_context *ctx = *state;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        request r = {.method = "koc", .kernel = "rbf", .learner = "svm"};
        kfe_i_grid grid;
        r.texts[0] = cases[c].texts[0];
        r.texts[1] = cases[c].texts[1];
        kfe_status status = make(ctx, &r, 0, NULL, &grid);
        if (status != KFE_EINVAL || !strstr(kfe_error_message(ctx), cases[c].message))
            fail_msg("%s: expected '%s', got %s: %s", r.texts[0], cases[c].message, kfe_status_text(status),
                     kfe_error_message(ctx));
        assert_null(grid.axes);
        kfe_i_grid_free(&grid);
    }
}

static void test_nearest_name_is_suggested(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_grid grid;
    request r = {.method = "kfd", .kernel = "rbf", .learner = "knn", .texts = {"neighbours=1,2"}};

    assert_fails(ctx, KFE_EINVAL, "did you mean 'neighbors'?", make(ctx, &r, 0, NULL, &grid));
    r.texts[0] = "rigde=1";
    assert_fails(ctx, KFE_EINVAL, "did you mean 'ridge'?", make(ctx, &r, 0, NULL, &grid));
    r.texts[0] = "gamm=1";
    assert_fails(ctx, KFE_EINVAL, "did you mean 'gamma'?", make(ctx, &r, 0, NULL, &grid));
    r.texts[0] = "scal=none";
    assert_fails(ctx, KFE_EINVAL, "did you mean 'scale'?", make(ctx, &r, 0, NULL, &grid));
}

static void test_too_many_settings_are_refused(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_grid grid;
    request r = {.method = "kfd",
                 .kernel = "rbf",
                 .learner = "svm",
                 .texts = {"gamma=1:2:lin10000", "ridge=1:2:lin10000", "C=1:2:lin10000"}};

    assert_fails(ctx, KFE_EINVAL, "billion", make(ctx, &r, 0, NULL, &grid));
}

/* rfm and the kernel exp both have a power. Reports name them apart, too; a name that one axis has stays short. */
static void test_names_may_need_a_prefix(void **state)
{
    kfe_context *ctx = *state;
    request both = {.method = "rfm",
                    .kernel = "exp",
                    .texts = {"method.power=0.5,1,0.7", "sigma=1,2", "kernel.power=1,1.5"}};
    request one = {.method = "rfm", .kernel = "exp", .texts = {"method.power=0.5,1"}};
    kfe_i_grid grid;
    kfe_i_text text;
    char *described = NULL;

    assert_fails(
        ctx, KFE_EINVAL, "kernel.power",
        make(ctx, &(request){.method = "rfm", .kernel = "exp", .texts = {"power=1,2"}}, 0, NULL, &grid));
    grid = made(ctx, &both);
    assert_int_equal(grid.counts[KFE_AXIS_KERNEL], 4);
    assert_int_equal(grid.counts[KFE_AXIS_METHOD], 3);
    kfe_i_text_init(&text, ctx);
    kfe_i_grid_describe(&grid, 4, &text);
    assert_ok(ctx, kfe_i_text_take(&text, &described));
    assert_string_equal(described, "sigma=1 kernel.power=1.5 method.power=1");
    kfe_string_free(ctx, described);
    kfe_i_grid_free(&grid);
    grid = made(ctx, &one);
    assert_string_equal(grid.axes[0].label, "power");
    kfe_i_grid_free(&grid);
}

/* ---- numbering ---- */

static const request large = {
    .method = "kfd",
    .kernel = "rbf",
    .learner = "svm",
    .texts = {"C=1,10,100", "gamma=0.5,0.25", "multiclass=ovo,ovr", "scale=none,l2-rows", "ridge=0.1,0.2"}};

static void test_every_combination_has_one_number(void **state)
{
    kfe_i_grid grid = made(*state, &large);
    int seen[3 * 2 * 2 * 2 * 2] = {0};

    assert_int_equal(grid.count, 48);
    assert_int_equal(grid.axis_count, 5);
    for (int64_t s = 0; s < grid.count; s++) {
        int code = 0;
        for (int64_t a = 0; a < grid.axis_count; a++) {
            const char *value = kfe_i_grid_value(&grid, s, a);
            int at = 0;
            while (strcmp(grid.axes[a].values[at], value) != 0)
                at++;
            assert_true(at < grid.axes[a].count);
            code = code * (int)grid.axes[a].count + at;
        }
        seen[code]++;
    }
    for (int i = 0; i < 48; i++)
        assert_int_equal(seen[i], 1);
    kfe_i_grid_free(&grid);
}

/* The axis that costs most to change varies slowest. */
static void test_costly_axes_change_least(void **state)
{
    static const kfe_i_axis_place places[] = {KFE_AXIS_FIT, KFE_AXIS_KERNEL, KFE_AXIS_METHOD,
                                              KFE_AXIS_LEARNER, KFE_AXIS_LEARNER};
    kfe_i_grid grid = made(*state, &large);

    for (int64_t a = 0; a < grid.axis_count; a++) {
        assert_int_equal(grid.axes[a].place, places[a]);
        assert_int_equal(grid.axes[a].owner, places[a]);
    }
    assert_int_equal(grid.counts[KFE_AXIS_LEARNER], 6);
    assert_int_equal(grid.counts[KFE_AXIS_DIM], 1);
    for (int64_t s = 0; s < grid.count; s++) {
        int64_t choice[KFE_AXIS_PLACES];
        kfe_i_grid_choice(&grid, s, choice);
        assert_int_equal(choice[KFE_AXIS_FIT], s / 24);
        assert_int_equal(choice[KFE_AXIS_KERNEL], s / 12 % 2);
        assert_int_equal(choice[KFE_AXIS_METHOD], s / 6 % 2);
        assert_int_equal(choice[KFE_AXIS_DIM], 0);
        assert_int_equal(choice[KFE_AXIS_LEARNER], s % 6);
        assert_string_equal(kfe_i_grid_value(&grid, s, 0), s / 24 ? "l2-rows" : "none");
        assert_string_equal(kfe_i_grid_value(&grid, s, 1), s / 12 % 2 ? "0.25" : "0.5");
    }
    kfe_i_grid_free(&grid);
}

static void test_no_axis_is_one_setting(void **state)
{
    kfe_context *ctx = *state;
    request r = {.method = "pca", .learner = "knn"};
    kfe_i_grid grid = made(ctx, &r);
    kfe_i_text text;
    kfe_spec *spec = NULL;

    assert_int_equal(grid.count, 1);
    kfe_i_text_init(&text, ctx);
    kfe_i_grid_describe(&grid, 0, &text);
    assert_int_equal(text.length, 0);
    kfe_i_text_free(&text);
    assert_ok(ctx, kfe_i_grid_spec(ctx, &grid, 0, &spec));
    assert_string_equal(spec->method->name, "pca");
    assert_string_equal(spec->learner->name, "knn");
    kfe_spec_free(spec);
    kfe_i_grid_free(&grid);
}

/* ---- the spec of a setting ---- */

static void assert_formats(kfe_context *ctx, const kfe_i_param_table *table, const void *settings,
                           const char *expected)
{
    kfe_i_text text;
    char *written = NULL;

    kfe_i_text_init(&text, ctx);
    kfe_i_params_format(table, settings, &text);
    assert_ok(ctx, kfe_i_text_take(&text, &written));
    if (!strstr(written, expected))
        fail_msg("'%s' is not in '%s'", expected, written);
    kfe_string_free(ctx, written);
}

static void assert_kernel(kfe_context *ctx, const kfe_spec *spec, int64_t index, const char *expected)
{
    kfe_i_text text;
    char *written = NULL;

    kfe_i_text_init(&text, ctx);
    kfe_i_kernel_format(&spec->kernels.items[index], &text);
    assert_ok(ctx, kfe_i_text_take(&text, &written));
    if (!strstr(written, expected))
        fail_msg("'%s' is not in '%s'", expected, written);
    kfe_string_free(ctx, written);
}

static void test_specification_of_a_setting(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_grid grid = made(ctx, &large);

    for (int64_t s = 0; s < grid.count; s++) {
        static const char *const factors[] = {"C=1,", "C=10,", "C=100,"};
        kfe_spec *spec = NULL;
        kfe_i_text text;
        assert_ok(ctx, kfe_i_grid_spec(ctx, &grid, s, &spec));
        assert_int_equal(spec->kernels.count, 1);
        assert_formats(ctx, &kfe_i_fit_params, &spec->fit, s / 24 ? "scale=l2-rows" : "scale=none");
        assert_kernel(ctx, spec, 0, s / 12 % 2 ? "gamma=0.25" : "gamma=0.5");
        assert_formats(ctx, &spec->method->params, spec->settings, s / 6 % 2 ? "ridge=0.2" : "ridge=0.1");
        assert_formats(ctx, &spec->learner->params, spec->learner_settings, factors[s % 6 / 2]);
        assert_formats(ctx, &spec->learner->params, spec->learner_settings,
                       s % 2 ? "multiclass=ovr" : "multiclass=ovo");
        kfe_spec_free(spec);
        kfe_i_text_init(&text, ctx);
        kfe_i_grid_describe(&grid, s, &text);
        assert_non_null(strstr(text.bytes, s / 12 % 2 ? "gamma=0.25" : "gamma=0.5"));
        kfe_i_text_free(&text);
    }
    kfe_i_grid_free(&grid);
}

/* Parameters without an axis keep the spec's value; an axis that two kernels share changes both. */
static void test_other_parameters_stay(void **state)
{
    kfe_context *ctx = *state;
    request r = {.method = "koc",
                 .params = "clusters-per-class=2,scale=standard",
                 .kernel = "rbf:gamma=7,weight=3",
                 .second_kernel = "poly:degree=4",
                 .learner = "ls",
                 .texts = {"gamma=0.5,2"}};
    kfe_i_grid grid = made(ctx, &r);
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_i_grid_spec(ctx, &grid, 1, &spec));
    assert_formats(ctx, &spec->method->params, spec->settings, "clusters-per-class=2");
    assert_formats(ctx, &kfe_i_fit_params, &spec->fit, "scale=standard");
    assert_kernel(ctx, spec, 0, "gamma=2");
    assert_kernel(ctx, spec, 0, "weight=3");
    assert_kernel(ctx, spec, 1, "gamma=2");
    assert_kernel(ctx, spec, 1, "degree=4");
    kfe_spec_free(spec);
    kfe_i_grid_free(&grid);
}

/* The parameters of the default kernel can be varied without naming the kernel. */
static void test_default_kernel_has_parameters(void **state)
{
    kfe_context *ctx = *state;
    request r = {.method = "kpca", .learner = "knn", .texts = {"gamma=0.5,2"}};
    request linear = {.method = "pca", .learner = "knn", .texts = {"gamma=0.5,2"}};
    kfe_i_grid grid = made(ctx, &r);
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_i_grid_spec(ctx, &grid, 0, &spec));
    assert_kernel(ctx, spec, 0, "rbf:gamma=0.5");
    kfe_spec_free(spec);
    kfe_i_grid_free(&grid);
    assert_fails(ctx, KFE_EINVAL, "gamma", make(ctx, &linear, 0, NULL, &grid));
}

/* ---- the number of features ---- */

static void test_nested_features_have_a_place_of_their_own(void **state)
{
    kfe_context *ctx = *state;
    const kfe_entry_info *method;
    int64_t at = 0;

    for (int m = 0; (method = kfe_method(m)); m++) {
        request r = {.method = method->name, .learner = "knn", .texts = {"dim=3,1,2"}};
        if (!(method->flags & KFE_HAS_NESTING))
            continue;
        kfe_i_grid grid = made(ctx, &r);
        assert_int_equal(axis_named(&grid, "dim", &at)->place, KFE_AXIS_DIM);
        assert_int_equal(grid.counts[KFE_AXIS_DIM], 3);
        assert_string_equal(kfe_i_grid_value(&grid, 1, at), "1");
        kfe_i_grid_free(&grid);
        r.texts[0] = "dim=auto,1,2";
        grid = made(ctx, &r);
        assert_int_equal(axis_named(&grid, "dim", &at)->place, KFE_AXIS_METHOD);
        assert_int_equal(grid.counts[KFE_AXIS_DIM], 1);
        kfe_i_grid_free(&grid);
    }
}

/* A learner on the kernel takes the method's place: its axes vary where the method's would. */
static void test_learner_on_the_kernel_is_the_method(void **state)
{
    kfe_context *ctx = *state;
    request r = {.method = "none", .kernel = "rbf", .learner = "svm", .texts = {"C=1,10", "gamma=1,2,3"}};
    kfe_i_grid grid = made(ctx, &r);
    int64_t at = 0;

    assert_int_equal(axis_named(&grid, "C", &at)->owner, KFE_AXIS_LEARNER);
    assert_int_equal(grid.axes[at].place, KFE_AXIS_METHOD);
    assert_int_equal(grid.counts[KFE_AXIS_METHOD], 2);
    assert_int_equal(grid.counts[KFE_AXIS_LEARNER], 1);
    kfe_spec *spec = NULL;
    assert_ok(ctx, kfe_i_grid_spec(ctx, &grid, 1, &spec));
    assert_formats(ctx, &spec->learner->params, spec->learner_settings, "C=10,");
    kfe_spec_free(spec);
    kfe_i_grid_free(&grid);
}

/* ---- parameters that only some settings have ---- */

static void test_optional_names_are_left_out_and_counted(void **state)
{
    kfe_context *ctx = *state;
    request r = {
        .method = "pca", .learner = "knn", .texts = {"gamma=1,2", "neighbors=1,3", "C=1", "kernel.dim=1"}};
    int unused[4] = {0, 0, 5, 0};
    kfe_i_grid grid;

    assert_ok(ctx, make(ctx, &r, 1, unused, &grid));
    assert_int_equal(grid.axis_count, 1);
    assert_int_equal(grid.count, 2);
    assert_int_equal(unused[0], 1);
    assert_int_equal(unused[1], 0);
    assert_int_equal(unused[2], 6);
    assert_int_equal(unused[3], 1);
    kfe_i_grid_free(&grid);
    assert_ok(ctx, make(ctx, &r, 1, NULL, &grid));
    kfe_i_grid_free(&grid);
    r.texts[1] = "neighbors=0";
    assert_fails(ctx, KFE_EINVAL, "neighbors", make(ctx, &r, 1, NULL, &grid));
}

/* ---- failing allocations ---- */

static kfe_status make_and_read(kfe_context *ctx, void *user)
{
    kfe_i_grid grid = {0};
    kfe_spec *spec = NULL;
    kfe_status status = make(ctx, user, 0, NULL, &grid);

    if (status == KFE_OK)
        status = kfe_i_grid_spec(ctx, &grid, 17, &spec);
    kfe_spec_free(spec);
    kfe_i_grid_free(&grid);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    request r = large;
    (void)state;

    support_sweep_all("grid", make_and_read, &r, 20);
}

/* ---- values at the edge of a grid ---- */

static int same_value(const kfe_i_grid *grid, int64_t a, int64_t b, const char *name)
{
    int64_t axis = 0;

    axis_named(grid, name, &axis);
    return strcmp(kfe_i_grid_value(grid, a, axis), kfe_i_grid_value(grid, b, axis)) == 0;
}

/* Whether two settings are the same fit: gamma counts for rbf only, neighbors for knn only. */
static int are_alike(const kfe_i_grid *grid, int64_t a, int64_t b)
{
    int64_t kernel = 0;
    int64_t learner = 0;

    axis_named(grid, "kernel", &kernel);
    axis_named(grid, "learner", &learner);
    return same_value(grid, a, b, "kernel") && same_value(grid, a, b, "learner") &&
           same_value(grid, a, b, "dim") &&
           (strcmp(kfe_i_grid_value(grid, a, kernel), "linear") == 0 || same_value(grid, a, b, "gamma")) &&
           (strcmp(kfe_i_grid_value(grid, a, learner), "ls") == 0 || same_value(grid, a, b, "neighbors"));
}

static void test_settings_that_are_the_same_fit(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_grid grid = made(ctx, &(request){.method = "kpca",
                                           .kernel = "rbf",
                                           .learner = "knn",
                                           .texts = {"gamma=0.1,1,10", "kernel=rbf,linear,rbf:gamma=2",
                                                     "neighbors=1,5", "learner=knn,ls", "dim=1,2"}});
    kfe_i_text text;
    char *described = NULL;

    assert_int_equal(grid.count, 3 * 3 * 2 * 2 * 2);
    for (int64_t i = 0; i < grid.count; i++) {
        int64_t first = 0;
        while (!are_alike(&grid, i, first))
            first++;
        assert_int_equal(kfe_i_grid_first_alike(&grid, i), first);
    }
    int64_t last = grid.count - 1; /* rbf:gamma=2, whose gamma an axis sets again */
    assert_int_equal(kfe_i_grid_first_alike(&grid, last), last - 1);
    int64_t linear = grid.count / 3;
    kfe_i_text_init(&text, ctx);
    kfe_i_grid_describe(&grid, linear, &text);
    assert_ok(ctx, kfe_i_text_take(&text, &described));
    assert_string_equal(described, "kernel=linear dim=1 learner=knn neighbors=1");
    kfe_string_free(ctx, described);
    for (int64_t axis = 0; axis < grid.axis_count; axis++)
        if (strcmp(grid.axes[axis].name, "gamma") == 0)
            assert_int_equal(kfe_i_grid_edge(&grid, linear, axis), 0);
    kfe_i_grid_free(&grid);
}

static void test_edges_of_a_grid(void **state)
{
    static const struct {
        const char *grid;
        int edges[4]; /* -1, 0 or 1 for each value */
        int count;
    } cases[] = {
        {"gamma=0.1,1,10", {-1, 0, 1}, 3},
        {"gamma=10,scale,0.1", {1, 0, -1}, 3}, /* words have no order */
        {"gamma=1", {0}, 1},
        {"neighbors=1,3,5", {0, 0, 1}, 3}, /* fewer than one neighbour is impossible */
        {"scale=none,standard", {0, 0}, 2},
    };
    kfe_context *ctx = *state;
    kfe_spec *spec = NULL;

    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, "rbf", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kfe_i_grid grid = {0};
        assert_ok(ctx, kfe_i_grid_make(ctx, spec, (kfe_i_grid_texts){1, &cases[c].grid, 0}, NULL, &grid));
        for (int i = 0; i < cases[c].count; i++)
            assert_int_equal(kfe_i_grid_edge(&grid, i, 0), cases[c].edges[i]);
        kfe_i_grid_free(&grid);
    }
    kfe_spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_edges_of_a_grid),
        with_context(test_settings_that_are_the_same_fit),
        with_context(test_lists_and_ranges),
        with_context(test_words_are_values_too),
        with_context(test_what_is_refused),
        with_context(test_nearest_name_is_suggested),
        with_context(test_too_many_settings_are_refused),
        with_context(test_names_may_need_a_prefix),
        with_context(test_every_combination_has_one_number),
        with_context(test_costly_axes_change_least),
        with_context(test_no_axis_is_one_setting),
        with_context(test_specification_of_a_setting),
        with_context(test_other_parameters_stay),
        with_context(test_default_kernel_has_parameters),
        with_context(test_nested_features_have_a_place_of_their_own),
        with_context(test_learner_on_the_kernel_is_the_method),
        with_context(test_optional_names_are_left_out_and_counted),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
