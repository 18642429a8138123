/* SPDX-License-Identifier: Apache-2.0 */
/* What `kfe measure` finds, as a result and as its text: one row per kernel. Called by workflow/measure.c. */
#include "report/measures.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "report/texts.h"

static double value_of(const kfe_i_measure *measure, const kfe_i_measured *moments)
{
    return measure->needs_target && !moments->has_target ? (double)NAN : measure->value(moments);
}

kfe_status kfe_i_measures_result(kfe_context *ctx, int64_t count, char *const *names,
                                 const kfe_i_measured *moments, kfe_result **out)
{
    kfe_status status = KFE_OK;
    const kfe_i_measure *measure;
    kfe_result *result = NULL;

    KFE_TRY(kfe_i_result_new(ctx, &result));
    kfe_i_result_table *table = kfe_i_result_add(kfe_i_result_facts(result), NULL, "measures", 0);
    for (int64_t m = 0; m < count; m++) {
        kfe_i_result_row(table);
        kfe_i_put_text(table, NULL, "kernel", names[m]);
        for (int i = 0; (measure = kfe_i_measure_at(i)); i++) {
            kfe_i_put_real(table, NULL, measure->name, value_of(measure, &moments[m]));
            kfe_i_put_about(table, measure->summary);
        }
    }
    status = kfe_i_result_finish(result, out);
cleanup:
    return status;
}

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
