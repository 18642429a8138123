/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel matrix, by one process and by all, and checks that both are the same. */
#include "pair.h"

#include <stdio.h>

#include "core/cluster.h"
#include "gram/form.h"
#include "support/tolerance.h"

void pair_open(pair *p, int64_t rows, int sparse, const char *kernels, const char *device)
{
    char text[128];

    *p = (pair){0};
    assert_int_equal(kfe_context_new(&p->alone), KFE_OK);
    assert_int_equal(kfe_context_new(&p->together), KFE_OK);
    assert_ok(p->alone, kfe_context_set_device(p->alone, "cpu"));
    assert_ok(p->together, kfe_context_set_cluster(p->together, NULL));
    if (device)
        assert_ok(p->together, kfe_context_set_device(p->together, device));
    support_points_make(&p->points, 5, rows, PAIR_COLS, 0);
    p->table = support_points_table(&p->points, sparse);
    kfe_i_kernel_list_init(p->alone, &p->kernels);
    snprintf(text, sizeof text, "%s", kernels);
    for (char *one = strtok(text, " "); one; one = strtok(NULL, " ")) {
        kfe_i_kernel kernel;
        assert_ok(p->alone, kfe_i_kernel_parse(p->alone, one, &kernel));
        assert_ok(p->alone, kfe_i_kernel_list_add(&p->kernels, &kernel));
    }
    assert_ok(p->alone, kfe_i_gram_open(p->alone, &p->kernels, &p->table, KFE_GRAM_AUTO, &p->one));
    assert_ok(p->together, kfe_i_gram_open(p->together, &p->kernels, &p->table, KFE_GRAM_AUTO, &p->all));
}

void pair_close(pair *p)
{
    kfe_i_gram_free(p->one);
    kfe_i_gram_free(p->all);
    kfe_i_kernel_list_free(&p->kernels);
    support_points_free(&p->points);
    kfe_context_free(p->alone);
    kfe_context_free(p->together);
}

void pair_assert_same(const char *what, const double *got, const double *expected, int64_t count,
                      double tolerance)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(got[i] - expected[i]) <= tolerance))
            fail_msg("%s, number %lld: %.17g instead of %.17g, allowed %.3g", what, (long long)i, got[i],
                     expected[i], tolerance);
}

/* Entries are at most 1 in these kernels, so a sum over n of them is off by at most n·ε·n, and in single precision each entry by 2⁻²³. */
double pair_slack(const pair *p, int single)
{
    double n = (double)p->table.rows;

    return tolerance_sum(p->table.rows, 2 * n) + (single ? 2 * n * TOLERANCE_SINGLE * PAIR_COLS : 0);
}

void pair_assert_everywhere(const pair *p, const char *what, const double *values, int64_t count)
{
    double *first = malloc((size_t)count * sizeof *first);

    assert_non_null(first);
    memcpy(first, values, (size_t)count * sizeof *first);
    assert_ok(p->together, kfe_i_cluster_broadcast(p->together, 0, first, count * (int64_t)sizeof *first));
    if (memcmp(first, values, (size_t)count * sizeof *first) != 0)
        fail_msg("%s: other bits than in process 0", what);
    free(first);
}

void pair_check_product(const pair *p, const kfe_i_gram *gram, int single, double *got)
{
    int64_t size = p->table.rows * PAIR_VECTORS;
    double *v = support_random(3, size);
    double *expected = support_random(1, size);

    assert_ok(p->alone, kfe_i_gram_times(p->one, v, PAIR_VECTORS, expected));
    assert_ok(p->together, kfe_i_gram_times(gram, v, PAIR_VECTORS, got));
    pair_assert_same(gram->form->name, got, expected, size, pair_slack(p, single));
    pair_assert_everywhere(p, gram->form->name, got, size);
    free(v);
    free(expected);
}

void pair_check_times(const pair *p, const kfe_i_gram *gram, int single)
{
    int64_t size = p->table.rows * PAIR_VECTORS;
    double *got = support_random(2, size);
    double *again = support_random(2, size);

    pair_check_product(p, gram, single, got);
    pair_check_product(p, gram, single, again);
    assert_memory_equal(got, again, (size_t)size * sizeof *got);
    free(got);
    free(again);
}

void pair_check_entries(const pair *p)
{
    int64_t n = p->table.rows;
    int64_t index[PAIR_VECTORS];
    int32_t *group = calloc((size_t)n, sizeof *group);
    double *expected = support_random(1, n * n + PAIR_GROUPS * PAIR_GROUPS);
    double *got = support_random(2, n * n + PAIR_GROUPS * PAIR_GROUPS);
    double tolerance = tolerance_sum(PAIR_COLS, 8);

    for (int64_t j = 0; j < PAIR_VECTORS; j++)
        index[j] = j * 7 % n;
    for (int64_t i = 0; i < n; i++)
        group[i] = (int32_t)(i * i % PAIR_GROUPS); /* not all groups are on all processes */
    assert_ok(p->alone, kfe_i_gram_block(p->one, 0, n, 0, n, expected, n));
    assert_ok(p->together, kfe_i_gram_block(p->all, 0, n, 0, n, got, n));
    pair_assert_same("block", got, expected, n * n, tolerance);
    int64_t count = n < PAIR_VECTORS ? n : PAIR_VECTORS;
    assert_ok(p->alone, kfe_i_gram_columns(p->one, index, count, expected));
    assert_ok(p->together, kfe_i_gram_columns(p->all, index, count, got));
    pair_assert_same("columns", got, expected, n * count, tolerance);
    assert_ok(p->alone, kfe_i_gram_group_sums(p->one, group, PAIR_GROUPS, expected));
    assert_ok(p->together, kfe_i_gram_group_sums(p->all, group, PAIR_GROUPS, got));
    pair_assert_same("sums over groups", got, expected, PAIR_GROUPS * PAIR_GROUPS,
                     tolerance_sum(n * n, (double)(n * n)));
    free(group);
    free(expected);
    free(got);
}
