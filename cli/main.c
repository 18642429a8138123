/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point of kfe: finds the command and runs it. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "external.h"
#include "help.h"

static const cli_command *const commands[] = {
#define CLI_COMMAND(name) &cli_command_##name,
#include "commands/commands.def"
#undef CLI_COMMAND
};

const cli_command *cli_command_at(int index)
{
    return index >= 0 && (size_t)index < sizeof commands / sizeof *commands ? commands[index] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    const cli_command *command;

    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

static int unknown_command(const char *name)
{
    const cli_command *command;
    const char *external;
    const char *summary;
    cli_suggestion suggestion = {NULL, 0};

    if (name[0] == '-') {
        fprintf(stderr, "kfe: the flag '%s' must follow a command; 'kfe help' lists the commands\n",
                cli_shown(name));
        return CLI_EXIT_WRONG_USE;
    }
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        cli_suggest(&suggestion, name, command->name);
    for (int i = 0; cli_external_at(i, &external, &summary); i++)
        cli_suggest(&suggestion, name, external);
    fprintf(stderr, "kfe: there is no command '%s'", cli_shown(name));
    if (suggestion.best)
        fprintf(stderr, " (did you mean %s?)", suggestion.best);
    fputs("; 'kfe help' lists the commands\n", stderr);
    return CLI_EXIT_WRONG_USE;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const cli_command *command = name ? cli_command_find(name) : NULL;

    cli_begin(argv);
    if (!name) {
        cli_help_overview(stderr);
        return CLI_EXIT_WRONG_USE;
    }
    if (command)
        return cli_close_output(cli_run(command, argc - 2, argv + 2));
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        cli_help_overview(stdout);
    else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        printf("kfe %s\n", kfe_version());
    else if (cli_external_run(name, argv + 1))
        return CLI_EXIT_WRONG_USE;
    else
        return unknown_command(name);
    return cli_close_output(EXIT_SUCCESS);
}
