/* SPDX-License-Identifier: Apache-2.0 */
/* The guide "which method?": the methods that it recommends exist and have the flags that its row claims. */
#include "support/support.h"

/* The flags of the method with this name; the test fails if there is none. */
static unsigned flags_of(const char *name, size_t length)
{
    const kfe_entry_info *info;

    for (int i = 0; (info = kfe_method(i)); i++)
        if (strlen(info->name) == length && strncmp(info->name, name, length) == 0)
            return info->flags;
    fail_msg("no method is called '%.*s'", (int)length, name);
    return 0;
}

static int names_a_method(const char *word, size_t length)
{
    const kfe_entry_info *info;

    for (int i = 0; (info = kfe_method(i)); i++)
        if (strlen(info->name) == length && strncmp(info->name, word, length) == 0)
            return 1;
    return 0;
}

static void test_rows_name_methods_with_their_flags(void **state)
{
    const kfe_guide_row *row;
    int named = 0;

    (void)state;
    for (int i = 0; (row = kfe_guide(i)); i++)
        for (const char *word = row->start; *word;) {
            size_t length = strcspn(word, ", ");
            if (names_a_method(word, length)) {
                named++;
                if ((flags_of(word, length) & row->flags) != row->flags)
                    fail_msg("%.*s does not fit the goal '%s'", (int)length, word, row->goal);
            }
            word += length + strspn(word + length, ", ");
        }
    assert_true(named >= 15);
    assert_null(kfe_guide(-1));
}

static void test_goals_with_and_without_labels(void **state)
{
    const kfe_guide_row *row;

    (void)state;
    for (int i = 0; (row = kfe_guide(i)); i++) {
        if (!strstr(row->goal, "without labels"))
            continue;
        assert_string_equal(row->start, "pca, kpca");
        assert_false((flags_of("pca", 3) | flags_of("kpca", 4) | flags_of("skfa", 4)) & KFE_HAS_SUPERVISION);
        return;
    }
    fail_msg("no row for data without labels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_name_methods_with_their_flags),
        cmocka_unit_test(test_goals_with_and_without_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
