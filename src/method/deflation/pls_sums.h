/* SPDX-License-Identifier: Apache-2.0 */
/* Fit pls from products of columns: from sums over rows, or from those of a table in memory, which are added up first. */
#ifndef KFE_METHOD_DEFLATION_PLS_SUMS_H
#define KFE_METHOD_DEFLATION_PLS_SUMS_H

#include "method/deflation/rough_sums.h"
#include "method/method.h"

typedef struct kfe_i_pls_sums {
    const kfe_i_sums *sums;
    kfe_i_rough *rough; /* the scatter of the columns; NULL: that of the sums, in either form */
    int moments;        /* the solution gets them */
} kfe_i_pls_sums;

/* `dim` features of centred columns. *done is 0, and `out` untouched, if the sums have too few digits for this number. */
kfe_status kfe_i_pls_from_sums(kfe_context *ctx, const kfe_i_pls_sums *from, int64_t dim, kfe_i_solution *out,
                               int *done);
/* The same from the rows of a source, if that is predicted to be faster than passes over them. */
kfe_status kfe_i_pls_from_rows(kfe_context *ctx, const kfe_i_fit_source *source, int64_t dim,
                               kfe_i_solution *out, int *done);
/* The fit of pls on the rows of a source, for methods that add a predictor. `method` begins messages; dim 0: 10. */
kfe_status kfe_i_pls_fit(kfe_context *ctx, const kfe_i_fit_source *source, const char *method, int center,
                         int64_t dim, kfe_i_solution *out);

#endif
