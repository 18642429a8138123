/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device changes rounding only: every method with every kernel gives the features of the CPU when it is fitted, and applied to
 * new points, on a device. The device is the host plug-in, or the one that KFE_TEST_DEVICE names.
 */
#include "support/subject.h"

#include <float.h>

static const char *device_name(void)
{
    const char *name = getenv("KFE_TEST_DEVICE");
    return name && *name ? name : "host";
}

static int always(const support_subject *s)
{
    (void)s;
    return 1;
}

static void check_device_changes_rounding_only(const support_subject *s)
{
    support_made train = support_make(s, &(support_variant){0});
    support_made test = support_make(s, &(support_variant){.test = 1});

    assert_ok(s->ctx, kfe_context_set_device(s->ctx, "cpu"));
    kfe_matrix on_cpu = support_subject_features(s, NULL, train.data, test.data);
    assert_ok(s->ctx, kfe_context_set_device(s->ctx, device_name()));
    assert_string_equal(kfe_context_device(s->ctx), device_name());
    kfe_matrix on_device = support_subject_features(s, NULL, train.data, test.data);
    kfe_matrix again = support_subject_features(s, NULL, train.data, test.data);
    support_same_features(s, &on_cpu, &on_device, DBL_EPSILON);
    support_same_bits(&on_device, &again);
    kfe_matrix_free(&on_cpu);
    kfe_matrix_free(&on_device);
    kfe_matrix_free(&again);
    support_made_free(&train);
    support_made_free(&test);
}

static const support_check checks[] = {
    {"a device changes rounding only", check_device_changes_rounding_only, always, 1},
};

int main(void)
{
    return support_run_checks("device", sizeof checks / sizeof *checks, checks);
}
