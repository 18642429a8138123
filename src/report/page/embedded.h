/* SPDX-License-Identifier: Apache-2.0 */
/* Read the template, the style and the script of reports, which are embedded at build time (charts/embed.cmake). */
#ifndef KFE_REPORT_PAGE_EMBEDDED_H
#define KFE_REPORT_PAGE_EMBEDDED_H

/* Each ends with a zero byte. */
extern const unsigned char kfe_i_page_html[], kfe_i_page_css[], kfe_i_page_js[];

#endif
