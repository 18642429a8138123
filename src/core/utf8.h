/* SPDX-License-Identifier: Apache-2.0 */
/* Check that text is UTF-8, which the JSON of model files and reports requires. */
#ifndef KFE_CORE_UTF8_H
#define KFE_CORE_UTF8_H

int kfe_i_is_utf8(const char *text);
/* Replaces every byte beyond ASCII by '?' if the text is not UTF-8; other text stays as it is. */
void kfe_i_force_utf8(char *text);

#endif
