/* SPDX-License-Identifier: Apache-2.0 */
/* The text of what kfe_measure found: one row per kernel. */
#include <math.h>
#include <string.h>

#include "text/texts.h"

/* The first column has the names of the kernels. */
kfe_status kfe_i_measures_text(const kfe_result *result, kfe_i_text *text)
{
    const kfe_table *table = kfe_result_find(result, "measures");
    const kfe_column *c;
    size_t width = strlen("kernel");

    for (int64_t row = 0; row < table->rows; row++) {
        const char *name = kfe_i_result_word(table, "kernel", row);
        width = name && strlen(name) > width ? strlen(name) : width;
    }
    kfe_i_text_printf(text, "%-*s", (int)width, "kernel");
    for (int64_t i = 1; (c = kfe_table_column(table, i)); i++)
        kfe_i_text_printf(text, "  %17s", c->name);
    kfe_i_text_puts(text, "\n");
    for (int64_t row = 0; row < table->rows; row++) {
        const char *name = kfe_i_result_word(table, "kernel", row);
        kfe_i_text_printf(text, "%-*s", (int)width, name ? name : "");
        for (int64_t i = 1; (c = kfe_table_column(table, i)); i++)
            if (!c->numbers || isnan(c->numbers[row]))
                kfe_i_text_printf(text, "  %17s", "-");
            else
                kfe_i_text_printf(text, "  %17.6g", c->numbers[row]);
        kfe_i_text_puts(text, "\n");
    }
    return KFE_OK;
}
