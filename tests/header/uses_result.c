/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of results. */
#include <math.h>

#include "header/uses.h"

/* A saved result has the text of the one that it was written from. */
kfe_status use_result(kfe_context *ctx, const kfe_result *result)
{
    kfe_status status = KFE_OK;
    kfe_result *read = NULL;
    char *texts[3] = {NULL, NULL, NULL};

    assert_string_equal(CALL(kfe_result_table)(result, 0)->name, "facts");
    assert_null(CALL(kfe_result_find)(result, "nothing"));
    assert_null(CALL(kfe_table_column)(kfe_result_table(result, 0), kfe_result_table(result, 0)->cols));
    assert_null(CALL(kfe_table_find)(kfe_result_table(result, 0), "nothing"));
    assert_true(isnan(CALL(kfe_result_number)(result, "nothing")));
    assert_null(CALL(kfe_result_text)(result, "nothing"));
    TRY(CALL(kfe_result_describe)(ctx, result, KFE_STYLE_TEXT, &texts[0]));
    TRY(kfe_result_describe(ctx, result, KFE_STYLE_JSON, &texts[1]));
    TRY(CALL(kfe_result_write)(ctx, result, out_path));
    TRY(CALL(kfe_result_parse)(ctx, texts[1], &read));
    TRY(kfe_result_describe(ctx, read, KFE_STYLE_TEXT, &texts[2]));
    assert_string_equal(texts[0], texts[2]);
cleanup:
    CALL(kfe_result_free)(read);
    for (int i = 0; i < 3; i++)
        kfe_string_free(ctx, texts[i]);
    return status;
}
