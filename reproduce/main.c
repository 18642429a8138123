/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point of kfe-reproduce, which `kfe reproduce` starts: a program of one command. */
#include <string.h>

#include "help.h"

extern const cli_command cli_command_reproduce;

const cli_command *cli_command_at(int index)
{
    return index == 0 ? &cli_command_reproduce : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    return strcmp(name, cli_command_reproduce.name) == 0 ? &cli_command_reproduce : NULL;
}

int main(int argc, char **argv)
{
    cli_begin(argv);
    if (argc > 1 && strcmp(argv[1], "--man") == 0) {
        cli_manual(stdout, &cli_command_reproduce);
        return cli_close_output(0);
    }
    return cli_close_output(cli_run(&cli_command_reproduce, argc - 1, argv + 1));
}
