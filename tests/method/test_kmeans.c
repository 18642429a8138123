/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel k-means where distances overflow: every example still belongs to a cluster. */
#include <stdlib.h>
#include <string.h>

#include "core/invariant.h"
#include "method/shared/groups.h"
#include "support/support.h"

enum { ROWS = 4 };

/* Fills what it allocates, so that a value that was never set is noticed. */
static void *filling_reallocate(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (block)
        return realloc(block, size);
    block = malloc(size);
    if (block)
        memset(block, 0x5a, size);
    return block;
}

static void test_infinite_distances(void **state)
{
    double matrix[ROWS * ROWS];
    const char *const labels[ROWS] = {"a", "a", "b", "b"};
    kfe_i_table table = {
        .kind = KFE_TABLE_DENSE, .rows = ROWS, .cols = ROWS, .stride = ROWS, .values = matrix};
    kfe_context *ctx = NULL;
    kfe_i_gram *gram = NULL;
    kfe_i_target target;
    kfe_i_groups groups;

    (void)state;
    for (int i = 0; i < ROWS * ROWS; i++)
        matrix[i] = i % (ROWS + 1) == 0 ? 1e308 : -1e308;
    assert_int_equal(kfe_context_new_with(filling_reallocate, NULL, &ctx), KFE_OK);
    assert_ok(ctx, kfe_i_target_from_labels(ctx, ROWS, labels, &target));
    assert_ok(ctx, kfe_i_gram_precomputed(ctx, &table, &gram));
    assert_ok(ctx, kfe_i_groups_by_kmeans(ctx, gram, &target, 1, &groups));
    assert_int_equal(groups.count, 2);
    assert_true(kfe_i_codes_below(groups.of, ROWS, groups.count));
    kfe_i_groups_free(&groups);
    kfe_i_gram_free(gram);
    kfe_i_target_free(&target);
    kfe_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_infinite_distances)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
