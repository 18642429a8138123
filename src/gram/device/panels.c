/* SPDX-License-Identifier: Apache-2.0 */
/* The panels of a kernel matrix that one process of a cluster has on its device: kept there, or computed at every product. A panel
 * holds rows up to the end of their diagonal block, and is multiplied once as it is and once transposed. Called by
 * gram/cluster/on_devices.c. */
#include "gram/device/panels.h"

#include <cblas.h>
#include <string.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "core/share.h"

enum {
    MOST_ROWS = 512, /* of a panel */
    LEAST_ROWS = 64,
    TURNS = 8,      /* least panels of a process, so that all processes have about the same work */
    WIDTH = 8192,   /* columns that are computed at a time */
    VECTORS = 64,   /* of a product for which room is left */
    CPU_ROWS = 256, /* computed at a time by the CPU */
    WORTH_IT = 3    /* at least a third of the panels, a ninth of the matrix, must fit */
};

struct kfe_i_device_panels {
    const kfe_i_gram *source; /* fused.c */
    kfe_i_device *device;
    kfe_i_device_panels_shape shape;
    int64_t n, rows;         /* of the matrix, of a panel */
    kfe_device_matrix store; /* the panels that are kept, one after the other, as one row; address 0: none */
    int left;                /* the device failed: the CPU answers */
};

/* Some rows of the matrix from `row` on, in columns 0 to cols − 1. */
typedef struct piece {
    int64_t row, rows, cols;
    int both; /* it is also multiplied transposed, without its diagonal block */
} piece;

/* ---- which panels ---- */

static int64_t panel_rows(int64_t n, int processes)
{
    int64_t wanted = (n / ((int64_t)TURNS * processes) / LEAST_ROWS + 1) * LEAST_ROWS;

    return kfe_i_least(wanted, MOST_ROWS);
}

int64_t kfe_i_device_panels_count(int64_t n, int processes)
{
    int64_t rows = panel_rows(n, processes);

    return (n + rows - 1) / rows;
}

static piece panel_of(int64_t n, int64_t height, int64_t panel)
{
    int64_t row = panel * height;
    int64_t end = kfe_i_least(row + height, n);

    return (piece){row, end - row, end, 1};
}

/* Entries of the first `kept` panels that one process has. */
static int64_t entries_of(int64_t n, kfe_i_share share, int64_t kept)
{
    int64_t sum = 0;

    for (int64_t turn = 0; turn < kfe_i_dealt_count(share, kept); turn++) {
        piece p = panel_of(n, panel_rows(n, share.parts), kfe_i_dealt(share, turn));
        sum += p.rows * p.cols;
    }
    return sum;
}

double kfe_i_device_panels_bytes(int64_t n, int processes, kfe_device_type type, int64_t kept)
{
    double beside = 8.0 * (double)panel_rows(n, processes) * (double)kfe_i_least(n, WIDTH) +
                    8.0 * (double)n * 2 * VECTORS;
    int64_t most = 0;

    for (int process = 0; process < processes; process++) {
        int64_t own = entries_of(n, (kfe_i_share){process, processes}, kept);
        most = own > most ? own : most;
    }
    return (double)type * (double)most + beside;
}

int64_t kfe_i_device_panels_that_fit(const kfe_i_gram *source, int processes, double bytes)
{
    int64_t all = kfe_i_device_panels_count(source->size, processes);
    int64_t least = 0; /* fits, or is none */
    int64_t most = all;

    if (kfe_i_fused_is_fast(source))
        return 0;
    while (least < most) {
        int64_t middle = (least + most + 1) / 2;
        if (kfe_i_device_panels_bytes(source->size, processes, KFE_DEVICE_F32, middle) <= bytes)
            least = middle;
        else
            most = middle - 1;
    }
    return least >= all / WORTH_IT ? least : 0;
}

/* Whether a process computes whole rows instead of panels: the device is faster if it never writes the entries, and then it cannot
 * use them twice. */
static int takes_rows(const kfe_i_device_panels *p)
{
    return p->shape.kept == 0 && p->shape.type == KFE_DEVICE_F32 && kfe_i_fused_is_fast(p->source);
}

static int64_t count_pieces(const kfe_i_device_panels *p)
{
    return takes_rows(p)
               ? 1
               : kfe_i_dealt_count(p->shape.share, kfe_i_device_panels_count(p->n, p->shape.share.parts));
}

static piece piece_at(const kfe_i_device_panels *p, int64_t turn)
{
    kfe_i_share share = p->shape.share;
    int64_t first = kfe_i_share_begin(p->n, share.part, share.parts);

    if (takes_rows(p))
        return (piece){first, kfe_i_share_begin(p->n, share.part + 1, share.parts) - first, p->n, 0};
    return panel_of(p->n, p->rows, kfe_i_dealt(share, turn));
}

/* ---- entries ---- */

/* Columns that are computed together from `col` on: the diagonal block is apart, so that it is symmetric to the last bit. */
static int64_t width_at(const piece *q, int64_t col)
{
    return kfe_i_least(WIDTH, (col < q->row ? q->row : q->cols) - col);
}

static kfe_device_status evaluate(const kfe_i_device_panels *p, const piece *q, int64_t col,
                                  const kfe_device_matrix *out)
{
    return kfe_i_fused_part(p->source, q->row, col, out, col == q->row ? KFE_DEVICE_MIRROR : 0);
}

/* Room for the entries that are computed together. */
static kfe_device_status new_tile(const kfe_i_device_panels *p, kfe_device_type type, kfe_device_matrix *out)
{
    return kfe_i_device_matrix_new(p->device, p->rows, kfe_i_least(p->n, WIDTH), type, out);
}

static kfe_device_matrix kept_panel(const kfe_i_device_panels *p, const piece *q, int64_t offset)
{
    kfe_device_matrix panel = p->store;

    panel.address += (uint64_t)offset * (uint64_t)p->shape.type;
    panel.rows = q->rows;
    panel.cols = panel.stride = q->cols;
    return panel;
}

/* In single precision values are computed in double precision and rounded. */
static kfe_device_status fill_panel(const kfe_i_device_panels *p, const piece *q, kfe_device_matrix tile,
                                    const kfe_device_matrix *panel)
{
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t col = 0, width; col < q->cols; col += width) {
        width = width_at(q, col);
        kfe_device_matrix place = kfe_device_part(*panel, 0, q->rows, col, width);
        kfe_device_matrix part = kfe_device_part(tile, 0, q->rows, 0, width);
        if (p->shape.type == KFE_DEVICE_F64) {
            KFE_DEVICE_TRY(evaluate(p, q, col, &place));
            continue;
        }
        KFE_DEVICE_TRY(evaluate(p, q, col, &part));
        KFE_DEVICE_TRY(p->device->table->copy(p->device->handle, &part, &place));
    }
cleanup:
    return status;
}

static kfe_device_status fill(kfe_i_device_panels *p)
{
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix tile = {0};
    int64_t offset = 0;

    p->device->stage = "computing the kernel matrix";
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(p->device, 1, entries_of(p->n, p->shape.share, p->shape.kept),
                                           p->shape.type, &p->store));
    KFE_DEVICE_TRY(new_tile(p, KFE_DEVICE_F64, &tile));
    for (int64_t turn = 0; turn < kfe_i_dealt_count(p->shape.share, p->shape.kept); turn++) {
        piece q = piece_at(p, turn);
        kfe_device_matrix panel = kept_panel(p, &q, offset);
        KFE_DEVICE_TRY(fill_panel(p, &q, tile, &panel));
        offset += q.rows * q.cols;
    }
    KFE_DEVICE_TRY(p->device->table->wait(p->device->handle));
cleanup:
    kfe_i_device_matrix_free(p->device, &tile);
    return status;
}

/* ---- products on the device ---- */

/* out += part·v and, left of the diagonal block, partᵀ·v; `part` has columns of the piece from `col` on. */
static kfe_device_status multiply_part(const kfe_i_device_panels *p, const piece *q, int64_t col,
                                       const kfe_device_matrix *part, const kfe_device_matrix *v,
                                       const kfe_device_matrix *out)
{
    const kfe_device_table *table = p->device->table;
    kfe_device_status status = KFE_DEVICE_OK;
    int64_t before = q->both ? kfe_i_least(part->cols, q->row - col) : 0; /* columns */
    kfe_device_matrix v_cols = kfe_device_part(*v, col, part->cols, 0, v->cols);
    kfe_device_matrix out_rows = kfe_device_part(*out, q->row, q->rows, 0, v->cols);

    KFE_DEVICE_TRY(table->gemm(p->device->handle, 0, 0, 1, part, &v_cols, 1, &out_rows));
    if (before > 0) {
        kfe_device_matrix left = kfe_device_part(*part, 0, q->rows, 0, before);
        kfe_device_matrix v_rows = kfe_device_part(*v, q->row, q->rows, 0, v->cols);
        kfe_device_matrix out_cols = kfe_device_part(*out, col, before, 0, v->cols);
        KFE_DEVICE_TRY(table->gemm(p->device->handle, 1, 0, 1, &left, &v_rows, 1, &out_cols));
    }
cleanup:
    return status;
}

static kfe_device_status multiply_computed(const kfe_i_device_panels *p, const piece *q,
                                           kfe_device_matrix tile, const kfe_device_matrix *v,
                                           const kfe_device_matrix *out)
{
    kfe_device_status status = KFE_DEVICE_OK;

    for (int64_t col = 0, width; col < q->cols; col += width) {
        width = width_at(q, col);
        kfe_device_matrix part = kfe_device_part(tile, 0, q->rows, 0, width);
        KFE_DEVICE_TRY(evaluate(p, q, col, &part));
        KFE_DEVICE_TRY(multiply_part(p, q, col, &part, v, out));
    }
cleanup:
    return status;
}

static kfe_device_status multiply_panels(const kfe_i_device_panels *p, const kfe_device_matrix *v,
                                         const kfe_device_matrix *out)
{
    kfe_device_status status = KFE_DEVICE_OK;
    int64_t kept = kfe_i_dealt_count(p->shape.share, p->shape.kept);
    int64_t count = count_pieces(p);
    int64_t offset = 0;
    kfe_device_matrix tile = {0};

    if (kept < count)
        KFE_DEVICE_TRY(new_tile(p, p->shape.type, &tile));
    for (int64_t turn = 0; turn < count; turn++) {
        piece q = piece_at(p, turn);
        if (turn < kept) {
            kfe_device_matrix panel = kept_panel(p, &q, offset);
            KFE_DEVICE_TRY(multiply_part(p, &q, 0, &panel, v, out));
            offset += q.rows * q.cols;
        } else {
            KFE_DEVICE_TRY(multiply_computed(p, &q, tile, v, out));
        }
    }
cleanup:
    kfe_i_device_matrix_free(p->device, &tile);
    return status;
}

static kfe_device_status multiply(const kfe_i_device_panels *p, const kfe_device_matrix *v,
                                  const kfe_device_matrix *out)
{
    kfe_device_status status = p->device->table->fill(p->device->handle, out, 0);

    if (status != KFE_DEVICE_OK || !takes_rows(p))
        return status == KFE_DEVICE_OK ? multiply_panels(p, v, out) : status;
    piece q = piece_at(p, 0);
    kfe_device_matrix own = kfe_device_part(*out, q.row, q.rows, 0, v->cols);
    return kfe_i_fused_times_rows(p->source, q.row, v, &own);
}

/* Vectors that are multiplied at once: more than VECTORS if they take at most a fourth of the room. */
static int64_t group_of(const kfe_i_device_panels *p, int64_t k)
{
    int64_t fit = (int64_t)(kfe_i_device_room(p->device) / (4 * 16.0 * (double)p->n));

    return kfe_i_least(k, fit > VECTORS ? fit : VECTORS);
}

static kfe_device_status times_on_device(const kfe_i_device_panels *p, const double *v, int64_t k,
                                         double *out)
{
    const kfe_i_device *device = p->device;
    kfe_device_status status = KFE_DEVICE_OK;
    kfe_device_matrix vectors = {0};
    kfe_device_matrix product = {0};
    int64_t group = group_of(p, k);

    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, p->n, group, KFE_DEVICE_F64, &vectors));
    KFE_DEVICE_TRY(kfe_i_device_matrix_new(device, p->n, group, KFE_DEVICE_F64, &product));
    for (int64_t first = 0; first < k; first += group) {
        int64_t count = kfe_i_least(group, k - first);
        kfe_device_matrix some = kfe_device_part(vectors, 0, p->n, 0, count);
        kfe_device_matrix sums = kfe_device_part(product, 0, p->n, 0, count);
        KFE_DEVICE_TRY(device->table->upload(device->handle, v + first, k, &some));
        KFE_DEVICE_TRY(multiply(p, &some, &sums));
        KFE_DEVICE_TRY(device->table->download(device->handle, &sums, out + first, k));
    }
cleanup:
    kfe_i_device_matrix_free(device, &vectors);
    kfe_i_device_matrix_free(device, &product);
    return status;
}

/* ---- products on the CPU ---- */

/* The same part of the product, from blocks that the CPU computes in double precision. */
static kfe_status times_on_cpu(const kfe_i_device_panels *p, const double *v, int64_t k, double *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *source = kfe_i_fused_source(p->source);
    double *block = NULL;

    memset(out, 0, (size_t)(p->n * k) * sizeof *out);
    KFE_ALLOC(source->ctx, block, CPU_ROWS * p->n);
    for (int64_t turn = 0; turn < count_pieces(p); turn++) {
        piece q = piece_at(p, turn);
        for (int64_t first = 0; first < q.rows; first += CPU_ROWS) {
            int64_t row = q.row + first;
            int64_t rows = kfe_i_least(CPU_ROWS, q.rows - first);
            KFE_TRY(kfe_i_progress(source->ctx, "multiplying with the kernel matrix", 0, 0));
            KFE_TRY(kfe_i_gram_block(source, row, rows, 0, q.cols, block, q.cols));
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)k, (blasint)q.cols,
                        1, block, (blasint)q.cols, v, (blasint)k, 1, out + row * k, (blasint)k);
            if (q.both && q.row > 0)
                cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)q.row, (blasint)k,
                            (blasint)rows, 1, block, (blasint)q.cols, v + row * k, (blasint)k, 1, out,
                            (blasint)k);
        }
    }
cleanup:
    kfe_i_free(source->ctx, block);
    return status;
}

/* Whether the CPU computes this process's part from now on: products come in loops, and after one failure of the device all stay on the
 * CPU. */
static int must_leave(kfe_i_device_panels *p, kfe_device_status result)
{
    if (result != KFE_DEVICE_OK)
        p->left = kfe_i_device_gives_up(p->device, result, "this process's part of kernel products");
    return p->left;
}

kfe_status kfe_i_device_panels_times(kfe_i_device_panels *panels, const double *v, int64_t k, double *out)
{
    kfe_device_status result = KFE_DEVICE_OK;

    if (k == 0)
        return KFE_OK;
    panels->device->stage = "multiplying with the kernel matrix";
    if (!panels->left)
        result = times_on_device(panels, v, k, out);
    if (must_leave(panels, result))
        return times_on_cpu(panels, v, k, out);
    return kfe_i_device_status(panels->device, result);
}

kfe_status kfe_i_device_panels_times_there(kfe_i_device_panels *panels, const kfe_device_matrix *v,
                                           const kfe_device_matrix *room, double *out)
{
    const kfe_i_device *device = panels->device;
    kfe_context *ctx = panels->source->ctx;
    kfe_device_status result = KFE_DEVICE_OK;
    kfe_status status = KFE_OK;
    double *copy = NULL;

    if (!panels->left)
        result = multiply(panels, v, room);
    if (must_leave(panels, result)) {
        KFE_ALLOC(ctx, copy, v->rows * v->cols);
        KFE_TRY(kfe_i_device_status(device, device->table->download(device->handle, v, copy, v->cols)));
        KFE_TRY(times_on_cpu(panels, copy, v->cols, out));
    } else {
        KFE_TRY(kfe_i_device_status(device, result));
        KFE_TRY(kfe_i_device_status(device, device->table->download(device->handle, room, out, v->cols)));
    }
cleanup:
    kfe_i_free(ctx, copy);
    return status;
}

/* ---- making one ---- */

kfe_status kfe_i_device_panels_new(const kfe_i_gram *source, const kfe_i_device_panels_shape *shape,
                                   kfe_i_device_panels **out)
{
    kfe_status status = KFE_OK;
    kfe_device_status result = KFE_DEVICE_OK;
    kfe_i_device_panels *made = NULL;

    *out = NULL;
    KFE_ALLOC_ZERO(source->ctx, made, 1);
    made->source = source;
    made->device = source->ctx->device;
    made->shape = *shape;
    made->n = source->size;
    made->rows = panel_rows(source->size, shape->share.parts);
    made->left = !kfe_i_fused_device(source);
    if (shape->kept > 0)
        result = made->left ? KFE_DEVICE_NO_MEMORY : fill(made);
    if (result == KFE_DEVICE_OK) {
        *out = made;
        made = NULL;
    } else if (result != KFE_DEVICE_NO_MEMORY) {
        status = kfe_i_device_status(made->device, result);
    }
cleanup:
    kfe_i_device_panels_free(made);
    return status;
}

void kfe_i_device_panels_free(kfe_i_device_panels *panels)
{
    if (!panels)
        return;
    kfe_i_device_matrix_free(panels->device, &panels->store);
    kfe_i_free(panels->source->ctx, panels);
}
