/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of models whose features and predictions are known by hand or by another function: what they count, how many
 * points they show, and that names are never markup. */
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "support/support.h"

enum { ROWS = 240, CLASSES = 3 };

static const char *const hostile[CLASSES] = {"<script>alert(1)</script>", "a\"b'&c\n\x1b[31m", "</svg>]]>="};

typedef struct scene {
    kfe_context *ctx;
    double x[ROWS * 2];
    const char *labels[ROWS];
    kfe_data *data;
    kfe_model *model;
    kfe_report *report;
} scene;

/* Three overlapping clusters, so that some predictions are wrong. */
static void fill(scene *s)
{
    for (int i = 0; i < ROWS; i++) {
        int g = i % CLASSES;
        s->x[2 * i] = g + 1.1 * sin(7.0 * i);
        s->x[2 * i + 1] = (g == 1) + 0.9 * cos(3.0 * i);
        s->labels[i] = hostile[g];
    }
}

static void begin(scene *s, const char *learner)
{
    kfe_spec *spec = NULL;

    fill(s);
    assert_ok(NULL, kfe_context_new(&s->ctx));
    assert_ok(s->ctx, kfe_data_wrap_dense(s->ctx, ROWS, 2, 2, s->x, &s->data));
    assert_ok(s->ctx, kfe_data_set_labels(s->ctx, s->data, s->labels));
    assert_ok(s->ctx, kfe_spec_parse(s->ctx, "pca", "dim=2", NULL, &spec));
    assert_ok(s->ctx, kfe_spec_set_learner(s->ctx, spec, learner, NULL));
    assert_ok(s->ctx, kfe_fit(s->ctx, spec, s->data, &s->model));
    assert_ok(s->ctx, kfe_report_new(s->ctx, NULL, &s->report));
    assert_ok(s->ctx, kfe_report_set_model(s->ctx, s->report, s->model));
    assert_ok(s->ctx, kfe_report_set_data(s->ctx, s->report, NULL, s->data));
    kfe_spec_free(spec);
}

static void end(scene *s)
{
    kfe_report_free(s->report);
    kfe_model_free(s->model);
    kfe_data_free(s->data);
    kfe_context_free(s->ctx);
}

static json_t *describe(scene *s, const char *figure)
{
    char *text = NULL;
    json_t *json;

    assert_ok(s->ctx, kfe_report_figure(s->ctx, s->report, figure, "json", &text));
    json = json_loads(text, 0, NULL);
    assert_non_null(json);
    kfe_string_free(s->ctx, text);
    return json;
}

/* Column `c`, from 0, of the table at row `i`: a number, or the code of a word. */
static double cell(const json_t *figure, size_t c, size_t i)
{
    const json_t *column = json_array_get(json_object_get(figure, "columns"), c);
    const json_t *values = json_object_get(column, "numbers");

    return json_number_value(json_array_get(values ? values : json_object_get(column, "codes"), i));
}

static size_t rows_of(const json_t *figure)
{
    return (size_t)json_integer_value(json_object_get(figure, "rows"));
}

static void test_confusion_counts_pairs(void **state)
{
    scene s = {0};
    kfe_matrix predictions = {0};
    double counts[CLASSES][CLASSES] = {{0}};

    (void)state;
    begin(&s, "centroid");
    assert_ok(s.ctx, kfe_predict(s.ctx, s.model, s.data, &predictions, NULL));
    for (int i = 0; i < ROWS; i++)
        counts[kfe_data_class_of(s.data, i)][(int)predictions.values[i]]++;
    json_t *figure = describe(&s, "confusion");
    double total = 0;
    for (size_t i = 0; i < rows_of(figure); i++) {
        assert_true(cell(figure, 2, i) == counts[(int)cell(figure, 0, i)][(int)cell(figure, 1, i)]);
        total += cell(figure, 2, i);
    }
    assert_true(total == ROWS);
    json_decref(figure);
    kfe_matrix_free(&predictions);
    end(&s);
}

/* The area in the legend is that of the metric, computed from pairs of rows. */
static void test_roc_has_the_area_of_the_metric(void **state)
{
    scene s = {0};
    kfe_matrix predictions = {0};
    kfe_matrix outputs = {0};
    kfe_matrix scores = {0};
    int32_t truth[ROWS];
    double pair[ROWS * 2];
    double auc = 0;
    char expected[32];

    (void)state;
    begin(&s, "centroid");
    assert_ok(s.ctx, kfe_predict(s.ctx, s.model, s.data, &predictions, &outputs));
    assert_ok(s.ctx, kfe_class_scores(s.ctx, s.model, &outputs, &scores));
    json_t *figure = describe(&s, "roc");
    for (int g = 0; g < CLASSES; g++) {
        for (int i = 0; i < ROWS; i++) {
            truth[i] = kfe_data_class_of(s.data, i) == g;
            pair[2 * i] = 0;
            pair[2 * i + 1] = scores.values[i * scores.stride + g];
        }
        const kfe_judged judged = {
            .size = sizeof judged, .rows = ROWS, .classes = 2, .positive = 1, .truth = truth, .scores = pair};
        assert_ok(s.ctx, kfe_metric_compute(s.ctx, "auc", &judged, &auc));
        snprintf(expected, sizeof expected, "AUC %.3f ", auc);
        const json_t *series = json_array_get(json_object_get(figure, "series"), (size_t)g);
        const char *name = json_string_value(json_object_get(series, "name"));
        assert_memory_equal(name, expected, strlen(expected));
        assert_true(auc < 1); /* the clusters overlap */
    }
    json_decref(figure);
    kfe_matrix_free(&scores);
    kfe_matrix_free(&outputs);
    kfe_matrix_free(&predictions);
    end(&s);
}

/* The points are the features; crosses are exactly the wrong predictions. */
static void test_scatter_shows_features_and_errors(void **state)
{
    scene s = {0};
    kfe_matrix features = {0};
    size_t crosses = 0;
    size_t wrong = 0;
    size_t index;
    json_t *series;

    (void)state;
    begin(&s, "centroid");
    assert_ok(s.ctx, kfe_transform(s.ctx, s.model, s.data, &features));
    json_t *figure = describe(&s, "scatter");
    assert_int_equal(rows_of(figure), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        int64_t row = (int64_t)cell(figure, 0, i) - 1;
        double value = features.values[row * features.stride];
        assert_true(fabs(cell(figure, 3, i) - value) <= 5e-4 * fabs(value)); /* four digits */
        wrong += cell(figure, 1, i) != cell(figure, 2, i);
    }
    json_array_foreach(json_object_get(figure, "series"), index, series)
    {
        if (json_is_true(json_object_get(series, "crosses")))
            crosses += (size_t)json_integer_value(json_object_get(series, "count"));
    }
    assert_true(wrong > 0);
    assert_int_equal(crosses, wrong);
    json_decref(figure);
    kfe_matrix_free(&features);
    end(&s);
}

/* No name may open an element, end one, or bring a control character. The three formats escape by their own rules. */
static void test_names_are_never_markup(void **state)
{
    static const char *const figures[] = {"scatter", "distributions", "confusion", "classes", "roc"};
    scene s = {0};

    (void)state;
    begin(&s, "centroid");
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
        char *svg = NULL;
        assert_ok(s.ctx, kfe_report_figure(s.ctx, s.report, figures[f], "svg", &svg));
        assert_null(strstr(svg, "<script"));
        assert_null(strstr(svg, "\x1b"));
        assert_null(strstr(svg, "</svg>]"));
        assert_non_null(strstr(svg, "&lt;script&gt;"));
        assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
        kfe_string_free(s.ctx, svg);
    }
    char *csv = NULL;
    assert_ok(s.ctx, kfe_report_figure(s.ctx, s.report, "classes", "csv", &csv));
    assert_non_null(strstr(csv, "\"a\"\"b'&c\n")); /* quoted, quotes doubled */
    kfe_string_free(s.ctx, csv);
    end(&s);
}

/* A spreadsheet would run a cell that begins with "=". */
static void test_csv_disarms_formulas(void **state)
{
    static const char *const labels[] = {"=1+1", "@x", "-3", "-3", "=1+1", "@x"};
    static const double x[] = {0, 5, 9, 9.5, 0.5, 5.5};
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_report *report = NULL;
    char *csv = NULL;

    (void)state;
    assert_ok(NULL, kfe_context_new(&ctx));
    assert_ok(ctx, kfe_data_wrap_dense(ctx, 6, 1, 1, x, &data));
    assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    assert_ok(ctx, kfe_spec_parse(ctx, "none", NULL, NULL, &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "centroid", NULL));
    assert_ok(ctx, kfe_fit(ctx, spec, data, &model));
    assert_ok(ctx, kfe_report_new(ctx, NULL, &report));
    assert_ok(ctx, kfe_report_set_model(ctx, report, model));
    assert_ok(ctx, kfe_report_set_data(ctx, report, data, NULL));
    assert_ok(ctx, kfe_report_figure(ctx, report, "classes", "csv", &csv));
    assert_non_null(strstr(csv, "\n\"'=1+1\",2,1,1,1"));
    assert_non_null(strstr(csv, "\"'@x\""));
    assert_non_null(strstr(csv, "\n-3,2,1,1,1")); /* a number is no formula */
    kfe_string_free(ctx, csv);
    kfe_report_free(report);
    kfe_model_free(model);
    kfe_spec_free(spec);
    kfe_data_free(data);
    kfe_context_free(ctx);
}

enum { MANY = 24000 };

/* At most 10,000 of 24,000 examples, of every class its share; a class of three examples is still there. */
static void test_samples_keep_every_class(void **state)
{
    scene s = {0};
    double *x = calloc(MANY, sizeof *x);
    const char **labels = calloc(MANY, sizeof *labels);
    int counts[2] = {0};

    (void)state;
    begin(&s, "centroid");
    end(&s);
    assert_ok(NULL, kfe_context_new(&s.ctx));
    for (int i = 0; i < MANY; i++) {
        x[i] = sin(i);
        labels[i] = i % 8000 == 17 ? "rare" : "usual";
    }
    kfe_spec *spec = NULL;
    assert_ok(s.ctx, kfe_data_wrap_dense(s.ctx, MANY, 1, 1, x, &s.data));
    assert_ok(s.ctx, kfe_data_set_labels(s.ctx, s.data, labels));
    assert_ok(s.ctx, kfe_spec_parse(s.ctx, "none", NULL, NULL, &spec));
    assert_ok(s.ctx, kfe_spec_set_learner(s.ctx, spec, "centroid", NULL));
    assert_ok(s.ctx, kfe_fit(s.ctx, spec, s.data, &s.model));
    assert_ok(s.ctx, kfe_report_new(s.ctx, NULL, &s.report));
    assert_ok(s.ctx, kfe_report_set_model(s.ctx, s.report, s.model));
    assert_ok(s.ctx, kfe_report_set_data(s.ctx, s.report, s.data, NULL));
    json_t *figure = describe(&s, "scatter");
    assert_in_range(rows_of(figure), 9990, 10000);
    for (size_t i = 0; i < rows_of(figure); i++) {
        int64_t row = (int64_t)cell(figure, 0, i) - 1;
        counts[(int)cell(figure, 1, i)]++;
        assert_true(fabs(cell(figure, 3, i) - x[row]) <=
                    5e-4 * fabs(x[row])); /* rows are those of the file */
    }
    assert_in_range(counts[0], 1, 3);
    assert_non_null(strstr(json_string_value(json_object_get(figure, "caption")), "of 24000 examples"));
    json_decref(figure);
    kfe_spec_free(spec);
    end(&s);
    free(x);
    free(labels);
}

/* Eigenvalues are those of the covariance of the features; shares end at 1. */
static void test_scree_is_the_record(void **state)
{
    scene s = {0};
    int64_t count = 0;

    (void)state;
    begin(&s, "centroid");
    const double *eigenvalues = kfe_model_record(s.model, "eigenvalues", &count);
    json_t *figure = describe(&s, "scree");
    assert_int_equal(rows_of(figure), count);
    for (size_t i = 0; i < (size_t)count; i++)
        assert_true(fabs(cell(figure, 1, i) - eigenvalues[i]) <= 5e-4 * eigenvalues[i]);
    assert_true(cell(figure, 2, (size_t)count - 1) == 1);
    json_decref(figure);
    end(&s);
}

static void test_wrong_uses_are_refused(void **state)
{
    scene s = {0};
    char *out = NULL;

    (void)state;
    begin(&s, "centroid");
    assert_int_equal(kfe_report_figure(s.ctx, s.report, "scater", "svg", &out), KFE_EINVAL);
    assert_non_null(strstr(kfe_error_message(s.ctx), "did you mean scatter"));
    assert_int_equal(kfe_report_figure(s.ctx, s.report, "gate", "svg", &out), KFE_EINVAL);
    assert_non_null(strstr(kfe_error_message(s.ctx), "needs a model of lmkl or sldr"));
    assert_int_equal(kfe_report_figure(s.ctx, s.report, "scatter", "pdf", &out), KFE_EINVAL);
    assert_null(out);
    kfe_result *results = NULL;
    assert_ok(s.ctx, kfe_result_parse(s.ctx, "{\"a\": 1}", &results));
    assert_int_equal(kfe_report_set_results(s.ctx, s.report, results), KFE_EINPUT);
    kfe_result_free(results);
    assert_int_equal(kfe_result_parse(s.ctx, "{\"a\": ", &results), KFE_EINPUT);
    assert_null(results);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_confusion_counts_pairs),
        cmocka_unit_test(test_roc_has_the_area_of_the_metric),
        cmocka_unit_test(test_scatter_shows_features_and_errors),
        cmocka_unit_test(test_names_are_never_markup),
        cmocka_unit_test(test_csv_disarms_formulas),
        cmocka_unit_test(test_samples_keep_every_class),
        cmocka_unit_test(test_scree_is_the_record),
        cmocka_unit_test(test_wrong_uses_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
