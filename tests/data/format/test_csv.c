/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of delimited text: dialects, headers, labels, missing values, and errors with their positions. */
#include <stdio.h>
#include <zlib.h>

#include "data/data.h"
#include "support/read.h"
#include "support/sweep.h"

static void assert_shape(const kfe_data *data, int64_t rows, int64_t cols)
{
    assert_int_equal(kfe_data_rows(data), rows);
    assert_int_equal(kfe_data_cols(data, 0), cols);
}

#define assert_read_fails(ctx, code, message, text, options)                                                 \
    do {                                                                                                     \
        kfe_data *refused = NULL;                                                                            \
        assert_fails(ctx, code, message,                                                                     \
                     kfe_data_read(ctx, support_text("t.csv", text), options, &refused));                    \
        assert_null(refused);                                                                                \
    } while (0)

static void header_and_text_labels(void **state)
{
    kfe_context *ctx = *state;
    support_catch_log(ctx);
    kfe_data *data = support_read_text(ctx, "a,b,kind\n1,2,red\n3,4.5,blue\n-5e1,6,red\n", NULL);

    assert_shape(data, 3, 2);
    assert_true(support_value_at(data, 1, 1) == 4.5 && support_value_at(data, 2, 0) == -50);
    assert_string_equal(kfe_data_column_name(data, 0, 1), "b");
    assert_int_equal(kfe_data_classes(data), 2);
    assert_string_equal(kfe_data_class_name(data, 1), "red");
    assert_int_equal(kfe_data_class_of(data, 2), 1);
    assert_non_null(strstr(support_log(), "t.csv: 3 rows, 2 columns, 2 classes from column 'kind'"));
    kfe_data_free(data);
}

static void what_spreadsheets_write(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = support_read_text(ctx,
                                       "\xef\xbb\xbf\"len \"\"x\"\"\",\"a,b\",\"two\nlines\"\r\n"
                                       "\r\n1,\"2\",\"say \"\"hi\"\", you\"\r\n  \r\n 3 , 4 , plain \r\n"
                                       "5,6,\"multi\nline\"",
                                       NULL);

    assert_shape(data, 3, 2);
    assert_string_equal(kfe_data_column_name(data, 0, 0), "len \"x\"");
    assert_string_equal(kfe_data_column_name(data, 0, 1), "a,b");
    assert_string_equal(data->target_name, "two\nlines");
    assert_true(support_value_at(data, 0, 1) == 2 && support_value_at(data, 1, 0) == 3 &&
                support_value_at(data, 2, 1) == 6);
    assert_string_equal(kfe_data_class_name(data, 0), "multi\nline");
    assert_string_equal(kfe_data_class_name(data, 1), "plain");
    assert_string_equal(kfe_data_class_name(data, 2), "say \"hi\", you");
    kfe_data_free(data);
    data = support_read_text(ctx, "1,2,a\r3,4,b\r", NULL); /* line ends of old Macs */
    assert_shape(data, 2, 2);
    kfe_data_free(data);
}

static void delimiters_are_guessed(void **state)
{
    kfe_context *ctx = *state;
    static const char *const same[] = {"1\t2\ta\n3\t4\tb\n", "1;2;a\n3;4;b\n", "1|2|a\n3|4|b\n",
                                       " 1  2 a\n3 4   b \n"};

    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        kfe_data *data = support_read_text(ctx, same[k], NULL);
        assert_shape(data, 2, 2);
        assert_true(support_value_at(data, 1, 1) == 4);
        assert_string_equal(kfe_data_class_name(data, 1), "b");
        kfe_data_free(data);
    }
    /* a carriage return inside a line neither ends the line nor starts a new field */
    assert_read_fails(ctx, KFE_EINPUT, "t.csv:2", "1 2\n3 \r\"4 x\n5 \r\" ", "delimiter=space,header=no");
    kfe_data *data = support_read_text(ctx, "1:2:3\n4:5:6\n", "delimiter=:,label=none");
    assert_shape(data, 2, 3);
    kfe_data_free(data);
    assert_read_fails(ctx, KFE_EINVAL, "delimiter", "1,2\n", "delimiter=xyz");
}

static void the_label_column_can_be_chosen(void **state)
{
    kfe_context *ctx = *state;
    const char *text = "id,x,y\n1,2.5,3\n2,3.5,4\n";
    static const struct {
        const char *options, *name;
        int64_t cols;
        double first;
    } cases[] = {{"label=first", "id", 2, 2.5}, {"label=x", "x", 2, 1},     {"label=2", "x", 2, 1},
                 {"label=last", "y", 2, 1},     {"label=none", NULL, 3, 1}, {"columns=3", NULL, 3, 1},
                 {"columns=2", "y", 2, 1}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        kfe_data *data = support_read_text(ctx, text, cases[k].options);
        assert_shape(data, 2, cases[k].cols);
        assert_true(support_value_at(data, 0, 0) == cases[k].first);
        assert_true((data->target_name == NULL) == (cases[k].name == NULL));
        if (cases[k].name)
            assert_string_equal(data->target_name, cases[k].name);
        kfe_data_free(data);
    }
    assert_read_fails(ctx, KFE_EINPUT, "has 3 columns", text, "label=7");
    assert_read_fails(ctx, KFE_EINPUT, "t.csv: no column is named 'idd' (did you mean 'id'?)", text,
                      "label=idd");
    assert_read_fails(ctx, KFE_EINPUT, "label=none", "1\n2\n", NULL);
}

static void headers_are_detected(void **state)
{
    kfe_context *ctx = *state;
    /* text in the label column does not make the first row a header */
    kfe_data *data = support_read_text(ctx, "1,2,a\n3,4,b\n", NULL);
    assert_shape(data, 2, 2);
    assert_null(kfe_data_column_name(data, 0, 0));
    kfe_data_free(data);
    data = support_read_text(ctx, "1,2,3\n3,4,1\n", "header=yes");
    assert_shape(data, 1, 2);
    assert_string_equal(kfe_data_column_name(data, 0, 0), "1");
    kfe_data_free(data);
    data = support_read_text(ctx, "NA,2,a\n3,4,b\n", "missing=drop");
    assert_shape(data, 1, 2);
    kfe_data_free(data);
    assert_read_fails(ctx, KFE_EINPUT, "t.csv:1:1: field 1 is 'x'", "x,y,l\n1,2,3\n", "header=no");
}

static void bad_cells_are_named(void **state)
{
    kfe_context *ctx = *state;

    assert_read_fails(ctx, KFE_EINPUT, "t.csv:3:2: field 2 ('b') is '4x', which is not a number",
                      "a,b,c\n1,2,x\n3,4x,y\n", NULL);
    assert_int_equal(kfe_error_line(ctx), 3);
    assert_int_equal(kfe_error_column(ctx), 2);
    assert_read_fails(ctx, KFE_EINPUT, "t.csv:3:3: field 3 is 'y', which is not a number", "1,2,3\n\n3,4,y\n",
                      "label=none");
}

static void ragged_rows_and_odd_values(void **state)
{
    kfe_context *ctx = *state;

    assert_read_fails(ctx, KFE_EINPUT, "t.csv:3: the row has 2 fields, but the first one has 3",
                      "1,2,x\n\n3,y\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "t.csv:2: the row has 4 fields, but the first one has 3",
                      "1,2,x\n3,4,5,y\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "t.csv:2:1: field 1 is 'inf', which is not finite", "1,x\ninf,y\n",
                      NULL);
    assert_read_fails(ctx, KFE_EINPUT, "is '1e999', which is not finite", "1,x\n1e999,y\n", "missing=mean");
    assert_read_fails(ctx, KFE_EINPUT, "t.csv:2:1: field 1 is missing; fill it in, or use missing=mean",
                      "1,x\n,y\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "t.csv:2:2: field 2, the label, is missing", "1,x\n2,\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "never closed", "1,x\n2,\"y\n3,z\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "closing quote", "1,x\n2,\"y\"z\n3,z\n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "empty", "", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "no rows", "\n \n", NULL);
    assert_read_fails(ctx, KFE_EINPUT, "header but no row", "a,b,c\n", NULL);
    kfe_data *data = NULL;
    assert_fails(ctx, KFE_EINPUT, "NUL byte",
                 kfe_data_read(ctx, support_file("t.csv", "1,2\0\n", 5), NULL, &data));
}

static void unreadable_files(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;

    assert_fails(ctx, KFE_EIO, "cannot open", kfe_data_read(ctx, support_path("none.csv"), NULL, &data));
    assert_fails(ctx, KFE_EIO, "directory", kfe_data_read(ctx, "/tmp", NULL, &data));
    assert_fails(ctx, KFE_EINVAL, "did you mean 'label'", kfe_data_read(ctx, "x", "labl=1", &data));
}

static void missing_values(void **state)
{
    kfe_context *ctx = *state;
    const char *text = "1,10,a\nNA,20,b\n3,?,a\n8,30,\n";
    kfe_data *data = support_read_text(ctx, text, "missing=drop");

    assert_shape(data, 1, 2);
    assert_int_equal(kfe_data_classes(data), 1); /* the row of class b was dropped */
    kfe_data_free(data);
    assert_read_fails(ctx, KFE_EINPUT, "t.csv:4:3", text, "missing=mean");
}

static void means_fill_gaps(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = support_read_text(ctx, "1,10,a\nnan,20,b\n3,N/A,a\n8,30,b\n", "missing=mean");

    assert_shape(data, 4, 2);
    assert_true(support_value_at(data, 1, 0) == 4.0);  /* (1 + 3 + 8) / 3 */
    assert_true(support_value_at(data, 2, 1) == 20.0); /* (10 + 20 + 30) / 3 */
    kfe_data_free(data);
    assert_read_fails(ctx, KFE_EINPUT, "column 1", "NA,1,a\n,2,b\n", "missing=mean");
}

static void tasks(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = support_read_text(ctx, "1,0.5\n2,0.25\n", NULL);

    assert_int_equal(kfe_data_task(data), KFE_TASK_REAL);
    assert_true(data->target.values[1] == 0.25);
    kfe_data_free(data);
    data = support_read_text(ctx, "1,0.5\n2,0.25\n3,0.5\n", "task=classify");
    assert_int_equal(kfe_data_classes(data), 2);
    assert_string_equal(kfe_data_class_name(data, 0), "0.25");
    kfe_data_free(data);
    data = support_read_text(ctx, "1,3\n2,4\n", "task=regress");
    assert_int_equal(kfe_data_task(data), KFE_TASK_REAL);
    kfe_data_free(data);
    data = support_read_text(ctx, "1,+2\n2,2\n3,2.0\n4,-1\n",
                             NULL); /* one class, named as in its first occurrence */
    assert_int_equal(kfe_data_classes(data), 2);
    assert_string_equal(kfe_data_class_name(data, 0), "-1");
    assert_string_equal(kfe_data_class_name(data, 1), "+2");
    kfe_data_free(data);
    assert_read_fails(ctx, KFE_EINPUT, "t.csv:3:2: the label 'high' is not a finite number",
                      "1,3\n\n2,high\n", "task=regress");
}

/* Reads one feature column and these labels, one per row, and returns the task. Empties the log first. */
static kfe_task task_of(kfe_context *ctx, int rows, const char *format, double step)
{
    char text[4096] = "";
    kfe_data *data;
    kfe_task task;

    for (int i = 0; i < rows; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,", i);
        snprintf(text + strlen(text), sizeof text - strlen(text), format, i * step);
    }
    support_catch_log(ctx);
    data = support_read_text(ctx, text, NULL);
    task = kfe_data_task(data);
    kfe_data_free(data);
    return task;
}

static void doubtful_labels_ask(void **state)
{
    kfe_context *ctx = *state;

    assert_int_equal(task_of(ctx, 20, "%.0f\n", 3), KFE_TASK_CLASSES);
    assert_null(strstr(support_log(), "task="));
    assert_int_equal(task_of(ctx, 21, "%.0f\n", 3), KFE_TASK_REAL);
    assert_non_null(strstr(support_log(),
                           "t.csv: the labels are more than 20 different whole numbers, taken as "
                           "real values; use task=classify if they are classes"));
    assert_int_equal(task_of(ctx, 4, "%.1f\n", 1), KFE_TASK_REAL);
    assert_non_null(strstr(support_log(), "whole numbers stored as real ones (1.0), taken as real values"));
    assert_int_equal(task_of(ctx, 4, "%.2f\n", 0.5), KFE_TASK_REAL); /* not ambiguous */
    assert_null(strstr(support_log(), "task="));
}

static void strings(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = support_read_text(ctx, "text,label\nACGT,x\n\"G,\"\"T\",y\n", "content=strings");
    const kfe_i_table *table = &data->views[0].table;

    assert_int_equal(table->kind, KFE_TABLE_TEXT);
    assert_int_equal(table->rows, 2);
    assert_int_equal(table->row_start[1], 4);
    assert_memory_equal(table->bytes, "ACGTG,\"T", 8);
    assert_int_equal(table->row_start[2], 8);
    assert_string_equal(kfe_data_class_name(data, 1), "y");
    kfe_data_free(data);
    data = support_read_text(ctx, "x,ACGT\ny,AC\n", "content=strings,label=first");
    assert_memory_equal(data->views[0].table.bytes, "ACGTAC", 6);
    kfe_data_free(data);
    assert_read_fails(ctx, KFE_EINPUT, "one column besides the label", "a,b,c\nd,e,f\n", "content=strings");
}

static kfe_status read_with_labels(kfe_context *ctx, const char *labels, const char *more, kfe_data **data)
{
    char options[1024];
    const char *table = support_text("t.csv", "1,2\n3,4\n");

    snprintf(options, sizeof options, "label_file=%s%s", support_text("l.csv", labels), more);
    return kfe_data_read(ctx, table, options, data);
}

static void label_files(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;

    assert_ok(ctx, read_with_labels(ctx, "yes\nno\n", "", &data));
    assert_shape(data, 2, 2);
    assert_string_equal(kfe_data_class_name(data, 0), "no");
    kfe_data_free(data);
    assert_ok(ctx, read_with_labels(ctx, "answer\nno\nanswer\n", "", &data));
    assert_string_equal(data->target_name, "answer");
    assert_int_equal(kfe_data_classes(data), 2);
    assert_string_equal(kfe_data_class_name(data, 1), "no");
    kfe_data_free(data);
    assert_fails(ctx, KFE_EINPUT, "t.csv has 2 rows, but", read_with_labels(ctx, "1\n", "", &data));
    assert_non_null(strstr(kfe_error_message(ctx), "l.csv has 1 labels"));
    assert_fails(ctx, KFE_EINPUT, "one column", read_with_labels(ctx, "1,2\n1,2\n", "", &data));
    assert_fails(ctx, KFE_EINPUT, "l.csv:2:1", read_with_labels(ctx, "1\nx\n", ",task=regress", &data));
}

static void views(void **state)
{
    kfe_context *ctx = *state;
    const char *paths[] = {support_text("v1.csv", "1,2\n3,4\n"), support_text("v2.csv", "5,a\n6,b\n"),
                           support_text("v3.csv", "5,a\n6,b\n7,c\n")};
    const char *uneven[] = {paths[0], paths[2]};
    const char *names[] = {"first", NULL};
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_read_views(ctx, 2, paths, names, NULL, &data));
    assert_int_equal(kfe_data_views(data), 2);
    assert_int_equal(kfe_data_cols(data, 0), 2);
    assert_int_equal(kfe_data_cols(data, 1), 1);
    assert_int_equal(kfe_data_classes(data), 2);
    assert_string_equal(data->views[0].name, "first");
    assert_string_equal(kfe_data_view_name(data, 1), "v2");
    assert_string_equal(data->views[1].path, paths[1]);
    kfe_data_free(data);
    assert_fails(ctx, KFE_EINPUT, "v3.csv has 3", kfe_data_read_views(ctx, 2, uneven, NULL, NULL, &data));
    assert_non_null(strstr(kfe_error_message(ctx), "v1.csv has 2 rows"));
    paths[2] = support_text("v3.svm", "a 1:nan\nb 2:5\n");
    uneven[1] = paths[2];
    assert_ok(ctx, kfe_data_read_views(ctx, 2, uneven, NULL, "missing=drop", &data));
    assert_int_equal(kfe_data_rows(data), 1); /* a row that one view drops is dropped from both */
    assert_true(support_value_at(data, 0, 0) == 3);
    assert_true(data->views[1].table.values[0] == 5);
    assert_string_equal(kfe_data_class_name(data, 0), "b");
    kfe_data_free(data);
    assert_fails(ctx, KFE_EINVAL, "at least one", kfe_data_read_views(ctx, 0, paths, NULL, NULL, &data));
}

/* A file of several blocks with known values, quotes and blank lines. */
static char *make_large(int64_t rows, int quoted, size_t *size)
{
    char *text = malloc((size_t)rows * 64 + 64);
    char *c = text + sprintf(text, "a,b,c,label\n");

    assert_non_null(text);
    for (int64_t i = 0; i < rows; i++) {
        const char *label = quoted && i % 7 == 0 ? "\"odd\none\"" : i % 2 ? "one" : "two";
        c += sprintf(c, "%lld,%.17g,%lld.5,%s\n%s", (long long)i, (double)i / 3, (long long)(i % 1000), label,
                     i % 1000 == 0 ? "\n" : "");
    }
    *size = (size_t)(c - text);
    return text;
}

static void check_large(const kfe_data *data, int64_t rows, int quoted)
{
    assert_shape(data, rows, 3);
    for (int64_t i = 0; i < rows; i++) {
        const char *label = quoted && i % 7 == 0 ? "odd\none" : i % 2 ? "one" : "two";
        if (support_value_at(data, i, 0) != (double)i || support_value_at(data, i, 1) != (double)i / 3 ||
            support_value_at(data, i, 2) != (double)(i % 1000) + 0.5 ||
            strcmp(kfe_data_class_name(data, kfe_data_class_of(data, i)), label) != 0)
            fail_msg("row %lld differs", (long long)i);
    }
}

static void large_files_by_any_number_of_threads(void **state)
{
    kfe_context *ctx = *state;
    const int64_t rows = 400000;

    for (int quoted = 0; quoted < 2; quoted++) {
        size_t size = 0;
        char *text = make_large(rows, quoted, &size);
        const char *path = support_file("large.csv", text, size);
        assert_true(size > (9u << 20)); /* more than a block */
        for (int threads = 1; threads <= 5; threads += 2) {
            kfe_data *data = NULL;
            assert_ok(ctx, kfe_context_set_threads(ctx, threads));
            assert_ok(ctx, kfe_data_read(ctx, path, NULL, &data));
            check_large(data, rows, quoted);
            kfe_data_free(data);
        }
        free(text);
    }
}

static void errors_deep_in_a_file_have_their_line(void **state)
{
    kfe_context *ctx = *state;
    size_t size = 0;
    char *text = make_large(400000, 0, &size);
    char *place = strstr(text, "\n350000,");
    kfe_data *data = NULL;
    int64_t line = 1;

    assert_non_null(place);
    place[1] = 'x';
    for (char *c = text; c <= place; c++)
        line += *c == '\n';
    assert_fails(ctx, KFE_EINPUT, "'x50000'",
                 kfe_data_read(ctx, support_file("large.csv", text, size), NULL, &data));
    assert_int_equal(kfe_error_line(ctx), line);
    assert_int_equal(kfe_error_column(ctx), 1);
    free(text);
}

static const char *write_gzip(const char *name, const char *text, const char *mode)
{
    const char *path = support_path(name);
    gzFile file = gzopen(path, mode);

    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
    gzclose(file);
    return path;
}

static void gzip_files(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;
    char bytes[256];
    FILE *file;
    size_t size;

    write_gzip("t.csv.gz", "1,2,a\n3,4", "wb");
    const char *path = write_gzip("t.csv.gz", ",b\n5,6,a\n", "ab"); /* a second gzip member */
    assert_ok(ctx, kfe_data_read(ctx, path, NULL, &data));
    assert_shape(data, 3, 2);
    assert_true(support_value_at(data, 2, 1) == 6);
    kfe_data_free(data);
    file = fopen(path, "rb");
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_fails(ctx, KFE_EINPUT, "truncated",
                 kfe_data_read(ctx, support_file("cut.csv.gz", bytes, size - 5), NULL, &data));
    bytes[size - 6] ^= 0x55; /* a byte of the checksum */
    assert_fails(ctx, KFE_EINPUT, "damaged",
                 kfe_data_read(ctx, support_file("bad.csv.gz", bytes, size), NULL, &data));
}

static int cancel_at_once(void *user)
{
    (void)user;
    return 1;
}

static void reading_can_be_cancelled(void **state)
{
    kfe_context *ctx = *state;
    kfe_data *data = NULL;

    kfe_context_on_cancel(ctx, cancel_at_once, NULL);
    assert_fails(ctx, KFE_ECANCEL, "reading",
                 kfe_data_read(ctx, support_text("t.csv", "1,2\n"), NULL, &data));
    kfe_context_on_cancel(ctx, NULL, NULL);
    assert_ok(ctx, kfe_context_set_memory(ctx, 8));
    assert_fails(ctx, KFE_ELIMIT, "raise memory",
                 kfe_data_read(ctx, support_text("t.csv", "1,2,a\n1,2,b\n"), NULL, &data));
}

static void every_allocation_may_fail(void **state)
{
    static const char *const options[] = {"missing=drop", "content=strings,label=none,header=yes"};
    static const char *const texts[] = {"a,b,c\n1,2,x\n,4,\"y\"\"y\"\n5,6,z\n", "one\n\"t\"\"wo\"\n"};
    (void)state;

    for (size_t k = 0; k < 2; k++) {
        support_reading one = {support_text("t.csv", texts[k]), options[k]};
        /* after rows were dropped, the block of numbers may stay as it is if shrinking it fails */
        support_sweep_run(&(support_sweep){
            .name = options[k], .use = support_read_use, .user = &one, .at_least = 5, .harmless = k == 0});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(header_and_text_labels),
        with_context(what_spreadsheets_write),
        with_context(delimiters_are_guessed),
        with_context(the_label_column_can_be_chosen),
        with_context(headers_are_detected),
        with_context(bad_cells_are_named),
        with_context(ragged_rows_and_odd_values),
        with_context(unreadable_files),
        with_context(missing_values),
        with_context(means_fill_gaps),
        with_context(tasks),
        with_context(doubtful_labels_ask),
        with_context(strings),
        with_context(label_files),
        with_context(views),
        with_context(large_files_by_any_number_of_threads),
        with_context(errors_deep_in_a_file_have_their_line),
        with_context(gzip_files),
        with_context(reading_can_be_cancelled),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
