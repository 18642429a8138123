/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the form in which an operator is kept for many passes, within the memory limit. */
#include "core/cluster.h"
#include "core/memory.h"
#include "gram/cluster/dealt.h"
#include "gram/cluster/on_devices.h"
#include "gram/device/form.h"
#include "gram/gram.h"

/* The share of the memory limit for the matrix and the caller's vectors; the data needs the rest. */
#define KFE_MATRIX_SHARE 0.9

kfe_status kfe_i_check_stored(kfe_context *ctx, double bytes)
{
    return kfe_i_check_memory(ctx, bytes, "the stored kernel matrix",
                              "raise {memory}, or use {gram=f32}, {gram=tiled} or {gram=auto}");
}

static void log_choice(const kfe_i_gram *gram, const char *choice)
{
    char wide[32];
    char limit[32];

    kfe_i_format_bytes(kfe_i_gram_packed_bytes(gram->size, 0), wide, sizeof wide);
    kfe_i_format_bytes((double)kfe_context_memory(gram->ctx), limit, sizeof limit);
    kfe_i_log(gram->ctx, KFE_LOG_INFO,
              "kernel matrix of %lld examples: %s (%s in double precision, limit %s)", (long long)gram->size,
              choice, wide, limit);
}

/* From this many examples on, computing the matrix anew takes a considerable part of a second. */
enum { COSTLY_SIZE = 5000 };

/* Says what limit would keep the matrix in single precision. */
static void warn_of_passes(const kfe_i_gram *gram, double budget)
{
    double limit = (double)kfe_context_memory(gram->ctx);
    char enough[32];

    log_choice(gram, gram->form->name);
    if (gram->size < COSTLY_SIZE)
        return;
    limit += 1.02 * (kfe_i_gram_packed_bytes(gram->size, 1) - budget) / KFE_MATRIX_SHARE;
    kfe_i_format_bytes(limit, enough, sizeof enough);
    kfe_i_log(
        gram->ctx, KFE_LOG_WARNING,
        "the kernel matrix of %lld examples does not fit in the memory limit and is computed anew in each "
        "iteration, which takes longer; a {memory} of %s keeps it",
        (long long)gram->size, enough);
}

/* The whole matrix does not fit: keeps as many rows as do, if they are a worthwhile part. */
static kfe_status keep_part(const kfe_i_gram *gram, double budget, kfe_i_gram **owned)
{
    enum { WORTH_IT = 20 }; /* at least a twentieth of the rows, a tenth of the matrix */
    const kfe_i_kernel *kernel = NULL;
    const kfe_i_points *points = NULL;
    int64_t rows = (int64_t)(budget / (4 * (double)gram->size));

    if (!kfe_i_gram_tiles(gram, &kernel, &points) || rows < gram->size / WORTH_IT) {
        warn_of_passes(gram, budget);
        return KFE_OK;
    }
    kfe_status status = kfe_i_gram_partial(gram->ctx, gram, rows, owned);
    if (status == KFE_OK)
        log_choice(gram, (*owned)->form->name);
    return status;
}

static double budget_beside(const kfe_i_gram *gram, double reserve)
{
    return KFE_MATRIX_SHARE * (double)kfe_i_memory_left(gram->ctx) - reserve;
}

/* The operator that evaluates the kernel inside this one, if a copy of it may be kept; else NULL. */
static const kfe_i_gram *evaluated_inside(const kfe_i_gram *gram)
{
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(gram);
    const kfe_i_gram *evaluated = inner ? inner : gram;

    return evaluated->form->evaluates && !evaluated->pinned ? evaluated : NULL;
}

int kfe_i_gram_wide_fits(const kfe_i_gram *gram, double reserve)
{
    const kfe_i_gram *evaluated = evaluated_inside(gram);

    if (evaluated && kfe_i_gram_device(evaluated))
        return kfe_i_device_wide_fits(evaluated, reserve);
    if (evaluated && kfe_i_gram_is_on_devices(evaluated)) /* divided, it takes less than whole */
        return kfe_i_devices_wide_fit(evaluated, reserve);
    if (evaluated && kfe_i_gram_dealt_source(evaluated))
        return kfe_i_dealt_bytes(gram->size, kfe_i_ranks(gram->ctx), 0) <= budget_beside(gram, reserve);
    return evaluated && kfe_i_gram_packed_bytes(gram->size, 0) <= budget_beside(gram, reserve);
}

/* In the memory of the operator's device; callers that want rows get them in host memory instead. Where processes have a device each,
 * and each has room for the whole matrix in double precision, products of vectors there need no messages; else the matrix is
 * divided over them. */
static kfe_status store_on_device(const kfe_i_gram *gram, double reserve, kfe_i_gram **owned)
{
    int divided = kfe_i_gram_is_on_devices(gram);
    kfe_status status =
        divided ? kfe_i_devices_keep_whole(gram, reserve, owned) : kfe_i_device_keep(gram, 0, reserve, owned);

    if (status == KFE_OK && divided && !*owned)
        status = kfe_i_devices_keep(gram, 0, reserve, owned);
    if (status == KFE_OK && *owned)
        kfe_i_log(gram->ctx, KFE_LOG_INFO, "kernel matrix of %lld examples: %s", (long long)gram->size,
                  (*owned)->form->name);
    return status;
}

/* In the memory of all processes: in double precision, else in single precision, else as many rows as fit. */
static kfe_status store_dealt(const kfe_i_gram *gram, double budget, kfe_i_gram **owned)
{
    int ranks = kfe_i_ranks(gram->ctx);
    int single = kfe_i_dealt_bytes(gram->size, ranks, 0) > budget;
    int64_t rows = single ? kfe_i_dealt_rows(gram, budget) : gram->size;
    kfe_status status = KFE_OK;

    if (rows > 0)
        status = kfe_i_dealt_keep(gram, single, rows, owned);
    if (status == KFE_OK)
        log_choice(gram, (*owned ? *owned : gram)->form->name);
    return status;
}

static kfe_status store(const kfe_i_gram *gram, double reserve, int rows, kfe_i_gram **owned)
{
    double budget = budget_beside(gram, reserve);
    int wide = kfe_i_gram_packed_bytes(gram->size, 0) <= budget;
    kfe_status status;

    if (!rows && (kfe_i_gram_device(gram) || kfe_i_gram_is_on_devices(gram)))
        return store_on_device(gram, reserve, owned);
    if (!rows && kfe_i_gram_dealt_source(gram))
        return store_dealt(gram, budget, owned);
    if (!wide && kfe_i_gram_packed_bytes(gram->size, 1) > budget)
        return keep_part(gram, budget, owned);
    if (rows && 8 * (double)gram->size * (double)gram->size <= budget)
        status = kfe_i_gram_stored(gram->ctx, gram, 0, owned);
    else
        status = kfe_i_gram_packed(gram->ctx, gram, !wide, owned);
    if (status == KFE_OK)
        log_choice(gram, (*owned)->form->name);
    return status;
}

static kfe_status keep(const kfe_i_gram *gram, double reserve, int rows, kfe_i_kept *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_gram *inner = kfe_i_gram_centred_inner(gram);
    const kfe_i_gram *evaluated = evaluated_inside(gram);

    *out = (kfe_i_kept){.gram = gram};
    if (!evaluated)
        return KFE_OK;
    KFE_TRY(store(evaluated, reserve, rows, &out->stored));
    if (out->stored && inner)
        KFE_TRY(kfe_i_gram_centred(gram->ctx, out->stored, &out->centred));
    if (out->centred && !kfe_i_gram_is_single(out->stored))
        KFE_TRY(kfe_i_gram_share_means(out->centred, gram));
    if (out->stored)
        out->gram = inner ? out->centred : out->stored;
cleanup:
    return status;
}

kfe_status kfe_i_gram_keep(const kfe_i_gram *gram, double reserve, kfe_i_kept *out)
{
    return keep(gram, reserve, 0, out);
}

kfe_status kfe_i_gram_keep_rows(const kfe_i_gram *gram, double reserve, kfe_i_kept *out)
{
    return keep(gram, reserve, 1, out);
}

void kfe_i_gram_keep_free(kfe_i_kept *kept)
{
    kfe_i_gram_free(kept->centred);
    kfe_i_gram_free(kept->stored);
    *kept = (kfe_i_kept){0};
}
