/* SPDX-License-Identifier: Apache-2.0 */
/* Formatting, parsing, messages and a grid search in a program whose locale writes decimal commas. */
#include "support/result.h"
#include "support/support.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/text.h"

/* Compiles a German locale into a folder of its own, because not every system has it installed. */
static int enter_german(void **state)
{
    char folder[] = "/tmp/kfe_locale_XXXXXX";
    char command[256];

    if (!mkdtemp(folder))
        return -1;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 > /dev/null 2>&1", folder);
    (void)!system(command);
    setenv("LOCPATH", folder, 1);
    setlocale(LC_ALL, "de_DE.UTF-8");
    snprintf(command, sizeof command, "rm -r %s", folder);
    (void)!system(command);
    return support_context_setup(state);
}

static int leave(void **state)
{
    setlocale(LC_ALL, "C");
    return support_context_teardown(state);
}

static void skip_without_commas(void)
{
    char text[16];

    snprintf(text, sizeof text, "%.1f", 0.5);
    if (strcmp(text, "0,5") != 0) {
        print_message("skipped: localedef has no German locale here\n");
        skip();
    }
}

static void test_numbers_have_points(void **state)
{
    kfe_context *ctx = *state;
    char number[KFE_NUMBER_TEXT];
    char bytes[32];
    const char *digits = "1.2345678901234567890123";
    double back = 0;
    kfe_i_text text;

    skip_without_commas();
    kfe_i_format_number(0.1, number);
    assert_string_equal(number, "0.1");
    kfe_i_format_bytes(1.5e9, bytes, sizeof bytes);
    assert_string_equal(bytes, "1.5 GB");
    assert_true(kfe_i_parse_number(digits, digits + strlen(digits), &back));
    assert_true(back == 0x1.3c0ca428c59fbp+0);
    kfe_i_text_init(&text, ctx);
    kfe_i_text_printf(&text, "%.2f %g", 0.25, 1e-7);
    assert_string_equal(text.bytes, "0.25 1e-07");
    kfe_i_text_free(&text);
    kfe_i_fail(ctx, KFE_EINVAL, "%.1f and %g", 2.5, 0.125);
    assert_string_equal(kfe_error_message(ctx), "2.5 and 0.125");
    snprintf(number, sizeof number, "%.1f", 0.5); /* the program's own locale is unchanged */
    assert_string_equal(number, "0,5");
}

static void test_grids_can_be_searched(void **state)
{
    kfe_context *ctx = *state;
    static const char *const grid[] = {"gamma=0.01:1:log3"};
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    char *text = NULL;

    skip_without_commas();
    assert_ok(ctx, kfe_data_generate(ctx, "iris", NULL, &data));
    assert_ok(ctx, kfe_spec_parse(ctx, "koc", NULL, "rbf", &spec));
    assert_ok(ctx, kfe_spec_set_learner(ctx, spec, "knn", NULL));
    assert_ok(ctx, write_cross_validate(ctx, spec, 1, grid, data, "folds=3", KFE_STYLE_TEXT, NULL, &text));
    assert_non_null(strstr(text, "0."));
    assert_null(strstr(text, "0,"));
    kfe_string_free(ctx, text);
    kfe_spec_free(spec);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers_have_points, enter_german, leave),
        cmocka_unit_test_setup_teardown(test_grids_can_be_searched, enter_german, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
