/* SPDX-License-Identifier: Apache-2.0 */
/* Which copy of an operator to keep for many passes, within the memory limit: the choice for matrices in host memory, which the `keep` of
 * most forms leads to. */

#include "core/memory.h"
#include "gram/form.h"

/* The share of the memory limit for the matrix and the caller's vectors; the data needs the rest. */
#define KFE_MATRIX_SHARE 0.9
/* The share of the memory for whole rows of a matrix whose passes are cheap without them. */
#define KFE_ROWS_SHARE 0.5

kfe_status kfe_i_check_stored(kfe_context *ctx, double bytes)
{
    return kfe_i_check_memory(ctx, bytes, "the stored kernel matrix",
                              "raise {memory}, or use {gram=f32}, {gram=tiled} or {gram=auto}");
}

void kfe_i_log_kept(const kfe_i_gram *gram)
{
    char wide[32];
    char limit[32];

    kfe_i_format_bytes(kfe_i_gram_packed_bytes(gram->size, 0), wide, sizeof wide);
    kfe_i_format_bytes((double)kfe_context_memory(gram->ctx), limit, sizeof limit);
    kfe_i_log(gram->ctx, KFE_LOG_INFO,
              "kernel matrix of %lld examples: %s (%s in double precision, limit %s)", (long long)gram->size,
              gram->form->name, wide, limit);
}

/* From this many examples on, computing the matrix anew takes a considerable part of a second. */
enum { COSTLY_SIZE = 5000 };

/* Says what limit would keep the matrix in single precision. */
static void warn_of_passes(const kfe_i_gram *gram, double budget)
{
    double limit = (double)kfe_context_memory(gram->ctx);
    char enough[32];

    kfe_i_log_kept(gram);
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

double kfe_i_keep_budget(const kfe_i_gram *gram, double reserve)
{
    return KFE_MATRIX_SHARE * (double)kfe_i_memory_left(gram->ctx) - reserve;
}

/* The whole matrix does not fit: keeps as many rows as do, if they are a worthwhile part. */
static kfe_status keep_part(const kfe_i_gram *gram, double budget, kfe_i_keep_part *partial,
                            kfe_i_gram **stored)
{
    enum { WORTH_IT = 3 }; /* at least a third of the rows, a ninth of the matrix */
    int64_t rows = kfe_i_gram_packed_rows(budget);

    if (partial && rows >= gram->size / WORTH_IT)
        return partial(gram, rows, stored);
    warn_of_passes(gram, budget);
    return KFE_OK;
}

static double bytes_of_rows(const kfe_i_gram *gram)
{
    return 8 * (double)gram->size * (double)gram->size;
}

static kfe_status keep_whole_rows(const kfe_i_gram *gram, kfe_i_kept *out)
{
    kfe_i_gram *stored = NULL;
    kfe_status status = kfe_i_gram_stored(gram->ctx, gram, &stored);

    if (stored) {
        kfe_i_kept_take(out, stored);
        status = stored->form->keep(stored, KFE_KEEP_ROWS, 0, out);
    }
    return status;
}

kfe_status kfe_i_keep_in_memory(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve,
                                kfe_i_keep_part *partial, kfe_i_kept *out)
{
    kfe_status status = KFE_OK;
    double budget = kfe_i_keep_budget(gram, reserve);
    int wide = kfe_i_gram_packed_bytes(gram->size, 0) <= budget;
    kfe_i_gram *stored = NULL;

    if (how == KFE_KEEP_ROWS && bytes_of_rows(gram) <= budget) {
        KFE_TRY(keep_whole_rows(gram, out));
    } else {
        if (wide || (how != KFE_KEEP_DOUBLE && kfe_i_gram_packed_bytes(gram->size, 1) <= budget))
            KFE_TRY(kfe_i_gram_packed(gram->ctx, gram, !wide, &stored));
        else if (how != KFE_KEEP_DOUBLE)
            KFE_TRY(keep_part(gram, budget, partial, &stored));
        if (stored)
            kfe_i_kept_take(out, stored);
    }
    if (out->stored)
        kfe_i_log_kept(out->stored);
cleanup:
    return status;
}

void kfe_i_kept_take(kfe_i_kept *out, kfe_i_gram *stored)
{
    out->exact = stored->precision->epsilon > out->gram->precision->epsilon ? out->gram : stored;
    out->gram = out->stored = stored;
}

kfe_status kfe_i_gram_keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out)
{
    double bytes = bytes_of_rows(gram) + reserve;

    *out = (kfe_i_kept){.gram = gram, .exact = gram};
    if (gram->form->keep && !gram->pinned)
        return gram->form->keep(gram, how, reserve, out);
    if (how != KFE_KEEP_ROWS || gram->pinned || gram->precision->entry_bytes < (int)sizeof(double) ||
        bytes > KFE_ROWS_SHARE * (double)kfe_i_memory_left(gram->ctx))
        return KFE_OK;
    return keep_whole_rows(gram, out); /* passes are cheap, but the caller reads entries */
}

void kfe_i_gram_keep_free(kfe_i_kept *kept)
{
    kfe_i_gram_free(kept->stored);
    *kept = (kfe_i_kept){0};
}
