/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the schema and the chunks of an Arrow stream, and finds single values in them; for data.c. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "data/arrow/arrow.h"

/* Rows that no table has; sums of some of these numbers do not overflow. */
#define LONGEST (INT64_MAX / 64)

/* ---- types ---- */

/* Whole numbers by format: c C s S i I l L. */
static int whole_size(const char *format)
{
    static const char letters[] = "cCsSiIlL";
    const char *found = format[0] && !format[1] ? strchr(letters, format[0]) : NULL;

    return found ? 1 << ((found - letters) / 2) : 0;
}

static int find_kind(const char *format, kfe_i_arrow_kind *kind)
{
    static const struct {
        const char *format;
        kfe_i_arrow_kind kind;
    } kinds[] = {{"e", KFE_ARROW_REAL},    {"f", KFE_ARROW_REAL},   {"g", KFE_ARROW_REAL},
                 {"b", KFE_ARROW_BOOLEAN}, {"u", KFE_ARROW_TEXT},   {"U", KFE_ARROW_TEXT},
                 {"vu", KFE_ARROW_TEXT},   {"n", KFE_ARROW_NOTHING}};

    *kind = KFE_ARROW_WHOLE;
    if (whole_size(format) > 0)
        return 1;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(format, kinds[k].format) == 0) {
            *kind = kinds[k].kind;
            return 1;
        }
    return 0;
}

static kfe_status take_column(kfe_context *ctx, const struct ArrowSchema *field, int64_t number,
                              kfe_i_arrow_column *out)
{
    const struct ArrowSchema *values = field && field->dictionary ? field->dictionary : field;

    if (!field || !field->format || !values->format)
        return kfe_i_fail(ctx, KFE_EINPUT, "column %lld of the Arrow table has no type",
                          (long long)number + 1);
    out->name = field->name ? field->name : "";
    out->format = values->format;
    out->index = field->dictionary ? field->format : NULL;
    if (!find_kind(out->format, &out->kind) || (out->index && whole_size(out->index) == 0))
        return kfe_i_fail(
            ctx, KFE_EINPUT,
            "column %lld ('%.100s') has the Arrow type '%.40s'; cast it to numbers, booleans or text",
            (long long)number + 1, out->name, field->format);
    return KFE_OK;
}

static kfe_status take_schema(kfe_i_arrow *arrow)
{
    kfe_status status = KFE_OK;

    if (!arrow->schema.format || strcmp(arrow->schema.format, "+s") != 0)
        return kfe_i_fail(arrow->ctx, KFE_EINPUT,
                          "the Arrow stream holds single values, not a table of columns");
    if (arrow->schema.n_children < 1 || !arrow->schema.children)
        return kfe_i_fail(arrow->ctx, KFE_EINPUT, "the Arrow table has no columns");
    KFE_ALLOC_ZERO(arrow->ctx, arrow->columns, arrow->schema.n_children);
    arrow->count = arrow->schema.n_children;
    for (int64_t j = 0; j < arrow->count; j++)
        KFE_TRY(take_column(arrow->ctx, arrow->schema.children[j], j, &arrow->columns[j]));
cleanup:
    return status;
}

/* ---- the stream ---- */

static kfe_status stream_failure(kfe_context *ctx, struct ArrowArrayStream *stream, int code)
{
    const char *reason = stream->get_last_error ? stream->get_last_error(stream) : NULL;

    return kfe_i_fail(ctx, code == ENOMEM ? KFE_ENOMEM : KFE_EINPUT, "the Arrow stream fails: %.400s",
                      reason ? reason : strerror(code));
}

/* Numbers of buffers, by the specification: none, or validity and values, and for text its bytes. */
static int64_t buffers_of(kfe_i_arrow_kind kind)
{
    return kind == KFE_ARROW_NOTHING ? 0 : kind == KFE_ARROW_TEXT ? 3 : 2;
}

/* Whether the array says that it holds `rows` values in such buffers. Sizes of buffers are not part of the interface. */
static int is_sound(const struct ArrowArray *array, int64_t rows, int64_t buffers)
{
    return array && array->length >= rows && array->offset >= 0 && array->length <= LONGEST &&
           array->offset <= LONGEST && array->n_buffers >= buffers &&
           (rows == 0 || buffers == 0 || (array->buffers && array->buffers[1]));
}

/* Whether a column of a chunk holds `rows` values, and a sound dictionary if it has one. */
static int is_column_sound(const kfe_i_arrow_column *column, const struct ArrowArray *array, int64_t rows)
{
    if (!column->index)
        return is_sound(array, rows, buffers_of(column->kind));
    return is_sound(array, rows, 2) && array->dictionary && array->dictionary->length >= 0 &&
           is_sound(array->dictionary, array->dictionary->length, buffers_of(column->kind));
}

/* Takes the next chunk; *ended: there is none. */
static kfe_status take_chunk(kfe_i_arrow *arrow, struct ArrowArrayStream *stream, int *ended)
{
    kfe_status status = KFE_OK;
    struct ArrowArray *chunk;
    int code;

    KFE_GROW(arrow->ctx, arrow->chunks, arrow->chunk_capacity, arrow->chunk_count + 1);
    chunk = &arrow->chunks[arrow->chunk_count];
    memset(chunk, 0, sizeof *chunk);
    code = stream->get_next(stream, chunk);
    if (code != 0)
        return stream_failure(arrow->ctx, stream, code);
    *ended = chunk->release == NULL;
    if (*ended)
        return KFE_OK;
    arrow->chunk_count++;
    if (chunk->length < 0 || chunk->offset < 0 || chunk->length > LONGEST || chunk->offset > LONGEST ||
        chunk->n_children != arrow->count || !chunk->children)
        return kfe_i_fail(arrow->ctx, KFE_EINPUT, "chunk %lld of the Arrow stream does not fit its schema",
                          (long long)arrow->chunk_count);
    for (int64_t j = 0; j < arrow->count; j++)
        if (!is_column_sound(&arrow->columns[j], chunk->children[j], chunk->offset + chunk->length))
            return kfe_i_fail(
                arrow->ctx, KFE_EINPUT,
                "column '%.100s' of the Arrow stream is damaged: it is shorter than its chunk, or "
                "has no buffers",
                arrow->columns[j].name);
    if (chunk->length > LONGEST - arrow->rows)
        return kfe_i_fail(arrow->ctx, KFE_EINPUT, "the Arrow stream has too many rows");
    arrow->rows += chunk->length;
cleanup:
    return status;
}

kfe_status kfe_i_arrow_open(kfe_context *ctx, struct ArrowArrayStream *stream, kfe_i_arrow *out)
{
    kfe_status status = KFE_OK;
    int ended = 0;
    int code;

    memset(out, 0, sizeof *out);
    out->ctx = ctx;
    code = stream->get_schema(stream, &out->schema);
    if (code != 0) {
        out->schema.release = NULL;
        return stream_failure(ctx, stream, code);
    }
    KFE_TRY(take_schema(out));
    while (!ended) {
        KFE_TRY(take_chunk(out, stream, &ended));
        KFE_TRY(kfe_i_progress(ctx, "reading an Arrow stream", out->rows, 0));
    }
cleanup:
    return status;
}

void kfe_i_arrow_close(kfe_i_arrow *arrow)
{
    if (!arrow->ctx)
        return;
    for (int64_t k = 0; k < arrow->chunk_count; k++)
        arrow->chunks[k].release(&arrow->chunks[k]);
    if (arrow->schema.release)
        arrow->schema.release(&arrow->schema);
    kfe_i_free(arrow->ctx, arrow->chunks);
    kfe_i_free(arrow->ctx, arrow->columns);
    memset(arrow, 0, sizeof *arrow);
}

/* ---- values ---- */

static int bit_at(const void *bits, int64_t place)
{
    return ((const unsigned char *)bits)[place / 8] >> (place % 8) & 1;
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double size = exponent == 31  ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                  : exponent == 0 ? ldexp(fraction, -24)
                                  : ldexp(1024 + fraction, exponent - 25);

    return bits >> 15 ? -size : size;
}

static int64_t whole_at(char format, const void *values, int64_t place)
{
    switch (format) {
    case 'c':
        return ((const int8_t *)values)[place];
    case 'C':
        return ((const uint8_t *)values)[place];
    case 's':
        return ((const int16_t *)values)[place];
    case 'S':
        return ((const uint16_t *)values)[place];
    case 'i':
        return ((const int32_t *)values)[place];
    case 'I':
        return ((const uint32_t *)values)[place];
    default:
        return ((const int64_t *)values)[place];
    }
}

static double number_at(char format, const void *values, int64_t place)
{
    switch (format) {
    case 'g':
        return ((const double *)values)[place];
    case 'f':
        return (double)((const float *)values)[place];
    case 'e':
        return half_value(((const uint16_t *)values)[place]);
    case 'b':
        return bit_at(values, place);
    case 'L':
        return (double)((const uint64_t *)values)[place];
    default:
        return (double)whole_at(format, values, place);
    }
}

/* Strings whose ends are 32- or 64-bit positions. */
static int text_by_offsets(const char *format, const struct ArrowArray *array, int64_t place,
                           kfe_i_arrow_value *out)
{
    int wide = format[0] == 'U';
    int64_t begin =
        wide ? ((const int64_t *)array->buffers[1])[place] : ((const int32_t *)array->buffers[1])[place];
    int64_t end = wide ? ((const int64_t *)array->buffers[1])[place + 1]
                       : ((const int32_t *)array->buffers[1])[place + 1];

    out->length = end - begin;
    if (begin < 0 || end < begin || (out->length > 0 && !array->buffers[2]))
        return 0;
    out->text = array->buffers[2] ? (const char *)array->buffers[2] + begin : "";
    return 1;
}

/* String views: 16 bytes each, with texts of up to 12 bytes inside, longer ones in one of several buffers. */
static int text_by_view(const struct ArrowArray *array, int64_t place, kfe_i_arrow_value *out)
{
    const char *view = (const char *)array->buffers[1] + 16 * place;
    int32_t head[4];

    memcpy(head, view, sizeof head);
    out->length = head[0];
    out->text = view + 4;
    if (head[0] <= 12)
        return head[0] >= 0;
    if (head[2] < 0 || head[2] >= array->n_buffers - 3 || head[3] < 0 || !array->buffers[2 + head[2]])
        return 0;
    out->text = (const char *)array->buffers[2 + head[2]] + head[3];
    return 1;
}

static int is_missing(const struct ArrowArray *array, int64_t place)
{
    return array->null_count != 0 && array->n_buffers > 0 && array->buffers[0] &&
           !bit_at(array->buffers[0], place);
}

/* The value at a place of an array, counted without its offset. Returns 0 if there is none. */
static int read_value(const kfe_i_arrow_column *column, const struct ArrowArray *array, int64_t row,
                      kfe_i_arrow_value *out)
{
    int64_t place = row + array->offset;

    out->missing = column->kind == KFE_ARROW_NOTHING || is_missing(array, place);
    out->number = (double)NAN;
    if (out->missing)
        return 1;
    if (column->kind == KFE_ARROW_TEXT)
        return column->format[0] == 'v' ? text_by_view(array, place, out)
                                        : text_by_offsets(column->format, array, place, out);
    out->number = number_at(column->format[0], array->buffers[1], place);
    out->missing = isnan(out->number);
    return 1;
}

kfe_status kfe_i_arrow_value_at(const kfe_i_arrow *arrow, int64_t chunk, int64_t column, int64_t row,
                                kfe_i_arrow_value *out)
{
    const kfe_i_arrow_column *described = &arrow->columns[column];
    const struct ArrowArray *array = arrow->chunks[chunk].children[column];
    int64_t at = row + arrow->chunks[chunk].offset;
    int sound = 1;

    *out = (kfe_i_arrow_value){.missing = 1, .number = (double)NAN};
    if (described->index) {
        if (is_missing(array, at + array->offset))
            return KFE_OK;
        at = whole_at(described->index[0], array->buffers[1], at + array->offset);
        array = array->dictionary;
        sound = at >= 0 && at < array->length;
    }
    if (sound)
        sound = read_value(described, array, at, out);
    return sound ? KFE_OK
                 : kfe_i_fail(arrow->ctx, KFE_EINPUT,
                              "column '%.100s' of the Arrow table is damaged in row %lld", described->name,
                              (long long)row + 1);
}
