/* SPDX-License-Identifier: Apache-2.0 */
/* MatrixMarket, ARFF and FASTA files written by hand from the descriptions of the formats, compressed files, and files that are named
 * for what they are. */
#include <math.h>

#include "data/data.h"
#include "data/packing/packing.h"
#include "support/support.h"
#include "support/sweep.h"

static kfe_data *read_text(kfe_context *ctx, const char *name, const char *text, const char *options)
{
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_read(ctx, support_text(name, text), options, &data));
    return data;
}

static void assert_refused(kfe_context *ctx, const char *name, const char *text, const char *options,
                           const char *says)
{
    kfe_data *data = NULL;

    assert_fails(ctx, KFE_EINPUT, says, kfe_data_read(ctx, support_text(name, text), options, &data));
    assert_null(data);
}

static void assert_table(const kfe_data *data, int64_t rows, int64_t cols, const double *expected)
{
    const kfe_i_table *table = &data->views[0].table;
    double row[16];

    assert_int_equal(table->rows, rows);
    assert_int_equal(table->cols, cols);
    for (int64_t i = 0; i < rows; i++) {
        kfe_i_table_dense_row(table, i, row);
        for (int64_t j = 0; j < cols; j++)
            assert_true(row[j] == expected[i * cols + j]);
    }
}

static void assert_class(const kfe_data *data, int64_t i, const char *name)
{
    assert_string_equal(data->target.names[data->target.codes[i]], name);
}

/* ---- MatrixMarket ---- */

#define COORDINATE "%%MatrixMarket matrix coordinate real general\n% comment\n\n2 3 4\n"

static void coordinates_in_any_order(void **state)
{
    kfe_context *ctx = *state;
    static const double expected[] = {1.5, 0, -2, 0, 7, 0};
    kfe_data *data = read_text(ctx, "t.mtx", COORDINATE "2 2 3\n1 3 -2\n2 2 4\n1 1 1.5\n", "");

    assert_int_equal(data->views[0].table.kind, KFE_TABLE_CSR);
    assert_ok(ctx, kfe_i_table_check(ctx, &data->views[0].table));
    assert_table(data, 2, 3, expected); /* the two entries at (2, 2) are added */
    assert_int_equal(data->target.task, KFE_TASK_NONE);
    kfe_data_free(data);
}

static void symmetric_and_pattern(void **state)
{
    kfe_context *ctx = *state;
    static const double symmetric[] = {1, 2, 2, 0}, skew[] = {0, -2, 2, 0}, pattern[] = {1, 0, 0, 1};
    static const double array[] = {1, 2, 3, 2, 4, 5, 3, 5, 6};
    kfe_data *data = read_text(
        ctx, "t.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 1\n2 1 2\n", "");

    assert_table(data, 2, 2, symmetric);
    kfe_data_free(data);
    data =
        read_text(ctx, "t.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 2\n", "");
    assert_table(data, 2, 2, skew);
    kfe_data_free(data);
    data = read_text(ctx, "t.mtx", "%%matrixmarket MATRIX coordinate pattern general\n2 2 2\n1 1\n2 2\n", "");
    assert_table(data, 2, 2, pattern);
    kfe_data_free(data);
    data = read_text(ctx, "t.mtx", "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
                     "label=none");
    assert_table(data, 3, 3, array);
    kfe_data_free(data);
    data = read_text(ctx, "t.mtx", "%%MatrixMarket matrix array real skew-symmetric\n2 2\n2\n", "label=none");
    assert_table(data, 2, 2, skew);
    kfe_data_free(data);
}

static void arrays_have_labels(void **state)
{
    kfe_context *ctx = *state;
    static const double expected[] = {1.5, 2, 3};
    const char *text = "%%MatrixMarket matrix array real general\n3 2\n1.5\n2\n3\n0\n1\n0\n";
    kfe_data *data = read_text(ctx, "t.mtx", text, "");

    assert_table(data, 3, 1, expected);
    assert_int_equal(data->target.task, KFE_TASK_CLASSES);
    assert_class(data, 1, "1");
    kfe_data_free(data);
    data = read_text(ctx, "t.mtx", text, "select=2,label=none");
    assert_table(data, 3, 1, (const double[]){0, 1, 0});
    kfe_data_free(data);
}

static void matrices_that_are_refused(void **state)
{
    kfe_context *ctx = *state;

    assert_refused(ctx, "t.mtx", COORDINATE "1 1 1\n", "", "ends after 1 of 4 entries");
    assert_refused(ctx, "t.mtx", COORDINATE "3 1 1\n", "", ":5: '3': a whole number from 1 to 2");
    assert_refused(ctx, "t.mtx", "%%MatrixMarket matrix array real general\n100000 100000\n1\n", "",
                   "too short");
    assert_refused(ctx, "t.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n2\n", "label=none",
                   "more numbers");
    assert_refused(ctx, "t.mtx", "%%MatrixMarket matrix array complex general\n1 1\n1 2\n", "",
                   "real numbers");
    assert_refused(ctx, "t.mtx", "%%MatrixMarket vector array real general\n1 1\n1\n", "",
                   "matrix coordinate");
    assert_refused(ctx, "t.mtx", "%%MatrixMarket matrix array real general\n1 1\ninf\n", "label=none",
                   "finite");
    assert_refused(ctx, "t.mtx", "%%MatrixMarket matrix array real general\n", "", "ends before the line");
}

/* ---- ARFF ---- */

#define HEADER                                                                                               \
    "% comment\n@RELATION 'a b'\n@attribute 'the width' NUMERIC\n@attribute color {red, 'dark blue'}\n"      \
    "@attribute kind {1.5,2.5}\n\n@data\n"

static void dense_attributes(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data =
        read_text(ctx, "t.arff", HEADER "1,red,1.5\n% comment\n 2 , 'dark blue' ,2.5\n", "encode=auto");
    static const double expected[] = {1, 0, 1, 2, 1, 0};

    assert_table(data, 2, 3, expected);
    assert_string_equal(data->views[0].column_names[0], "the width");
    assert_string_equal(data->views[0].column_names[1], "color=dark blue");
    assert_string_equal(data->target_name, "kind");
    assert_int_equal(data->target.task, KFE_TASK_CLASSES); /* declared, although the values have decimals */
    kfe_data_free(data);
    data = read_text(ctx, "t.arff", HEADER "?,red,1.5\n2,?,2.5\n3,red,1.5\n", "encode=auto,missing=mean");
    assert_true(data->views[0].table.values[0] == 2.5);
    kfe_data_free(data);
    data = read_text(ctx, "t.arff", HEADER "1,red,1.5\n2,red,2.5\n", "drop=color,label=the width");
    assert_int_equal(data->views[0].table.cols, 1);
    kfe_data_free(data);
}

static void sparse_attributes(void **state)
{
    kfe_context *ctx = *state;
    static const double expected[] = {0, 2.5, 1, 0, 0, 0};
    kfe_data *data = read_text(ctx, "t.arff",
                               "@relation r\n@attribute a real\n@attribute kind {no,yes}\n@attribute b real\n"
                               "@data\n{2 2.5}\n{0 1,1 yes}\n{}\n",
                               "label=kind");

    assert_int_equal(data->views[0].table.kind, KFE_TABLE_CSR);
    assert_table(data, 3, 2, expected);
    assert_class(data, 0, "no");
    assert_class(data, 1, "yes");
    kfe_data_free(data);
}

static void attributes_that_are_refused(void **state)
{
    kfe_context *ctx = *state;

    assert_refused(ctx, "t.arff", HEADER "1,red,1.5\n2,green,1.5\n", "encode=auto",
                   "t.arff:9: @attribute color does not declare the value 'green'");
    assert_refused(ctx, "t.arff", HEADER "1,red,1.5\n\nx,red,1.5\n", "encode=2", "t.arff:10");
    assert_refused(ctx, "t.arff", HEADER "1,red\n", "encode=auto", "t.arff:8");
    assert_refused(ctx, "t.arff", HEADER "1,red,1.5,{2}\n", "encode=auto",
                   "more values than the 3 attributes");
    assert_refused(ctx, "t.arff", HEADER "1,'red,1.5\n", "encode=auto", "never closed");
    assert_refused(ctx, "t.arff", HEADER, "", "no row follows");
    assert_refused(ctx, "t.arff", "@relation r\n@attribute a real\n", "", "before the line '@data'");
    assert_refused(ctx, "t.arff", "@relation r\n@attribute a relational\n@data\n", "", "relational");
    assert_refused(ctx, "t.arff", "@relation r\n@attribute a real\n@data\n{5 1}\n", "label=none",
                   "from 0 to 0");
    assert_refused(ctx, "t.arff", "@relation r\n@attribute a real\n@data\n{0 1\n", "label=none", "truncated");
}

/* ---- FASTA ---- */

static void sequences_and_labels(void **state)
{
    kfe_context *ctx = *state;
    const char *text = ">a1 kind=pos one\nACG\nt\n; comment\n\n>a2 [kind=neg two]\r\nA C*\r\n";
    kfe_data *data = read_text(ctx, "t.fasta", text, "label=kind,id=name");
    const kfe_i_table *table = &data->views[0].table;

    assert_int_equal(table->kind, KFE_TABLE_TEXT);
    assert_int_equal(table->rows, 2);
    assert_memory_equal(table->bytes, "ACGtAC*", 7);
    assert_int_equal(table->row_start[1], 4);
    assert_class(data, 0, "pos");
    assert_class(data, 1, "neg two");
    assert_memory_equal(data->ids.bytes, "a1a2", 4);
    kfe_data_free(data);
    data = read_text(ctx, "t.txt", text, "label_pattern=a([0-9])"); /* recognised by its form */
    assert_class(data, 1, "2");
    kfe_data_free(data);
    data = read_text(ctx, "t.fa", text, "label_pattern=kind=pos,missing=drop");
    assert_int_equal(kfe_data_rows(data), 1);
    kfe_data_free(data);
}

static void sequences_that_are_refused(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;

    assert_refused(ctx, "t.fa", ">a\n>b\nAC\n", "", "t.fa:1: the record 'a' has no sequence");
    assert_refused(ctx, "t.fa", "AC\n", "", "begins with a line '>NAME'");
    assert_refused(ctx, "t.fa", ">a\nAC9\n", "", "t.fa:2:3: a sequence consists of letters");
    assert_refused(ctx, "t.fa", ">a\nAC\n", "label_pattern=kind", "does not match 'kind'");
    assert_fails(ctx, KFE_EINVAL, "is not a regular expression",
                 kfe_data_read(ctx, support_text("t.fa", ">a\nAC\n"), "label_pattern=(", &data));
    assert_fails(ctx, KFE_EINVAL, "is for FASTA files",
                 kfe_data_read(ctx, support_text("t.csv", "1,2\n"), "label_pattern=x", &data));
}

/* ---- compressed files ---- */

static void packed_files(void **state)
{
    kfe_context *ctx = *state;
    static const char *const names[] = {"t.csv.gz", "t.csv.xz", "t.csv.zst"};
    kfe_data *data = read_text(ctx, "t.csv", "x,y\n1,a\n2.5,b\n", "");

    for (int k = 0; k < 3; k++) {
        kfe_data *back = NULL;
        const char *path = support_text(names[k], "");
        if (!kfe_i_packing_at(k)->begin) {
            print_message("skipped: this build has no %s\n", names[k]);
            assert_fails(ctx, KFE_EINVAL, "build kfe with", kfe_data_write(ctx, data, path));
            continue;
        }
        assert_ok(ctx, kfe_data_write(ctx, data, path));
        assert_ok(ctx, kfe_data_read(ctx, path, "", &back));
        assert_table(back, 2, 1, (const double[]){1, 2.5});
        kfe_data_free(back);
    }
    kfe_data_free(data);
}

/* What xz makes of "1,2\n3,4\n", and a Zstandard frame of one raw block with the same bytes (RFC 8878). */
static const unsigned char xz_bytes[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x07, 0x31, 0x2c, 0x32, 0x0a, 0x33,
    0x2c, 0x34, 0x0a, 0x00, 0x1a, 0xa1, 0x55, 0xcc, 0x87, 0x10, 0x5f, 0x87, 0x00, 0x01, 0x20, 0x08,
    0xbb, 0x19, 0xd9, 0xbb, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a};
static const unsigned char zstd_bytes[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x41, 0x00, 0x00, 0x31, 0x2c,
                                           0x32, 0x0a, 0x33, 0x2c, 0x34, 0x0a, 0x0e, 0x73, 0xba, 0x36};

static void assert_packed(kfe_context *ctx, const kfe_i_packing *packing, const unsigned char *bytes,
                          size_t size)
{
    static const double twice[] = {1, 2, 3, 4, 1, 2, 3, 4};
    unsigned char both[256];
    kfe_data *data = NULL;

    memcpy(both, bytes, size);
    memcpy(both + size, bytes, size);
    if (!packing->begin) {
        print_message("skipped: this build has no %s\n", packing->name);
        assert_fails(ctx, KFE_EINPUT, "this build of kfe does not read",
                     kfe_data_read(ctx, support_file("t.csv", both, size), "label=none", &data));
        return;
    }
    assert_ok(ctx, kfe_data_read(ctx, support_file("t.csv", both, 2 * size), "label=none", &data));
    assert_table(data, 4, 2, twice); /* one stream may follow the other */
    kfe_data_free(data);
    for (size_t cut = 8; cut < size; cut++)
        assert_fails(ctx, KFE_EINPUT, "ends too early",
                     kfe_data_read(ctx, support_file("t.csv", both, cut), "label=none", &data));
    memcpy(both + size, "garbage, not a stream", 21);
    assert_fails(ctx, KFE_EINPUT, "damaged",
                 kfe_data_read(ctx, support_file("t.csv", both, size + 21), "label=none", &data));
}

static void packed_by_others(void **state)
{
    assert_packed(*state, kfe_i_packing_at(1), xz_bytes, sizeof xz_bytes);
    assert_packed(*state, kfe_i_packing_at(2), zstd_bytes, sizeof zstd_bytes);
}

/* ---- files of other programs ---- */

static void foreign_files(void **state)
{
    kfe_context *ctx = *state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } files[] = {
        {"PAR1\x15\0\x15", 7, "Parquet"},
        {"\x80\4\x95\0", 4, "pickle"},
        {"RDX3\nX\n\0", 8, "RData"},
        {"ARROW1\0\0", 8, "Feather"},
        {"<!DOCTYPE html>", 15, "web page"},
        {"{\"a\": 1}", 8, "JSON"},
        {"@r1\nACGT\n+\nIIII\n", 16, "FASTQ"},
        {"SQLite format 3\0", 16, "SQLite"},
        {"\xff\xfe"
         "1\0,\0",
         6, "UTF-16"},
    };
    kfe_data *data = NULL;
    char tar[512] = "table.csv";

    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        assert_fails(ctx, KFE_EINPUT, files[k].says,
                     kfe_data_read(ctx, support_file("t.dat", files[k].bytes, files[k].size), "", &data));
    memcpy(tar + 257, "ustar", 5);
    assert_fails(ctx, KFE_EINPUT, "a tar archive, not a table; unpack it first",
                 kfe_data_read(ctx, support_file("t.dat", tar, sizeof tar), "", &data));
    data = read_text(ctx, "t.csv", "ORC,PAR1\n1,2\n2,1\n", ""); /* text is not taken for something else */
    kfe_data_free(data);
}

/* ---- memory ---- */

/* `harmless`: the CSV reader goes on if a block that could be smaller stays large. */
static void sweep_reading(const char *name, const char *path, const char *options, int64_t harmless)
{
    support_reading one = {path, options};

    support_sweep_run(&(support_sweep){
        .name = name, .use = support_read_use, .user = &one, .at_least = 5, .harmless = harmless});
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sweep_reading("coordinate", support_text("t.mtx", COORDINATE "2 2 3\n1 3 -2\n2 2 4\n1 1 1.5\n"), "", 0);
    sweep_reading(
        "array", support_text("t.mtx", "%%MatrixMarket matrix array real general\n3 2\n1.5\n2\n3\n0\n1\n0\n"),
        "", 0);
    sweep_reading("arff", support_text("t.arff", HEADER "1,red,1.5\n2,'dark blue',2.5\n"), "encode=auto", 1);
    sweep_reading(
        "sparse arff",
        support_text("t.arff", "@relation r\n@attribute a real\n@attribute k {n,y}\n@data\n{0 1,1 y}\n{}\n"),
        "", 0);
    sweep_reading("fasta", support_text("t.fa", ">a k=1\nAC\n>b k=2\nACC\n"), "label=k,id=name", 0);
    if (kfe_i_packing_at(1)->begin)
        sweep_reading("xz", support_file("t.csv", xz_bytes, sizeof xz_bytes), "label=none", 1);
    if (kfe_i_packing_at(2)->begin)
        sweep_reading("zstd", support_file("t.csv", zstd_bytes, sizeof zstd_bytes), "label=none", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(coordinates_in_any_order),
        with_context(symmetric_and_pattern),
        with_context(arrays_have_labels),
        with_context(matrices_that_are_refused),
        with_context(dense_attributes),
        with_context(sparse_attributes),
        with_context(attributes_that_are_refused),
        with_context(sequences_and_labels),
        with_context(sequences_that_are_refused),
        with_context(packed_files),
        with_context(packed_by_others),
        with_context(foreign_files),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
