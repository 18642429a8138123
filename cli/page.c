/* SPDX-License-Identifier: Apache-2.0 */
/* Writes reports: what was done, the warnings of this command, and the figures of the library. Used by `kfe report` and by
 * --report of other commands. */
#include "page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "input.h"
#include "progress.h"

kfe_status cli_page_check_path(cli_session *session, const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;

    if (path && strcmp(path, "-") != 0 && !(dot && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0)))
        return cli_fail(session, "'%s': reports are HTML pages; give a name that ends in .html", path);
    return cli_check_output(session, path);
}

kfe_status cli_page_check(cli_session *session)
{
    return cli_page_check_path(session, cli_value(&session->arguments, "report"));
}

/* A word of the command line as a shell reads it. */
static void add_word(cli_text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=.,:/+@%";

    if (*word && strspn(word, plain) == strlen(word)) {
        cli_text_add(text, word);
        return;
    }
    cli_text_add(text, "'");
    for (; *word; word++)
        cli_text_printf(text, *word == '\'' ? "'\\''" : "%c", *word);
    cli_text_add(text, "'");
}

static kfe_status add_command(cli_session *session, kfe_report *report)
{
    cli_text text = {0};
    kfe_status status;

    cli_text_printf(&text, "kfe %s", session->command->name);
    for (int i = 0; i < session->word_count; i++) {
        cli_text_add(&text, " ");
        add_word(&text, session->words[i]);
    }
    status = kfe_report_add_fact(session->ctx, report, "command", text.bytes);
    free(text.bytes);
    return status;
}

static kfe_status add_data(cli_session *session, kfe_report *report, const char *name, const kfe_data *data)
{
    cli_text text = {0};
    kfe_status status;

    if (!data)
        return KFE_OK;
    cli_text_printf(&text, "%lld examples;", (long long)kfe_data_rows(data));
    for (int v = 0; v < kfe_data_views(data); v++)
        cli_text_printf(&text, "%s %s: %lld columns", v ? "," : "", kfe_data_view_name(data, v),
                        (long long)kfe_data_cols(data, v));
    if (kfe_data_task(data) == KFE_TASK_CLASSES)
        cli_text_printf(&text, "; %lld classes", (long long)kfe_data_classes(data));
    else
        cli_text_add(&text, kfe_data_task(data) == KFE_TASK_REAL ? "; a real target" : "; no labels");
    status = kfe_report_add_fact(session->ctx, report, name, text.bytes);
    free(text.bytes);
    return status;
}

static kfe_status add_numbers(cli_session *session, kfe_report *report, const cli_page *page)
{
    char text[64];
    time_t now = time(NULL);
    kfe_status status = KFE_OK;

    CLI_TRY(kfe_report_add_fact(session->ctx, report, "kfe", kfe_version()));
    snprintf(text, sizeof text, "%llu", (unsigned long long)kfe_context_seed(session->ctx));
    CLI_TRY(kfe_report_add_fact(session->ctx, report, "seed", text));
    snprintf(text, sizeof text, "%d", kfe_context_threads(session->ctx));
    CLI_TRY(kfe_report_add_fact(session->ctx, report, "threads", text));
    snprintf(text, sizeof text, "%.2f s, without this page", page->seconds);
    CLI_TRY(kfe_report_add_fact(session->ctx, report, "time", text));
    if (strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", gmtime(&now)) > 0)
        CLI_TRY(kfe_report_add_fact(session->ctx, report, "date", text));
cleanup:
    return status;
}

/* The warnings that this command has printed, one per line. */
static kfe_status add_warnings(cli_session *session, kfe_report *report)
{
    cli_text copy = {0};
    kfe_status status = KFE_OK;

    cli_text_add(&copy, cli_text_string(&session->warnings));
    for (char *line = strtok(copy.bytes, "\n"); line && status == KFE_OK; line = strtok(NULL, "\n"))
        status = kfe_report_add_warning(session->ctx, report, line);
    free(copy.bytes);
    return status;
}

static kfe_status fill(cli_session *session, const cli_page *page, kfe_report *report)
{
    kfe_status status = KFE_OK;

    if (page->model)
        CLI_TRY(kfe_report_set_model(session->ctx, report, page->model));
    CLI_TRY(kfe_report_set_data(session->ctx, report, page->train, page->test));
    if (page->results)
        CLI_TRY(kfe_report_set_results(session->ctx, report, page->results));
    CLI_TRY(add_command(session, report));
    CLI_TRY(add_data(session, report, "training data", page->train));
    CLI_TRY(add_data(session, report, "test data", page->test));
    CLI_TRY(add_numbers(session, report, page));
cleanup:
    return status;
}

kfe_status cli_page_write(cli_session *session, const cli_page *page)
{
    kfe_report *report = NULL;
    char *html = NULL;
    kfe_status status = KFE_OK;

    if (!page->path)
        return KFE_OK;
    CLI_TRY(kfe_report_new(session->ctx, page->options, &report));
    CLI_TRY(fill(session, page, report));
    CLI_TRY(add_warnings(session, report));
    CLI_TRY(kfe_report_html(session->ctx, report, &html));
    cli_progress_erase();
    CLI_TRY(kfe_output_write(session->ctx, page->path, html, strlen(html)));
    if (!session->quiet)
        fprintf(stderr, "report written to %s (%.1f MB)\n", cli_shown(page->path),
                (double)strlen(html) / 1e6);
cleanup:
    kfe_string_free(session->ctx, html);
    kfe_report_free(report);
    return status;
}
