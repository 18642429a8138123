/* SPDX-License-Identifier: Apache-2.0 */
/* Write what stands at the head of a page: its title, and how good the predictions are. */
#ifndef KFE_REPORT_PAGE_TITLE_H
#define KFE_REPORT_PAGE_TITLE_H

#include "report/report.h"

/* Appends method, kernel, target and data, as "koc with rbf: class of iris"; escaped (title.c). */
void kfe_i_page_title(const kfe_report *report, kfe_i_text *out);
/* Appends a paragraph: the quality of the predictions with an interval, beside what a guess reaches; nothing if nothing was predicted. Ends
 * with an error in out->status (quality.c). */
void kfe_i_page_quality(kfe_report *report, kfe_i_text *out);

#endif
