/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernels of OpenBLAS suit a processor. */
#include <stdlib.h>

#include "core/environment.h"
#include "support/support.h"

static void test_old_kernels_are_replaced(void **state)
{
    (void)state;
    assert_string_equal(kfe_i_better_core("Prescott", 1, 1), "SkylakeX");
    assert_string_equal(kfe_i_better_core("Prescott", 1, 0), "Haswell");
    assert_string_equal(kfe_i_better_core("Nehalem", 1, 0), "Haswell");
}

static void test_good_kernels_stay(void **state)
{
    (void)state;
    assert_null(kfe_i_better_core("Zen", 1, 0));
    assert_null(kfe_i_better_core("Haswell", 1, 1));
    assert_null(kfe_i_better_core("SkylakeX", 1, 1));
    assert_null(kfe_i_better_core("Prescott", 0, 0));
}

static void test_the_users_choice_counts(void **state)
{
    (void)state;
    assert_int_equal(setenv("OPENBLAS_CORETYPE", "Prescott", 1), 0);
    assert_null(kfe_blas_advice());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_kernels_are_replaced),
        cmocka_unit_test(test_good_kernels_stay),
        cmocka_unit_test(test_the_users_choice_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
