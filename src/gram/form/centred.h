/* SPDX-License-Identifier: Apache-2.0 */
/* Give a form a centred version of its own, for its `centre`: what all centred operators have in common. */
#ifndef KFE_GRAM_FORM_CENTRED_H
#define KFE_GRAM_FORM_CENTRED_H

#include "gram/form.h"

/* The centred operator of this form. NULL: of the form that every operator can have. Borrows `inner`. */
kfe_status kfe_i_centred_new(const kfe_i_gram *inner, const kfe_i_gram_form *form, kfe_i_gram **out);
/* The operator inside one that kfe_i_centred_new made. */
const kfe_i_gram *kfe_i_centred_inner(const kfe_i_gram *centred);

/* Entries of the table of such a form. */
#define KFE_CENTRED_CALLS                                                                                    \
    .entries = kfe_i_centred_entries, .diagonal = kfe_i_centred_diagonal, .largest = kfe_i_centred_largest,  \
    .column_seconds = kfe_i_centred_column_seconds, .times = kfe_i_centred_times,                            \
    .times_single = kfe_i_centred_times_single, .rank_bound = kfe_i_centred_rank_bound,                      \
    .keep = kfe_i_centred_keep, .release = kfe_i_centred_release

kfe_status kfe_i_centred_entries(const kfe_i_gram *gram, kfe_i_places rows, kfe_i_places cols, double *out,
                                 int64_t stride);
kfe_status kfe_i_centred_diagonal(const kfe_i_gram *gram, double *out);
kfe_status kfe_i_centred_largest(const kfe_i_gram *gram, double *out);
kfe_status kfe_i_centred_column_seconds(const kfe_i_gram *gram, double *out);
kfe_status kfe_i_centred_times(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
kfe_status kfe_i_centred_times_single(const kfe_i_gram *gram, const double *v, int64_t k, double *out);
int64_t kfe_i_centred_rank_bound(const kfe_i_gram *gram);
kfe_status kfe_i_centred_keep(const kfe_i_gram *gram, kfe_i_keep_how how, double reserve, kfe_i_kept *out);
void kfe_i_centred_release(kfe_i_gram *gram);

#endif
