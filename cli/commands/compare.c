/* SPDX-License-Identifier: Apache-2.0 */
/* kfe compare: cross-validates several methods on the same splits. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "input.h"
#include "list.h"
#include "page.h"
#include "progress.h"
#include "spec.h"
#include "system/system.h"

/* One comparison: the specs, and the methods that were skipped with the reason of each. */
typedef struct comparison {
    cli_session *session;
    kfe_spec **specs;
    int count;
    cli_text skipped;
} comparison;

static void skip(comparison *c, const char *method, const char *reason)
{
    cli_text_printf(&c->skipped, "%s%s (%s)", c->skipped.length ? ", " : "skipped: ", method, reason);
}

/* A spec of the method with the kernels of the command line; without them if the method takes no kernel but
 * the columns can be used as they are. */
static kfe_status make_spec(const comparison *c, const char *method, kfe_spec **out, kfe_misfit *misfit)
{
    kfe_status status = KFE_OK;

    CLI_TRY(cli_make_spec(c->session, method, 1, out));
    (void)kfe_spec_check(c->session->ctx, *out, NULL, misfit);
    if (*misfit != KFE_MISFIT_KERNEL)
        return KFE_OK;
    kfe_spec_free(*out);
    *misfit = KFE_FITS;
    CLI_TRY(cli_make_spec(c->session, method, 0, out));
cleanup:
    return status;
}

static void add_spec(comparison *c, kfe_spec *spec)
{
    c->specs = cli_resize(c->specs, (size_t)c->count + 1, sizeof *c->specs);
    c->specs[c->count++] = spec;
}

static kfe_status add_named(comparison *c)
{
    const char *method;
    kfe_status status = KFE_OK;

    for (int i = 0; (method = cli_value_at(&c->session->arguments, "method", i)) != NULL; i++) {
        kfe_misfit misfit = KFE_FITS;
        kfe_spec *spec = NULL;
        status = make_spec(c, method, &spec, &misfit);
        if (spec)
            add_spec(c, spec);
        CLI_TRY(status);
        if (!kfe_spec_predicts(spec))
            return cli_fail(c->session,
                            "%.*s needs a learner to predict with: --learner LEARNER; 'kfe learners' lists "
                            "them",
                            (int)strcspn(method, ":"), method);
        CLI_TRY(kfe_spec_check(c->session->ctx, spec, NULL, NULL));
    }
cleanup:
    return status;
}

static kfe_status add_all(comparison *c)
{
    const kfe_entry_info *method;
    kfe_status status = KFE_OK;

    for (int i = 0; (method = kfe_method(i)); i++) {
        kfe_misfit misfit = KFE_FITS;
        kfe_spec *spec = NULL;
        status = make_spec(c, method->name, &spec, &misfit);
        if (status == KFE_OK && misfit == KFE_FITS && kfe_spec_predicts(spec)) {
            add_spec(c, spec);
            continue;
        }
        if (status == KFE_OK)
            skip(c, method->name, misfit == KFE_FITS ? "needs --learner" : kfe_misfit_text(misfit));
        kfe_spec_free(spec);
        CLI_TRY(status);
    }
cleanup:
    return status;
}

/* Whether the methods that fit may be compared without one that has this problem. */
static int may_skip_method(kfe_misfit misfit)
{
    return misfit != KFE_FITS && misfit != KFE_MISFIT_OTHER;
}

/* Drops the specs that cannot be fitted on the data. */
static kfe_status drop_misfits(comparison *c, const kfe_data *train)
{
    int kept = 0;
    kfe_status status = KFE_OK;

    for (int i = 0; i < c->count; i++) {
        kfe_misfit misfit = KFE_FITS;
        status = kfe_spec_check(c->session->ctx, c->specs[i], train, &misfit);
        if (status == KFE_OK || !may_skip_method(misfit)) {
            c->specs[kept++] = c->specs[i];
            continue;
        }
        skip(c, kfe_spec_method(c->specs[i]), kfe_misfit_text(misfit));
        kfe_spec_free(c->specs[i]);
    }
    c->count = kept;
    if (kept == 0)
        return cli_fail(c->session, "no method can take this data; %s", cli_text_string(&c->skipped));
    return KFE_OK;
}

static void add_bold(const cli_session *session, cli_text *options)
{
    if (kfe_i_is_terminal(stdout) && !cli_option_given(&session->arguments, CLI_OPTIONS, "bold"))
        cli_text_option(options, "bold", "ansi");
}

static kfe_status run_comparison(comparison *c, const kfe_data *train)
{
    cli_session *session = c->session;
    const char *report = cli_value(&session->arguments, "report");
    double start = kfe_i_clock();
    const char **grids = NULL;
    cli_text options = {0};
    kfe_result *result = NULL;
    kfe_status status = KFE_OK;

    cli_list_values(&session->arguments, "grid", &grids);
    cli_options_of(&session->arguments, CLI_OPTIONS, &options);
    add_bold(session, &options);
    CLI_TRY(kfe_compare(session->ctx, c->count, (const kfe_spec *const *)c->specs, grids, train,
                        cli_text_string(&options), &result));
    cli_progress_erase();
    if (!session->quiet) {
        cli_print_data(session, 0, train);
        if (c->skipped.length)
            fprintf(stderr, "%s\n", cli_shown(c->skipped.bytes));
    }
    CLI_TRY(cli_print_result(session, result));
    cli_page page = {.path = report, .train = train, .results = result, .seconds = kfe_i_clock() - start};
    CLI_TRY(cli_page_write(session, &page));
cleanup:
    kfe_result_free(result);
    free(grids);
    free(options.bytes);
    return status;
}

static kfe_status run(cli_session *session)
{
    comparison c = {.session = session};
    int named = cli_value(&session->arguments, "method") != NULL;
    kfe_data *train = NULL;
    cli_text reading = {0};
    kfe_status status = KFE_OK;

    CLI_TRY(cli_page_check(session));
    CLI_TRY(named ? add_named(&c) : add_all(&c));
    CLI_TRY(cli_check_grids(session, c.count, c.specs));
    cli_add_content(session, &reading);
    CLI_TRY(cli_read_data(session, 0, NULL, cli_text_string(&reading), &train));
    if (!named)
        CLI_TRY(drop_misfits(&c, train));
    CLI_TRY(run_comparison(&c, train));
cleanup:
    for (int i = 0; i < c.count; i++)
        kfe_spec_free(c.specs[i]);
    free(c.specs);
    free(c.skipped.bytes);
    kfe_data_free(train);
    free(reading.bytes);
    return status;
}

static const cli_flag flags[] = {
    CLI_TEXT(
        "method", 'm', "METHOD",
        "a method, as name or name:key=value,…; give several to compare them; by default every method that "
        "can take the data"),
    CLI_TEXT("kernel", 'k', "KERNEL",
             "the kernel of the methods that take one, as name or name:key=value,…; several make a "
             "weighted sum"),
    CLI_LEARNER(
        "the classifier or regressor to fit on the features; 'kfe learners' lists them; without it, only "
        "methods that predict by themselves take part"),
    CLI_GRID,
    CLI_VIEW,
    CLI_VIEW_KERNEL,
    CLI_REPORT,
    CLI_JSON,
    CLI_FLAGS_END};

const cli_command cli_command_compare = {
    .name = "compare",
    .summary = "compare methods on the same splits of the data",
    .operands = "TRAIN... [-m METHOD]... [-k KERNEL]... [--learner LEARNER] [--grid NAME=VALUES]... [FLAGS]",
    .description =
        "Cross-validates several methods on the same parts of TRAIN and prints one table, with the best "
        "values between **, and tests which differences are more than chance. A --grid is searched for the "
        "methods that have its parameter. A method that cannot be fitted gets a row with the reason.",
    .examples = "  kfe compare train.csv -k rbf:gamma=0.2 --learner knn\n"
                "  kfe compare train.csv -m koc -m kpca:dim=5 -k rbf --grid gamma=0.01:10:log7 --learner "
                "linear-svm\n",
    .flags = flags,
    .uses = CLI_USES_READING | CLI_USES_FITTING | CLI_SHOWS_NOTICES,
    .option = kfe_compare_option,
    .option_title = "Flags of comparing",
    .choices = {{&cli_learners, "learner"}},
    .run = run,
};
