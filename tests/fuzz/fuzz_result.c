/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of results that are read from JSON: any text is refused with a message or becomes a result, which can be
 * written as text and as valid JSON, and drawn in every figure that takes it.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kfe.h"

enum { MEMORY_LIMIT = 64 << 20, MOST = 8192 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void fail(kfe_context *ctx, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, kfe_error_message(ctx));
    abort();
}

/* Returns whether there is a text; if not, there is a message. */
static int check(kfe_context *ctx, kfe_status status, const char *text, const char *what)
{
    if (status == KFE_OK ? !text : text || !kfe_error_message(ctx)[0])
        fail(ctx, what);
    return status == KFE_OK;
}

/* A strange result may have a key twice, which kfe itself refuses to read. */
static void check_json(kfe_context *ctx, const char *text)
{
    json_error_t error;
    json_t *parsed = json_loads(text, 0, &error);

    if (!parsed)
        fail(ctx, "not valid JSON");
    json_decref(parsed);
}

static void write_all(kfe_context *ctx, const kfe_result *result)
{
    static const kfe_style styles[] = {KFE_STYLE_TEXT, KFE_STYLE_JSON};

    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        if (check(ctx, kfe_result_describe(ctx, result, styles[i], &text), text, "report") &&
            styles[i] == KFE_STYLE_JSON)
            check_json(ctx, text);
        kfe_string_free(ctx, text);
    }
}

static void draw_all(kfe_context *ctx, const kfe_result *result)
{
    static const char *const formats[] = {"svg", "csv", "json"};
    kfe_report *report = NULL;

    if (kfe_report_new(ctx, NULL, &report) == KFE_OK && kfe_report_set_results(ctx, report, result) == KFE_OK)
        for (int i = 0; kfe_figure(i); i++)
            for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
                char *text = NULL;
                kfe_status status = kfe_report_figure(ctx, report, kfe_figure(i)->name, formats[f], &text);
                check(ctx, status, text, kfe_figure(i)->name);
                kfe_string_free(ctx, text);
            }
    kfe_report_free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char json[MOST + 1];
    kfe_context *ctx = NULL;
    kfe_result *result = NULL;

    if (size > MOST || kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    kfe_context_set_threads(ctx, 1);
    memcpy(json, bytes, size);
    json[size] = '\0';
    if (kfe_result_parse(ctx, json, &result) == KFE_OK) {
        write_all(ctx, result);
        draw_all(ctx, result);
    } else if (result || !kfe_error_message(ctx)[0]) {
        fail(ctx, "no message");
    }
    kfe_result_free(result);
    kfe_context_free(ctx);
    return 0;
}
