/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a kernel matrix in single precision, for the SVM solver in blocks.c. Those of a Gaussian of dense points are made of dot
 * products, distances and exp all in single precision (gaussian_rows.c); others are entries of the operator, some at a time.
 */
#include "learn/blocks/kernel_rows.h"

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"
#include "kernel/tile/tile.h"
#include "learn/blocks/gaussian_rows.h"

enum { ABSENT = -1 };
/* Parts of a row: the bits of one word. */
enum { MOST_PARTS = 64 };
/* Rows that are evaluated at once, and columns of them for each thread: few enough that the cache holds them. */
enum { CHUNK_ROWS = KFE_TILE_SIDE, CHUNK_COLUMNS = KFE_TILE_SIDE };
/* Fewer kernel values than this are copied by one thread. */
enum { SMALL_COPY = 1 << 17 };

/* A row that is evaluated again costs less time than fresh memory for it if the points have few columns: more rows than
 * these bytes hold, or than the caller reads at once, are not kept then. */
enum { FEW_COLUMNS = 64 };
#define BYTES_OF_CHEAP_ROWS 2.5e8

struct kfe_i_kernel_rows {
    const kfe_i_gram *gram;
    const int64_t *position;
    int64_t slots;
    float *values;    /* slots × n */
    int64_t *slot_of; /* per example: its slot, or ABSENT */
    int64_t *holds;   /* per slot: its example, or ABSENT */
    int64_t *wanted;  /* per slot: the last call of fetch that wanted its row */
    uint64_t *has;    /* per slot: the parts that are there */
    int64_t *missing; /* slots: examples to evaluate */
    uint64_t *lacks;  /* slots: which of their parts */
    int64_t part_size;
    int64_t oldest, calls, evaluated; /* evaluated: parts */
    kfe_i_gaussian_points gaussian;
};

static int64_t round_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

static int64_t part_size_of(int64_t n)
{
    return round_up((n + MOST_PARTS - 1) / MOST_PARTS, KFE_TILE_SIDE);
}

static int64_t useful_slots(const kfe_i_kernel_rows *rows, kfe_i_room_for_rows room)
{
    int64_t n = rows->gram->size;
    int64_t cheap = (int64_t)(BYTES_OF_CHEAP_ROWS / (double)sizeof(float) / (double)n);

    if (rows->gaussian.values && rows->gaussian.cols <= FEW_COLUMNS)
        room.most = kfe_i_least(room.most, room.at_once > cheap ? room.at_once : cheap);
    return kfe_i_least(room.most, n);
}

kfe_status kfe_i_kernel_rows_new(const kfe_i_gram *gram, const int64_t *position, kfe_i_room_for_rows room,
                                 kfe_i_kernel_rows **out)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    kfe_i_kernel_rows *rows = NULL;
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;

    assert(room.most > 0);
    *out = NULL;
    KFE_ALLOC_ZERO(ctx, rows, 1);
    rows->gram = gram;
    rows->position = position;
    if (kfe_i_gram_tiles(gram, &kernel, &points))
        KFE_TRY(kfe_i_gaussian_points_make(kernel, points, position, &rows->gaussian));
    rows->slots = useful_slots(rows, room);
    KFE_ALLOC(ctx, rows->values, rows->slots * gram->size);
    KFE_ALLOC(ctx, rows->slot_of, gram->size);
    KFE_ALLOC(ctx, rows->holds, rows->slots);
    KFE_ALLOC_ZERO(ctx, rows->wanted, rows->slots);
    KFE_ALLOC_ZERO(ctx, rows->has, rows->slots);
    KFE_ALLOC(ctx, rows->missing, rows->slots);
    KFE_ALLOC(ctx, rows->lacks, rows->slots);
    rows->part_size = part_size_of(gram->size);
    for (int64_t i = 0; i < gram->size; i++)
        rows->slot_of[i] = ABSENT;
    for (int64_t s = 0; s < rows->slots; s++)
        rows->holds[s] = ABSENT;
    *out = rows;
    rows = NULL;
cleanup:
    kfe_i_kernel_rows_free(rows);
    return status;
}

void kfe_i_kernel_rows_free(kfe_i_kernel_rows *rows)
{
    if (!rows)
        return;
    kfe_context *ctx = rows->gram->ctx;
    kfe_i_gaussian_points_free(ctx, &rows->gaussian);
    kfe_i_free(ctx, rows->values);
    kfe_i_free(ctx, rows->slot_of);
    kfe_i_free(ctx, rows->holds);
    kfe_i_free(ctx, rows->wanted);
    kfe_i_free(ctx, rows->has);
    kfe_i_free(ctx, rows->missing);
    kfe_i_free(ctx, rows->lacks);
    kfe_i_free(ctx, rows);
}

/* ---- evaluation ---- */

/* Writes `count` values of examples from `first` on into a row. */
static void place_values(const kfe_i_kernel_rows *rows, const double *values, int64_t first, int64_t count,
                         float *row)
{
    if (!rows->position) {
        for (int64_t j = 0; j < count; j++)
            row[first + j] = (float)values[j];
        return;
    }
    for (int64_t j = 0; j < count; j++)
        row[rows->position[first + j]] = (float)values[j];
}

static int copy_threads(const kfe_context *ctx, int64_t values)
{
    return values < SMALL_COPY ? 1 : kfe_context_threads(ctx);
}

/* Evaluates the missing rows from `first` on, `count` of them. */
static kfe_status evaluate_entries(kfe_i_kernel_rows *rows, int64_t first, int64_t count)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = rows->gram->ctx;
    int64_t n = rows->gram->size;
    kfe_i_places chosen = kfe_i_listed(rows->missing + first, count);
    int64_t step = kfe_i_least((int64_t)CHUNK_COLUMNS * kfe_context_threads(ctx), n);
    double *values = NULL;

    KFE_ALLOC(ctx, values, count * step);
    for (int64_t col = 0; col < n; col += step) {
        int64_t width = kfe_i_least(step, n - col);
        KFE_TRY(kfe_i_progress(ctx, "computing rows of the kernel", 0, 0));
        KFE_TRY(kfe_i_gram_entries(rows->gram, chosen, kfe_i_consecutive(col, width), values, width));
#pragma omp parallel for num_threads(copy_threads(ctx, count *width)) schedule(static)
        for (int64_t i = 0; i < count; i++)
            place_values(rows, values + i * width, col, width,
                         rows->values + rows->slot_of[rows->missing[first + i]] * n);
    }
cleanup:
    kfe_i_free(ctx, values);
    return status;
}

static kfe_status evaluate_gaussian(kfe_i_kernel_rows *rows, int64_t missing)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = rows->gram->ctx;
    float **places = NULL;

    KFE_ALLOC(ctx, places, missing);
    for (int64_t m = 0; m < missing; m++)
        places[m] = rows->values + rows->slot_of[rows->missing[m]] * rows->gram->size;
    KFE_TRY(kfe_i_gaussian_rows(
        ctx, &rows->gaussian,
        &(kfe_i_wanted_rows){rows->missing, rows->lacks, missing, rows->part_size, places}));
cleanup:
    kfe_i_free(ctx, places);
    return status;
}

static kfe_status evaluate(kfe_i_kernel_rows *rows, int64_t missing)
{
    kfe_status status = KFE_OK;

    if (rows->gaussian.values)
        return evaluate_gaussian(rows, missing);
    for (int64_t first = 0; first < missing && status == KFE_OK; first += CHUNK_ROWS)
        status = evaluate_entries(rows, first, kfe_i_least(CHUNK_ROWS, missing - first));
    return status;
}

/* ---- slots ---- */

/* The slot that was filled first among those that this call does not want. */
static int64_t free_slot(kfe_i_kernel_rows *rows)
{
    int64_t slot = rows->oldest;

    while (rows->wanted[slot] == rows->calls)
        slot = (slot + 1) % rows->slots;
    rows->oldest = (slot + 1) % rows->slots;
    return slot;
}

static void assign_slot(kfe_i_kernel_rows *rows, int64_t index)
{
    int64_t slot = free_slot(rows);

    if (rows->holds[slot] != ABSENT)
        rows->slot_of[rows->holds[slot]] = ABSENT;
    rows->holds[slot] = index;
    rows->has[slot] = 0;
    rows->slot_of[index] = slot;
    rows->wanted[slot] = rows->calls;
}

static void forget(kfe_i_kernel_rows *rows, int64_t count)
{
    for (int64_t j = 0; j < count; j++) {
        rows->holds[rows->slot_of[rows->missing[j]]] = ABSENT;
        rows->slot_of[rows->missing[j]] = ABSENT;
    }
}

uint64_t kfe_i_kernel_rows_parts(const kfe_i_kernel_rows *rows, int64_t position, int64_t count)
{
    uint64_t parts = 0;

    for (int64_t part = position / rows->part_size; part * rows->part_size < position + count; part++)
        parts |= UINT64_C(1) << part;
    return parts;
}

/* Lists what is missing of the rows, in slots of their own; returns how many rows. */
static int64_t list_missing(kfe_i_kernel_rows *rows, const int64_t *index, const uint64_t *parts,
                            int64_t count)
{
    int64_t missing = 0;

    for (int64_t j = 0; j < count; j++) {
        if (rows->slot_of[index[j]] == ABSENT)
            assign_slot(rows, index[j]);
        uint64_t lacks = parts[j] & ~rows->has[rows->slot_of[index[j]]];
        if (lacks == 0)
            continue;
        rows->missing[missing] = index[j];
        rows->lacks[missing++] = lacks;
    }
    return missing;
}

/* Only the Gaussian way evaluates parts; the others evaluate whole rows. */
static void note_evaluated(kfe_i_kernel_rows *rows, int64_t missing)
{
    uint64_t all = kfe_i_kernel_rows_parts(rows, 0, rows->gram->size);

    for (int64_t j = 0; j < missing; j++) {
        uint64_t done = rows->gaussian.values ? rows->lacks[j] : all;
        rows->has[rows->slot_of[rows->missing[j]]] |= done;
        rows->evaluated += __builtin_popcountll(done);
    }
}

kfe_status kfe_i_kernel_rows_fetch(kfe_i_kernel_rows *rows, const int64_t *index, const uint64_t *parts,
                                   int64_t count)
{
    assert(kfe_i_all_below(index, count, rows->gram->size) && count <= rows->slots);
    rows->calls++;
    for (int64_t j = 0; j < count; j++)
        if (rows->slot_of[index[j]] != ABSENT)
            rows->wanted[rows->slot_of[index[j]]] = rows->calls;
    int64_t missing = list_missing(rows, index, parts, count);
    if (missing == 0)
        return KFE_OK;
    kfe_status status = evaluate(rows, missing);
    if (status == KFE_OK)
        note_evaluated(rows, missing);
    else
        forget(rows, missing);
    return status;
}

const float *kfe_i_kernel_rows_get(const kfe_i_kernel_rows *rows, int64_t index)
{
    assert(rows->slot_of[index] != ABSENT);
    return rows->values + rows->slot_of[index] * rows->gram->size;
}

int64_t kfe_i_kernel_rows_block_work(const kfe_i_kernel_rows *rows, int64_t count)
{
    return rows->gaussian.values ? count * (rows->gaussian.cols + 1) : 1;
}

/* A Gaussian is evaluated again: that takes less time than reading entries that lie far apart. */
void kfe_i_kernel_rows_block(const kfe_i_kernel_rows *rows, const int64_t *index, int64_t count, float *work,
                             float *out, int64_t stride)
{
    if (rows->gaussian.values) {
        kfe_i_gaussian_block(&rows->gaussian, index, count, work, out, stride);
        return;
    }
    for (int64_t a = 0; a < count; a++) {
        const float *row = kfe_i_kernel_rows_get(rows, index[a]);
        for (int64_t b = 0; b < count; b++)
            out[a * stride + b] = row[rows->position ? rows->position[index[b]] : index[b]];
    }
}

int64_t kfe_i_kernel_rows_slots(const kfe_i_kernel_rows *rows)
{
    return rows->slots;
}

int64_t kfe_i_kernel_rows_evaluated(const kfe_i_kernel_rows *rows)
{
    int64_t parts = (rows->gram->size + rows->part_size - 1) / rows->part_size;
    return rows->evaluated / parts;
}
