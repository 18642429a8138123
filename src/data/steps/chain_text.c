/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains as text: "snv,sg:window=11,order=2". A part between commas that has an = and no : before it is a setting of the step
 * before; others begin a step. Chains of several views are separated by ";", and "NAME=" before a chain says which view it is for.
 */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/wording.h"
#include "data/steps/chain.h"

typedef struct span {
    const char *begin, *end;
} span;

static span trim(span s)
{
    while (s.begin < s.end && *s.begin == ' ')
        s.begin++;
    while (s.end > s.begin && s.end[-1] == ' ')
        s.end--;
    return s;
}

/* The text up to `stop` or the end; *rest begins after it, or is NULL at the end. */
static span cut_at(const char *text, char stop, const char **rest)
{
    const char *end = strchr(text, stop);

    *rest = end ? end + 1 : NULL;
    return trim((span){text, end ? end : text + strlen(text)});
}

static const char *find(span s, char c)
{
    return memchr(s.begin, c, (size_t)(s.end - s.begin));
}

static kfe_status copy(kfe_context *ctx, const char *begin, const char *end, char **out)
{
    span s = trim((span){begin, end});

    *out = kfe_i_strndup(ctx, s.begin, (size_t)(s.end - s.begin));
    return *out ? KFE_OK : kfe_i_lack(ctx);
}

/* ---- one chain ---- */

static kfe_status set_setting(kfe_context *ctx, const kfe_i_fitted_step *fit, const char *name,
                              const char *value)
{
    char owner[64];

    snprintf(owner, sizeof owner, "step %s", fit->step->name);
    return kfe_i_param_set(ctx, &fit->step->params, owner, fit->settings, name, value);
}

static kfe_status parse_setting(kfe_context *ctx, const kfe_i_fitted_step *fit, span s)
{
    kfe_status status = KFE_OK;
    const char *equals = find(s, '=');
    char *name = NULL;
    char *value = NULL;

    if (!equals)
        KFE_FAIL(ctx, KFE_EINVAL, "{prepare}: step %s takes NAME=VALUE after the colon, not '%.*s'",
                 fit->step->name, (int)(s.end - s.begin), s.begin);
    KFE_TRY(copy(ctx, s.begin, equals, &name));
    KFE_TRY(copy(ctx, equals + 1, s.end, &value));
    KFE_TRY(set_setting(ctx, fit, name, value));
cleanup:
    kfe_i_free(ctx, name);
    kfe_i_free(ctx, value);
    return status;
}

/* A step with its default settings; room for KFE_MOST_STEPS is made at the first. */
static kfe_status begin_step(kfe_context *ctx, kfe_i_chain *chain, const char *name)
{
    kfe_status status = KFE_OK;
    const kfe_i_row_step *step = NULL;

    KFE_TRY(kfe_i_step_find(ctx, name, &step));
    if (chain->count == KFE_MOST_STEPS)
        KFE_FAIL(ctx, KFE_EINVAL, "{prepare}: a chain has at most %d steps", KFE_MOST_STEPS);
    chain->ctx = ctx;
    if (!chain->steps)
        KFE_ALLOC_ZERO(ctx, chain->steps, KFE_MOST_STEPS);
    kfe_i_fitted_step *fit = &chain->steps[chain->count];
    chain->count++;
    fit->ctx = ctx;
    fit->step = step;
    KFE_CHECK_ALLOC_BY(ctx, fit->settings, kfe_i_alloc_zero(ctx, 1, step->params.size + 1));
    KFE_TRY(kfe_i_params_default(ctx, &step->params, fit->settings));
cleanup:
    return status;
}

/* "sg" or "sg:window=11". */
static kfe_status parse_step(kfe_context *ctx, kfe_i_chain *chain, span s)
{
    kfe_status status = KFE_OK;
    const char *colon = find(s, ':');
    char *name = NULL;

    KFE_TRY(copy(ctx, s.begin, colon ? colon : s.end, &name));
    KFE_TRY(begin_step(ctx, chain, name));
    if (colon)
        KFE_TRY(parse_setting(ctx, &chain->steps[chain->count - 1], trim((span){colon + 1, s.end})));
cleanup:
    kfe_i_free(ctx, name);
    return status;
}

/* Whether a part is a setting of the step before it. */
static int continues(span s)
{
    const char *equals = find(s, '=');
    const char *colon = find(s, ':');

    return equals && (!colon || equals < colon);
}

kfe_status kfe_i_chain_parse(kfe_context *ctx, const char *text, kfe_i_chain *out)
{
    kfe_status status = KFE_OK;

    memset(out, 0, sizeof *out);
    for (const char *rest = text; rest;) {
        span part = cut_at(rest, ',', &rest);
        size_t length = (size_t)(part.end - part.begin);
        int is_all = part.begin == text + strspn(text, " ") && !rest;
        if (is_all && (length == 0 || (length == strlen(KFE_CHAIN_NONE) &&
                                       strncmp(part.begin, KFE_CHAIN_NONE, length) == 0)))
            break;
        if (length == 0)
            KFE_FAIL(ctx, KFE_EINVAL, "{prepare}: a step is missing beside a comma of '%s'", text);
        if (out->count > 0 && continues(part))
            KFE_TRY(parse_setting(ctx, &out->steps[out->count - 1], part));
        else
            KFE_TRY(parse_step(ctx, out, part));
    }
cleanup:
    if (status != KFE_OK)
        kfe_i_chain_free(out);
    return status;
}

kfe_status kfe_i_chain_add(kfe_context *ctx, kfe_i_chain *chain, const char *step, const char *params)
{
    kfe_status status = KFE_OK;
    char owner[64];

    KFE_TRY(begin_step(ctx, chain, step));
    snprintf(owner, sizeof owner, "step %s", step);
    kfe_i_fitted_step *fit = &chain->steps[chain->count - 1];
    KFE_TRY(kfe_i_params_parse(ctx, &fit->step->params, owner, fit->settings, params));
cleanup:
    return status;
}

/* Appends the settings of a step; unless `full`, those that differ from `usual`. */
static void format_settings(const kfe_i_fitted_step *fit, int full, const void *usual, kfe_i_text *out)
{
    char before = ':';

    for (int i = 0; i < fit->step->params.count; i++) {
        const kfe_i_param *row = &fit->step->params.rows[i];
        kfe_i_text now;
        kfe_i_text then;
        kfe_i_text_init(&now, out->ctx);
        kfe_i_text_init(&then, out->ctx);
        kfe_i_param_format(row, fit->settings, &now);
        kfe_i_param_format(row, usual, &then);
        const char *value = now.bytes ? now.bytes : "";
        if (full || strcmp(value, then.bytes ? then.bytes : "") != 0) {
            kfe_i_text_printf(out, "%c%s=%s", before, row->info.name, value);
            before = ',';
        }
        if (now.status != KFE_OK || then.status != KFE_OK)
            out->status = now.status != KFE_OK ? now.status : then.status;
        kfe_i_text_free(&now);
        kfe_i_text_free(&then);
    }
}

void kfe_i_chain_format(const kfe_i_chain *chain, int full, kfe_i_text *out)
{
    if (chain->count == 0)
        kfe_i_text_puts(out, KFE_CHAIN_NONE);
    for (int s = 0; s < chain->count; s++) {
        const kfe_i_fitted_step *fit = &chain->steps[s];
        void *usual = kfe_i_alloc_zero(out->ctx, 1, fit->step->params.size + 1);
        kfe_i_text_printf(out, "%s%s", s ? "," : "", fit->step->name);
        if (!usual || kfe_i_params_default(out->ctx, &fit->step->params, usual) != KFE_OK)
            out->status = KFE_ENOMEM;
        else
            format_settings(fit, full, usual, out);
        kfe_i_free(out->ctx, usual);
    }
}

/* ---- chains of views ---- */

/* Where "NAME=" ends before a chain; NULL: the chain is for all views. */
static const char *end_of_view(span s)
{
    const char *equals = find(s, '=');

    for (const char *c = s.begin; equals && c < equals; c++)
        if (*c == ':' || *c == ',')
            return NULL;
    return equals;
}

kfe_status kfe_i_chain_each(kfe_context *ctx, const char *text, kfe_i_chain_fn use, void *user)
{
    kfe_status status = KFE_OK;
    char *view = NULL;
    char *chain = NULL;

    for (const char *rest = text; rest;) {
        span part = cut_at(rest, ';', &rest);
        const char *equals = end_of_view(part);
        if (equals)
            KFE_TRY(copy(ctx, part.begin, equals, &view));
        KFE_TRY(copy(ctx, equals ? equals + 1 : part.begin, part.end, &chain));
        KFE_TRY(use(ctx, user, view, chain));
        kfe_i_free(ctx, view);
        kfe_i_free(ctx, chain);
        view = chain = NULL;
    }
cleanup:
    kfe_i_free(ctx, view);
    kfe_i_free(ctx, chain);
    return status;
}

typedef struct choice {
    const char *view;
    kfe_i_chain *out;
    int named; /* a chain of this name was found */
} choice;

static kfe_status choose(kfe_context *ctx, void *user, const char *view, const char *chain)
{
    choice *c = user;
    int is_named = view && strcmp(view, c->view) == 0;

    if ((view && !is_named) || (!view && c->named))
        return KFE_OK;
    kfe_i_chain_free(c->out);
    c->named |= is_named;
    return kfe_i_chain_parse(ctx, chain, c->out);
}

kfe_status kfe_i_chain_for_view(kfe_context *ctx, const char *text, const char *view, kfe_i_chain *out,
                                int *named)
{
    choice c = {.view = view ? view : "", .out = out};

    memset(out, 0, sizeof *out);
    kfe_status status = kfe_i_chain_each(ctx, text ? text : KFE_CHAIN_NONE, choose, &c);
    *named = c.named;
    return status;
}

static kfe_status try_chain(kfe_context *ctx, void *user, const char *view, const char *chain)
{
    kfe_i_chain parsed = {0};
    kfe_status status = kfe_i_chain_parse(ctx, chain, &parsed);

    (void)user;
    (void)view;
    kfe_i_chain_free(&parsed);
    return status;
}

kfe_status kfe_i_chain_check(kfe_context *ctx, const char *text)
{
    return kfe_i_chain_each(ctx, text, try_chain, NULL);
}

/* ---- one setting, for grids ---- */

typedef struct setting {
    const char *step, *name, *value;
    kfe_i_text text;
    int parts, found;
} setting;

static kfe_status set_in_chain(kfe_context *ctx, void *user, const char *view, const char *chain)
{
    kfe_status status = KFE_OK;
    setting *s = user;
    kfe_i_chain parsed = {0};

    KFE_TRY(kfe_i_chain_parse(ctx, chain, &parsed));
    for (int i = 0; i < parsed.count; i++)
        if (strcmp(parsed.steps[i].step->name, s->step) == 0) {
            KFE_TRY(set_setting(ctx, &parsed.steps[i], s->name, s->value));
            s->found = 1;
        }
    kfe_i_text_printf(&s->text, "%s%s%s", s->parts++ ? ";" : "", view ? view : "", view ? "=" : "");
    kfe_i_chain_format(&parsed, 0, &s->text);
cleanup:
    kfe_i_chain_free(&parsed);
    return status;
}

kfe_status kfe_i_chain_set(kfe_context *ctx, const char *text, const char *name, const char *value, char *out,
                           int *found)
{
    kfe_status status = KFE_OK;
    const char *dot = strchr(name, '.');
    char *step = NULL;
    setting s = {.value = value};

    *found = 0;
    kfe_i_text_init(&s.text, ctx);
    if (!dot)
        goto cleanup;
    KFE_TRY(copy(ctx, name, dot, &step));
    s.step = step;
    s.name = dot + 1;
    KFE_TRY(kfe_i_chain_each(ctx, text, set_in_chain, &s));
    KFE_TRY(s.text.status);
    if (s.text.length >= KFE_PARAM_TEXT_SIZE)
        KFE_FAIL(ctx, KFE_EINVAL, "{prepare}: the chain is longer than %d characters",
                 KFE_PARAM_TEXT_SIZE - 1);
    memcpy(out, s.text.bytes, (size_t)s.text.length + 1);
    *found = s.found;
cleanup:
    kfe_i_text_free(&s.text);
    kfe_i_free(ctx, step);
    return status;
}

/* Whether a chain, without the name of its view, has the step. */
static int names_step(span chain, const char *step)
{
    size_t length = strlen(step);

    while (chain.begin <= chain.end) {
        const char *comma = find(chain, ',');
        span part = trim((span){chain.begin, comma ? comma : chain.end});
        const char *colon = find(part, ':');
        span name = trim((span){part.begin, colon ? colon : part.end});
        if ((size_t)(name.end - name.begin) == length && strncmp(name.begin, step, length) == 0)
            return 1;
        chain.begin = comma ? comma + 1 : chain.end + 1;
    }
    return 0;
}

int kfe_i_chain_has(const char *text, const char *step)
{
    for (const char *rest = text; rest;) {
        span part = cut_at(rest, ';', &rest);
        const char *equals = end_of_view(part);
        if (names_step((span){equals ? equals + 1 : part.begin, part.end}, step))
            return 1;
    }
    return 0;
}

static kfe_status look_for_choice(kfe_context *ctx, void *user, const char *view, const char *chain)
{
    kfe_i_chain parsed = {0};
    kfe_status status = kfe_i_chain_parse(ctx, chain, &parsed);

    (void)view;
    *(int *)user |= kfe_i_chain_chooses(&parsed, NULL);
    kfe_i_chain_free(&parsed);
    return status;
}

kfe_status kfe_i_chain_needs_target(kfe_context *ctx, const char *text, int *out)
{
    *out = 0;
    return kfe_i_chain_each(ctx, text, look_for_choice, out);
}
