/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes change rounding only: every method with every kernel gives the features of one process when the processes of a
 * cluster fit it together. Started by mpirun; every process runs all checks. With KFE_TEST_ALL all kernels, else the Gaussian one.
 * With KFE_TEST_DEVICE each process of the cluster has that device; the one process has none.
 */
#include "support/subject.h"

#include <float.h>
#include <string.h>

static int is_wanted(const support_subject *s)
{
    return getenv("KFE_TEST_ALL") || strcmp(s->kernel->name, "rbf") == 0;
}

static void check_processes_change_rounding_only(const support_subject *s)
{
    kfe_context *cluster = NULL;
    support_subject together = *s;
    support_made train = support_make(s, &(support_variant){0});
    support_made test = support_make(s, &(support_variant){.test = 1});

    assert_int_equal(kfe_context_new(&cluster), KFE_OK);
    kfe_context_set_seed(cluster, 3);
    assert_ok(cluster, kfe_context_set_cluster(cluster, NULL));
    assert_true(kfe_context_processes(cluster) > 1);
    if (getenv("KFE_TEST_DEVICE"))
        assert_ok(cluster, kfe_context_set_device(cluster, getenv("KFE_TEST_DEVICE")));
    together.ctx = cluster;
    kfe_matrix alone = support_subject_features(s, NULL, train.data, test.data);
    kfe_matrix shared = support_subject_features(&together, NULL, train.data, test.data);
    support_same_features(s, &alone, &shared, DBL_EPSILON);
    assert_int_equal(kfe_context_agree(cluster, KFE_OK), KFE_OK);
    kfe_matrix_free(&alone);
    kfe_matrix_free(&shared);
    support_made_free(&train);
    support_made_free(&test);
    kfe_context_free(cluster);
}

static const support_check checks[] = {
    {"processes change rounding only", check_processes_change_rounding_only, is_wanted, 1},
};

int main(void)
{
    return support_run_checks("processes", sizeof checks / sizeof *checks, checks);
}
