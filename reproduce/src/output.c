/* SPDX-License-Identifier: Apache-2.0 */
/* Names and writes the files of a reproduction. Called by reproduce.c. */
#include "reproduce/src/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/system.h"

/* ---- names ---- */

/* Letters, digits, '.' and '-' stay; anything else becomes '_'. */
static void put_file_name(rep_text *path, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";

    for (; *name; name++)
        rep_text_add(path, strchr(plain, *name) ? name : "_", 1);
}

/* FOLDER/PLAN, where PLAN is the plan's name without folder and extension. */
static void put_stem(rep_text *path, const rep_plan *plan, const char *folder)
{
    const char *slash = strrchr(plan->name, '/');
    const char *stem = slash ? slash + 1 : plan->name;
    const char *extension = strstr(stem, ".json");

    rep_text_printf(path, "%s/", folder);
    rep_text_add(path, stem, extension && extension > stem ? (size_t)(extension - stem) : strlen(stem));
}

kfe_status rep_output_path(const rep_place *place, const char *folder, char **out)
{
    rep_text path = {0};

    put_stem(&path, place->plan, folder);
    rep_text_puts(&path, "-");
    put_file_name(&path, rep_string(place->row, "name"));
    rep_text_puts(&path, "-");
    put_file_name(&path, rep_string(place->column, "name"));
    rep_text_puts(&path, ".csv");
    return rep_text_take(place->plan->ctx, &path, out);
}

/* ---- writing ---- */

kfe_status rep_output_make(const rep_plan *plan, const char *folder)
{
    kfe_status status = KFE_OK;
    rep_text path = {0};

    if (!*folder)
        return KFE_OK;
    if (!kfe_i_make_folder(folder))
        return rep_fail(plan->ctx, KFE_EIO, "%s: cannot create this folder: %s", folder, strerror(errno));
    put_stem(&path, plan, folder);
    rep_text_puts(&path, ".csv");
    REP_TRY(rep_text_check(plan->ctx, &path));
    REP_TRY(kfe_output_check(plan->ctx, path.bytes));
cleanup:
    rep_text_free(&path);
    return status;
}

kfe_status rep_output_findings(const rep_findings *findings, const char *folder)
{
    kfe_status status = KFE_OK;
    rep_text path = {0};
    rep_text text = {0};

    put_stem(&path, findings->plan, folder);
    rep_text_puts(&path, ".csv");
    rep_findings_csv(findings, &text);
    REP_TRY(rep_text_check(findings->ctx, &path));
    REP_TRY(rep_text_check(findings->ctx, &text));
    REP_TRY(kfe_output_write(findings->ctx, path.bytes, rep_text_string(&text), text.length));
cleanup:
    rep_text_free(&path);
    rep_text_free(&text);
    return status;
}
