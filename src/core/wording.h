/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters in messages. A message names a parameter neutrally, in its format string:
 *
 *     "the value is missing; use {missing=mean} or {missing=drop}"
 *
 * and the host of the context decides how users read it:
 *
 *     command line   --missing mean
 *     Python         missing='mean'
 *     R              missing = "mean"
 *     C              missing=mean
 *
 * kfe_i_fail, kfe_i_fail_at, kfe_i_log, kfe_i_check_memory and kfe_i_text_message translate their formats. Only
 * formats are translated, never the text that is put into them, so that braces in names of files or columns stay.
 * A value may be a conversion: "{landmarks=%lld}".
 */
#ifndef KFE_CORE_WORDING_H
#define KFE_CORE_WORDING_H

#include "core/text.h"

/* Room for a translated format; a longer one is cut. */
enum { KFE_WORDING_TEXT = 1024 };

/* Translates a format for the host of the context. */
void kfe_i_word_format(const kfe_context *ctx, const char *format, char out[KFE_WORDING_TEXT]);

/* Writes one parameter as the host of the context does: --label-file, label_file or label-file. */
void kfe_i_word_name(const kfe_context *ctx, const char *name, char out[KFE_WORDING_TEXT]);

/* Adds a message to a text, translated for the host of the text's context. */
void kfe_i_text_message(kfe_i_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
