/* SPDX-License-Identifier: Apache-2.0 */
/* The Gram operator under failures: too little memory, a user who cancels, a matrix that is not symmetric,
 * and every allocation failing in turn. */
#include "support/support.h"

#include <math.h>

#include "core/memory.h"
#include "gram/form.h"
#include "gram/gram.h"
#include "support/gram_cases.h"
#include "support/sweep.h"

/* ---- memory limits ---- */

static void check_limit(kfe_context *ctx, const gram_opened *opened, double *values, double *vectors)
{
    static const char needs[] = "needs 720 kB of memory, but the limit is 100 kB";
    const kfe_i_gram *gram = opened->plain;
    kfe_i_gram *stored = NULL;
    double *whole = NULL;

    assert_ok(ctx, kfe_context_set_memory(ctx, 100000));
    assert_fails(ctx, KFE_ELIMIT, needs, kfe_i_gram_materialise(gram, &whole));
    assert_null(whole);
    assert_fails(ctx, KFE_ELIMIT, needs, kfe_i_gram_solve(gram, 1, vectors, 1, KFE_TOLERANCE, values, NULL));
    assert_fails(ctx, KFE_ELIMIT, needs, kfe_i_gram_eigen(gram, 1, KFE_TOLERANCE, values, vectors));
    assert_fails(ctx, KFE_ELIMIT, needs, kfe_i_gram_stored(ctx, gram, &stored));
    assert_non_null(strstr(kfe_error_message(ctx), "raise memory"));
    assert_fails(ctx, KFE_ELIMIT, "needs 217 kB of memory, but the limit is 100 kB",
                 kfe_i_gram_packed(ctx, gram, 1, &stored));
    assert_null(stored);
    assert_ok(ctx, kfe_i_gram_times(gram, vectors, 1, values));
    assert_ok(ctx, kfe_context_set_memory(ctx, 0));
}

static void test_memory_limit(void **state)
{
    kfe_context *ctx = *state;
    gram_data data;
    double *values = support_random(1, 300);
    double *vectors = support_random(2, 300);

    gram_data_make(&data, 300);
    for (const gram_case *one = gram_cases; one->name; one++) {
        gram_opened opened;
        assert_ok(ctx, gram_case_open(ctx, one, &data, 0, &opened));
        check_limit(ctx, &opened, values, vectors);
        gram_case_close(&opened);
    }
    gram_data_free(&data);
    free(values);
    free(vectors);
}

/* ---- cancelling ---- */

static int cancel_always(void *user)
{
    (*(int *)user)++;
    return 1;
}

static void test_cancel(void **state)
{
    kfe_context *ctx = *state;
    gram_data data;
    int asked = 0;
    double *values = support_random(1, 300);
    double *vectors = support_random(2, 300);
    int32_t group[300] = {0};
    double sum = 0;

    gram_data_make(&data, 300);
    for (const gram_case *one = gram_cases; one->name; one++) {
        gram_opened opened;
        assert_ok(ctx, gram_case_open(ctx, one, &data, 0, &opened));
        kfe_context_on_cancel(ctx, cancel_always, &asked);
        assert_fails(ctx, KFE_ECANCEL, "cancelled",
                     kfe_i_gram_solve(opened.plain, 1, vectors, 1, KFE_TOLERANCE, values, NULL));
        assert_fails(ctx, KFE_ECANCEL, "cancelled",
                     kfe_i_gram_eigen(opened.plain, 1, KFE_TOLERANCE, values, vectors));
        if (opened.plain->form->column_seconds) {
            assert_fails(ctx, KFE_ECANCEL, "cancelled", kfe_i_gram_times(opened.plain, vectors, 1, values));
            assert_fails(ctx, KFE_ECANCEL, "cancelled",
                         kfe_i_gram_block(opened.plain, 0, 1, 0, 300, values, 300));
            assert_fails(ctx, KFE_ECANCEL, "cancelled", kfe_i_gram_group_sums(opened.plain, group, 1, &sum));
            assert_fails(ctx, KFE_ECANCEL, "cancelled", kfe_i_gram_squared_norm(opened.plain, &sum));
        }
        kfe_context_on_cancel(ctx, NULL, NULL);
        gram_case_close(&opened);
    }
    assert_true(asked > 20);
    gram_data_free(&data);
    free(values);
    free(vectors);
}

/* A cancelled evaluation leaves no unfinished operator behind. */
static void test_cancel_while_storing(void **state)
{
    kfe_context *ctx = *state;
    gram_data data;
    gram_opened opened;
    kfe_i_gram *stored = NULL;
    kfe_i_gram *centred = NULL;
    const double *means = NULL;
    double overall = 0;
    int asked = 0;

    gram_data_make(&data, 300);
    assert_ok(ctx, gram_case_open(ctx, &gram_cases[0], &data, 0, &opened));
    kfe_context_on_cancel(ctx, cancel_always, &asked);
    assert_fails(ctx, KFE_ECANCEL, "cancelled", kfe_i_gram_stored(ctx, opened.plain, &stored));
    assert_null(stored);
    for (int single = 0; single < 2; single++) {
        assert_fails(ctx, KFE_ECANCEL, "cancelled", kfe_i_gram_packed(ctx, opened.plain, single, &stored));
        assert_null(stored);
    }
    /* centring computes means when they are needed; after a cancellation it computes them again */
    assert_ok(ctx, kfe_i_gram_centred(ctx, opened.plain, &centred));
    assert_fails(ctx, KFE_ECANCEL, "cancelled", kfe_i_gram_row_means(centred, &means, &overall));
    kfe_context_on_cancel(ctx, NULL, NULL);
    assert_ok(ctx, kfe_i_gram_row_means(centred, &means, &overall));
    kfe_i_gram_free(centred);
    gram_case_close(&opened);
    gram_data_free(&data);
}

/* ---- matrices that are not kernel matrices ---- */

static void test_asymmetric(void **state)
{
    kfe_context *ctx = *state;
    gram_data data;
    kfe_i_gram *gram = NULL;

    gram_data_make(&data, 20);
    kfe_i_table table = {.kind = KFE_TABLE_DENSE, .rows = 20, .cols = 20, .stride = 21, .values = data.given};
    data.given[6 * 21 + 2] += 1e-12; /* asymmetry from rounding to decimals */
    assert_ok(ctx, kfe_i_gram_precomputed(ctx, &table, &gram));
    kfe_i_gram_free(gram);
    data.given[6 * 21 + 2] = 0.875;
    assert_fails(ctx, KFE_EINPUT, "row 7, column 3 is 0.875", kfe_i_gram_precomputed(ctx, &table, &gram));
    assert_non_null(strstr(kfe_error_message(ctx), "row 3, column 7 is 0.67"));
    assert_null(gram);
    gram_data_free(&data);
}

static void test_solve_of_indefinite(void **state)
{
    kfe_context *ctx = *state;
    double values[] = {1, 2, 2, 1}; /* eigenvalues 3 and −1 */
    double right[] = {1, 1};
    double solution[2];
    kfe_i_gram *gram = NULL;
    kfe_i_table table = {.kind = KFE_TABLE_DENSE, .rows = 2, .cols = 2, .stride = 2, .values = values};

    assert_ok(ctx, kfe_i_gram_precomputed(ctx, &table, &gram));
    assert_fails(ctx, KFE_ENUMERIC, "not positive definite",
                 kfe_i_gram_solve(gram, 0.5, right, 1, KFE_TOLERANCE, solution, NULL));
    assert_ok(ctx, kfe_i_gram_solve(gram, 2, right, 1, KFE_TOLERANCE, solution, NULL));
    assert_true(fabs(solution[0] - 0.2) < 1e-15 && fabs(solution[1] - 0.2) < 1e-15);
    kfe_i_gram_free(gram);
}

/* ---- failing allocations ---- */

enum { SMALL = 23 };

typedef struct results {
    double vectors[SMALL * SMALL], values[SMALL], block[SMALL * SMALL];
} results;

#define TRY(call)                                                                                            \
    do {                                                                                                     \
        kfe_status try_status_ = (call);                                                                     \
        if (try_status_ != KFE_OK)                                                                           \
            return try_status_;                                                                              \
    } while (0)

static kfe_status use(kfe_context *ctx, const kfe_i_gram *gram, results *r)
{
    static const int64_t index[] = {3, 1};
    int32_t group[SMALL] = {1};
    double *whole = NULL;
    kfe_i_kept kept = {0};

    for (int i = 0; i < SMALL * SMALL; i++)
        r->vectors[i] = i;
    TRY(kfe_i_gram_block(gram, 0, SMALL, 0, SMALL, r->block, SMALL));
    TRY(kfe_i_gram_columns(gram, index, 2, r->block));
    TRY(kfe_i_gram_diagonal(gram, r->values));
    TRY(kfe_i_gram_times(gram, r->vectors, 2, r->block));
    TRY(kfe_i_gram_group_sums(gram, group, 2, r->block));
    TRY(kfe_i_gram_squared_norm(gram, r->values));
    TRY(kfe_i_gram_solve(gram, 1, r->vectors, 2, KFE_TOLERANCE, r->block, NULL));
    TRY(kfe_i_gram_eigen(gram, 3, KFE_TOLERANCE, r->values, r->vectors));
    TRY(kfe_i_gram_materialise(gram, &whole));
    kfe_i_free(ctx, whole);
    kfe_status status = kfe_i_gram_keep(gram, KFE_KEEP_ANY, 0, &kept);
    kfe_i_gram_keep_free(&kept);
    return status;
}

typedef struct sweep_case {
    const gram_case *form;
    const gram_data *data;
    int centred;
} sweep_case;

static kfe_status open_and_use(kfe_context *ctx, void *user)
{
    const sweep_case *one = user;
    gram_opened opened;
    results r;
    kfe_status status = gram_case_open(ctx, one->form, one->data, one->centred, &opened);

    if (status == KFE_OK)
        status = use(ctx, opened.gram, &r);
    gram_case_close(&opened);
    return status;
}

static void test_failing_allocations(void **state)
{
    gram_data data;
    (void)state;

    gram_data_make(&data, SMALL);
    for (const gram_case *one = gram_cases; one->name; one++)
        for (int centred = 0; centred < 2; centred++)
            support_sweep_all(one->name, open_and_use, &(sweep_case){one, &data, centred}, 15);
    gram_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_limit),         cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_while_storing), cmocka_unit_test(test_asymmetric),
        cmocka_unit_test(test_solve_of_indefinite),  cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, support_single_setup, support_context_teardown);
}
