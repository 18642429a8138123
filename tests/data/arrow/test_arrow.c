/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow tables made by hand: every kind of column, chunks, offsets, nulls; every release callback is called exactly once. */
#include <errno.h>
#include <math.h>

#include "data/data.h"
#include "kfe_arrow.h"
#include "support/support.h"
#include "support/sweep.h"

enum { MOST = 6 };

/* A table of constant buffers, and how often each of its parts was released. */
typedef struct producer {
    int columns, chunks, sent;
    int fails_at; /* get_next fails at this chunk; -1: never */
    struct ArrowSchema fields[MOST], *field_list[MOST];
    struct ArrowSchema dictionary_field;
    struct ArrowArray arrays[2][MOST], *array_lists[2][MOST];
    struct ArrowArray dictionary;
    int64_t lengths[2], offsets[2];
    int schemas_released, arrays_released, streams_released, schemas_given, arrays_given;
} producer;

static void release_schema(struct ArrowSchema *schema)
{
    ((producer *)schema->private_data)->schemas_released++;
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    ((producer *)array->private_data)->arrays_released++;
    array->release = NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    ((producer *)stream->private_data)->streams_released++;
    stream->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    producer *from = stream->private_data;

    from->schemas_given++;
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = from->columns,
                                .children = from->field_list,
                                .release = release_schema,
                                .private_data = from};
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    producer *from = stream->private_data;

    if (from->sent == from->fails_at)
        return EIO;
    memset(out, 0, sizeof *out);
    if (from->sent == from->chunks)
        return 0;
    *out = (struct ArrowArray){.length = from->lengths[from->sent],
                               .offset = from->offsets[from->sent],
                               .n_buffers = 1,
                               .n_children = from->columns,
                               .children = from->array_lists[from->sent],
                               .release = release_array,
                               .private_data = from};
    from->sent++;
    from->arrays_given++;
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the disk is full of water";
}

static void begin(producer *made, struct ArrowArrayStream *stream)
{
    memset(made, 0, sizeof *made);
    made->fails_at = -1;
    *stream = (struct ArrowArrayStream){get_schema, get_next, last_error, release_stream, made};
}

static void add_field(producer *to, const char *name, const char *format)
{
    to->fields[to->columns] = (struct ArrowSchema){.format = format, .name = name};
    to->field_list[to->columns] = &to->fields[to->columns];
    to->columns++;
}

/* The buffers of one column in one chunk. */
static void set_array(producer *to, int chunk, int column, const void **buffers, int64_t count,
                      int64_t length)
{
    to->arrays[chunk][column] = (struct ArrowArray){
        .length = length, .null_count = buffers[0] ? -1 : 0, .n_buffers = count, .buffers = buffers};
    to->array_lists[chunk][column] = &to->arrays[chunk][column];
}

static void assert_released(const producer *made)
{
    assert_int_equal(made->streams_released, 1);
    assert_int_equal(made->schemas_released, made->schemas_given);
    assert_int_equal(made->arrays_released, made->arrays_given);
}

static const double doubles[] = {1.5, 2.5, 3.5, 4.5};
static const int32_t ints[] = {7, 8, 9};
static const float floats[] = {0.5f, 1, 2};
static const unsigned char valid[] = {5}; /* rows 0 and 2 */
static const int32_t ends[] = {0, 1, 3, 4};
static const char letters[] = "abbc";
static const unsigned char bits[] = {6};
static const void *double_buffers[] = {NULL, doubles}, *int_buffers[] = {NULL, ints},
                  *float_buffers[] = {valid, floats};
static const void *text_buffers[] = {NULL, ends, letters}, *bit_buffers[] = {NULL, bits};
/* A string view holds up to 12 bytes itself; the second one is in a buffer of its own. */
static const char long_text[] = "--a text of twenty six by.";
static int32_t views[3][4];
static const int64_t view_sizes[] = {sizeof long_text};
static const void *view_buffers[] = {NULL, views, long_text, view_sizes};
static const int8_t codes[] = {1, 0, 1};
static const void *code_buffers[] = {NULL, codes};
static const int64_t wide_ends[] = {0, 2, 4};
static const void *wide_buffers[] = {NULL, wide_ends, "noye"};

/* Three rows: a double, an int, a float with a null, text, a Boolean label. */
static void make_table(producer *made, struct ArrowArrayStream *stream)
{
    begin(made, stream);
    add_field(made, "d", "g");
    add_field(made, "i", "i");
    add_field(made, "f", "f");
    add_field(made, "t", "u");
    add_field(made, "flag", "b");
    made->chunks = 1;
    made->lengths[0] = 3;
    set_array(made, 0, 0, double_buffers, 2, 4);
    made->arrays[0][0].offset = 1;
    made->arrays[0][0].length = 3;
    set_array(made, 0, 1, int_buffers, 2, 3);
    set_array(made, 0, 2, float_buffers, 2, 3);
    set_array(made, 0, 3, text_buffers, 3, 3);
    set_array(made, 0, 4, bit_buffers, 2, 3);
}

static void columns_of_every_kind(void **state)
{
    kfe_context *ctx = *state;
    static const double expected[] = {2.5, 7, 0.5, 1, 0, 0, 3.5, 8, 1.25, 0, 1, 0, 4.5, 9, 2, 0, 0, 1};
    producer made;
    struct ArrowArrayStream stream;
    kfe_data *data = NULL;

    make_table(&made, &stream);
    assert_ok(ctx, kfe_data_from_arrow_stream(ctx, &stream, "encode=auto,missing=mean", &data));
    assert_released(&made);
    assert_int_equal(kfe_data_rows(data), 3);
    assert_int_equal(kfe_data_cols(data, 0), 6);
    for (int p = 0; p < 18; p++)
        assert_true(kfe_i_table_value(&data->views[0].table, p / 6, p % 6) == expected[p]);
    assert_string_equal(kfe_data_column_name(data, 0, 3), "t=a");
    assert_string_equal(kfe_data_class_name(data, kfe_data_class_of(data, 0)), "false");
    assert_string_equal(kfe_data_class_name(data, kfe_data_class_of(data, 1)), "true");
    kfe_data_free(data);
    make_table(&made, &stream);
    assert_ok(ctx, kfe_data_from_arrow_stream(ctx, &stream, "id=t,label=none,select=d", &data));
    assert_int_equal(kfe_data_cols(data, 0), 1);
    assert_memory_equal(data->ids.bytes, "abbc", 4);
    kfe_data_free(data);
}

static void chunks_views_and_dictionaries(void **state)
{
    kfe_context *ctx = *state;
    producer made;
    struct ArrowArrayStream stream;
    kfe_data *data = NULL;

    views[0][0] = 1;
    memcpy(&views[0][1], "x", 1);
    views[1][0] = 24;
    views[1][2] = 0;
    views[1][3] = 2;
    views[2][0] = 0;
    begin(&made, &stream);
    add_field(&made, "name", "vu");
    add_field(&made, "x", "g");
    add_field(&made, "kind", "c");
    made.dictionary_field = (struct ArrowSchema){.format = "U"};
    made.fields[2].dictionary = &made.dictionary_field;
    made.dictionary = (struct ArrowArray){.length = 2, .n_buffers = 3, .buffers = wide_buffers};
    made.chunks = 2;
    for (int k = 0; k < 2; k++) {
        set_array(&made, k, 0, view_buffers, 4, 3);
        set_array(&made, k, 1, double_buffers, 2, 4);
        set_array(&made, k, 2, code_buffers, 2, 3);
        made.arrays[k][2].dictionary = &made.dictionary;
        made.lengths[k] = k == 0 ? 3 : 2;
        made.offsets[k] = k;
    }
    assert_ok(ctx, kfe_data_from_arrow_stream(ctx, &stream, "id=name", &data));
    assert_released(&made);
    assert_int_equal(kfe_data_rows(data), 5);
    assert_true(data->views[0].table.values[3] == 2.5 && data->views[0].table.values[4] == 3.5);
    assert_string_equal(kfe_data_class_name(data, kfe_data_class_of(data, 0)), "ye");
    assert_string_equal(kfe_data_class_name(data, kfe_data_class_of(data, 3)), "no");
    assert_int_equal(data->ids.row_start[2] - data->ids.row_start[1], 24);
    assert_memory_equal(data->ids.bytes, "xa text of twenty six by.", 25);
    kfe_data_free(data);
}

static void tables_that_are_refused(void **state)
{
    kfe_context *ctx = *state;
    producer made;
    struct ArrowArrayStream stream;
    kfe_data *data = NULL;

    make_table(&made, &stream);
    assert_fails(ctx, KFE_EINPUT, "column 4 ('t') of the Arrow table holds text",
                 kfe_data_from_arrow_stream(ctx, &stream, "", &data));
    assert_released(&made);
    assert_fails(ctx, KFE_EINVAL, "taken by another call",
                 kfe_data_from_arrow_stream(ctx, &stream, "", &data));
    make_table(&made, &stream);
    assert_fails(ctx, KFE_EINPUT, "is missing",
                 kfe_data_from_arrow_stream(ctx, &stream, "encode=auto", &data));
    assert_released(&made);
    make_table(&made, &stream);
    made.fields[0].format = "tdD";
    assert_fails(ctx, KFE_EINPUT, "Arrow type 'tdD'", kfe_data_from_arrow_stream(ctx, &stream, "", &data));
    assert_released(&made);
    make_table(&made, &stream);
    made.fails_at = 1;
    assert_fails(ctx, KFE_EINPUT, "full of water", kfe_data_from_arrow_stream(ctx, &stream, "", &data));
    assert_released(&made);
    make_table(&made, &stream);
    made.lengths[0] = 4;
    assert_fails(ctx, KFE_EINPUT, "shorter than its chunk",
                 kfe_data_from_arrow_stream(ctx, &stream, "", &data));
    assert_released(&made);
    make_table(&made, &stream);
    made.chunks = 0;
    assert_fails(ctx, KFE_EINPUT, "no rows", kfe_data_from_arrow_stream(ctx, &stream, "", &data));
    assert_released(&made);
    assert_null(data);
}

/* Structures that no sound producer makes: a message, not a crash. */
static void damaged_structures(void **state)
{
    kfe_context *ctx = *state;
    static const void *null_buffers[] = {NULL, NULL, NULL};
    static const void *nul_buffers[] = {NULL, ends, "a\0bc"};
    struct {
        const char *text;
        int64_t offset, length, buffer_count;
        const void **buffers;
        const char *format;
    } cases[] = {{"damaged", INT64_MAX, 3, 3, text_buffers, "u"},
                 {"damaged", -1, 3, 3, text_buffers, "u"},
                 {"damaged", 0, INT64_MAX, 3, text_buffers, "u"},
                 {"damaged", 0, 3, 2, text_buffers, "u"},
                 {"damaged", 0, 3, 1, text_buffers, "i"},
                 {"damaged", 0, 3, 3, null_buffers, "u"},
                 {"damaged", 0, 3, 2, NULL, "g"},
                 {"has no type", 0, 3, 3, text_buffers, NULL},
                 {"column 't' of the Arrow table has a NUL byte in row 2", 0, 3, 3, nul_buffers, "u"}};
    producer made;
    struct ArrowArrayStream stream;
    kfe_data *data = NULL;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        make_table(&made, &stream);
        made.fields[3].format = cases[c].format;
        made.arrays[0][3] = (struct ArrowArray){.length = cases[c].length,
                                                .offset = cases[c].offset,
                                                .n_buffers = cases[c].buffer_count,
                                                .buffers = cases[c].buffers};
        assert_fails(ctx, KFE_EINPUT, cases[c].text,
                     kfe_data_from_arrow_stream(ctx, &stream, "encode=auto,missing=mean", &data));
        assert_released(&made);
    }
    make_table(&made, &stream);
    made.lengths[0] = INT64_MAX;
    made.offsets[0] = INT64_MAX;
    assert_fails(ctx, KFE_EINPUT, "does not fit its schema",
                 kfe_data_from_arrow_stream(ctx, &stream, "encode=auto", &data));
    assert_released(&made);
    assert_null(data);
}

static kfe_status take_table(kfe_context *ctx, void *user)
{
    producer made;
    struct ArrowArrayStream stream;
    kfe_data *data = NULL;
    kfe_status status;

    (void)user;
    make_table(&made, &stream);
    status = kfe_data_from_arrow_stream(ctx, &stream, "encode=auto,missing=mean,groups=i", &data);
    kfe_data_free(data);
    assert_released(&made);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    support_sweep_all("arrow", take_table, NULL, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(columns_of_every_kind),         with_context(chunks_views_and_dictionaries),
        with_context(tables_that_are_refused),       with_context(damaged_structures),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
