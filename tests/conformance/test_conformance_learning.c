/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of every method with a classifier or regressor on its features: for nested methods fewer
 * features are the first of more, and every learner can use them. Nothing here knows a method by name. */
#include "support/subject.h"

#include <math.h>
#include <stdio.h>

#include "support/tolerance.h"

/* ---- nested features ---- */

static int is_nested(const support_subject *s)
{
    return (s->method->flags & KFE_HAS_NESTING) != 0;
}

/* Compares with the first columns of the larger set, in the same order and with the same signs. */
static void compare_first(const support_subject *s, const kfe_matrix *few, const kfe_matrix *many)
{
    double largest = support_largest(many->rows * many->cols, many->values);
    double difference = 0;

    for (int64_t i = 0; i < few->rows; i++)
        for (int64_t j = 0; j < few->cols; j++) {
            double got = few->values[i * few->cols + j];
            double expected = many->values[i * many->cols + j];
            difference = isnan(got) ? (double)INFINITY : fmax(difference, fabs(got - expected));
        }
    support_assert_distance(s, difference / largest, DBL_EPSILON);
}

static void check_nested(const support_subject *s, const support_variant *variant)
{
    support_made train = support_make(s, variant);
    support_made test = support_make(s, &(support_variant){.test = 1});
    kfe_matrix many = support_subject_features(s, NULL, train.data, test.data);

    for (int64_t dim = 1; dim <= 2 && dim <= many.cols; dim++) {
        char params[32];
        snprintf(params, sizeof params, "dim=%lld", (long long)dim);
        kfe_matrix few = support_subject_features(s, params, train.data, test.data);
        assert_int_equal(few.cols, dim);
        compare_first(s, &few, &many);
        kfe_matrix_free(&few);
    }
    kfe_matrix_free(&many);
    support_made_free(&train);
    support_made_free(&test);
}

static void check_fewer_features_are_the_first_of_more(const support_subject *s)
{
    check_nested(s, &(support_variant){0});
    if (support_subject_has_points(s))
        check_nested(s, &(support_variant){.sparse = 1});
}

/* ---- learners ---- */

/* One kernel per method suffices, because learners do not see the kernel. */
static int has_usual_kernel(const support_subject *s)
{
    return !s->kernel->name[0] || strcmp(s->kernel->name, "rbf") == 0;
}

static void check_predictions(const support_subject *s, const kfe_model *model, const kfe_data *test)
{
    const char *path = support_path("learner.kfe");
    kfe_model *loaded = NULL;
    kfe_matrix answers[2];
    kfe_matrix scores[2];

    assert_ok(s->ctx, kfe_model_save(s->ctx, model, path));
    assert_ok(s->ctx, kfe_model_load(s->ctx, path, &loaded));
    assert_ok(s->ctx, kfe_predict(s->ctx, model, test, &answers[0], &scores[0]));
    assert_ok(s->ctx, kfe_predict(s->ctx, loaded, test, &answers[1], &scores[1]));
    assert_int_equal(answers[0].rows, SUBJECT_TEST_ROWS);
    assert_int_equal(answers[0].cols, 1);
    assert_int_equal(scores[0].cols, kfe_model_outputs(model));
    support_same_bits(&answers[0], &answers[1]);
    support_same_bits(&scores[0], &scores[1]);
    for (int64_t i = 0; i < answers[0].rows; i++)
        if (kfe_model_task(model) == KFE_TASK_CLASSES)
            assert_non_null(kfe_model_class_name(model, (int64_t)answers[0].values[i]));
        else
            assert_true(isfinite(answers[0].values[i]));
    for (int i = 0; i < 2; i++) {
        kfe_matrix_free(&answers[i]);
        kfe_matrix_free(&scores[i]);
    }
    kfe_model_free(loaded);
}

static void check_learner(const support_subject *s, const char *learner, const support_variant *variant)
{
    support_made train = support_make(s, variant);
    support_made test = support_make(s, &(support_variant){.test = 1, .sparse = variant->sparse});
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;

    assert_ok(s->ctx, kfe_spec_parse(s->ctx, s->method->name, NULL, support_subject_kernel(s), &spec));
    assert_ok(s->ctx, kfe_spec_set_learner(s->ctx, spec, learner, NULL));
    assert_ok(s->ctx, kfe_fit(s->ctx, spec, train.data, &model));
    assert_string_equal(kfe_model_learner(model), learner);
    check_predictions(s, model, test.data);
    kfe_model_free(model);
    kfe_spec_free(spec);
    support_made_free(&train);
    support_made_free(&test);
}

static void check_every_learner_can_use_it(const support_subject *s)
{
    const kfe_entry_info *learner;
    int takes_values = !(s->method->flags & KFE_HAS_SUPERVISION) || s->method->flags & KFE_HAS_REGRESSION;

    for (int l = 0; (learner = kfe_learner(l)); l++) {
        check_learner(s, learner->name, &(support_variant){0});
        check_learner(s, learner->name, &(support_variant){.sparse = 1});
        if (takes_values && learner->flags & KFE_HAS_REGRESSION)
            check_learner(s, learner->name, &(support_variant){.real_targets = 1});
    }
}

static const support_check checks[] = {
    {"fewer features are the first of more", check_fewer_features_are_the_first_of_more, is_nested, 0},
    {"every learner can use it", check_every_learner_can_use_it, has_usual_kernel, 0},
};

int main(void)
{
    return support_run_checks("learning", sizeof checks / sizeof *checks, checks);
}
