/* SPDX-License-Identifier: Apache-2.0 */
/* Which names of columns are positions on an axis. */
#include "data/steps/positions.h"

#include "support/support.h"

typedef struct sample {
    const char *names[3];
    int are_known, is_axis, is_reversed;
    double second;
    const char *title;
} sample;

static const sample samples[] = {
    {{"900", "902", "904"}, 1, 1, 0, 902, "column"},
    {{"900 nm", "902 nm", "904 nm"}, 1, 1, 0, 902, "wavelength (nm)"},
    {{"nm900", "nm902", "nm904"}, 1, 1, 0, 902, "wavelength (nm)"},
    {{"X900.nm", "X902.nm", "X904.nm"}, 1, 1, 0, 902, "wavelength (nm)"},
    {{"NIR.900 nm", "NIR.902 nm", "NIR.904 nm"}, 1, 1, 0, 902, "wavelength (nm)"},
    {{"X900", "X902", "X904"}, 1, 1, 0, 902, "column"},
    {{"1000.5 cm-1", "998.5 cm-1", "996 cm-1"}, 1, 1, 1, 998.5, "wavenumber (cm⁻¹)"},
    {{"400cm^-1", "402cm^-1", "404cm^-1"}, 1, 1, 1, 402, "wavenumber (cm⁻¹)"},
    {{"X400.cm.1", "X402.cm.1", "X404.cm.1"}, 1, 1, 1, 402, "wavenumber (cm⁻¹)"},
    {{"0.5 ppm", "1 ppm", "1.5 ppm"}, 1, 1, 1, 1, "chemical shift (ppm)"},
    {{"1e2 [a.u.]", "2e2 [a.u.]", "3e2 [a.u.]"}, 1, 1, 0, 200, "column (a.u.)"},
    {{"-1", "-0.5", "0"}, 1, 1, 0, -0.5, "column"},
    {{"900 nm", "902 nm", "901 nm"}, 1, 1, 0, 902, "wavelength (nm)"},
    /* a count, names and disorder are no axis */
    {{"1", "2", "3"}, 1, 0, 0, 2, "column"},
    {{"0", "1", "2"}, 1, 0, 0, 1, "column"},
    {{"X1", "X2", "X3"}, 0, 0, 0, 2, "column"},
    {{"gene12", "gene40", "gene99"}, 0, 0, 0, 2, "column"},
    {{"900", "902", "901"}, 1, 0, 0, 902, "column"},
    {{"900 nm", "902 ppm", "904 nm"}, 1, 0, 0, 902, "column"},
    {{"900 nm", "water", "904 nm"}, 0, 0, 0, 2, "column"},
    {{"nm900", "um902", "nm904"}, 0, 0, 0, 2, "column"},
    {{"", "a", "b"}, 0, 0, 0, 2, "column"},
};

static void test_names_are_positions(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        const sample *s = &samples[k];
        kfe_i_positions found = kfe_i_positions_of(s->names, 3);
        char title[64];
        kfe_i_position_title(&found, s->names, title, sizeof title);
        if (found.are_known != s->are_known || found.is_axis != s->is_axis)
            fail_msg("%s: known %d, axis %d", s->names[0], found.are_known, found.is_axis);
        assert_int_equal(found.is_axis && found.is_reversed, s->is_reversed);
        assert_true(kfe_i_position_at(&found, s->names, 1) == s->second);
        assert_string_equal(title, s->title);
    }
}

static void test_no_names_are_places(void **state)
{
    (void)state;
    kfe_i_positions found = kfe_i_positions_of(NULL, 3);

    assert_false(found.are_known || found.is_axis || found.is_numbered);
    assert_true(kfe_i_position_at(&found, NULL, 2) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_positions),
        cmocka_unit_test(test_no_names_are_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
