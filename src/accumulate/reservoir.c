/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of the rows of a stream, for the start of fits with landmarks; used by stream.c. Keeps at most twice the rows wanted: those
 * with the smallest numbers, which their content decides. So neither the order of the rows nor their files matter; only of equal rows some
 * may stay and others go. */
#include <stdlib.h>
#include <string.h>

#include "accumulate/stack.h"
#include "core/memory.h"
#include "data/rows/distinct.h"

void kfe_i_reservoir_begin(kfe_context *ctx, int64_t size, kfe_i_reservoir *out)
{
    *out = (kfe_i_reservoir){.ctx = ctx, .size = size, .limit = 1};
    kfe_i_rng_init(&out->rng, kfe_context_seed(ctx), KFE_STREAM_SAMPLE);
    out->salt = kfe_i_rng_bits(&out->rng);
}

void kfe_i_reservoir_free(kfe_i_reservoir *r)
{
    for (int64_t p = 0; p < r->piece_count; p++)
        kfe_data_free(r->pieces[p]);
    if (r->ctx) {
        kfe_i_free(r->ctx, r->pieces);
        kfe_i_free(r->ctx, r->numbers);
    }
    memset(r, 0, sizeof *r);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The limit becomes the largest number of the `size` smallest ones. */
static kfe_status lower_limit(kfe_i_reservoir *r)
{
    kfe_status status = KFE_OK;
    double *sorted = NULL;

    KFE_ALLOC(r->ctx, sorted, r->rows);
    memcpy(sorted, r->numbers, (size_t)r->rows * sizeof *sorted);
    qsort(sorted, (size_t)r->rows, sizeof *sorted, compare_numbers);
    r->limit = sorted[r->size - 1];
cleanup:
    kfe_i_free(r->ctx, sorted);
    return status;
}

/* The rows of one piece within the limit, in place of the piece (NULL: none). numbers[rows] are moved to `kept`. */
static kfe_status prune_piece(kfe_i_reservoir *r, kfe_data **piece, const double *numbers, double *kept,
                              int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(*piece);
    int64_t *index = NULL;
    kfe_data *rest = NULL;

    *count = 0;
    KFE_ALLOC(r->ctx, index, rows);
    for (int64_t i = 0; i < rows; i++)
        if (numbers[i] <= r->limit) {
            kept[*count] = numbers[i];
            index[(*count)++] = i;
        }
    if (*count == rows)
        goto cleanup;
    if (*count > 0)
        KFE_TRY(kfe_i_pick_rows(r->ctx, *piece, index, *count, &rest));
    kfe_data_free(*piece);
    *piece = rest;
cleanup:
    kfe_i_free(r->ctx, index);
    return status;
}

static kfe_status prune(kfe_i_reservoir *r)
{
    kfe_status status = KFE_OK;
    int64_t read = 0;
    int64_t written = 0;
    int64_t pieces = 0;

    if (r->rows <= r->size)
        return KFE_OK;
    KFE_TRY(lower_limit(r));
    for (int64_t p = 0; p < r->piece_count; p++) {
        int64_t rows = kfe_data_rows(r->pieces[p]);
        int64_t count = 0;
        KFE_TRY(prune_piece(r, &r->pieces[p], r->numbers + read, r->numbers + written, &count));
        read += rows;
        written += count;
        if (r->pieces[p])
            r->pieces[pieces++] = r->pieces[p];
    }
    r->piece_count = pieces;
    r->rows = written;
cleanup:
    return status;
}

/* A random number that depends on the content; its last digits tell equal rows apart, so that a bounded number stays. */
static double number_of(kfe_i_reservoir *r, const kfe_i_row_key *key)
{
    uint64_t bits = key->order ^ r->salt;

    bits = (bits ^ (bits >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 29)) * UINT64_C(0x94d049bb133111eb);
    return ((double)(bits >> 24) + kfe_i_rng_uniform(&r->rng)) * 0x1.0p-40;
}

kfe_status kfe_i_reservoir_add(kfe_i_reservoir *r, const kfe_data *part)
{
    kfe_status status = KFE_OK;
    int64_t rows = kfe_data_rows(part);
    int64_t count = 0;
    int64_t *index = NULL;
    kfe_i_row_key *keys = NULL;

    KFE_ALLOC(r->ctx, index, rows);
    KFE_GROW(r->ctx, r->numbers, r->capacity, r->rows + rows);
    KFE_GROW(r->ctx, r->pieces, r->piece_capacity, r->piece_count + 1);
    KFE_TRY(kfe_i_data_plain_keys(r->ctx, part, &keys));
    for (int64_t i = 0; i < rows; i++) {
        double number = number_of(r, &keys[i]);
        if (number <= r->limit) {
            r->numbers[r->rows + count] = number;
            index[count++] = i;
        }
    }
    if (count > 0) {
        KFE_TRY(kfe_i_pick_rows(r->ctx, part, index, count, &r->pieces[r->piece_count]));
        r->piece_count++;
        r->rows += count;
    }
    if (r->rows > 2 * r->size)
        KFE_TRY(prune(r));
cleanup:
    kfe_i_free(r->ctx, index);
    kfe_i_free(r->ctx, keys);
    return status;
}

kfe_status kfe_i_reservoir_take(kfe_i_reservoir *r, kfe_data **out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    KFE_TRY(prune(r));
    if (r->piece_count > 0)
        KFE_TRY(kfe_i_stack(r->ctx, r->pieces, r->piece_count, out));
cleanup:
    return status;
}
