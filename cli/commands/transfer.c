/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe transfer`: makes a model of one instrument one for another. */
#include "command.h"
#include "input.h"
#include "progress.h"

static kfe_status run(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *output = cli_value(arguments, "output");
    kfe_model *model = NULL;
    kfe_model *transferred = NULL;
    kfe_data *master = NULL;
    kfe_data *slave = NULL;
    kfe_data *train = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(cli_check_operands(session, 1, 1, "a model file"));
    if (!output)
        return cli_fail(session, "transfer needs the file to write: -o NEW.kfe");
    if (!cli_value(arguments, "how"))
        return cli_fail(session, "say how: --how pds:window=5,dim=2, --how epo:dim=1 or --how slope-bias");
    CLI_TRY(cli_check_output(session, output));
    CLI_TRY(cli_load_model(session, &model));
    CLI_TRY(cli_read_flag_data(session, "master", model, &master));
    CLI_TRY(cli_read_flag_data(session, "slave", model, &slave));
    CLI_TRY(cli_read_flag_data(session, "train", model, &train));
    CLI_TRY(
        kfe_transfer(session->ctx, model, cli_value(arguments, "how"), master, slave, train, &transferred));
    cli_progress_erase();
    CLI_TRY(kfe_model_save(session->ctx, transferred, output));
cleanup:
    kfe_data_free(train);
    kfe_data_free(slave);
    kfe_data_free(master);
    kfe_model_free(transferred);
    kfe_model_free(model);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT(
        "how", 0, "HOW",
        "pds, epo or slope-bias, with settings as in pds:window=5,dim=2, epo:dim=1, slope-bias:slope=no"),
    CLI_TEXT("master", 0, "FILE",
             "samples as the master measured them, the instrument of the model's training data; repeated "
             "for several views"),
    CLI_TEXT("slave", 0, "FILE",
             "the same samples, in the same order, as the slave measured them; for slope-bias, samples of "
             "the slave with reference values; repeated for several views"),
    CLI_TEXT("train", 0, "FILE",
             "for epo: the training data, on which the model is fitted again after the projection"),
    CLI_SAVED_MODEL("the model file to write"),
    CLI_FLAGS_END};

const cli_command cli_command_transfer = {
    .name = "transfer",
    .summary = "make a model for another instrument",
    .operands = "MODEL --how HOW [--master FILE] --slave FILE [--train FILE] -o NEW.kfe",
    .description =
        "Adapts a model that was fitted on spectra of one instrument (the master) to another instrument "
        "(the slave). pds computes what the master would have measured, each column from a window of "
        "columns, by PLS on samples that both instruments measured. epo removes the directions in which "
        "the instruments differ; with --train it fits the model again without them. Both become the first "
        "preparation step of the new model. slope-bias corrects the predictions by reference values for "
        "samples of the slave.",
    .examples =
        "  kfe transfer model.kfe --how pds:window=5,dim=2 --master m.csv --slave s.csv -o slave.kfe\n"
        "  kfe transfer model.kfe --how epo:dim=2 --master m.csv --slave s.csv --train t.csv -o both.kfe\n"
        "  kfe transfer model.kfe --how slope-bias --slave labelled.csv -o slave.kfe\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_SHOWS_NOTICES,
    .run = run,
};
