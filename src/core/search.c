/* SPDX-License-Identifier: Apache-2.0 */
/* One progress and one list of warnings for all fits of a search. Begun by kfe_cross_validate, kfe_compare and
 * kfe_tune; kfe_i_log and the tasks of the search use it. */
#include "core/search.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "system/system.h"

/* Lines of the log that say how far a search has come. */
#define SECONDS_BETWEEN_LINES 10.0

/* ---- progress ---- */

static void log_line(kfe_i_search *search, long long done, double now)
{
    double spent = now - search->began;

    if (now - search->last_logged < SECONDS_BETWEEN_LINES || done == 0)
        return;
    search->last_logged = now;
    kfe_i_log(search->ctx, KFE_LOG_INFO, "fit %lld of %lld, about %.0f s left", done,
              (long long)search->total, spent / (double)done * (double)(search->total - done));
}

/* Takes the place of the user's callback: the stages of single fits do not matter. Called by one thread. */
static void show_fits(void *user, const char *stage, int64_t done, int64_t total)
{
    kfe_i_search *search = user;
    long long fits = atomic_load(&search->done);

    (void)stage;
    (void)done;
    (void)total;
    if (fits > search->total)
        fits = search->total;
    if (search->progress)
        search->progress(search->progress_user, "fit", fits, search->total);
    log_line(search, fits, kfe_i_clock());
}

void kfe_i_search_count(kfe_context *ctx, int64_t fits)
{
    if (ctx->search)
        atomic_fetch_add(&ctx->search->done, fits);
}

/* ---- warnings ---- */

static void add_text(kfe_context *ctx, kfe_i_search *search, const char *format, const char *text)
{
    kfe_status status = KFE_OK;
    kfe_i_counted_warning one = {.count = 1};

    KFE_STRDUP(ctx, one.format, format);
    KFE_STRDUP(ctx, one.text, text);
    KFE_GROW(ctx, search->warnings, search->warning_capacity, search->warning_count + 1);
    search->warnings[search->warning_count++] = one;
    return;
cleanup:
    search->warning_lost = status != KFE_OK;
    kfe_i_free(ctx, one.format);
    kfe_i_free(ctx, one.text);
}

static void count_again(kfe_context *ctx, kfe_i_search *search, kfe_i_counted_warning *known,
                        const char *text)
{
    int order = strcmp(text, known->text);
    char *copy = order < 0 ? kfe_i_strdup(ctx, text) : NULL;

    known->count++;
    known->differs |= order != 0;
    if (order >= 0)
        return;
    if (!copy) {
        search->warning_lost = 1;
        return;
    }
    kfe_i_free(ctx, known->text);
    known->text = copy;
}

void kfe_i_search_warn(kfe_context *ctx, const char *format, const char *text)
{
    kfe_i_search *search = ctx->search;
    const char *key = strcmp(format, "%s") == 0 ? text : format;
    int64_t i = 0;

    omp_set_lock(&search->lock);
    while (i < search->warning_count && strcmp(search->warnings[i].format, key) != 0)
        i++;
    if (i < search->warning_count)
        count_again(ctx, search, &search->warnings[i], text);
    else
        add_text(ctx, search, key, text);
    omp_unset_lock(&search->lock);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(((const kfe_i_counted_warning *)a)->text, ((const kfe_i_counted_warning *)b)->text);
}

static void pass_on(const kfe_i_search *search, const kfe_i_counted_warning *warning)
{
    if (warning->count == 1)
        kfe_i_log(search->ctx, search->level, "%s", warning->text);
    else
        kfe_i_log(search->ctx, search->level, "%s (%lld times%s)", warning->text, (long long)warning->count,
                  warning->differs ? ", with other values too" : "");
}

/* ---- begin and end ---- */

void kfe_i_search_begin(kfe_context *ctx, int64_t total, kfe_i_search *search)
{
    memset(search, 0, sizeof *search);
    if (ctx->search)
        return;
    search->ctx = ctx;
    search->total = total;
    search->level = KFE_LOG_WARNING;
    search->began = search->last_logged = kfe_i_clock();
    search->progress = ctx->progress;
    search->progress_user = ctx->progress_user;
    omp_init_lock(&search->lock);
    ctx->search = search;
    if (ctx->progress || ctx->log)
        kfe_context_on_progress(ctx, show_fits, search);
}

kfe_status kfe_i_search_end(kfe_i_search *search, kfe_status status)
{
    kfe_context *ctx = search->ctx;

    if (!ctx)
        return status;
    ctx->search = NULL;
    kfe_context_on_progress(ctx, search->progress, search->progress_user);
    if (search->warning_count > 0)
        qsort(search->warnings, (size_t)search->warning_count, sizeof *search->warnings, compare_texts);
    for (int64_t i = 0; i < search->warning_count; i++) {
        pass_on(search, &search->warnings[i]);
        kfe_i_free(ctx, search->warnings[i].format);
        kfe_i_free(ctx, search->warnings[i].text);
    }
    kfe_i_free(ctx, search->warnings);
    omp_destroy_lock(&search->lock);
    search->ctx = NULL;
    if (status == KFE_OK && search->warning_lost)
        return kfe_i_fail(ctx, KFE_ENOMEM, "out of memory for a warning");
    return status;
}
