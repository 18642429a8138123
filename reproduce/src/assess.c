/* SPDX-License-Identifier: Apache-2.0 */
/* Cross-validates a cell and reads the result. Called by reproduce.c. */
#include "reproduce/src/assess.h"

#include <math.h>
#include <string.h>

#include "reproduce/src/mean.h"

kfe_status rep_assess(const rep_cell *cell, const kfe_data *data, kfe_result **out)
{
    return kfe_cross_validate(cell->ctx, cell->spec, cell->grids, data, cell->options, NULL, out);
}

/* A column of the splits by its name or, as a metric, by the last part of it. */
static const kfe_column *find_metric(const kfe_table *splits, const char *metric)
{
    const kfe_column *c;

    if (strcmp(metric, REP_SUPPORT_VECTORS) == 0)
        return kfe_table_find(splits, "support_vectors");
    for (int64_t i = 0; (c = kfe_table_column(splits, i)); i++)
        if (strncmp(c->name, "metrics/", 8) == 0 && strcmp(c->name + 8, metric) == 0)
            return c;
    return NULL;
}

int64_t rep_assessed_metric(const kfe_result *assessment, const char *metric, double *mean, double *sd)
{
    const kfe_table *splits = kfe_result_find(assessment, "splits");
    const kfe_column *values = find_metric(splits, metric);
    rep_mean sum = {0};

    for (int64_t i = 0; i < splits->rows; i++)
        rep_mean_add(&sum, values ? values->numbers[i] : (double)NAN);
    *mean = rep_mean_value(&sum);
    *sd = rep_mean_sd(&sum);
    return sum.count;
}

/* Appends "k of n WHAT failed: reason" for the rows whose "failed" holds a reason; returns k. */
static int64_t put_failures(const kfe_table *table, const char *what, rep_text *out)
{
    const kfe_column *failed = kfe_table_find(table, "failed");
    const char *reason = NULL;
    int64_t count = 0;

    for (int64_t i = 0; failed && i < table->rows; i++) {
        reason = reason ? reason : failed->texts[i];
        count += failed->texts[i] != NULL;
    }
    if (count > 0)
        rep_text_printf(out, "%lld of %lld %s failed: %s", (long long)count, (long long)table->rows, what,
                        reason);
    return count;
}

void rep_assessed_failures(const kfe_result *assessment, rep_text *out)
{
    const kfe_table *settings = kfe_result_find(assessment, "settings");

    if (put_failures(kfe_result_find(assessment, "splits"), "splits", out) == 0 && settings->rows > 1)
        (void)put_failures(settings, "settings", out);
}

/* The values of a row in the columns "GROUP/NAME", as in "gamma=0.1 C=1". */
static void put_setting(const kfe_table *table, const char *group, int64_t row, rep_text *out)
{
    size_t length = strlen(group);
    const char *between = "";
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(table, i)); i++)
        if (strncmp(c->name, group, length) == 0 && c->name[length] == '/' && c->texts) {
            rep_text_printf(out, "%s%s=%s", between, c->name + length + 1, c->texts[row]);
            between = " ";
        }
}

static int all_chose_the_same(const kfe_table *splits)
{
    const kfe_column *c;

    for (int64_t i = 0; (c = kfe_table_column(splits, i)); i++)
        for (int64_t row = 1; row < splits->rows && strncmp(c->name, "setting/", 8) == 0; row++)
            if (strcmp(c->texts[row], c->texts[0]) != 0)
                return 0;
    return 1;
}

void rep_assessed_setting(const kfe_result *assessment, rep_text *out)
{
    const kfe_table *splits = kfe_result_find(assessment, "splits");

    if (kfe_result_find(assessment, "settings")->rows < 2)
        return;
    if (all_chose_the_same(splits)) {
        put_setting(splits, "setting", 0, out);
        return;
    }
    rep_text_puts(out, "chosen for each split; best over all: ");
    put_setting(kfe_result_table(assessment, 0), "best", 0, out);
}
