/* SPDX-License-Identifier: Apache-2.0 */
/* Write the HTML report of what a command did (--report FILE.html) with these functions. */
#ifndef KFE_CLI_PAGE_H
#define KFE_CLI_PAGE_H

#include "command.h"

#define CLI_REPORT                                                                                           \
    CLI_TEXT("report", 0, "FILE.html", "also write a report with figures, one HTML page that opens offline")

/* What a report shows; members that do not apply are NULL. */
typedef struct cli_page {
    const char *path; /* NULL: no report was asked for */
    const kfe_model *model;
    const kfe_data *train, *test;
    const kfe_result *results; /* of a search */
    const char *options;       /* of kfe_report_new */
    double seconds;            /* that the command took */
} cli_page;

/* Fails early if the report could not be written. */
kfe_status cli_page_check(cli_session *session);
/* Fails if a report cannot be written there, or if the name does not end in .html or .htm. */
kfe_status cli_page_check_path(cli_session *session, const char *path);
/* Does nothing without a path. */
kfe_status cli_page_write(cli_session *session, const cli_page *page);

#endif
