/* SPDX-License-Identifier: Apache-2.0 */
/* Write a report, or one figure, as a page that needs nothing else: no network and no other file. */
#ifndef KFE_REPORT_PAGE_PAGE_H
#define KFE_REPORT_PAGE_PAGE_H

#include "report/figure/figure.h"
#include "report/report.h"

/* All figures that apply to the report or, unless NULL, only this one. */
kfe_status kfe_i_page_write(kfe_context *ctx, kfe_report *report, const kfe_i_figure *only, char **out);

#endif
