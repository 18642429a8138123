/* SPDX-License-Identifier: Apache-2.0 */
/* Data written in every format that can hold it reads back unchanged. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "data/data.h"
#include "support/support.h"
#include "support/sweep.h"

static const double awkward[] = {0.1,     -0.0,           1e-300, DBL_MAX, DBL_MIN, 4.9e-324,
                                 1.0 / 3, -123456789.125, 0,      2,       0,       0};
enum { ROWS = 4, COLS = 3 };

static kfe_data *make_dense(kfe_context *ctx, const char *const *labels)
{
    kfe_data *data = NULL;
    assert_ok(ctx, kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, awkward, &data));
    if (labels)
        assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    return data;
}

static void assert_same_table(kfe_context *ctx, const kfe_data *a, const kfe_data *b)
{
    double left[16], right[16];

    assert_int_equal(kfe_data_rows(a), kfe_data_rows(b));
    assert_int_equal(kfe_data_cols(a, 0), kfe_data_cols(b, 0));
    for (int64_t i = 0; i < kfe_data_rows(a); i++) {
        assert_ok(ctx, kfe_data_row(ctx, a, 0, i, left));
        assert_ok(ctx, kfe_data_row(ctx, b, 0, i, right));
        for (int64_t j = 0; j < kfe_data_cols(a, 0); j++)
            assert_true(left[j] == right[j]);
    }
}

static void assert_same_labels(const kfe_data *a, const kfe_data *b)
{
    assert_int_equal(kfe_data_task(a), kfe_data_task(b));
    assert_int_equal(kfe_data_classes(a), kfe_data_classes(b));
    for (int64_t i = 0; i < kfe_data_rows(a); i++)
        if (kfe_data_task(a) == KFE_TASK_CLASSES)
            assert_string_equal(kfe_data_class_name(a, kfe_data_class_of(a, i)),
                                kfe_data_class_name(b, kfe_data_class_of(b, i)));
        else
            assert_true(a->target.values[i] == b->target.values[i]);
}

static void roundtrip(kfe_context *ctx, const kfe_data *data, const char *name, const char *options)
{
    const char *path = support_path(name);
    kfe_data *back = NULL;

    assert_ok(ctx, kfe_data_write(ctx, data, path));
    assert_ok(ctx, kfe_data_read(ctx, path, options, &back));
    assert_same_table(ctx, data, back);
    assert_same_labels(data, back);
    kfe_data_free(back);
}

static void dense_data_in_all_formats(void **state)
{
    kfe_context *ctx = *state;
    static const char *const names[] = {"o.csv",    "o.tsv",    "o.npy",    "o.npz",    "o.svm",
                                        "o.libsvm", "o.csv.gz", "o.npy.gz", "o.svm.gz", "O.TSV.GZ"};
    static const char *const integers[] = {"2", "-1", "2", "7"};
    static const double targets[] = {0.1, 0.2, 1e9, -3.5};
    static const double whole_targets[] = {1, 2, 1e300, -4};
    kfe_data *data = make_dense(ctx, integers);

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        roundtrip(ctx, data, names[k],
                  strstr(names[k], ".npy") ? "task=classify" : NULL); /* .npy has one type for all columns */
    kfe_data_free(data);
    data = make_dense(ctx, NULL);
    assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, targets));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        roundtrip(ctx, data, names[k], NULL);
    assert_ok(ctx,
              kfe_data_set_targets(ctx, data, 1, whole_targets)); /* whole numbers that stay real targets */
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        roundtrip(ctx, data, names[k], NULL);
    kfe_data_free(data);
}

static void labels_that_need_quotes(void **state)
{
    kfe_context *ctx = *state;
    static const char *const labels[] = {"a,b \"c\"", "NA", " two\nlines\t", "d\xc3\xa9j\xc3\xa0"};
    kfe_data *data = make_dense(ctx, labels);

    roundtrip(ctx, data, "q.csv", NULL);
    roundtrip(ctx, data, "q.tsv", NULL);
    assert_fails(ctx, KFE_EINVAL, "does not fit", kfe_data_write(ctx, data, support_path("q.svm")));
    assert_fails(ctx, KFE_EINVAL, "write .npz", kfe_data_write(ctx, data, support_path("q.npy")));
    kfe_data_free(data);
}

static void text_labels_in_archives(void **state)
{
    kfe_context *ctx = *state;
    static const char *const labels[] = {"\xf0\x9f\x8d\x8e", "x", "d\xc3\xa9j\xc3\xa0", "x"};
    static const char *const spellings[] = {"1.0", "2", "2.0", "1"};
    kfe_data *data = make_dense(ctx, labels);

    roundtrip(ctx, data, "t.npz", NULL);
    kfe_data_free(data);
    data = make_dense(ctx, spellings); /* two classes; one keeps its unusual spelling */
    roundtrip(ctx, data, "t.npz", "task=classify");
    kfe_data_free(data);
}

static void sparse_data_in_all_formats(void **state)
{
    kfe_context *ctx = *state;
    static const int64_t starts[] = {0, 2, 2, 3, 4};
    static const int32_t columns[] = {0, 4, 2, 4};
    static const double values[] = {0.1, -2, 3, 1e-5};
    static const char *const labels[] = {"a", "b", "a", "b"};
    static const char *const numbers[] = {"0", "1", "0", "1"};
    kfe_data *data = NULL;
    kfe_data *back = NULL;

    assert_ok(ctx, kfe_data_wrap_csr(ctx, 4, 5, starts, columns, values, &data));
    assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    roundtrip(ctx, data, "s.svm", NULL);
    roundtrip(ctx, data, "s.csv", NULL);
    roundtrip(ctx, data, "s.npz", NULL);
    assert_ok(ctx, kfe_data_read(ctx, support_path("s.npz"), NULL, &back));
    assert_true(kfe_data_is_sparse(back, 0));
    kfe_data_free(back);
    assert_ok(ctx, kfe_data_set_labels(ctx, data, numbers));
    roundtrip(ctx, data, "s.npy", "task=classify");
    kfe_data_free(data);
}

static void headers_and_strings(void **state)
{
    kfe_context *ctx = *state;
    static const char *const strings[] = {"ACGT", "a \"b\", c", "", "x\ny"};
    static const char *const labels[] = {"p", "q", "p", "q"};
    kfe_data *data = NULL;
    kfe_data *back = NULL;

    assert_ok(ctx, kfe_data_read(ctx, support_text("h.csv", "\"a,1\",b,kind\n1,2,x\n3,4,y\n"), NULL, &data));
    assert_ok(ctx, kfe_data_write(ctx, data, support_path("h.tsv")));
    assert_ok(ctx, kfe_data_read(ctx, support_path("h.tsv"), NULL, &back));
    assert_string_equal(kfe_data_column_name(back, 0, 0), "a,1");
    assert_string_equal(back->target_name, "kind");
    kfe_data_free(back);
    kfe_data_free(data);
    assert_ok(ctx, kfe_data_from_text(ctx, 4, strings, &data));
    assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    assert_ok(ctx, kfe_data_write(ctx, data, support_path("h.csv")));
    assert_ok(ctx, kfe_data_read(ctx, support_path("h.csv"), "content=strings", &back));
    assert_int_equal(kfe_data_rows(back), 4);
    assert_memory_equal(back->views[0].table.row_start, data->views[0].table.row_start, 5 * sizeof(int64_t));
    assert_memory_equal(back->views[0].table.bytes, data->views[0].table.bytes, 15);
    assert_same_labels(data, back);
    kfe_data_free(back);
    assert_fails(ctx, KFE_EINVAL, "strings", kfe_data_write(ctx, data, support_path("h.npy")));
    kfe_data_free(data);
}

static void matrices(void **state)
{
    kfe_context *ctx = *state;
    double values[] = {1, 2, 99, 3, 4, 99};
    kfe_matrix matrix = {.rows = 2, .cols = 2, .stride = 3, .values = values};
    static const char *const names[] = {"m.csv", "m.tsv", "m.npy", "m.npz"};
    char text[64] = "";

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        kfe_data *back = NULL;
        assert_ok(ctx, kfe_matrix_write(ctx, &matrix, support_path(names[k])));
        assert_ok(ctx, kfe_data_read(ctx, support_path(names[k]), "label=none", &back));
        assert_int_equal(kfe_data_cols(back, 0), 2);
        assert_true(back->views[0].table.values[2] == 3);
        kfe_data_free(back);
    }
    FILE *file = fopen(support_path("m.csv"), "rb");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "z1,z2\n1,2\n3,4\n");
}

static int file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

static int cancel_at_once(void *user)
{
    (void)user;
    return 1;
}

static void failures_leave_nothing_behind(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = make_dense(ctx, NULL);

    assert_fails(ctx, KFE_EINVAL, "extension", kfe_data_write(ctx, data, support_path("x.xyz")));
    assert_fails(ctx, KFE_EINVAL, "extension", kfe_data_write(ctx, data, support_path("noextension")));
    assert_fails(ctx, KFE_EINVAL, "compressed again", kfe_data_write(ctx, data, support_path("x.npz.gz")));
    assert_fails(ctx, KFE_EIO, "directory does not exist",
                 kfe_data_write(ctx, data, support_path("no/such/x.csv")));
    kfe_context_on_cancel(ctx, cancel_at_once, NULL);
    assert_fails(ctx, KFE_ECANCEL, "writing", kfe_data_write(ctx, data, support_path("x.csv")));
    assert_false(file_exists(support_path("x.csv")));
    kfe_data_free(data);
}

static kfe_status write_once(kfe_context *ctx, void *path)
{
    static const char *const labels[] = {"1", "2", "1", "2"};
    kfe_data *data = NULL;
    kfe_status status = kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, awkward, &data);

    remove(path);
    if (status == KFE_OK)
        status = kfe_data_set_labels(ctx, data, labels);
    if (status == KFE_OK)
        status = kfe_data_write(ctx, data, path);
    assert_int_equal(file_exists(path), status == KFE_OK);
    kfe_data_free(data);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    static const char *const names[] = {"f.csv.gz", "f.npz", "f.npy"};
    (void)state;

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[512];
        snprintf(path, sizeof path, "%s", support_path(names[k]));
        support_sweep_all(names[k], write_once, path, 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(dense_data_in_all_formats),     with_context(labels_that_need_quotes),
        with_context(text_labels_in_archives),       with_context(sparse_data_in_all_formats),
        with_context(headers_and_strings),           with_context(matrices),
        with_context(failures_leave_nothing_behind), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
