/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe help`: help on a command, man pages and the completion script. */
#include <string.h>

#include "external.h"
#include "help.h"

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *shell = cli_value(arguments, "completion");
    const char *name = arguments->operand_count ? arguments->operands[0] : NULL;
    const cli_command *command = name ? cli_command_find(name) : NULL;
    kfe_status status = cli_check_operands(session, 0, 1, "at most one command");

    if (status != KFE_OK)
        return status;
    if (name && !command &&
        cli_external_run(name, (char *[]){NULL, cli_is_set(arguments, "man") ? "--man" : "--help", NULL}))
        return KFE_EINVAL;
    if (name && !command)
        return cli_fail(session, "there is no command '%s'; 'kfe help' lists them", name);
    if (shell)
        return cli_completion(stdout, shell)
                   ? KFE_OK
                   : cli_fail(session, "completion is available for bash, zsh and fish, not for '%s'", shell);
    if (cli_is_set(arguments, "man"))
        cli_manual(stdout, command);
    else if (command)
        cli_help_command(stdout, command, NULL);
    else
        cli_help_overview(stdout);
    return KFE_OK;
}

static const cli_flag flags[] = {
    {.info = {.name = "man", .type = KFE_PARAM_FLAG, .initial = "no", .help = "print the man page"},
     .hidden = 1},
    {.info =
         {.name = "completion", .type = KFE_PARAM_TEXT, .initial = "", .help = "print the completion script"},
     .metavar = "SHELL",
     .hidden = 1},
    CLI_FLAGS_END};

const cli_command cli_command_help = {
    .name = "help",
    .summary = "show help on a command",
    .operands = "[COMMAND]",
    .description = "Lists the commands, or shows what one command does and which flags it takes.",
    .flags = flags,
    .run = run,
};
