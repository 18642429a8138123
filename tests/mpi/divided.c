/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that share the work: the forms of the divided Gram operator against the operator of one process, the bytes that products
 * send, and failures. Started by mpirun; every process runs all tests.
 */
#include "pair.h"

#include <stdio.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "gram/cluster/dealt.h"
#include "gram/cluster/divided_factor.h"
#include "gram/form.h"
#include "gram/solve/solve.h"
#include "linalg/symmetric.h"
#include "support/tolerance.h"

static void check_forms(const pair *p)
{
    kfe_i_gram *kept = NULL;

    pair_check_times(p, p->all, 0);
    for (int single = 0; single < 2; single++) {
        assert_ok(p->together, kfe_i_dealt_keep(p->all, single, p->table.rows, &kept));
        pair_check_times(p, kept, single);
        kfe_i_gram_free(kept);
    }
    if (p->table.rows > 256) {
        assert_ok(p->together, kfe_i_dealt_keep(p->all, 1, 256, &kept));
        pair_check_times(p, kept, 1);
        kfe_i_gram_free(kept);
    }
}

static void test_divided_operator_equals_one(void **state)
{
    static const int64_t sizes[] = {1, 2, 65, 301, 700};
    static const char *const kernels[] = {"rbf:gamma=0.3", "rbf:gamma=0.3 laplacian:gamma=0.2"};

    (void)state;
    for (int k = 0; k < 2; k++)
        for (int sparse = 0; sparse < 2; sparse++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                pair p;
                pair_open(&p, sizes[s], sparse, kernels[k], NULL);
                assert_non_null(p.all->form->row_source);
                pair_check_entries(&p);
                check_forms(&p);
                pair_close(&p);
            }
}

/* The form that is kept for many passes under a falling memory limit, which is that of one process. */
static void test_limit_is_that_of_each_process(void **state)
{
    static const struct {
        double share; /* of the bytes of each process in double precision */
        const char *form;
    } cases[] = {{1.3, "stored in double precision"},
                 {0.65, "stored in single precision"},
                 {0.45, "partly stored"},
                 {0.01, "not stored"}};
    pair p;

    (void)state;
    pair_open(&p, 1000, 0, "rbf:gamma=0.3", NULL);
    double bytes = kfe_i_dealt_bytes(1000, kfe_context_processes(p.together), 0);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kfe_i_kept kept;
        assert_ok(p.together, kfe_context_set_memory(p.together, (int64_t)(cases[c].share * bytes)));
        assert_ok(p.together, kfe_i_gram_keep(p.all, KFE_KEEP_ANY, 0, &kept));
        if (!strstr(kept.gram->form->name, cases[c].form))
            fail_msg("%s with %g of the bytes", kept.gram->form->name, cases[c].share);
        kfe_i_gram_keep_free(&kept);
    }
    pair_close(&p);
}

/* Every panel belongs to one process, and to the place in its memory that follows from the panels before. */
static void test_panels_are_dealt_once(void **state)
{
    enum { PANELS = 61, MOST = 7 };

    (void)state;
    for (int processes = 1; processes <= MOST; processes++) {
        int owners[PANELS] = {0};
        int64_t least = INT64_MAX, most = 0;
        for (int process = 0; process < processes; process++) {
            kfe_i_share share = {process, processes};
            int64_t entries = 0;
            for (int64_t turn = 0; turn < kfe_i_dealt_count(share, PANELS); turn++) {
                int64_t panel = kfe_i_dealt(share, turn);
                assert_in_range(panel, 0, PANELS - 1);
                owners[panel]++;
                assert_int_equal(kfe_i_symmetric_dealt_offset(share, turn), entries);
                entries += 64 * 64 * (panel + 1);
            }
            least = entries < least ? entries : least;
            most = entries > most ? entries : most;
        }
        for (int panel = 0; panel < PANELS; panel++)
            assert_int_equal(owners[panel], 1);
        assert_true(most - least <= (int64_t)64 * 64 * (PANELS + processes)); /* about one panel */
    }
}

/* 2·8·n·k·(p − 1)/p bytes for each process (docs/cluster.md), averaged over them. */
static void test_products_send_what_the_formula_says(void **state)
{
    enum { ROWS = 700 };
    pair p;
    kfe_cluster_info before, after;
    double *v = support_random(3, ROWS * PAIR_VECTORS);
    double *out = support_random(1, ROWS * PAIR_VECTORS);

    (void)state;
    pair_open(&p, ROWS, 0, "rbf:gamma=0.3", NULL);
    const kfe_i_cluster *cluster = p.together->cluster;
    cluster->table->info(cluster->handle, &before);
    assert_ok(p.together, kfe_i_gram_times(p.all, v, PAIR_VECTORS, out));
    cluster->table->info(cluster->handle, &after);
    double sent = (double)(after.bytes_sent - before.bytes_sent);
    assert_ok(p.together, kfe_i_cluster_sum(p.together, &sent, 1));
    double processes = kfe_context_processes(p.together);
    double formula = 2 * 8.0 * ROWS * PAIR_VECTORS * (processes - 1) / processes;
    assert_true(sent / processes <= 1.1 * formula && sent / processes >= 0.9 * formula);
    free(v);
    free(out);
    pair_close(&p);
}

static void test_long_messages_pass_in_parts(void **state)
{
    enum { COUNT = 5000000 };
    kfe_context *ctx = NULL;
    double *values = malloc(COUNT * sizeof *values);

    (void)state;
    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_ok(ctx, kfe_context_set_cluster(ctx, NULL));
    int process = kfe_context_process(ctx);
    int processes = kfe_context_processes(ctx);
    for (int64_t i = 0; i < COUNT; i++)
        values[i] = (double)(i + process);
    assert_ok(ctx, kfe_i_cluster_sum(ctx, values, COUNT));
    for (int64_t i = 0; i < COUNT; i++)
        if (values[i] != (double)(i * processes + processes * (processes - 1) / 2))
            fail_msg("sum %lld is %g", (long long)i, values[i]);
    for (int64_t i = 0; i < COUNT; i++)
        values[i] = i >= kfe_i_share_begin(COUNT, process, processes) &&
                            i < kfe_i_share_begin(COUNT, process + 1, processes)
                        ? (double)i
                        : -1;
    assert_ok(ctx, kfe_i_cluster_gather_rows(ctx, values, COUNT, 1));
    for (int64_t i = 0; i < COUNT; i++)
        if (values[i] != (double)i)
            fail_msg("number %lld is %g", (long long)i, values[i]);
    free(values);
    kfe_context_free(ctx);
}

/* The ways that divide their work, against the operator of one process: the residual is what they were asked for, and all processes have the
 * bits of process 0. A factor in single precision is wrong by about √n·2⁻²³·n/ridge < 0.01, so that every correction gains two digits. */
static void check_way(const pair *p, const kfe_i_gram *one, const kfe_i_gram *all, kfe_i_solve_way way)
{
    enum { RIGHT = 3, MOST_CORRECTIONS = 5 };
    int64_t n = p->table.rows;
    const double ridge = 0.5;
    kfe_i_solve_effort effort = {0};
    double *right = support_random(4, n * RIGHT);
    double *x = support_random(5, n * RIGHT);
    double *other = support_random(6, n * RIGHT);

    assert_ok(p->together,
              kfe_i_solve_by(&(kfe_i_system){all, ridge, KFE_TOLERANCE, right, RIGHT, x}, way, &effort));
    assert_int_equal(effort.way, way);
    if (way == KFE_SOLVE_DIVIDED)
        assert_in_range(effort.iterations, 1, MOST_CORRECTIONS);
    assert_ok(p->alone, kfe_i_gram_times(one, x, RIGHT, other));
    for (int64_t j = 0; j < RIGHT; j++) {
        double error = 0, norm = 0;
        for (int64_t i = j; i < n * RIGHT; i += RIGHT) {
            error += pow(right[i] - other[i] - ridge * x[i], 2);
            norm += right[i] * right[i];
        }
        assert_true(sqrt(error) <= 2 * KFE_TOLERANCE * sqrt(norm));
    }
    memcpy(other, x, (size_t)(n * RIGHT) * sizeof *x);
    assert_ok(p->together, kfe_i_cluster_broadcast(p->together, 0, other, n * RIGHT * (int64_t)sizeof *x));
    assert_memory_equal(x, other, (size_t)(n * RIGHT) * sizeof *x);
    free(right);
    free(x);
    free(other);
}

/* Sizes: fewer rows than processes, than a panel, than a step, than two strips of all, and more. */
static void test_ways_divide_their_work(void **state)
{
    static const int64_t sizes[] = {1, 2, 65, 300, 1100, 2100};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        pair p;
        kfe_i_gram *one = NULL;
        kfe_i_gram *all = NULL;
        pair_open(&p, sizes[s], 0, "rbf:gamma=0.3", NULL);
        check_way(&p, p.one, p.all, KFE_SOLVE_DIVIDED);
        if (sizes[s] > 2) {
            assert_ok(p.alone, kfe_i_gram_centred(p.alone, p.one, &one));
            assert_ok(p.together, kfe_i_gram_centred(p.together, p.all, &all));
            check_way(&p, one, all, KFE_SOLVE_DIVIDED);
            check_way(&p, one, all, KFE_SOLVE_CG);
        }
        kfe_i_gram_free(one);
        kfe_i_gram_free(all);
        pair_close(&p);
    }
}

/* (2n² + 512n)(p − 1)/p bytes for each process (divided_factor.c), averaged over them; and no factor of an indefinite matrix. */
static void test_factor_sends_what_the_formula_says(void **state)
{
    enum { ROWS = 2100 };
    pair p;
    kfe_cluster_info before, after;
    kfe_i_divided_factor factor = {0};
    int definite = 0;

    (void)state;
    pair_open(&p, ROWS, 0, "rbf:gamma=0.3", NULL);
    const kfe_i_cluster *cluster = p.together->cluster;
    cluster->table->info(cluster->handle, &before);
    assert_ok(p.together, kfe_i_divided_factor_new(p.all, 0.5, 1, &factor, &definite));
    assert_true(definite);
    cluster->table->info(cluster->handle, &after);
    double sent = (double)(after.bytes_sent - before.bytes_sent);
    assert_ok(p.together, kfe_i_cluster_sum(p.together, &sent, 1));
    double processes = kfe_context_processes(p.together);
    double formula = (2.0 * ROWS * ROWS + 512.0 * ROWS) * (processes - 1) / processes;
    assert_true(sent / processes <= 1.02 * formula && sent / processes >= 0.98 * formula);
    kfe_i_divided_factor_free(&factor);
    assert_ok(p.together, kfe_i_divided_factor_new(p.all, -0.9, 1, &factor, &definite));
    assert_false(definite);
    pair_close(&p);
}

/* ---- failures ---- */

/* One process fails while the others wait in a collective call: all learn why, and can go on. */
static void test_failure_of_one_reaches_all(void **state)
{
    kfe_context *ctx = NULL;
    kfe_status status = KFE_OK;
    double one = 1;

    (void)state;
    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_ok(ctx, kfe_context_set_cluster(ctx, NULL));
    if (kfe_context_process(ctx) == 1)
        status = kfe_fail(ctx, KFE_EINPUT, "no more coal");
    else
        status = kfe_i_cluster_sum(ctx, &one, 1);
    assert_int_not_equal(status, KFE_OK);
    assert_int_equal(kfe_context_agree(ctx, status), KFE_EINPUT);
    assert_non_null(strstr(kfe_error_message(ctx), "process 1 of "));
    assert_non_null(strstr(kfe_error_message(ctx), "no more coal"));
    one = 1;
    assert_ok(ctx, kfe_i_cluster_sum(ctx, &one, 1));
    assert_true(one == kfe_context_processes(ctx));
    assert_int_equal(kfe_context_agree(ctx, KFE_OK), KFE_OK);
    status = kfe_fail(ctx, KFE_EINPUT, "no more coal");
    assert_int_equal(kfe_context_agree(ctx, status), KFE_EINPUT);
    assert_string_equal(kfe_error_message(ctx), "no more coal"); /* the same everywhere: told once */
    kfe_context_free(ctx);
}

static void test_differing_data_is_refused(void **state)
{
    kfe_context *ctx = NULL;
    char expected[64];

    (void)state;
    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_ok(ctx, kfe_context_set_cluster(ctx, NULL));
    assert_ok(ctx, kfe_i_cluster_compare(ctx, 7, "the data"));
    int last = kfe_context_processes(ctx) - 1;
    uint64_t number = kfe_context_process(ctx) == last ? 8 : 7;
    if (last > 0) {
        snprintf(expected, sizeof expected, "the data of process %d differs", last);
        assert_int_equal(kfe_i_cluster_compare(ctx, number, "the data"), KFE_EINPUT);
        assert_non_null(strstr(kfe_error_message(ctx), expected));
    }
    kfe_context_free(ctx);
}

static void test_differing_words_are_named(void **state)
{
    kfe_context *ctx = NULL;
    const char *const texts[2][2] = {
        {"fit kpca(dim=5,center=yes) seed=1", "fit kpca(dim=6,center=yes) seed=1"}, {"fit", "fit longer"}};
    static const char *const says[2] = {"'dim=6' where process 0 was given 'dim=5'",
                                        "'longer' where process 0 was given nothing"};
    char expected[96];

    (void)state;
    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_ok(ctx, kfe_context_set_cluster(ctx, NULL));
    int last = kfe_context_processes(ctx) - 1;
    int differs = kfe_context_process(ctx) == last && last > 0;
    for (int t = 0; t < 2; t++) {
        assert_ok(ctx, kfe_i_cluster_compare_text(ctx, texts[t][0]));
        kfe_status code = kfe_i_cluster_compare_text(ctx, texts[t][differs]);
        assert_int_equal(code, last > 0 ? KFE_EINVAL : KFE_OK);
        if (last > 0) {
            snprintf(expected, sizeof expected, "process %d was given %s", last, says[t]);
            assert_non_null(strstr(kfe_error_message(ctx), expected));
        }
    }
    kfe_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_panels_are_dealt_once),
        cmocka_unit_test(test_divided_operator_equals_one),
        cmocka_unit_test(test_limit_is_that_of_each_process),
        cmocka_unit_test(test_products_send_what_the_formula_says),
        cmocka_unit_test(test_long_messages_pass_in_parts),
        cmocka_unit_test(test_ways_divide_their_work),
        cmocka_unit_test(test_factor_sends_what_the_formula_says),
        cmocka_unit_test(test_differing_data_is_refused),
        cmocka_unit_test(test_differing_words_are_named),
        cmocka_unit_test(test_failure_of_one_reaches_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
