/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the template of a report (charts/page.html): figures, their data, warnings and what was done. */
#include "report/page/page.h"

#include <string.h>

#include "core/memory.h"
#include "report/figure/json.h"
#include "report/figure/markup.h"
#include "report/figure/svg.h"
#include "report/page/embedded.h"
#include "report/page/pack.h"
#include "report/page/title.h"
#include "text/parts.h"

/* The parts of the page, each written before the template is filled. */
typedef struct page {
    kfe_context *ctx;
    kfe_report *report;
    kfe_i_text nav, figures, data, charts;
    kfe_i_json json;
    const char *section; /* of the last figure */
    int count, has_charts;
    char *description; /* of the model */
} page;

/* ---- figures ---- */

static void begin_section(page *p, const char *section)
{
    if (p->section && strcmp(p->section, section) == 0)
        return;
    kfe_i_text_printf(&p->nav, "%s<li class=\"part\">%s</li>\n",
                      p->section ? "" : "<nav aria-label=\"Figures\"><ul>\n", section);
    kfe_i_text_printf(&p->figures, "<h2>%s</h2>\n", section);
    p->section = section;
}

static void put_figure(page *p, const kfe_i_figure *figure)
{
    const char *name = figure->kind->name;
    kfe_i_text *out = &p->figures;

    begin_section(p, figure->kind->section);
    kfe_i_text_printf(&p->nav, "<li><a href=\"#figure-%s\">%s</a></li>\n", name, figure->kind->title);
    kfe_i_text_printf(out, "<figure id=\"figure-%s\">\n<h3>%s</h3>\n<div class=\"controls\"></div>\n", name,
                      figure->kind->title);
    kfe_i_text_puts(out, "<div class=\"plot\">");
    if (figure->panel_count > 0)
        kfe_i_figure_svg(figure, 0, out);
    kfe_i_text_puts(out, "</div>\n<figcaption>");
    kfe_i_put_markup(out, figure->caption.bytes ? figure->caption.bytes : "");
    kfe_i_text_printf(
        out, "</figcaption>\n<details%s><summary>Numbers (%lld row%s)</summary></details>\n</figure>\n",
        figure->panel_count == 0 && figure->rows <= 50 ? " open" : "", (long long)figure->rows,
        figure->rows == 1 ? "" : "s");
    kfe_i_figure_json(figure, &p->json);
    p->count++;
}

static kfe_status put_all_figures(page *p)
{
    kfe_status status = KFE_OK;
    const kfe_i_figure_kind *kind;
    kfe_i_figure figure = {0};

    for (int i = 0; (kind = kfe_i_figure_at(i)); i++) {
        if (kind->is_on_request)
            continue;
        KFE_TRY(kfe_i_progress(p->ctx, "drawing figures", i, 0));
        KFE_TRY(kfe_i_figure_draw(p->ctx, kind, &p->report->source, &figure));
        if (figure.rows > 0)
            put_figure(p, &figure);
        kfe_i_figure_free(&figure);
    }
cleanup:
    kfe_i_figure_free(&figure);
    return status;
}

static kfe_status put_figures(page *p, const kfe_i_figure *only)
{
    kfe_status status = KFE_OK;
    char *json = NULL;

    kfe_i_json_init(&p->json, p->ctx, 0);
    kfe_i_json_object(&p->json, NULL);
    kfe_i_json_array(&p->json, "figures");
    if (only)
        put_figure(p, only);
    else
        KFE_TRY(put_all_figures(p));
    kfe_i_json_end(&p->json);
    kfe_i_json_end(&p->json);
    kfe_i_text_puts(&p->nav, p->section ? "</ul></nav>\n" : "");
    KFE_TRY(kfe_i_json_finish(&p->json, &json));
    KFE_TRY(kfe_i_put_packed(p->ctx, json, &p->data));
cleanup:
    kfe_i_free(p->ctx, json);
    return status;
}

/* ---- other parts ---- */

/* What the results say about themselves; NULL: nothing. */
static const char *fact_of(const page *p, const char *name)
{
    return kfe_i_result_word(kfe_result_find(p->report->source.results, "facts"), name, 0);
}

static void put_title(const page *p, kfe_i_text *out)
{
    kfe_i_page_title(p->report, out);
}

static void put_quality(const page *p, kfe_i_text *out)
{
    kfe_i_page_quality(p->report, out);
}

static void put_set(kfe_i_text *out, const kfe_i_set *set)
{
    if (set->data)
        kfe_i_text_printf(out, ", %lld %s examples", (long long)kfe_data_rows(set->data), set->name);
}

/* How the columns of each view are scaled and, of scale=auto, why. */
static void put_scaling(const page *p, kfe_i_text *out)
{
    const kfe_model *model = p->report->source.model;
    kfe_i_text words;

    for (int v = 0; v < model->view_count; v++) {
        if (model->views[v].strings)
            continue;
        kfe_i_text_init(&words, p->ctx);
        kfe_i_text_puts(&words, "Scaling");
        if (model->view_count > 1)
            kfe_i_text_printf(&words, " of %s", model->views[v].name);
        kfe_i_text_puts(&words, ": ");
        kfe_i_put_scaling(model, v, &words);
        if (words.status == KFE_OK)
            kfe_i_put_markup(out, words.bytes);
        else
            out->status = words.status;
        kfe_i_text_puts(out, ". ");
        kfe_i_text_free(&words);
    }
}

static void put_lead(const page *p, kfe_i_text *out)
{
    const kfe_i_source *source = &p->report->source;

    if (source->model) {
        int is_plain = kfe_model_plain_learner(source->model) != NULL;
        if (is_plain)
            kfe_i_text_puts(out, source->model->kernels.count > 0 ? "On the kernel itself"
                                                                  : "On the columns themselves");
        else
            kfe_i_text_printf(out, "%lld feature%s", (long long)source->model->dim,
                              source->model->dim == 1 ? "" : "s");
        if (source->model->learner && !is_plain) {
            kfe_i_text_puts(out, ", predicted with ");
            kfe_i_put_markup(out, source->model->learner);
        }
        put_set(out, &source->train);
        put_set(out, &source->test);
        kfe_i_text_puts(out, ". ");
        put_scaling(p, out);
    }
    kfe_i_text_printf(out, "Made by kfe %s.", kfe_version());
    if (!p->has_charts)
        kfe_i_text_puts(out,
                        " The figures are static pictures: this kfe was built without npm, which bundles the "
                        "interactive charts.");
}

static void put_warnings(const page *p, kfe_i_text *out)
{
    if (p->report->warning_count == 0)
        return;
    kfe_i_text_puts(out, "<section class=\"warnings\" aria-label=\"Warnings\"><h2>Warnings</h2><ul>\n");
    for (int64_t i = 0; i < p->report->warning_count; i++) {
        kfe_i_text_puts(out, "<li>");
        kfe_i_put_markup(out, p->report->warnings[i]);
        kfe_i_text_puts(out, "</li>\n");
    }
    kfe_i_text_puts(out, "</ul></section>\n");
}

/* Text of several lines, escaped line by line: escapes would show ends of lines as \x0a. */
static void put_lines(kfe_context *ctx, const char *text, kfe_i_text *out)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = kfe_i_strndup(ctx, text, length);
        if (!line) {
            out->status = kfe_i_lack(ctx);
            return;
        }
        kfe_i_put_markup(out, line);
        kfe_i_text_puts(out, "\n");
        kfe_i_free(ctx, line);
        text += length + (text[length] == '\n');
    }
}

static void put_fact(const page *p, const char *name, const char *value, kfe_i_text *out)
{
    kfe_i_text_puts(out, "<dt>");
    kfe_i_put_markup(out, name);
    kfe_i_text_puts(out, "</dt><dd>");
    put_lines(p->ctx, value, out);
    kfe_i_text_puts(out, "</dd>\n");
}

/* What the result says about itself. */
static void put_remarks(const page *p, kfe_i_text *out)
{
    const char *paper = fact_of(p, "paper");
    const kfe_table *remarks = kfe_result_find(p->report->source.results, "remarks");
    const kfe_column *remark = kfe_table_column(remarks, 0);

    if (paper)
        put_fact(p, "paper", paper, out);
    for (int64_t row = 0; remark && remark->texts && row < remarks->rows; row++)
        if (remark->texts[row])
            put_fact(p, "remark", remark->texts[row], out);
}

static void put_done(const page *p, kfe_i_text *out)
{
    const kfe_report *report = p->report;

    if (report->fact_count == 0 && !p->description)
        return;
    kfe_i_text_puts(out, "<h2 id=\"done\">What was done</h2>\n<dl>\n");
    put_remarks(p, out);
    for (int64_t i = 0; i < report->fact_count; i++)
        put_fact(p, report->facts[i].name, report->facts[i].value, out);
    kfe_i_text_puts(out, "</dl>\n");
    if (p->description) {
        kfe_i_text_puts(out, "<details><summary>The model in full</summary><pre>");
        put_lines(p->ctx, p->description, out);
        kfe_i_text_puts(out, "</pre></details>\n");
    }
}

static void put_part(const page *p, const char *name, size_t length, kfe_i_text *out)
{
    struct {
        const char *name;
        void (*put)(const page *, kfe_i_text *);
        const char *bytes;
    } const parts[] = {{"title", put_title, NULL},
                       {"lead", put_lead, NULL},
                       {"quality", put_quality, NULL},
                       {"warnings", put_warnings, NULL},
                       {"done", put_done, NULL},
                       {"nav", NULL, p->nav.bytes},
                       {"figures", NULL, p->figures.bytes},
                       {"data", NULL, p->data.bytes},
                       {"charts", NULL, p->charts.bytes},
                       {"css", NULL, (const char *)kfe_i_page_css},
                       {"js", NULL, (const char *)kfe_i_page_js}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strlen(parts[i].name) != length || memcmp(parts[i].name, name, length) != 0)
            continue;
        if (parts[i].put)
            parts[i].put(p, out);
        else
            kfe_i_text_puts(out, parts[i].bytes ? parts[i].bytes : "");
    }
}

/* Replaces every {{name}} of the template. */
static void fill_template(const page *p, kfe_i_text *out)
{
    const char *rest = (const char *)kfe_i_page_html;
    const char *mark;

    while ((mark = strstr(rest, "{{"))) {
        const char *end = strstr(mark, "}}");
        kfe_i_text_add(out, rest, mark - rest);
        put_part(p, mark + 2, (size_t)(end - mark) - 2, out);
        rest = end + 2;
    }
    kfe_i_text_puts(out, rest);
}

static kfe_status check_parts(const page *p)
{
    const kfe_i_text *parts[] = {&p->nav, &p->figures, &p->data, &p->charts};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i]->status != KFE_OK)
            return parts[i]->status;
    return KFE_OK;
}

kfe_status kfe_i_page_write(kfe_context *ctx, kfe_report *report, const kfe_i_figure *only, char **out)
{
    kfe_status status = KFE_OK;
    page p = {.ctx = ctx, .report = report};
    kfe_i_text text;

    kfe_i_text_init(&text, ctx);
    kfe_i_text_init(&p.nav, ctx);
    kfe_i_text_init(&p.figures, ctx);
    kfe_i_text_init(&p.data, ctx);
    kfe_i_text_init(&p.charts, ctx);
    KFE_TRY(put_figures(&p, only));
    if (p.count == 0)
        KFE_FAIL(ctx, KFE_EINVAL,
                 "there is nothing to report: give a model with data, or the results of a search");
    KFE_TRY(kfe_i_put_charts(ctx, &p.charts, &p.has_charts));
    if (report->source.model && !only)
        KFE_TRY(kfe_model_describe(ctx, report->source.model, KFE_STYLE_TEXT, &p.description));
    KFE_TRY(check_parts(&p));
    fill_template(&p, &text);
    KFE_TRY(kfe_i_text_take(&text, out));
cleanup:
    kfe_i_text_free(&text);
    kfe_i_text_free(&p.nav);
    kfe_i_text_free(&p.figures);
    kfe_i_text_free(&p.data);
    kfe_i_text_free(&p.charts);
    kfe_i_json_free(&p.json);
    kfe_i_free(ctx, p.description);
    return status;
}
