/* SPDX-License-Identifier: Apache-2.0 */
/* Write the text of each kind of result (kfe_result_describe). Each function reads only the result, so that a saved result
 * has the same text. */
#ifndef KFE_TEXT_TEXTS_H
#define KFE_TEXT_TEXTS_H

#include "result/result.h"

kfe_status kfe_i_outcome_text(const kfe_result *result, kfe_i_text *text);
kfe_status kfe_i_measures_text(const kfe_result *result, kfe_i_text *text);
kfe_status kfe_i_assessment_text(const kfe_result *result, kfe_i_text *text);
kfe_status kfe_i_comparison_text(const kfe_result *result, kfe_i_text *text);
kfe_status kfe_i_tuning_text(const kfe_result *result, kfe_i_text *text);
kfe_status kfe_i_explanation_text(const kfe_result *result, kfe_i_text *text);

#endif
