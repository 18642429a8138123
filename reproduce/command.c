/* SPDX-License-Identifier: Apache-2.0 */
/* The command of kfe-reproduce: lists and computes published tables and figures. */
#include <stdlib.h>

#include "command.h"
#include "list.h"
#include "page.h"
#include "progress.h"
#include "reproduce/src/reproduce.h"
#include "system/system.h"

enum { NAME_WIDTH = 20 };

static void print_quoted(const char *text)
{
    putchar('"');
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            printf("\\u%04x", (unsigned)(unsigned char)*c);
        else
            putchar(*c);
    putchar('"');
}

static void print_member(const char *key, const char *value, const char *end)
{
    printf("\"%s\": ", key);
    print_quoted(value ? value : "");
    fputs(end, stdout);
}

static void list_as_json(void)
{
    rep_entry entry;

    putchar('[');
    for (int i = 0; rep_entry_at(i, &entry); i++) {
        fputs(i ? ",\n  {" : "\n  {", stdout);
        print_member("name", entry.name, ", ");
        print_member("summary", entry.title, ", ");
        print_member("source", entry.paper, "}");
    }
    puts("\n]");
}

static void list_as_text(void)
{
    rep_entry entry;

    for (int i = 0; rep_entry_at(i, &entry); i++) {
        printf("%-*s", NAME_WIDTH, entry.name);
        cli_print_wrapped(stdout, entry.title, NAME_WIDTH, NAME_WIDTH);
        printf("%*s", NAME_WIDTH, "");
        cli_print_wrapped(stdout, entry.paper, NAME_WIDTH, NAME_WIDTH);
    }
}

static kfe_status list(cli_session *session)
{
    kfe_status status = cli_check_operands(session, 0, 0, "no name");

    if (status == KFE_OK && session->json)
        list_as_json();
    else if (status == KFE_OK)
        list_as_text();
    return status;
}

static kfe_status check_folder(cli_session *session, const char *folder)
{
    if (folder && kfe_i_path_look(folder, NULL) != KFE_PATH_FOLDER)
        return cli_fail(session,
                        "--data: there is no folder %s; give the folder with the data sets of the papers",
                        folder);
    return KFE_OK;
}

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *folder = cli_value(arguments, "data");
    const char *report = cli_value(arguments, "report");
    const rep_settings settings = {.data = folder ? folder : getenv("KFE_DATA"),
                                   .output = cli_value(arguments, "output"),
                                   .row = cli_value(arguments, "row"),
                                   .column = cli_value(arguments, "column"),
                                   .quick = cli_is_set(arguments, "quick"),
                                   .points = report != NULL};
    double start = kfe_i_clock();
    char *text = NULL;
    char *json = NULL;
    kfe_result *results = NULL;
    kfe_status status = KFE_OK;

    if (cli_is_set(arguments, "list"))
        return list(session);
    CLI_TRY(cli_check_operands(session, 1, 1, "the name of a table or figure ('kfe reproduce --list')"));
    CLI_TRY(cli_page_check(session));
    CLI_TRY(check_folder(session, folder));
    CLI_TRY(rep_run(session->ctx, arguments->operands[0], &settings, session->json ? NULL : &text,
                    session->json || report ? &json : NULL));
    cli_progress_erase();
    cli_print_text(session->json ? json : text);
    if (report)
        CLI_TRY(kfe_result_parse(session->ctx, json, &results));
    cli_page page = {.path = report, .results = results, .seconds = kfe_i_clock() - start};
    CLI_TRY(cli_page_write(session, &page));
cleanup:
    kfe_result_free(results);
    free(json);
    free(text);
    return status;
}

static const cli_flag flags[] = {
    CLI_SWITCH("list", "list the tables and figures that can be computed"),
    CLI_TEXT("data", 0, "DIR", "folder with the data sets of the papers, by default $KFE_DATA"),
    CLI_TEXT("output", 'o', "DIR",
             "folder for the numbers and the points of figures, as CSV; created if it does not exist"),
    CLI_SWITCH("quick", "fewer splits, for a first look"),
    CLI_TEXT("row", 0, "ROW", "compute only this row of the table"),
    CLI_TEXT("column", 0, "COLUMN", "compute only this column of the table"),
    CLI_REPORT,
    CLI_JSON,
    CLI_FLAGS_END};

const cli_command cli_command_reproduce = {
    .name = "reproduce",
    .summary = "compute the tables and figures of the papers again",
    .operands = "NAME [--data DIR] [--quick] [-o DIR] [--report FILE.html] [--json]",
    .description =
        "Runs an experiment of a paper by the paper's own protocol and prints the published numbers beside "
        "ours. NAME is a name from --list, or the path of a specification. The data sets are read from DIR, "
        "by default $KFE_DATA; a row whose files are missing is skipped and names them.",
    .examples = "  kfe reproduce --list\n",
    .flags = flags,
    .run = run,
};
