/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of the plans of `kfe reproduce`: any JSON either runs as a plan or fails with a message.
 *
 * Plans run on generated data of at most a few thousand numbers, and no plan may read a file. The mutator
 * changes the JSON tree: it replaces a value, deletes it, or copies one from elsewhere in the same plan.
 */
#define _GNU_SOURCE /* memfd_create */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reproduce/src/plan.h"
#include "reproduce/src/reproduce.h"

enum { MEMORY_LIMIT = 8 << 20, QUESTIONS = 1000, MOST_NODES = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);

/* ---- running a plan ---- */

/* Cancels a plan that takes too long for a fuzzer. */
static int stop_after_questions(void *user)
{
    return ++*(int *)user > QUESTIONS;
}

static void fail(kfe_context *ctx, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, kfe_error_message(ctx));
    abort();
}

/* Stores the plan in a memory file, under a name that rep_run opens as a file. */
static int make_file(const uint8_t *bytes, size_t size, char name[64])
{
    int file = memfd_create("plan", 0);

    if (file >= 0 && write(file, bytes, size) != (ssize_t)size) {
        close(file);
        return -1;
    }
    snprintf(name, 64, "/proc/self/fd/%d", file);
    return file;
}

static void run_plan(kfe_context *ctx, const uint8_t *bytes, size_t size)
{
    static const rep_settings settings[] = {{.quick = 0}, {.quick = 1}};
    char name[64];
    int file = make_file(bytes, size, name);

    for (int i = 0; file >= 0 && i < 2; i++) {
        char *written = NULL;
        json_t *parsed = NULL;
        json_error_t error;
        int questions = 0;
        kfe_context_on_cancel(ctx, stop_after_questions, &questions);
        kfe_status status = rep_run(ctx, name, &settings[i], i == KFE_STYLE_TEXT ? &written : NULL,
                                    i == KFE_STYLE_JSON ? &written : NULL);
        if ((status == KFE_OK) != (written != NULL) || (status != KFE_OK && !kfe_error_message(ctx)[0]))
            fail(ctx, "neither a result nor a message");
        if (written && i == KFE_STYLE_JSON && !(parsed = json_loads(written, 0, &error)))
            fail(ctx, "the result is not JSON");
        json_decref(parsed);
        free(written);
        if (status != KFE_OK)
            break;
    }
    if (file >= 0)
        close(file);
}

static int contains(const uint8_t *bytes, size_t size, const char *word)
{
    return memmem(bytes, size, word, strlen(word)) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    kfe_context *ctx = NULL;
    rep_plan plan;

    /* no files (\u could spell the word) */
    if (contains(bytes, size, "file") || contains(bytes, size, "\\u") || kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    kfe_context_set_threads(ctx, 1);
    kfe_status status = rep_plan_parse(ctx, "plan.json", (const char *)bytes, size, &plan);
    if (status != KFE_OK && !kfe_error_message(ctx)[0])
        fail(ctx, "no message");
    rep_plan_close(&plan);
    if (status == KFE_OK)
        run_plan(ctx, bytes, size);
    kfe_context_free(ctx);
    return 0;
}

/* ---- changing plans ---- */

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return below ? (*state >> 8) % below : 0;
}

/* A value and its parent. */
typedef struct node {
    json_t *parent, *value;
    const char *key; /* NULL: the parent is an array */
    size_t index;
} node;

typedef struct nodes {
    node items[MOST_NODES];
    unsigned count;
} nodes;

static void collect(json_t *parent, nodes *out)
{
    const char *key;
    size_t index;
    json_t *value;

    json_object_foreach(parent, key, value)
    {
        if (out->count < MOST_NODES)
            out->items[out->count++] = (node){.parent = parent, .value = value, .key = key};
        collect(value, out);
    }
    json_array_foreach(parent, index, value)
    {
        if (out->count < MOST_NODES)
            out->items[out->count++] = (node){.parent = parent, .value = value, .index = index};
        collect(value, out);
    }
}

static json_t *draw_text(unsigned *state)
{
    static const char *const words[] = {"",
                                        "table",
                                        "curve",
                                        "scatter",
                                        "path",
                                        "time",
                                        "roc",
                                        "koc",
                                        "kpca",
                                        "none",
                                        "svm",
                                        "knn",
                                        "ls",
                                        "linear",
                                        "rbf",
                                        "rbf:gamma=1..4/3",
                                        "accuracy",
                                        "auc",
                                        "rmse",
                                        "error",
                                        "support-vectors",
                                        "iris",
                                        "slabs",
                                        "gamma=1,2",
                                        "dim=1:3:lin3",
                                        "dim",
                                        "gamma",
                                        "C=1,10",
                                        "viola-jones 2x2",
                                        "minmax",
                                        "unit-norm",
                                        "standard",
                                        "eigenvalues",
                                        "yes",
                                        "auto",
                                        "a / b",
                                        "linear-svm",
                                        "sma",
                                        "smc"};

    return json_string(words[draw(state, sizeof words / sizeof *words)]);
}

static json_t *draw_value(unsigned *state)
{
    static const double reals[] = {0.5, -0.5, 1e-300, 1e300, 1e19, -1e19, 2147483648.0, 1e9, 0.1};

    switch (draw(state, 8)) {
    case 0:
        return json_null();
    case 1:
        return json_boolean(draw(state, 2));
    case 2:
        return json_integer((json_int_t)draw(state, 8) - 1);
    case 3:
        return json_real(reals[draw(state, sizeof reals / sizeof *reals)]);
    case 4:
        return json_pack("[o,o]", draw_text(state), draw_text(state));
    case 5:
        return json_pack("[i,f]", (int)draw(state, 5), 0.5);
    case 6:
        return json_pack("{s:o}", "name", draw_text(state));
    default:
        return draw_text(state);
    }
}

static json_t *change_string(const json_t *value)
{
    char text[512];
    size_t size = (size_t)snprintf(text, sizeof text - 64, "%s", json_string_value(value));

    if (size > sizeof text - 65)
        size = sizeof text - 65;
    size = LLVMFuzzerMutate((uint8_t *)text, size, sizeof text - 1);
    for (size_t i = 0; i < size; i++)
        text[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : 'x';
    return json_stringn(text, size);
}

static void add_key(json_t *object, unsigned *state)
{
    static const char *const keys[] = {
        "kind",      "metrics",   "percent", "protocol",    "quick",          "over",     "grid",
        "learner",   "params",    "kernel",  "kernels",     "learner-params", "paper",    "columns",
        "rows",      "per-class", "classes", "transform",   "target-scale",   "seed",     "reading",
        "options",   "record",    "scale",   "name",        "method",         "generate", "reciprocal",
        "parameter", "values",    "count",   "paper-splits"};

    json_object_set_new(object, keys[draw(state, sizeof keys / sizeof *keys)], draw_value(state));
}

static void change_node(const nodes *all, unsigned *state)
{
    const node *n = &all->items[draw(state, all->count)];
    json_t *fresh = NULL;

    switch (draw(state, 5)) {
    case 0:
        fresh = draw_value(state);
        break;
    case 1:
        fresh = json_deep_copy(all->items[draw(state, all->count)].value);
        break;
    case 2:
        fresh = json_is_string(n->value) ? change_string(n->value) : draw_value(state);
        break;
    case 3:
        break; /* delete it */
    default:
        if (json_is_object(n->value))
            add_key(n->value, state);
        else if (json_is_array(n->value))
            json_array_append_new(n->value, draw_value(state));
        return;
    }
    if (n->key && fresh)
        json_object_set_new(n->parent, n->key, fresh);
    else if (n->key)
        json_object_del(n->parent, n->key);
    else if (fresh)
        json_array_set_new(n->parent, n->index, fresh);
    else
        json_array_remove(n->parent, n->index);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    static nodes all;
    json_error_t error;
    unsigned state = seed;
    json_t *root = draw(&state, 20) ? json_loadb((const char *)bytes, size, 0, &error) : NULL;
    size_t written = 0;

    for (unsigned count = 1 + draw(&state, 3); root && count; count--) {
        all.count = 0;
        collect(root, &all);
        if (all.count == 0 || draw(&state, 10) == 0)
            add_key(root, &state);
        else
            change_node(&all, &state);
    }
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    if (text && strlen(text) <= most) {
        written = strlen(text);
        memcpy(bytes, text, written);
    }
    free(text);
    json_decref(root);
    return written ? written : LLVMFuzzerMutate(bytes, size, most);
}
