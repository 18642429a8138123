/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "command.h"
#include "list.h"
#include "progress.h"

enum { NAME_WIDTH = 18 };

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
    kfe_entry_info entry;

    putchar('[');
    for (int i = 0; kfe_reproduction(i, &entry); i++) {
        fputs(i ? ",\n  {" : "\n  {", stdout);
        print_member("name", entry.name, ", ");
        print_member("summary", entry.summary, ", ");
        print_member("source", entry.formula, "}");
    }
    puts("\n]");
}

static void list_as_text(void)
{
    kfe_entry_info entry;

    for (int i = 0; kfe_reproduction(i, &entry); i++) {
        printf("%-*s", NAME_WIDTH, entry.name);
        cli_print_wrapped(stdout, entry.summary, NAME_WIDTH, NAME_WIDTH);
        if (!entry.formula)
            continue;
        printf("%*s", NAME_WIDTH, "");
        cli_print_wrapped(stdout, entry.formula, NAME_WIDTH, NAME_WIDTH);
    }
}

/* The flag wins over the environment. */
static void add_folder(const cli_session *session, cli_text *options)
{
    const char *folder = getenv("KFE_DATA");

    if (folder && *folder && !cli_option_given(&session->arguments, CLI_OPTIONS, "data"))
        cli_text_option(options, "data", folder);
}

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    kfe_style style = session->json ? KFE_STYLE_JSON : KFE_STYLE_TEXT;
    cli_text options = {0};
    char *text = NULL;
    kfe_status status = KFE_OK;

    if (cli_is_set(arguments, "list")) {
        CLI_TRY(cli_check_operands(session, 0, 0, "no name"));
        if (session->json)
            list_as_json();
        else
            list_as_text();
        return KFE_OK;
    }
    CLI_TRY(cli_check_operands(session, 1, 1, "the name of a table or figure ('kfe reproduce --list')"));
    cli_options_of(arguments, CLI_OPTIONS, &options);
    add_folder(session, &options);
    CLI_TRY(kfe_reproduce(session->ctx, arguments->operands[0], cli_text_string(&options), style, &text));
    cli_progress_erase();
    cli_print_text(text);
cleanup:
    kfe_string_free(session->ctx, text);
    free(options.bytes);
    return status;
}

static const cli_flag flags[] = {CLI_SWITCH("list", "list the tables and figures that can be computed again"),
                                 CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_reproduce = {
    .name = "reproduce",
    .summary = "compute the tables and figures of the papers again",
    .operands = "NAME [--data DIR] [--quick] [-o DIR] [--json]",
    .description =
        "Runs an experiment of a paper by the paper's own protocol and prints the published numbers beside "
        "ours. NAME is one that --list shows, or the path of a specification. The data is looked for in DIR, "
        "by default in $KFE_DATA; what is missing is listed by file.",
    .examples = "  kfe reproduce --list\n",
    .flags = flags,
    .option = kfe_reproduce_option,
    .option_title = "Flags of reproducing",
    .run = run,
};
