/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe generate`: writes synthetic data sets. */
#include <stdlib.h>

#include "command.h"
#include "input.h"
#include "list.h"

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *output = cli_value(arguments, "output");
    kfe_data *data = NULL;
    cli_text options = {0};
    kfe_status status = KFE_OK;

    if (cli_is_set(arguments, "list"))
        return cli_print_list(session, &cli_generators, NULL);
    CLI_TRY(cli_check_operands(session, 1, 1, "the name of a generator ('kfe generate --list' shows them)"));
    CLI_TRY(cli_check_output(session, output));
    cli_options_of(arguments, CLI_CHOICE, &options);
    CLI_TRY(kfe_data_generate(session->ctx, arguments->operands[0], cli_text_string(&options), &data));
    CLI_TRY(kfe_data_write(session->ctx, data, output ? output : "-"));
cleanup:
    kfe_data_free(data);
    free(options.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("output", 'o', "FILE",
             "the file to write; its extension names the format. CSV on standard "
             "output unless given"),
    CLI_SWITCH("list", "list the generators"), CLI_SWITCH("json", "print the list as JSON"), CLI_FLAGS_END};

const cli_command cli_command_generate = {
    .name = "generate",
    .summary = "generate example data",
    .operands = "NAME [-o FILE] [FLAGS]",
    .description = "Generates a data set from the literature. The same --seed gives the same data.",
    .examples = "  kfe generate --list\n"
                "  kfe generate slabs --seed 1 -o train.csv\n",
    .flags = flags,
    .choices = {{&cli_generators, NULL}},
    .run = run,
};
