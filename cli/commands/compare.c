/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "progress.h"
#include "spec.h"

/* What decides which methods can take part. */
typedef struct conditions {
    kfe_task task;
    int64_t classes;
    int views;
    int kernel_given, kernel_only; /* the examples are strings or kernel values: no columns to work on */
    int learner_given;
    int learns_from_kernel; /* the learner can do without features */
} conditions;

typedef struct contest {
    cli_session *session;
    conditions conditions;
    kfe_spec **specs;
    int count;
    cli_text left_out;
} contest;

static void note_kernel(const char *kernel, conditions *found)
{
    kfe_entry_info info;

    found->kernel_given = 1;
    found->kernel_only |= strncmp(kernel, "precomputed", strlen("precomputed")) == 0;
    if (kfe_kernel(cli_family_find(&cli_kernels, kernel), &info) && info.flags & KFE_HAS_STRINGS)
        found->kernel_only = 1;
}

static conditions find_conditions(const cli_session *session, const kfe_data *data)
{
    const cli_arguments *arguments = &session->arguments;
    conditions found = {
        .task = kfe_data_task(data), .classes = kfe_data_class_count(data), .views = kfe_data_views(data)};
    kfe_entry_info info;
    const char *kernel;

    for (int i = 0; (kernel = cli_value_at(arguments, "kernel", i)) != NULL; i++)
        note_kernel(kernel, &found);
    for (int i = 0; (kernel = cli_value_at(arguments, "view-kernel", i)) != NULL; i++)
        note_kernel(kernel + strcspn(kernel, "=") + (strchr(kernel, '=') != NULL), &found);
    found.learner_given = cli_value(arguments, "learner") != NULL;
    if (found.learner_given &&
        kfe_learner(cli_family_find(&cli_learners, cli_value(arguments, "learner")), &info))
        found.learns_from_kernel = (info.flags & KFE_HAS_KERNELS) != 0;
    return found;
}

/* Without a method, a kernel is of use only to a learner that learns from kernels. */
static int takes_kernels(const kfe_entry_info *method, const conditions *given)
{
    int none = strcmp(method->name, "none") == 0;
    return none ? given->kernel_given && given->learns_from_kernel : (method->flags & KFE_HAS_KERNELS) != 0;
}

/* NULL: it can take part. */
static const char *why_not(const kfe_entry_info *method, const conditions *given)
{
    int kernels = takes_kernels(method, given);
    int takes_real = (method->flags & KFE_HAS_REGRESSION) != 0;

    if (!given->learner_given && !(method->flags & KFE_HAS_PREDICTOR))
        return "needs --learner";
    if (method->flags & KFE_HAS_SUPERVISION && given->task != KFE_TASK_CLASSES &&
        !(given->task == KFE_TASK_REAL && takes_real))
        return "needs classes";
    if (method->flags & KFE_HAS_TWO_CLASSES && given->classes != 2)
        return "takes two classes";
    if (given->views > 1 && !kernels && !(method->flags & KFE_HAS_MULTIVIEW))
        return "takes one view";
    if (given->kernel_only && (!kernels || method->flags & KFE_HAS_SYNTHETIC))
        return "needs columns of numbers";
    return NULL;
}

static kfe_status enter(contest *c, const char *written, const kfe_entry_info *method)
{
    c->specs = cli_resize(c->specs, (size_t)c->count + 1, sizeof *c->specs);
    c->specs[c->count] = NULL;
    return cli_make_spec(c->session, written, takes_kernels(method, &c->conditions), &c->specs[c->count++]);
}

static kfe_status enter_named(contest *c)
{
    const char *written;
    kfe_entry_info method;
    char suggestion[96];
    kfe_status status = KFE_OK;

    for (int i = 0; (written = cli_value_at(&c->session->arguments, "method", i)) != NULL; i++) {
        if (!kfe_method(cli_family_find(&cli_methods, written), &method))
            return cli_fail(c->session, "there is no method '%.*s'%s; 'kfe methods' lists them",
                            (int)strcspn(written, ":"), written,
                            cli_family_suggest(&cli_methods, written, suggestion, sizeof suggestion));
        if (!cli_can_predict(c->session, written))
            return cli_fail(c->session,
                            "%s needs a learner to predict with: --learner LEARNER; 'kfe "
                            "learners' lists them",
                            method.name);
        CLI_TRY(enter(c, written, &method));
    }
cleanup:
    return status;
}

static kfe_status enter_all(contest *c)
{
    kfe_entry_info method;
    kfe_status status = KFE_OK;

    for (int i = 0; kfe_method(i, &method); i++) {
        const char *reason = why_not(&method, &c->conditions);
        if (reason)
            cli_text_printf(&c->left_out, "%s%s (%s)", c->left_out.length ? ", " : "left out: ", method.name,
                            reason);
        else
            CLI_TRY(enter(c, method.name, &method));
    }
    if (c->count == 0)
        status = cli_fail(c->session, "no method can take this data; %s", cli_text_string(&c->left_out));
cleanup:
    return status;
}

static void add_bold(const cli_session *session, cli_text *options)
{
    if (isatty(STDOUT_FILENO) && !cli_option_given(&session->arguments, CLI_OPTIONS, "bold"))
        cli_text_option(options, "bold", "ansi");
}

static kfe_status hold(contest *c, const kfe_data *train)
{
    cli_session *session = c->session;
    kfe_style style = session->json ? KFE_STYLE_JSON : KFE_STYLE_TEXT;
    const char **grids = NULL;
    int grid_count = cli_list_values(&session->arguments, "grid", &grids);
    cli_text options = {0};
    char *text = NULL;
    kfe_status status = KFE_OK;

    cli_options_of(&session->arguments, CLI_OPTIONS, &options);
    add_bold(session, &options);
    CLI_TRY(kfe_compare(session->ctx, c->count, (const kfe_spec *const *)c->specs, grid_count, grids, train,
                        cli_text_string(&options), style, &text));
    cli_progress_erase();
    if (!session->quiet) {
        cli_print_data(session, 0, train);
        if (c->left_out.length)
            fprintf(stderr, "%s\n", c->left_out.bytes);
    }
    cli_print_text(text);
cleanup:
    kfe_string_free(session->ctx, text);
    free(grids);
    free(options.bytes);
    return status;
}

static kfe_status run(cli_session *session)
{
    contest c = {.session = session};
    kfe_data *train = NULL;
    cli_text reading = {0};
    kfe_status status = KFE_OK;

    cli_add_content(session, &reading);
    CLI_TRY(cli_read_data(session, 0, NULL, cli_text_string(&reading), &train));
    c.conditions = find_conditions(session, train);
    CLI_TRY(cli_value(&session->arguments, "method") ? enter_named(&c) : enter_all(&c));
    CLI_TRY(hold(&c, train));
cleanup:
    for (int i = 0; i < c.count; i++)
        kfe_spec_free(c.specs[i]);
    free(c.specs);
    free(c.left_out.bytes);
    kfe_data_free(train);
    free(reading.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT(
        "method", 'm', "METHOD",
        "a method, as name or name:key=value,…; repeated, those are compared; by default every method that "
        "can take the data"),
    CLI_TEXT("kernel", 'k', "KERNEL",
             "the kernel of the methods that take one, as name or name:key=value,…; repeated, their weighted "
             "sum"),
    CLI_LEARNER(
        "what learns on the features and predicts; 'kfe learners' lists them; without it, only methods "
        "that predict by themselves take part"),
    CLI_GRID,
    CLI_VIEW,
    CLI_VIEW_KERNEL,
    CLI_JSON,
    CLI_FLAGS_END};

const cli_command cli_command_compare = {
    .name = "compare",
    .summary = "compare methods on the same splits of the data",
    .operands = "TRAIN... [-m METHOD]... [-k KERNEL]... [--learner LEARNER] [--grid NAME=VALUES]... [FLAGS]",
    .description =
        "Cross-validates several methods on the same parts of TRAIN and prints them in one table, the best "
        "marked, with tests of which differences are more than chance. A --grid is searched for the methods "
        "that have its parameter.",
    .examples = "  kfe compare train.csv -k rbf:gamma=0.2 --learner knn\n"
                "  kfe compare train.csv -m koc -m kpca:dim=5 -k rbf --grid gamma=0.01:10:log7 --learner "
                "linear-svm\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_USES_FITTING,
    .option = kfe_compare_option,
    .option_title = "Flags of comparing",
    .choices = {{&cli_learners, "learner"}},
    .run = run,
};
