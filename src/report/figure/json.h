/* SPDX-License-Identifier: Apache-2.0 */
/* Write the description of a figure as JSON, from which the page draws its charts and tables. */
#ifndef KFE_REPORT_FIGURE_JSON_H
#define KFE_REPORT_FIGURE_JSON_H

#include "core/json/json.h"
#include "report/figure/figure.h"

/* Adds the figure as an object to an open array or at the top. Numbers have four significant digits. */
void kfe_i_figure_json(const kfe_i_figure *figure, kfe_i_json *json);

#endif
