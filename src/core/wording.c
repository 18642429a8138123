/* SPDX-License-Identifier: Apache-2.0 */
/* Translates parameters in messages into the words of the command line, of Python, of R or of C (wording.h). */
#include "core/wording.h"
#include "system/system.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What hosts write in ways of their own: not as a flag, keyword or assignment. */
typedef struct special_case {
    const char *name;
    const char *words[KFE_WORDING_COUNT];
} special_case;

static const special_case special_cases[] = {
    {"methods", {"kfe_method()", "`kfe methods`", "kfe.methods()", "kfe_methods()"}},
    {"kernels", {"kfe_kernel()", "`kfe kernels`", "kfe.kernels()", "kfe_kernels()"}},
    {"learners", {"kfe_learner()", "`kfe learners`", "kfe.learners()", "kfe_learners()"}},
    {"steps", {"kfe_step()", "`kfe steps`", "kfe.steps()", "kfe_steps()"}},
    {"transfer", {"kfe_transfer()", "`kfe transfer`", "kfe.transfer()", "kfe_transfer()"}},
    {"metrics", {"kfe_metric()", "`kfe help metrics`", "kfe.metrics()", "kfe_metrics()"}},
    {"figures", {"kfe_figure()", "`kfe plot --list`", "kfe.figures()", "`kfe plot --list`"}},
    {"labels", {"kfe_data_set_labels() or kfe_data_set_targets()", "--label or --label-file", "y", "y"}},
    {"view",
     {"kfe_data_join_views()", "--view NAME=FILE", "X={NAME: array, …}", "x = list(NAME = matrix, ...)"}},
    {"view-kernel",
     {"kfe_spec_set_view_kernel()", "--view-kernel NAME=KERNEL", "kernel={NAME: KERNEL, …}",
      "kernel = list(NAME = KERNEL, ...)"}},
    {"bind-kernel",
     {"kfe_model_bind_kernel()", "a program that calls kfe_model_bind_kernel()",
      "kfe.load(path, kernels={NAME: function})", "a program that calls kfe_model_bind_kernel()"}},
};

/* A text of fixed size that is cut where it would not fit. */
typedef struct writer {
    char *out;
    size_t used;
} writer;

static void put(writer *w, const char *bytes, size_t length)
{
    size_t room = KFE_WORDING_TEXT - 1 - w->used;

    if (length > room)
        length = room;
    memcpy(w->out + w->used, bytes, length);
    w->used += length;
    w->out[w->used] = '\0';
}

static void put_string(writer *w, const char *string)
{
    put(w, string, strlen(string));
}

/* The length of a parameter's name at `text`; 0: no name stands there. */
static size_t name_length(const char *text)
{
    size_t length = 0;

    if (!islower((unsigned char)text[0]) && !isupper((unsigned char)text[0]))
        return 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '-')
        length++;
    return length;
}

/* Python and R quote words but not numbers; a conversion other than %s makes a number. */
static int is_number(const char *value, size_t length)
{
    if (length == 0)
        return 0;
    if (value[0] == '%')
        return value[length - 1] != 's';
    return isdigit((unsigned char)value[0]) || value[0] == '-' || value[0] == '.';
}

static void put_underscored_name(writer *w, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        put(w, name[i] == '-' ? "_" : name + i, 1);
}

static void put_python_name(writer *w, const char *name, size_t length)
{
    put_underscored_name(w, name, length);
    if (length == 6 && memcmp(name, "lambda", 6) == 0) /* a word that Python keeps for itself */
        put_string(w, "_");
}

/* Tables may write label_file for label-file. */
static void put_dashed_name(writer *w, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        put(w, name[i] == '_' ? "-" : name + i, 1);
}

static void put_name(writer *w, kfe_wording wording, const char *name, size_t length)
{
    if (wording == KFE_WORDING_FLAGS)
        put_string(w, "--");
    if (wording == KFE_WORDING_PYTHON)
        put_python_name(w, name, length);
    else if (wording == KFE_WORDING_R)
        put_underscored_name(w, name, length);
    else
        put_dashed_name(w, name, length);
}

static const special_case *find_special_case(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof special_cases / sizeof *special_cases; i++)
        if (strlen(special_cases[i].name) == length && memcmp(special_cases[i].name, name, length) == 0)
            return &special_cases[i];
    return NULL;
}

static void put_value(writer *w, kfe_wording wording, const char *value, size_t length)
{
    static const char *const assigns[KFE_WORDING_COUNT] = {"=", " ", "=", " = "};
    static const char *const quotes[KFE_WORDING_COUNT] = {"", "", "'", "\""};
    const char *quote = is_number(value, length) ? "" : quotes[wording];

    put_string(w, assigns[wording]);
    put_string(w, quote);
    put(w, value, length);
    put_string(w, quote);
}

static void put_parameter(writer *w, kfe_wording wording, const char *name, size_t length, const char *value,
                          size_t value_length)
{
    const special_case *special = find_special_case(name, length);

    if (special) {
        put_string(w, special->words[wording]);
        return;
    }
    put_name(w, wording, name, length);
    if (value_length > 0)
        put_value(w, wording, value, value_length);
}

void kfe_i_word_name(const kfe_context *ctx, const char *name, char out[KFE_WORDING_TEXT])
{
    writer w = {out, 0};

    out[0] = '\0';
    put_name(&w, ctx->wording, name, strlen(name));
}

void kfe_i_word_format(const kfe_context *ctx, const char *format, char out[KFE_WORDING_TEXT])
{
    writer w = {out, 0};

    out[0] = '\0';
    while (*format) {
        size_t plain = strcspn(format, "{");
        put(&w, format, plain);
        format += plain;
        if (!*format)
            break;
        size_t name = name_length(format + 1);
        size_t value = name > 0 && format[1 + name] == '=' ? strcspn(format + 2 + name, "}") : 0;
        const char *end = format + 1 + name + (value > 0 ? 1 + value : 0);
        if (name == 0 || *end != '}') { /* a brace like any other */
            put(&w, format++, 1);
            continue;
        }
        put_parameter(&w, ctx->wording, format + 1, name, format + 2 + name, value);
        format = end + 1;
    }
}

void kfe_i_text_message(kfe_i_text *text, const char *format, ...)
{
    char worded[KFE_WORDING_TEXT];
    char message[2 * KFE_WORDING_TEXT];
    va_list arguments;

    kfe_i_word_format(text->ctx, format, worded);
    va_start(arguments, format);
    kfe_i_vsnprintf(message, sizeof message, worded, arguments);
    va_end(arguments);
    kfe_i_text_puts(text, message);
}
