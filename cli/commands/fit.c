/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe fit`: fits features (and optionally a classifier or regressor) and saves the model. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "page.h"
#include "progress.h"
#include "spec.h"
#include "system/system.h"

/* The summary names at most this many kernels. */
enum { KERNELS_SHOWN = 4 };
/* Seconds between two checkpoints. */
#define CHECKPOINT_SECONDS 60

static kfe_status print_json(cli_session *session, const kfe_model *model)
{
    char *text = NULL;
    kfe_status status = kfe_model_describe(session->ctx, model, KFE_STYLE_JSON, &text);

    if (status == KFE_OK)
        cli_print_text(text);
    kfe_string_free(session->ctx, text);
    return status;
}

/* An unsupervised method on a table without --label: the reader has taken the last column as the target, which
 * may be data. (LIBSVM files have the label first.) */
static void explain_unused_target(const cli_session *session, const kfe_data *train, const kfe_model *model)
{
    const kfe_entry_info *method = kfe_method(cli_family_find(&cli_methods, kfe_model_method(model)));
    int64_t column = kfe_model_label_column(model);
    int last = kfe_model_views(model) - 1;

    if (!method || method->flags & KFE_HAS_SUPERVISION || cli_value(&session->arguments, "learner") ||
        cli_option_given(&session->arguments, CLI_READING, "label") ||
        kfe_data_task(train) == KFE_TASK_NONE || column != kfe_model_cols(model, last) + 1)
        return;
    fprintf(
        stderr,
        "column %lld, the last, was taken as the target, which %s does not use; --label none makes it data\n",
        (long long)column, method->name);
}

/* Prints a kernel such as rbf:gamma=0.0641674, with six digits of each number. */
static void print_kernel(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "=") + (strchr(text, '=') != NULL);
        char *end;
        fwrite(text, 1, length, stderr);
        text += length;
        double number = strtod(text, &end);
        if (end != text && (*end == ',' || *end == '\0')) {
            fprintf(stderr, "%g", number);
            text = end;
        }
    }
}

/* The kernels of the model with the numbers that the data decided, such as the width of the default kernel. */
static kfe_status print_kernels(const cli_session *session, const kfe_model *model)
{
    int64_t count = kfe_model_kernels(model);
    char *kernel = NULL;

    for (int64_t i = 0; i < count && i < KERNELS_SHOWN; i++) {
        kfe_status status = kfe_model_kernel(session->ctx, model, i, &kernel);
        if (status != KFE_OK)
            return status;
        fputs(i ? " + " : " with ", stderr);
        print_kernel(kernel);
        kfe_string_free(session->ctx, kernel);
    }
    if (count > KERNELS_SHOWN)
        fprintf(stderr, " + %lld more kernels", (long long)(count - KERNELS_SHOWN));
    return KFE_OK;
}

/* What the data decided in place of a setting that was not given. */
static void print_choices(const kfe_model *model)
{
    int64_t count = 0;
    const double *rows = kfe_model_record(model, "loo-rows", &count);
    const double *neighbors = kfe_model_record(model, "learner-neighbors", &count);
    /* of these, a method chooses the first that it records */
    static const struct {
        const char *record, *parameter;
    } chosen[] = {{"ridge", "ridge"}, {"xi", "xi"}, {"svm-c", "svm-C"}};

    for (size_t i = 0; rows && i < sizeof chosen / sizeof *chosen; i++) {
        const double *value = kfe_model_record(model, chosen[i].record, &count);
        if (value) {
            fprintf(stderr, ", %s %.3g by leave-one-out on %.0f examples", chosen[i].parameter, *value,
                    *rows);
            break;
        }
    }
    if (neighbors)
        fprintf(stderr, ", %.0f neighbor%s", *neighbors, *neighbors == 1 ? "" : "s");
}

/* What landmarks cost: a number that the user should see, since it decides how good the approximation is. */
static void print_landmarks(const kfe_model *model)
{
    int64_t count = 0;
    const double *left = kfe_model_record(model, "landmark-trace-left", &count);

    if (left)
        fprintf(stderr, ", landmarks leave %.2g%% of the trace", 100 * *left);
}

/* ": 2 features from 20 support examples"; a learner without features has columns or support examples. */
static void print_sizes(const kfe_model *model)
{
    long long features = (long long)kfe_model_dim(model);
    long long support = (long long)kfe_model_support_size(model);
    int has_features = !kfe_model_plain_learner(model);
    int64_t count = 0;

    if (has_features)
        fprintf(stderr, ": %lld feature%s", features, features == 1 ? "" : "s");
    else if (kfe_model_kernels(model) == 0)
        fprintf(stderr, " on %lld column%s", features, features == 1 ? "" : "s");
    if (kfe_model_record(model, "cv-unexplained-variance", &count))
        fputs(" by cross-validation", stderr);
    if (support > 0)
        fprintf(stderr, "%s%lld support examples", has_features ? " from " : ": ", support);
}

/* ", keep 10;5": how many columns the directions of a sparse method use; those of views as the parameter names them, "rna:10;5;protein:3;3". */
static void print_keep(const kfe_model *model)
{
    int64_t count = 0;
    int views = kfe_model_views(model);
    const double *kept = kfe_model_record(model, "keep", &count);

    for (int64_t j = 0; kept && j < count; j++) {
        int64_t each = views > 1 && count % views == 0 ? count / views : count;
        fputs(j > 0 ? ";" : ", keep ", stderr);
        if (each < count && j % each == 0)
            fprintf(stderr, "%s:", cli_shown(kfe_model_view_name(model, (int)(j / each))));
        fprintf(stderr, "%.0f", kept[j]);
    }
}

/* What scale=auto decided: ", columns standardised". The reason is in the messages of the fit, and in `kfe info`. */
static void print_scaling(const kfe_model *model)
{
    int64_t views = 0;
    int64_t asked = 0;
    int64_t scaled = 0;
    const double *ratios = kfe_model_record(model, "auto-scale-ratio", &views);

    for (int64_t v = 0; ratios && v < views; v++) {
        asked += ratios[v] > 1; /* else fewer than two columns vary */
        scaled += ratios[v] > 1 && kfe_model_factor(model, (int)v);
    }
    if (asked == 0)
        return;
    if (scaled > 0 && scaled < asked)
        fprintf(stderr, ", columns of %lld of %lld views standardised", (long long)scaled, (long long)views);
    else
        fputs(scaled > 0 ? ", columns standardised" : ", columns not scaled", stderr);
}

/* What a fit on observed entries left out: ", 5% of the values missing (NIPALS)". */
static void print_missing(const kfe_model *model)
{
    int64_t count = 0;
    const double *share = kfe_model_record(model, "missing-share", &count);

    if (share && count == 1)
        fprintf(stderr, ", %.2g%% of the values missing (NIPALS)", 100 * *share);
}

/* "kfd with rbf:gamma=0.1: 2 features from 20 support examples, 0.01 s, written to model.kfe". */
static kfe_status print_fit(const cli_session *session, const kfe_model *model, double seconds)
{
    const cli_arguments *arguments = &session->arguments;
    const char *plain = kfe_model_plain_learner(model);
    kfe_status status;

    fputs(plain ? plain : kfe_model_method(model), stderr);
    if ((status = print_kernels(session, model)) != KFE_OK)
        return status;
    if (cli_value(arguments, "learner") && !plain) /* some methods predict without a learner */
        fprintf(stderr, ", then %s", kfe_model_learner(model));
    print_sizes(model);
    print_landmarks(model);
    print_choices(model);
    print_keep(model);
    print_scaling(model);
    print_missing(model);
    fprintf(stderr, ", %.2f s, written to %s\n", seconds, cli_shown(cli_value(arguments, "output")));
    return KFE_OK;
}

static kfe_status print_summary(const cli_session *session, const kfe_data *train, const kfe_model *model,
                                double seconds)
{
    cli_print_data(session, 0, train);
    explain_unused_target(session, train, model);
    return print_fit(session, model, seconds);
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

/* ---- rows from files larger than memory ---- */

static kfe_status check_stream_flags(cli_session *session)
{
    if (session->arguments.operand_count == 0)
        return cli_fail(session, "fit --stream needs files of rows ('-' is standard input)");
    if (cli_value(&session->arguments, "view"))
        return cli_fail(session, "--view and --stream cannot be used together: a stream has one table");
    if (cli_value(&session->arguments, "report"))
        return cli_fail(session, "--report needs all rows in memory; leave out --stream or --report");
    return KFE_OK;
}

static kfe_status print_stream_summary(const cli_session *session, const kfe_model *model, int64_t rows,
                                       double seconds)
{
    int64_t classes = kfe_model_classes(model);
    int files = session->arguments.operand_count;

    fprintf(stderr, "%lld examples from ", (long long)rows);
    if (files == 1)
        fprintf(stderr, "%s", strcmp(session->arguments.operands[0], "-") == 0 ? "standard input" : "1 file");
    else
        fprintf(stderr, "%d files", files);
    fprintf(stderr, ", %lld columns", (long long)kfe_model_cols(model, 0));
    if (classes > 0)
        fprintf(stderr, ", %lld classes", (long long)classes);
    fputs("\n", stderr);
    return print_fit(session, model, seconds);
}

/* The model is written: the checkpoint is of no more use. */
static void remove_checkpoint(cli_session *session)
{
    const char *path = cli_value(&session->arguments, "checkpoint");

    if (path && kfe_context_process(session->ctx) == 0)
        (void)remove(path);
}

static kfe_status run_stream(cli_session *session, const kfe_spec *spec)
{
    cli_text options = {0};
    kfe_model *model = NULL;
    int64_t rows = 0;
    double start = kfe_i_clock();
    kfe_status status = KFE_OK;

    CLI_TRY(check_stream_flags(session));
    cli_add_content(session, &options);
    cli_options_of(&session->arguments, CLI_READING, &options);
    CLI_TRY(kfe_fit_stream(session->ctx, spec, session->arguments.operand_count,
                           (const char *const *)session->arguments.operands, cli_text_string(&options), &rows,
                           &model));
    CLI_TRY(kfe_model_save(session->ctx, model, cli_value(&session->arguments, "output")));
    remove_checkpoint(session);
    cli_progress_erase();
    if (session->json)
        CLI_TRY(print_json(session, model));
    if (!session->quiet)
        CLI_TRY(print_stream_summary(session, model, rows, kfe_i_clock() - start));
cleanup:
    kfe_model_free(model);
    free(options.bytes);
    return status;
}

/* ---- checkpoints ---- */

static kfe_status set_checkpoint(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *path = cli_value(arguments, "checkpoint");
    const char *every = cli_value(arguments, "checkpoint-every");

    if (!path && (every || cli_value(arguments, "resume")))
        return cli_fail(session, "--%s needs --checkpoint FILE", every ? "checkpoint-every" : "resume");
    if (!path)
        return KFE_OK;
    if (strcmp(path, cli_value(arguments, "output")) == 0)
        return cli_fail(session, "--checkpoint and -o name the same file, %s", cli_shown(path));
    return kfe_context_set_checkpoint(session->ctx, path, every ? strtod(every, NULL) : CHECKPOINT_SECONDS,
                                      cli_value(arguments, "resume") != NULL);
}

/* ---- the command ---- */

static kfe_status run(cli_session *session)
{
    kfe_data *train = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    cli_text options = {0};
    double start = kfe_i_clock();
    kfe_status status = KFE_OK;

    CLI_TRY(check_flags(session));
    CLI_TRY(cli_check_output(session, cli_value(&session->arguments, "output")));
    CLI_TRY(cli_page_check(session));
    CLI_TRY(cli_make_spec(session, cli_value(&session->arguments, "method"), 1, &spec));
    CLI_TRY(kfe_spec_check(session->ctx, spec, NULL, NULL));
    CLI_TRY(set_checkpoint(session));
    if (cli_value(&session->arguments, "stream")) {
        status = run_stream(session, spec);
        goto cleanup;
    }
    cli_add_content(session, &options);
    CLI_TRY(cli_read_data(session, 0, NULL, cli_text_string(&options), &train));
    CLI_TRY(kfe_fit(session->ctx, spec, train, &model));
    CLI_TRY(kfe_model_save(session->ctx, model, cli_value(&session->arguments, "output")));
    remove_checkpoint(session);
    cli_progress_erase();
    if (session->json)
        CLI_TRY(print_json(session, model));
    if (!session->quiet)
        CLI_TRY(print_summary(session, train, model, kfe_i_clock() - start));
    cli_page page = {.path = cli_value(&session->arguments, "report"), .model = model, .train = train};
    page.seconds = kfe_i_clock() - start;
    CLI_TRY(cli_page_write(session, &page));
cleanup:
    kfe_model_free(model);
    kfe_data_free(train);
    kfe_spec_free(spec);
    free(options.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_METHOD,
    CLI_KERNEL,
    CLI_LEARNER("the classifier or regressor to fit on the features; 'kfe learners' lists them"),
    CLI_SAVED_MODEL("the model file to write; '-' is standard output; --save is the same"),
    CLI_VIEW,
    CLI_VIEW_KERNEL,
    CLI_REPORT,
    CLI_SWITCH("stream",
               "for files larger than memory: read TRAIN in parts, one file after the other, and keep only "
               "sums; for linear methods, and kernel methods with --landmarks. sma, smc and skfa can be "
               "fitted this way too, but keep the rows"),
    CLI_TEXT("checkpoint", 0, "FILE",
             "save the state of long loops, and the sums of --stream, to FILE now and then, so that "
             "--resume can continue from there; FILE is deleted when the model is written"),
    CLI_INT("checkpoint-every", "60", 0, 1000000,
            "seconds between two checkpoints; 0: as often as possible. Saving never takes more than a "
            "twentieth of the time"),
    CLI_SWITCH("resume",
               "continue from the state in the --checkpoint file, if it exists; give everything else as "
               "before"),
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
        "of koc and svm as well. With --stream, several files are rows one below the other; with --landmarks "
        "they are read "
        "twice, and standard input ('-') starts from its first rows.",
    .examples =
        "  kfe fit -m koc -k rbf:gamma=0.2 train.csv -o model.kfe\n"
        "  kfe fit -m koc -k rbf:gamma=0.2 --learner svm --C 10 train.csv -o model.kfe\n"
        "  kfe fit -m kpca --dim 5 -k poly:degree=2 --label none --scale standard table.tsv -o model.kfe\n"
        "  kfe fit -m kpca -k rbf --checkpoint fit.state --resume big.npy -o model.kfe\n"
        "  kfe fit --stream -m kfd --landmarks 1000 --learner ls 'train-1.npy' 'train-2.npy' -o model.kfe\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_USES_FITTING | CLI_SHOWS_NOTICES,
    .choices = {{&cli_methods, "method"}, {&cli_learners, "learner"}},
    .run = run,
};
