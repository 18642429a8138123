/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the findings of a reproduction from its result; used by reproduction.c and reproduced_features.c. */
#include "report/figure/kind/findings.h"

#include <string.h>

#include "core/memory.h"

void kfe_i_findings_free(kfe_i_findings *findings)
{
    if (!findings->ctx)
        return;
    kfe_i_free(findings->ctx, findings->items);
    for (int k = 0; k < KFE_FINDING_NAMES; k++)
        kfe_i_free(findings->ctx, findings->names[k]);
    memset(findings, 0, sizeof *findings);
}

/* The number of a name in its list, to which it is added the first time. */
static int32_t intern(kfe_i_findings *findings, int list, const char *name)
{
    int64_t *count = &findings->name_count[list];

    for (int64_t k = *count - 1; k >= 0; k--)
        if (strcmp(findings->names[list][k], name) == 0)
            return (int32_t)k;
    findings->names[list][*count] = name;
    return (int32_t)(*count)++;
}

static int read_finding(kfe_i_findings *out, int64_t row)
{
    static const char *const keys[KFE_FINDING_NAMES] = {"row", "column", "metric"};
    kfe_i_finding *item = &out->items[out->count];

    for (int k = 0; k < KFE_FINDING_NAMES; k++) {
        const char *name = kfe_i_result_word(out->table, keys[k], row);
        if (!name)
            return 0;
        item->name[k] = intern(out, k, name);
    }
    item->order = out->count;
    item->point = kfe_i_result_at(out->table, out->over ? out->over : "", row);
    item->paper = kfe_i_result_at(out->table, "paper", row);
    item->paper_sd = kfe_i_result_at(out->table, "paper-sd", row);
    item->ours = kfe_i_result_at(out->table, "ours", row);
    item->sd = kfe_i_result_at(out->table, "sd", row);
    out->count++;
    return 1;
}

kfe_status kfe_i_findings_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_findings *out)
{
    kfe_status status = KFE_OK;
    const kfe_table *results = kfe_result_find(source->results, "results");

    *out = (kfe_i_findings){.ctx = ctx, .table = results};
    if (!results || results->rows == 0)
        return KFE_OK;
    out->over = kfe_result_text(source->results, "over");
    KFE_ALLOC(ctx, out->items, results->rows);
    for (int k = 0; k < KFE_FINDING_NAMES; k++)
        KFE_ALLOC(ctx, out->names[k], results->rows);
    for (int64_t row = 0; row < results->rows; row++)
        if (!read_finding(out, row)) {
            out->count = 0; /* not a reproduction */
            break;
        }
cleanup:
    return status;
}
