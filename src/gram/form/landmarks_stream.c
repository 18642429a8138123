/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the factor F of a landmark operator, for sums over its rows: F is not kept. Fits call it (model/landmark_fit.c). */
#include <math.h>

#include "core/invariant.h"
#include "core/memory.h"
#include "gram/form/landmarks_factor.h"
#include "linalg/linalg.h"

enum { PANEL = 1024 };

void kfe_i_landmarks_log(const kfe_i_landmark_factor *f)
{
    kfe_i_log(
        f->ctx, KFE_LOG_INFO,
        "landmarks: %lld of %lld examples, rank %lld; they leave %.2g%% of the trace of the kernel matrix; "
        "the factor is %s",
        (long long)f->count, (long long)f->rows, (long long)f->rank, 100 * f->left,
        f->wide     ? "in double precision"
        : f->narrow ? "in single precision"
                    : "computed again at every pass");
}

kfe_status kfe_i_landmark_stream(const kfe_i_gram *gram, kfe_i_landmark_visit *visit, void *state,
                                 int *definite)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_factor *f = kfe_i_landmark_factor_of(gram);
    kfe_i_landmark_rest sums = {0};
    double negative = 0;
    double *exact = NULL;
    double *panel = NULL;
    double kept[PANEL];

    assert(f->source && f->lower);
    KFE_ALLOC(f->ctx, exact, f->rows);
    KFE_ALLOC(f->ctx, panel, PANEL * f->count);
    KFE_TRY(kfe_i_gram_diagonal(f->source, exact));
    for (int64_t first = 0; first < f->rows; first += PANEL) {
        int64_t rows = f->rows - first < PANEL ? f->rows - first : PANEL;
        KFE_TRY(kfe_i_progress(f->ctx, "computing the kernel with the landmarks", first, f->rows));
        KFE_TRY(kfe_i_factor_rows(f, first, rows, panel, NULL));
        kfe_i_square_rows(f->ctx, rows, f->rank, panel, kept);
        kfe_i_add_rest(rows, exact + first, kept, &sums);
        KFE_TRY(visit(state, first, rows, panel));
    }
    kfe_i_share_of_rest(&sums, &f->left, &negative);
    *definite = negative >= KFE_NEGATIVE_BEYOND_ROUNDING;
    if (*definite)
        kfe_i_landmarks_log(f);
cleanup:
    kfe_i_free(f->ctx, exact);
    kfe_i_free(f->ctx, panel);
    return status;
}

kfe_status kfe_i_landmark_takes_kernel_sums(const kfe_i_gram *gram, int *out)
{
    return kfe_i_factor_takes_kernel_sums(kfe_i_landmark_factor_of(gram), out);
}

kfe_status kfe_i_landmark_stream_kernel(const kfe_i_gram *gram, kfe_i_landmark_visit *visit, void *state)
{
    kfe_status status = KFE_OK;
    const kfe_i_landmark_factor *f = kfe_i_landmark_factor_of(gram);
    double *panel = NULL;

    KFE_ALLOC(f->ctx, panel, PANEL * f->count);
    for (int64_t first = 0; first < f->rows; first += PANEL) {
        int64_t rows = f->rows - first < PANEL ? f->rows - first : PANEL;
        KFE_TRY(kfe_i_progress(f->ctx, "computing the kernel with the landmarks", first, f->rows));
        KFE_TRY(kfe_i_landmark_kernel_rows(f, f->source, first, rows, panel));
        KFE_TRY(visit(state, first, rows, panel));
    }
cleanup:
    kfe_i_free(f->ctx, panel);
    return status;
}

kfe_status kfe_i_landmark_note_kept(const kfe_i_gram *gram, double kept)
{
    kfe_status status = KFE_OK;
    kfe_i_landmark_factor *f = kfe_i_landmark_factor_of(gram);
    double *exact = NULL;
    double trace = 0;

    KFE_ALLOC(gram->ctx, exact, gram->size);
    KFE_TRY(kfe_i_gram_diagonal(f->source, exact));
    for (int64_t i = 0; i < gram->size; i++)
        trace += exact[i];
    f->left = trace > 0 ? fmax(0, trace - kept) / trace : 0;
    kfe_i_landmarks_log(f);
cleanup:
    kfe_i_free(gram->ctx, exact);
    return status;
}
