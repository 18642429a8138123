/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the findings of a reproduction from its JSON; used by reproduction.c and reproduced_features.c. */
#include "report/figure/kind/findings.h"

#include <string.h>

#include "core/memory.h"
#include "report/figure/kind/choice.h"

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

static int read_finding(kfe_i_findings *out, const kfe_i_json_value *json)
{
    static const char *const keys[KFE_FINDING_NAMES] = {"row", "column", "metric"};
    kfe_i_finding *item = &out->items[out->count];

    for (int k = 0; k < KFE_FINDING_NAMES; k++) {
        const char *name = kfe_i_json_get_text(json, keys[k]);
        if (!name)
            return 0;
        item->name[k] = intern(out, k, name);
    }
    item->json = json;
    item->order = out->count;
    item->point = kfe_i_json_number(out->over ? kfe_i_json_get(json, out->over) : NULL);
    item->paper = kfe_i_json_number(kfe_i_json_get(json, "paper"));
    item->paper_sd = kfe_i_json_number(kfe_i_json_get(json, "paper-sd"));
    item->ours = kfe_i_json_number(kfe_i_json_get(json, "ours"));
    item->sd = kfe_i_json_number(kfe_i_json_get(json, "sd"));
    out->count++;
    return 1;
}

kfe_status kfe_i_findings_read(kfe_context *ctx, const kfe_i_source *source, kfe_i_findings *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_json_value *results = kfe_i_json_get(source->results, "results");

    *out = (kfe_i_findings){.ctx = ctx, .over = kfe_i_json_get_text(source->results, "over")};
    if (!kfe_i_json_is(results, KFE_JSON_ARRAY) || results->count == 0)
        return KFE_OK;
    KFE_ALLOC(ctx, out->items, results->count);
    for (int k = 0; k < KFE_FINDING_NAMES; k++)
        KFE_ALLOC(ctx, out->names[k], results->count);
    for (const kfe_i_json_value *r = results->first; r; r = r->next)
        if (!read_finding(out, r)) {
            out->count = 0; /* not the JSON of a reproduction */
            break;
        }
cleanup:
    return status;
}
