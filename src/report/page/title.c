/* SPDX-License-Identifier: Apache-2.0 */
/* The title of a page. Called by page.c. */
#include "report/page/title.h"

#include <string.h>

#include "core/memory.h"
#include "report/figure/markup.h"
#include "text/read.h"

enum { MOST_NAMED = 4 };

/* "a", "a and b", "a, b and c": what stands before name `i` of `count`. */
static const char *between(int64_t i, int64_t count)
{
    return i == 0 ? "" : i + 1 == count ? " and " : ", ";
}

/* Kernels of the same name stand there once. */
static void put_kernels(const kfe_model *model, kfe_i_text *words)
{
    int64_t named = 0;

    for (int64_t m = 0; m < model->kernels.count && named < MOST_NAMED; m++) {
        const char *name = model->kernels.items[m].def->name;
        int64_t first = 0;
        while (strcmp(model->kernels.items[first].def->name, name) != 0)
            first++;
        if (first == m)
            kfe_i_text_printf(words, "%s%s", named++ ? " + " : " with ", name);
    }
}

static void put_model(const kfe_model *model, kfe_i_text *words)
{
    const char *plain = kfe_model_plain_learner(model);

    kfe_i_text_puts(words, plain ? plain : model->method);
    put_kernels(model, words);
}

/* The target by its name in the data, or its kind. */
static void put_target(const kfe_data *data, const kfe_model *model, kfe_i_text *words)
{
    const char *name = model ? model->origin.label_name : NULL;
    kfe_task task = model ? model->target.task : data->target.task;

    if (!name && data)
        name = data->target_name;
    if (name && task != KFE_TASK_NONE)
        kfe_i_text_puts(words, name);
    else
        kfe_i_text_puts(words, task == KFE_TASK_NONE   ? "features"
                               : task == KFE_TASK_REAL ? "values"
                                                       : "classes");
}

/* Data that was not read from a file is called "data", which says nothing. */
static void put_data(const kfe_data *data, const kfe_model *model, kfe_i_text *words)
{
    int64_t count = data ? data->view_count : model->view_count;

    if (count == 1 && strcmp(data ? data->views[0].name : model->views[0].name, "data") == 0)
        return;
    kfe_i_text_puts(words, " of ");
    if (count > MOST_NAMED) {
        kfe_i_text_printf(words, "%lld tables", (long long)count);
        return;
    }
    for (int64_t v = 0; v < count; v++)
        kfe_i_text_printf(words, "%s%s", between(v, count),
                          data ? data->views[v].name : model->views[v].name);
}

/* The methods of a search by the labels that it gave them. */
static void put_search(const kfe_result *results, kfe_i_text *words)
{
    const kfe_table *methods = kfe_result_find(results, "methods");
    const char *method = kfe_result_text(results, "method");
    int64_t count = methods ? methods->rows : 0;

    if (!methods) {
        kfe_i_text_printf(words, "Cross-validation%s%s", method ? " of " : "", method ? method : "");
        return;
    }
    kfe_i_text_puts(words, "Comparison of ");
    if (count > MOST_NAMED)
        kfe_i_text_printf(words, "%lld methods", (long long)count);
    for (int64_t m = 0; m < count && count <= MOST_NAMED; m++)
        kfe_i_text_printf(words, "%s%s", between(m, count), kfe_i_result_shown(methods, "label", m));
}

static void write_title(const kfe_report *report, kfe_i_text *words)
{
    const kfe_i_source *source = &report->source;
    const kfe_data *data = source->train.data ? source->train.data : source->test.data;
    const char *given = kfe_result_text(source->results, "title");

    if (source->settings.title[0])
        kfe_i_text_puts(words, source->settings.title);
    else if (!source->model && given)
        kfe_i_text_puts(words, given);
    else if (source->model)
        put_model(source->model, words);
    else
        put_search(source->results, words);
    if (source->settings.title[0] || (!source->model && given) || (!source->model && !data))
        return;
    kfe_i_text_puts(words, ": ");
    put_target(data, source->model, words);
    put_data(data, source->model, words);
}

void kfe_i_page_title(const kfe_report *report, kfe_i_text *out)
{
    kfe_i_text words;

    kfe_i_text_init(&words, report->ctx);
    write_title(report, &words);
    if (words.status == KFE_OK)
        kfe_i_put_markup(out, words.bytes ? words.bytes : "");
    else
        out->status = words.status;
    kfe_i_text_free(&words);
}
