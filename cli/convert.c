/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "command.h"

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    kfe_data *data = NULL;
    cli_text options = {0};
    kfe_status status = KFE_OK;

    CLI_TRY(cli_check_operands(session, 2, 2, "a file to read and a file to write"));
    cli_options_of(arguments, CLI_READING, &options);
    CLI_TRY(kfe_data_read(session->ctx, arguments->operands[0], cli_text_string(&options), &data));
    CLI_TRY(kfe_data_write(session->ctx, data, arguments->operands[1]));
cleanup:
    kfe_data_free(data);
    free(options.bytes);
    return status;
}

const cli_command cli_command_convert = {
    .name = "convert",
    .summary = "convert data from one format to another",
    .operands = "IN OUT [FLAGS]",
    .description = "Reads IN and writes it to OUT in the format that OUT's extension names: .csv .tsv .npy "
                   ".npz .svm .libsvm, also followed by .gz.",
    .examples = "  kfe convert table.csv table.svm\n"
                "  kfe convert --label first --missing mean table.tsv.gz table.npz\n",
    .uses = CLI_USES_READING,
    .run = run,
};
