/* SPDX-License-Identifier: Apache-2.0 */
/* Whether bytes are UTF-8: model files and reports are JSON, which holds nothing else. */
#ifndef KFE_DATA_UTF8_H
#define KFE_DATA_UTF8_H

int kfe_i_is_utf8(const char *text);
/* Text that is not UTF-8 gets '?' for every byte beyond ASCII; other text stays as it is. */
void kfe_i_force_utf8(char *text);

#endif
