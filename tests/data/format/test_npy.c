/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy arrays built byte by byte from NumPy's description of the format, and zip archives from PKWARE's. */
#include <math.h>
#include <stdio.h>
#include <zlib.h>

#include "data/data.h"
#include "support/support.h"
#include "support/sweep.h"

typedef struct bytes {
    unsigned char data[4096];
    size_t size;
} bytes;

static void add(bytes *out, const void *data, size_t size)
{
    assert_true(out->size + size <= sizeof out->data);
    memcpy(out->data + out->size, data, size);
    out->size += size;
}

static void add_number(bytes *out, uint64_t value, int size)
{
    for (int k = 0; k < size; k++, value >>= 8)
        add(out, &(unsigned char){(unsigned char)(value & 0xff)}, 1);
}

/* A header whose dictionary is `text`, in format version `version`. */
static bytes begin_npy(int version, const char *text)
{
    bytes out = {.size = 0};
    unsigned char head[] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)version, 0};

    add(&out, head, sizeof head);
    add_number(&out, strlen(text), version == 1 ? 2 : 4);
    add(&out, text, strlen(text));
    return out;
}

static bytes make_npy(const char *descr, const char *order, const char *shape, const void *data, size_t size)
{
    char text[256];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n", descr, order,
             shape);
    bytes out = begin_npy(1, text);
    add(&out, data, size);
    return out;
}

static kfe_status read_bytes(kfe_context *ctx, const bytes *file, const char *options, kfe_data **data)
{
    return kfe_data_read(ctx, support_file("t.npy", file->data, file->size), options, data);
}

static void assert_values(kfe_context *ctx, const bytes *file, int64_t rows, int64_t cols,
                          const double *expected)
{
    kfe_data *data = NULL;

    assert_ok(ctx, read_bytes(ctx, file, "label=none", &data));
    assert_int_equal(kfe_data_rows(data), rows);
    assert_int_equal(kfe_data_cols(data, 0), cols);
    for (int64_t p = 0; p < rows * cols; p++)
        assert_true(kfe_i_table_value(&data->views[0].table, p / cols, p % cols) == expected[p]);
    kfe_data_free(data);
}

static void types_and_orders(void **state)
{
    kfe_context *ctx = *state;
    static const double doubles[] = {1.5, -2, 3, 4, 5, 6};
    static const double turned[] = {1.5, 3, 5, -2, 4, 6}; /* the file is stored column by column */
    static const float floats[] = {1.5f, -2, 3, 4, 5, 6};
    static const int32_t ints[] = {1, -2, 3};
    static const int64_t longs[] = {1, -2, 3};
    static const unsigned char small[] = {1, 0, 255};
    static const unsigned char big_endian[] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0};
    static const double whole[] = {1, -2, 3};
    static const double unsigned_bytes[] = {1, 0, 255};
    static const double signed_bytes[] = {1, 0, -1};
    bytes file = make_npy("<f8", "False", "2, 3", doubles, sizeof doubles);

    assert_values(ctx, &file, 2, 3, doubles);
    file = make_npy("<f8", "True", "2, 3", doubles, sizeof doubles);
    assert_values(ctx, &file, 2, 3, turned);
    file = make_npy("<f4", "False", "2, 3", floats, sizeof floats);
    assert_values(ctx, &file, 2, 3, doubles);
    file = make_npy("<i4", "False", "3,", ints, sizeof ints);
    assert_values(ctx, &file, 3, 1, whole);
    file = make_npy("<i8", "False", "1, 3", longs, sizeof longs);
    assert_values(ctx, &file, 1, 3, whole);
    file = make_npy("|u1", "False", "3,", small, sizeof small);
    assert_values(ctx, &file, 3, 1, unsigned_bytes);
    file = make_npy("|i1", "False", "3,", small, sizeof small);
    assert_values(ctx, &file, 3, 1, signed_bytes);
    file = make_npy(">f8", "False", "1,", big_endian, sizeof big_endian);
    assert_values(ctx, &file, 1, 1, doubles);
}

static void header_versions(void **state)
{
    kfe_context *ctx = *state;
    static const double values[] = {7, 8};

    for (int version = 1; version <= 3; version++) {
        bytes file =
            begin_npy(version, "{\"shape\": (2L, 1L), 'fortran_order': False, 'descr': '<f8'}          \n");
        add(&file, values, sizeof values);
        assert_values(ctx, &file, 2, 1, values);
    }
}

static void label_columns(void **state)
{
    kfe_context *ctx = *state;
    static const double values[] = {1, 10, 0, 2, 20, 1, 3, 30, 0};
    bytes file = make_npy("<f8", "False", "3, 3", values, sizeof values);
    kfe_data *data = NULL;

    assert_ok(ctx, read_bytes(ctx, &file, "task=classify", &data));
    assert_int_equal(kfe_data_cols(data, 0), 2);
    assert_int_equal(kfe_data_classes(data), 2);
    assert_true(data->views[0].table.values[5] == 30);
    kfe_data_free(data);
    assert_ok(ctx, read_bytes(ctx, &file, "label=2,task=regress", &data));
    assert_true(data->target.values[2] == 30);
    assert_true(data->views[0].table.values[4] == 3 && data->views[0].table.values[3] == 1);
    kfe_data_free(data);
    assert_ok(ctx, read_bytes(ctx, &file, "columns=3", &data));
    assert_int_equal(kfe_data_task(data), KFE_TASK_NONE);
    kfe_data_free(data);
    assert_fails(ctx, KFE_EINPUT, "out of range", read_bytes(ctx, &file, "label=4", &data));
}

static void types_decide_what_labels_are(void **state)
{
    kfe_context *ctx = *state;
    static const double real[] = {1, 0, 2, 1, 3, 0};
    static const int32_t whole[] = {1, 0, 2, 1, 3, 0};
    bytes file = make_npy("<f8", "False", "3, 2", real, sizeof real);
    kfe_data *data = NULL;

    support_catch_log(ctx);
    assert_ok(ctx, read_bytes(ctx, &file, NULL, &data));
    assert_int_equal(kfe_data_task(data), KFE_TASK_REAL);
    assert_non_null(strstr(support_log(), "use task=classify if they are classes"));
    kfe_data_free(data);
    file = make_npy("<i4", "False", "3, 2", whole, sizeof whole);
    assert_ok(ctx, read_bytes(ctx, &file, NULL, &data));
    assert_int_equal(kfe_data_classes(data), 2);
    kfe_data_free(data);
}

static void missing_and_infinite_values(void **state)
{
    kfe_context *ctx = *state;
    const double gaps[] = {1, (double)NAN, 0, 2, 20, 1, 3, 30, (double)NAN};
    const double infinite[] = {1, 2, (double)INFINITY, 4};
    bytes file = make_npy("<f8", "False", "3, 3", gaps, sizeof gaps);
    kfe_data *data = NULL;

    assert_fails(ctx, KFE_EINPUT, "row 1, column 2 is missing", read_bytes(ctx, &file, "label=none", &data));
    assert_fails(ctx, KFE_EINPUT, "label of row 3", read_bytes(ctx, &file, "missing=mean", &data));
    assert_ok(ctx, read_bytes(ctx, &file, "missing=drop", &data));
    assert_int_equal(kfe_data_rows(data), 1);
    assert_true(data->views[0].table.values[1] == 20);
    kfe_data_free(data);
    assert_ok(ctx, read_bytes(ctx, &file, "missing=mean,label=none", &data));
    assert_true(data->views[0].table.values[1] == 25 && data->views[0].table.values[8] == 0.5);
    kfe_data_free(data);
    file = make_npy("<f8", "False", "2, 2", infinite, sizeof infinite);
    assert_fails(ctx, KFE_EINPUT, "row 2, column 1 is infinite",
                 read_bytes(ctx, &file, "label=none,missing=mean", &data));
}

static void hostile_headers(void **state)
{
    kfe_context *ctx = *state;
    static const double one = 1;
    static const struct {
        const char *descr, *order, *shape, *reason;
    } cases[] = {
        {"<f8", "False", "2, 2", "promises 32 bytes of data, but there are 8"},
        {"<f8", "False", "4611686018427387904, 4", "impossible shape"},
        {"<f8", "False", "99999999999999999999,", "header is damaged"},
        {"<f8", "False", "-1,", "header is damaged"},
        {"<f8", "False", "1, 1, 1", "3 dimensions"},
        {"<f8", "False", "", "0 dimensions"},
        {"<f8", "False", "0, 5", "empty"},
        {"<f8", "Maybe", "1,", "header is damaged"},
        {"|O", "False", "1,", "astype"},
        {"<c16", "False", "1,", "'<c16' cannot be read"},
        {"<f16", "False", "1,", "cannot be read"},
        {"<U999999999", "False", "1,", "impossible element size"},
        {"<U2", "False", "1,", "text where numbers"},
    };
    kfe_data *data = NULL;

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bytes file = make_npy(cases[k].descr, cases[k].order, cases[k].shape, &one, sizeof one);
        assert_fails(ctx, KFE_EINPUT, cases[k].reason, read_bytes(ctx, &file, "label=none", &data));
        assert_null(data);
    }
    bytes file = make_npy("<f8", "False", "1,", &one, sizeof one);
    for (size_t size = 1; size < file.size; size++) { /* every possible truncation */
        bytes cut = file;
        cut.size = size;
        assert_true(read_bytes(ctx, &cut, "label=none,format=npy", &data) == KFE_EINPUT);
    }
    assert_fails(ctx, KFE_EINPUT, "wrong magic",
                 kfe_data_read(ctx, support_text("t.npy", "1,2,3,4,5\n"), NULL, &data));
    file.data[6] = 9;
    assert_fails(ctx, KFE_EINPUT, "version", read_bytes(ctx, &file, NULL, &data));
}

static void a_gzipped_promise_is_not_believed(void **state)
{
    kfe_context *ctx = *state;
    static const double one = 1;
    bytes file = make_npy("<f8", "False", "1000000,", &one, sizeof one);
    const char *path = support_path("t.npy.gz");
    gzFile packed = gzopen(path, "wb");
    kfe_data *data = NULL;

    assert_int_equal(gzwrite(packed, file.data, (unsigned)file.size), (int)file.size);
    gzclose(packed);
    assert_fails(ctx, KFE_EINPUT, "truncated", kfe_data_read(ctx, path, "label=none", &data));
}

/* ---- archives ---- */

typedef struct archive {
    bytes file, directory;
    int count;
} archive;

static bytes deflated(const bytes *plain)
{
    bytes out = {.size = 0};
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)plain->data, .avail_in = (uInt)plain->size};

    z.next_out = out.data;
    z.avail_out = sizeof out.data;
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out.size = z.total_out;
    deflateEnd(&z);
    return out;
}

static void add_member(archive *zip, const char *name, const bytes *plain, int method, int flags)
{
    bytes packed = method == 8 ? deflated(plain) : *plain;
    size_t offset = zip->file.size;
    bytes common = {.size = 0};

    add_number(&common, 45, 2);
    add_number(&common, (uint64_t)flags, 2);
    add_number(&common, (uint64_t)method, 2);
    add_number(&common, 0, 4);
    add_number(&common, crc32(0, plain->data, (uInt)plain->size), 4);
    add_number(&common, packed.size, 4);
    add_number(&common, plain->size, 4);
    add_number(&common, strlen(name), 2);
    add(&zip->file, "PK\3\4", 4);
    add(&zip->file, common.data, common.size);
    add_number(&zip->file, 20, 2); /* an extra field, which the reader must skip */
    add(&zip->file, name, strlen(name));
    add(&zip->file, "\1\0\20\0", 4);
    add_number(&zip->file, plain->size, 8);
    add_number(&zip->file, packed.size, 8);
    add(&zip->file, packed.data, packed.size);
    add(&zip->directory, "PK\1\2\55\0", 6);
    add(&zip->directory, common.data, common.size);
    add_number(&zip->directory, 0, 8);
    add_number(&zip->directory, 0, 4);
    add_number(&zip->directory, offset, 4);
    add(&zip->directory, name, strlen(name));
    zip->count++;
}

static bytes end_archive(const archive *zip)
{
    bytes out = zip->file;

    add(&out, zip->directory.data, zip->directory.size);
    add(&out, "PK\5\6\0\0\0\0", 8);
    add_number(&out, (uint64_t)zip->count, 2);
    add_number(&out, (uint64_t)zip->count, 2);
    add_number(&out, zip->directory.size, 4);
    add_number(&out, zip->file.size, 4);
    add_number(&out, 0, 2);
    return out;
}

static const double table_values[] = {1, 2, 3, 4};

static bytes dense_archive(int method, int flags)
{
    archive zip = {.count = 0};
    static const char words[] = "a\0\0\0\xe9\0\0\0b\0\0\0\0\0\0\0"; /* "aé", "b" as UTF-32 */
    bytes x = make_npy("<f8", "False", "2, 2", table_values, sizeof table_values);
    bytes y = make_npy("<U2", "False", "2,", words, 16);

    add_member(&zip, "X.npy", &x, method, flags);
    add_member(&zip, "y.npy", &y, method, flags);
    return end_archive(&zip);
}

static void archives_of_x_and_y(void **state)
{
    kfe_context *ctx = *state;

    for (int method = 0; method <= 8; method += 8) {
        bytes file = dense_archive(method, 0);
        kfe_data *data = NULL;
        assert_ok(ctx, read_bytes(ctx, &file, NULL, &data));
        assert_int_equal(kfe_data_cols(data, 0), 2);
        assert_memory_equal(data->views[0].table.values, table_values, sizeof table_values);
        assert_string_equal(kfe_data_class_name(data, 0), "a\xc3\xa9");
        assert_string_equal(kfe_data_class_name(data, 1), "b");
        kfe_data_free(data);
        assert_ok(ctx, read_bytes(ctx, &file, "label=none", &data));
        assert_int_equal(kfe_data_task(data), KFE_TASK_NONE);
        kfe_data_free(data);
    }
}

static void archives_that_are_refused(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;
    bytes file = dense_archive(0, 1);

    assert_fails(ctx, KFE_EINPUT, "encrypted", read_bytes(ctx, &file, NULL, &data));
    file = dense_archive(12, 0);
    assert_fails(ctx, KFE_EINPUT, "method 12", read_bytes(ctx, &file, NULL, &data));
    for (int method = 0; method <= 8; method += 8) {
        file = dense_archive(method, 0);
        for (size_t size = 4; size < file.size; size++) {
            bytes cut = file;
            cut.size = size;
            assert_true(read_bytes(ctx, &cut, NULL, &data) == KFE_EINPUT);
        }
        /* an altered byte may be accepted or refused, but must not crash the reader */
        for (size_t place = 60; place < file.size; place += 3) {
            bytes altered = file;
            altered.data[place] ^= 0x41;
            if (read_bytes(ctx, &altered, NULL, &data) == KFE_OK)
                kfe_data_free(data);
        }
    }
}

static bytes sparse_archive(const char *format, const int32_t *indices, const int32_t *starts)
{
    archive zip = {.count = 0};
    static const double values[] = {5, 6, 7};
    static const int64_t shape[] = {3, 4};
    static const int64_t labels[] = {0, 1, 1};
    bytes part = make_npy("<i4", "False", "3,", indices, 12);

    add_member(&zip, "indices.npy", &part, 8, 0);
    part = make_npy("<i4", "False", "4,", starts, 16);
    add_member(&zip, "indptr.npy", &part, 8, 0);
    part = make_npy("|S3", "False", "", format, 3);
    add_member(&zip, "format.npy", &part, 8, 0);
    part = make_npy("<i8", "False", "2,", shape, sizeof shape);
    add_member(&zip, "shape.npy", &part, 8, 0);
    part = make_npy("<f8", "False", "3,", values, sizeof values);
    add_member(&zip, "data.npy", &part, 8, 0);
    part = make_npy("<i8", "False", "3,", labels, sizeof labels);
    add_member(&zip, "y.npy", &part, 8, 0);
    return end_archive(&zip);
}

static void sparse_archives(void **state)
{
    kfe_context *ctx = *state;
    static const int32_t indices[] = {0, 3, 1};
    static const int32_t outside[] = {0, 4, 1};
    static const int32_t starts[] = {0, 2, 2, 3};
    static const int32_t falling[] = {0, 3, 2, 3};
    static const int64_t expected_starts[] = {0, 2, 2, 3};
    static const int32_t unsorted[] = {3, 0, 1};
    kfe_data *data = NULL;
    bytes file = sparse_archive("csr", indices, starts);

    assert_ok(ctx, read_bytes(ctx, &file, NULL, &data));
    assert_true(kfe_data_is_sparse(data, 0));
    assert_int_equal(kfe_data_rows(data), 3);
    assert_int_equal(kfe_data_cols(data, 0), 4);
    assert_memory_equal(data->views[0].table.row_start, expected_starts, sizeof expected_starts);
    assert_memory_equal(data->views[0].table.columns, indices, sizeof indices);
    assert_int_equal(kfe_data_classes(data), 2);
    kfe_data_free(data);
    file = sparse_archive("csc", indices, starts);
    assert_fails(ctx, KFE_EINPUT, "tocsr", read_bytes(ctx, &file, NULL, &data));
    file = sparse_archive("csr", outside, starts);
    assert_fails(ctx, KFE_EINPUT, "out of range", read_bytes(ctx, &file, NULL, &data));
    file = sparse_archive("csr", indices, falling);
    assert_fails(ctx, KFE_EINPUT, "indptr", read_bytes(ctx, &file, NULL, &data));
    file = sparse_archive("csr", unsorted, starts);
    assert_fails(ctx, KFE_EINPUT, "sum_duplicates", read_bytes(ctx, &file, NULL, &data));
}

static void every_allocation_may_fail(void **state)
{
    bytes file = dense_archive(8, 0);
    support_reading one = {support_file("t.npz", file.data, file.size), NULL};
    (void)state;

    support_sweep_all("archive", support_read_use, &one, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(types_and_orders),
        with_context(header_versions),
        with_context(label_columns),
        with_context(types_decide_what_labels_are),
        with_context(missing_and_infinite_values),
        with_context(hostile_headers),
        with_context(a_gzipped_promise_is_not_believed),
        with_context(archives_of_x_and_y),
        with_context(archives_that_are_refused),
        with_context(sparse_archives),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
