/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of one name, which cannot be told apart by it; used when a model is made and when data is matched to one. */
#include "data/table/twins.h"

#include <string.h>

#include "core/intern.h"
#include "core/memory.h"

kfe_status kfe_i_find_twins(kfe_context *ctx, int64_t count, const char *const *names, int64_t *first,
                            int64_t *second)
{
    kfe_status status = KFE_OK;
    kfe_i_intern words;
    int64_t *place = NULL; /* of the first column of each name */

    *first = *second = 0;
    if (!names)
        return KFE_OK;
    kfe_i_intern_init(&words, ctx);
    KFE_ALLOC(ctx, place, count);
    for (int64_t j = 0; j < count && *second == 0; j++) {
        int64_t before = words.count;
        int32_t number = 0;
        if (!names[j] || !names[j][0])
            continue;
        KFE_TRY(kfe_i_intern_add(&words, names[j], (int64_t)strlen(names[j]), &number));
        if (number == before) {
            place[number] = j;
        } else {
            *first = place[number];
            *second = j;
        }
    }
cleanup:
    kfe_i_free(ctx, place);
    kfe_i_intern_free(&words);
    return status;
}
