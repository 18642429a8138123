/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Put foreign text (names of columns, classes and files) into HTML, SVG and scripts with these functions, and in no other
 * way: names are data, never markup.
 */
#ifndef KFE_REPORT_FIGURE_MARKUP_H
#define KFE_REPORT_FIGURE_MARKUP_H

#include "core/text.h"

/* Appends text for the content or a quoted attribute of an element. Control characters and bytes that are not UTF-8 are
 * shown as \xNN, ends of lines too. */
void kfe_i_put_markup(kfe_i_text *out, const char *text);
/* Appends at most `characters` of it, and an ellipsis where it was cut. */
void kfe_i_put_markup_cut(kfe_i_text *out, const char *text, int characters);
/* Appends bytes as base64. */
void kfe_i_put_base64(kfe_i_text *out, const unsigned char *bytes, int64_t count);

#endif
