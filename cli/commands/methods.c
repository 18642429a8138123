/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe methods`: lists the methods and says which one to use when. */
#include <stdlib.h>

#include "command.h"
#include "list.h"

enum { INDENT = 4 };

static void print_guide(void)
{
    const kfe_guide_row *row;

    puts("Which method? By goal:");
    for (int i = 0; (row = kfe_guide(i)); i++) {
        cli_text advice = {0};
        printf("\n");
        cli_print_wrapped(stdout, row->goal, 0, 0);
        cli_text_printf(&advice, "start with: %s", row->start);
        if (row->then[0])
            cli_text_printf(&advice, "\nthen: %s", row->then);
        printf("%*s", INDENT, "");
        cli_print_wrapped(stdout, advice.bytes, INDENT, INDENT);
        free(advice.bytes);
    }
}

static kfe_status run(cli_session *session)
{
    kfe_status status = KFE_OK;

    if (cli_is_set(&session->arguments, "guide")) {
        CLI_TRY(cli_check_operands(session, 0, 0, "no name with --guide"));
        print_guide();
        return KFE_OK;
    }
    CLI_TRY(cli_run_list(session, &cli_methods));
    if (!session->json && session->arguments.operand_count == 0) {
        printf("\n");
        print_guide();
    }
cleanup:
    return status;
}

static const cli_flag flags[] = {CLI_SWITCH("guide", "print which method to use for which goal"), CLI_JSON,
                                 CLI_FLAGS_END};

const cli_command cli_command_methods = {
    .name = "methods",
    .summary = "list the methods and which to use when, or show one in full",
    .operands = "[NAME] [--guide] [--json]",
    .description =
        "Lists the methods that 'kfe fit -m' takes, each with its paper and the defaults of its "
        "parameters, and which of them to use for which goal. With a NAME, shows one method in full.",
    .examples = "  kfe methods\n  kfe methods --guide\n  kfe methods koc\n",
    .flags = flags,
    .run = run,
};
