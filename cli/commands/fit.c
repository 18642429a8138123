/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe fit`: fits features (and optionally a classifier or regressor) and saves the model. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "progress.h"
#include "spec.h"

static kfe_status print_json(cli_session *session, const kfe_model *model)
{
    char *text = NULL;
    kfe_status status = kfe_model_describe(session->ctx, model, KFE_STYLE_JSON, &text);

    if (status == KFE_OK)
        cli_print_text(text);
    kfe_string_free(session->ctx, text);
    return status;
}

static void print_summary(const cli_session *session, const kfe_data *train, const kfe_model *model,
                          double seconds)
{
    const cli_arguments *arguments = &session->arguments;
    const char *kernel;

    cli_print_data(session, 0, train);
    fputs(kfe_model_method(model), stderr);
    for (int i = 0; (kernel = cli_value_at(arguments, "kernel", i)) != NULL; i++)
        fprintf(stderr, "%s%s", i ? " + " : " with ", cli_shown(kernel));
    for (int i = 0; (kernel = cli_value_at(arguments, "view-kernel", i)) != NULL; i++)
        fprintf(stderr, "%s%s", i || cli_value(arguments, "kernel") ? " + " : " with ", cli_shown(kernel));
    if (cli_value(arguments, "learner")) /* some methods predict without a learner */
        fprintf(stderr, ", then %s", kfe_model_learner(model));
    fprintf(stderr, ": %lld feature%s", (long long)kfe_model_dim(model),
            kfe_model_dim(model) == 1 ? "" : "s");
    if (kfe_model_support_size(model) > 0)
        fprintf(stderr, " from %lld support examples", (long long)kfe_model_support_size(model));
    fprintf(stderr, ", %.2f s, written to %s\n", seconds, cli_shown(cli_value(arguments, "output")));
}

static kfe_status check_flags(cli_session *session)
{
    if (!cli_value(&session->arguments, "method"))
        return cli_fail(session, "fit needs a method: -m METHOD; 'kfe methods' lists them");
    if (!cli_value(&session->arguments, "output"))
        return cli_fail(session, "fit needs to know where the model goes: -o MODEL, such as -o model.kfe");
    if (session->json && strcmp(cli_value(&session->arguments, "output"), "-") == 0)
        return cli_fail(session,
                        "--json and -o - would both write to standard output; give the model a file");
    return KFE_OK;
}

static kfe_status run(cli_session *session)
{
    kfe_data *train = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    cli_text options = {0};
    double start = cli_clock();
    kfe_status status = KFE_OK;

    CLI_TRY(check_flags(session));
    CLI_TRY(cli_check_output(session, cli_value(&session->arguments, "output")));
    CLI_TRY(cli_make_spec(session, cli_value(&session->arguments, "method"), 1, &spec));
    CLI_TRY(kfe_spec_check(session->ctx, spec, NULL, NULL));
    cli_add_content(session, &options);
    CLI_TRY(cli_read_data(session, 0, NULL, cli_text_string(&options), &train));
    CLI_TRY(kfe_fit(session->ctx, spec, train, &model));
    CLI_TRY(kfe_model_save(session->ctx, model, cli_value(&session->arguments, "output")));
    cli_progress_erase();
    if (session->json)
        CLI_TRY(print_json(session, model));
    if (!session->quiet)
        print_summary(session, train, model, cli_clock() - start);
cleanup:
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_spec_free(spec);
    free(options.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT("method", 'm', "METHOD", "the method; 'kfe methods' lists them"),
    CLI_TEXT("kernel", 'k', "KERNEL",
             "the kernel, as name or name:key=value,…; 'kfe kernels' lists them; given several times: their "
             "weighted sum"),
    CLI_LEARNER("the classifier or regressor to fit on the features; 'kfe learners' lists them"),
    CLI_TEXT("output", 'o', "MODEL", "the model file to write; '-' is standard output"),
    CLI_VIEW,
    CLI_VIEW_KERNEL,
    CLI_JSON,
    CLI_FLAGS_END};

const cli_command cli_command_fit = {
    .name = "fit",
    .summary = "fit features (and optionally a classifier or regressor) and save the model",
    .operands = "-m METHOD [-k KERNEL]... [--learner LEARNER] [FLAGS] TRAIN... -o MODEL",
    .description =
        "Fits a method to the examples in TRAIN and writes the model to MODEL. Several files, or --view, are "
        "several views of the same examples, row by row. With --learner, a classifier or regressor is fitted "
        "on the features, and the model also predicts. 'kfe fit -m koc --learner svm --help' shows the flags "
        "of koc and svm as well.",
    .examples =
        "  kfe fit -m koc -k rbf:gamma=0.2 train.csv -o model.kfe\n"
        "  kfe fit -m koc -k rbf:gamma=0.2 --learner svm --C 10 train.csv -o model.kfe\n"
        "  kfe fit -m kpca --dim 5 -k poly:degree=2 --label none --scale standard table.tsv -o model.kfe\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_USES_FITTING | CLI_SHOWS_NOTICES,
    .choices = {{&cli_methods, "method"}, {&cli_learners, "learner"}},
    .run = run,
};
