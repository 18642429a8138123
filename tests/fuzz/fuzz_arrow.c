/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of the Arrow C data interface: streams with odd types, lengths, offsets, nulls, dictionaries and
 * numbers of buffers. A stream is read or refused with a message, and everything is released.
 *
 * Sizes of buffers are not part of the interface, so a producer must keep its promises about them: here every buffer is
 * as long as its array claims, at most MOST_ROWS values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfe_arrow.h"

enum { MEMORY_LIMIT = 64 << 20, MOST_COLUMNS = 5, MOST_CHUNKS = 3, MOST_ROWS = 12, TEXT_BYTES = 48 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct input {
    const uint8_t *bytes;
    size_t size;
} input;

static unsigned take_byte(input *in)
{
    if (!in->size)
        return 0;
    in->size--;
    return *in->bytes++;
}

/* ---- one column: its schema and one array, each with a dictionary ---- */

typedef struct column {
    struct ArrowSchema schema, values;
    struct ArrowArray array, dictionary;
    uint8_t nulls[8], more_nulls[8];
    int64_t numbers[2 * MOST_ROWS + 2], more_numbers[2 * MOST_ROWS + 2]; /* views take 16 bytes each */
    char text[TEXT_BYTES];
    int64_t lengths[1];
    const void *buffers[4], *more_buffers[4];
    char name[8];
} column;

typedef struct producer {
    struct ArrowSchema *children[MOST_COLUMNS];
    struct ArrowArray *arrays[MOST_CHUNKS][MOST_COLUMNS];
    column columns[MOST_CHUNKS][MOST_COLUMNS];
    const char *root;
    int64_t column_count, chunk_count, next;
    int64_t chunk_offset[MOST_CHUNKS], chunk_length[MOST_CHUNKS];
    int fails, schemas, released; /* arrays and schemas that are out, and whether the stream is released */
} producer;

static void release_schema(struct ArrowSchema *schema)
{
    ((producer *)schema->private_data)->schemas--;
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    ((producer *)array->private_data)->schemas--;
    array->release = NULL;
}

/* Positions in the text that do not fall and stay inside, except that one of them may be odd. */
static void take_offsets(input *in, const char *format, int64_t *out)
{
    int64_t at = 0;

    for (int64_t i = 0; i <= MOST_ROWS; i++) {
        unsigned step = take_byte(in);
        int64_t place = step == 255 ? -1 : at;
        if (format[0] == 'U')
            out[i] = place;
        else
            ((int32_t *)out)[i] = (int32_t)place;
        at += step % 5;
        if (at > TEXT_BYTES)
            at = TEXT_BYTES;
    }
}

/* String views: up to 12 bytes inside, or 13 to 20 in the text. */
static void take_views(input *in, int64_t *out)
{
    for (int64_t i = 0; i < MOST_ROWS; i++) {
        unsigned kind = take_byte(in);
        int32_t view[4] = {(int32_t)(kind % 21), 0, 0, (int32_t)(kind % (TEXT_BYTES - 20))};
        if (kind == 255)
            view[0] = -1;
        if (kind == 254) {
            view[0] = 13;
            view[2] = 1 << 30;
        }
        memcpy((char *)out + 16 * i, view, sizeof view);
    }
}

static void take_values(input *in, const char *format, int64_t *out)
{
    if (format && (format[0] == 'u' || format[0] == 'U'))
        take_offsets(in, format, out);
    else if (format && format[0] == 'v')
        take_views(in, out);
    else
        for (size_t i = 0; i < (2 * MOST_ROWS + 2) * sizeof *out; i++)
            ((uint8_t *)out)[i] = (uint8_t)take_byte(in);
}

static const char *take_format(input *in)
{
    static const char *const formats[] = {"g", "f",  "e",       "l",   "L", "i",  "I", "s", "S",
                                          "c", "C",  "b",       "u",   "U", "vu", "n", "z", "+l",
                                          "",  NULL, "d:19,10", "tdD", "g", "g",  "u", "u", "i"};

    return formats[take_byte(in) % (sizeof formats / sizeof *formats)];
}

/* The parts of a column that make one array: its values, or the values of its dictionary. */
typedef struct parts {
    struct ArrowArray *array;
    uint8_t *nulls;
    int64_t *numbers;
    const void **buffers;
} parts;

static void fill_array(input *in, const char *format, int64_t length, column *c, int nested)
{
    parts own = {&c->array, c->nulls, c->numbers, c->buffers};
    parts inner = {&c->dictionary, c->more_nulls, c->more_numbers, c->more_buffers};
    parts to = nested ? inner : own;
    unsigned odd = take_byte(in);
    int is_text = format && (format[0] == 'u' || format[0] == 'U' || format[0] == 'v');

    for (int i = 0; i < 8; i++)
        to.nulls[i] = (uint8_t)take_byte(in);
    take_values(in, format, to.numbers);
    to.buffers[0] = odd & 1 ? to.nulls : NULL;
    to.buffers[1] = odd == 254 ? NULL : to.numbers;
    to.buffers[2] = is_text && odd != 253 ? c->text : NULL;
    to.buffers[3] = c->lengths;
    /* a dictionary that claims more values than it has cannot be told from a sound one */
    *to.array = (struct ArrowArray){.length = odd == 251              ? -1
                                              : odd == 250 && !nested ? INT64_MAX / 2
                                                                      : length,
                                    .null_count = odd & 2 ? -1 : (int64_t)(odd & 1),
                                    .offset = odd & 4      ? 1
                                              : odd == 243 ? -1
                                              : odd == 248 ? INT64_MAX
                                                           : 0,
                                    .n_buffers = odd == 255                   ? 1
                                                 : format && format[0] == 'v' ? 4
                                                 : is_text                    ? 3
                                                                              : 2,
                                    .buffers = to.buffers,
                                    .release = release_array};
}

static void fill_column(input *in, producer *p, int64_t chunk, int64_t j, int64_t length)
{
    column *c = &p->columns[chunk][j];
    const struct ArrowSchema *first = &p->columns[0][j].schema;
    unsigned kind = take_byte(in);

    c->lengths[0] = TEXT_BYTES;
    for (int i = 0; i < TEXT_BYTES; i++)
        c->text[i] = (char)take_byte(in);
    snprintf(c->name, sizeof c->name, "%c%d", kind & 8 ? 'x' : (char)kind, (int)j % 3);
    if (chunk == 0) {
        c->schema = (struct ArrowSchema){.format = take_format(in), .name = kind & 4 ? NULL : c->name};
        if (kind & 1) {
            c->values.format = take_format(in);
            c->schema.dictionary = &c->values;
        }
    }
    fill_array(in, first->format, length, c, 0);
    if (first->dictionary && kind != 255) {
        fill_array(in, first->dictionary->format, MOST_ROWS - 1, c, 1);
        c->array.dictionary = &c->dictionary;
    }
    p->children[j] = &p->columns[0][j].schema;
    p->arrays[chunk][j] = &c->array;
}

/* ---- the stream ---- */

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    producer *p = stream->private_data;

    if (p->fails == 1)
        return 5;
    *out = (struct ArrowSchema){.format = p->root,
                                .n_children = p->fails == 2 ? -1 : p->column_count,
                                .children = p->children,
                                .release = release_schema,
                                .private_data = p};
    p->schemas++;
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    producer *p = stream->private_data;
    int64_t k = p->next++;

    memset(out, 0, sizeof *out);
    if (k >= p->chunk_count)
        return p->fails == 3 ? 12 : 0;
    *out = (struct ArrowArray){.length = p->chunk_length[k],
                               .offset = p->chunk_offset[k],
                               .n_children = p->fails == 4 ? p->column_count + 1 : p->column_count,
                               .children = p->fails == 5 ? NULL : p->arrays[k],
                               .release = release_array,
                               .private_data = p};
    p->schemas++;
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    return ((producer *)stream->private_data)->next % 2 ? "on purpose" : NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    ((producer *)stream->private_data)->released = 1;
    stream->release = NULL;
}

static void fill_producer(input *in, producer *p)
{
    static const int64_t lengths[] = {0, 1, 3, MOST_ROWS - 2, -1, INT64_MAX};
    unsigned odd = take_byte(in);

    p->root = odd == 255 ? NULL : odd == 254 ? "g" : "+s";
    p->fails = odd >= 240 && odd < 246 ? (int)odd - 240 : 0;
    p->column_count = take_byte(in) % (MOST_COLUMNS + 1);
    p->chunk_count = take_byte(in) % (MOST_CHUNKS + 1);
    for (int64_t k = 0; k < (p->chunk_count ? p->chunk_count : 1); k++) {
        unsigned shape = take_byte(in);
        int64_t length = shape >= 250 ? lengths[shape - 250] : lengths[shape % 4];
        p->chunk_length[k] = length;
        p->chunk_offset[k] = shape == 249 ? INT64_MAX : shape == 248 ? -1 : shape == 247 ? 1 : 0;
        for (int64_t j = 0; j < p->column_count; j++)
            fill_column(in, p, k, j,
                        length < 0 || length > MOST_ROWS ? 1
                        : shape == 246                   ? length - 1
                                                         : length + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const options[] = {"",
                                          "label=last",
                                          "label=last,encode=auto",
                                          "label=first,encode=auto,missing=mean",
                                          "missing=drop,encode=auto",
                                          "label=none,encode=auto,missing=most-frequent",
                                          "label=last,task=classify",
                                          "content=strings,label=none"};
    static producer p;
    input in = {bytes, size};
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    struct ArrowArrayStream stream = {get_schema, get_next, last_error, release_stream, &p};

    if (kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    memset(&p, 0, sizeof p);
    const char *option = options[take_byte(&in) % 8];
    fill_producer(&in, &p);
    kfe_status status = kfe_data_from_arrow_stream(ctx, &stream, option, &data);
    if ((status == KFE_OK) != (data != NULL) || (status != KFE_OK && !kfe_error_message(ctx)[0]) ||
        !p.released || p.schemas != 0)
        abort();
    kfe_data_free(data);
    kfe_context_free(ctx);
    return 0;
}
