/* SPDX-License-Identifier: Apache-2.0 */
/* Compress text for a page, and find the charts that are installed beside the library. */
#ifndef KFE_REPORT_PAGE_PACK_H
#define KFE_REPORT_PAGE_PACK_H

#include "core/text.h"

/* Appends text as gzip in base64. */
kfe_status kfe_i_put_packed(kfe_context *ctx, const char *text, kfe_i_text *out);
/* Appends the bundle of plotly.js, which is compressed already, in base64. *found is 0, and nothing is appended, if there is
 * none. The environment variable KFE_CHARTS names another file; if it is empty, there is none. */
kfe_status kfe_i_put_charts(kfe_context *ctx, kfe_i_text *out, int *found);

#endif
