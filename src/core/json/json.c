/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer, used by model files and results. json_read.c reads JSON. */
#include "core/json/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/utf8.h"

void kfe_i_json_init(kfe_i_json *json, kfe_context *ctx, int indented)
{
    memset(json, 0, sizeof *json);
    kfe_i_text_init(&json->text, ctx);
    json->indented = indented;
}

void kfe_i_json_free(kfe_i_json *json)
{
    kfe_i_text_free(&json->text);
}

static void break_line(kfe_i_json *json)
{
    if (json->indented)
        kfe_i_text_printf(&json->text, "\n%*s", 2 * json->depth, "");
}

static void put_byte(kfe_i_text *text, unsigned char byte)
{
    const char *names = "\b\t\n\f\r";
    const char *letters = "btnfr";
    const char *named = byte ? strchr(names, byte) : NULL;

    if (byte == '"' || byte == '\\')
        kfe_i_text_printf(text, "\\%c", byte);
    else if (named)
        kfe_i_text_printf(text, "\\%c", letters[named - names]);
    else if (byte < 0x20 || byte == 0x7F)
        kfe_i_text_printf(text, "\\u%04x", byte);
    else
        kfe_i_text_add(text, (const char *)&byte, 1);
}

static void put_quoted(kfe_i_text *text, const char *value)
{
    int is_utf8 = kfe_i_is_utf8(value);

    kfe_i_text_add(text, "\"", 1);
    while (*value) {
        unsigned char byte = (unsigned char)*value;
        uint32_t code = 0;
        size_t control = is_utf8 ? kfe_i_control_beyond_ascii(value, &code) : 0;
        if (control > 0) /* a terminal would obey it */
            kfe_i_text_printf(text, "\\u%04x", (unsigned)code);
        else
            put_byte(text, byte >= 0x80 && !is_utf8 ? '?' : byte);
        value += control > 0 ? control : 1;
    }
    kfe_i_text_add(text, "\"", 1);
}

/* Writes what precedes a value: comma, line break, key. */
static void begin_value(kfe_i_json *json, const char *key)
{
    if (json->has_values)
        kfe_i_text_add(&json->text, ",", 1);
    if (json->depth > 0)
        break_line(json);
    json->has_values = 1;
    if (!key)
        return;
    put_quoted(&json->text, key);
    kfe_i_text_puts(&json->text, json->indented ? ": " : ":");
}

static void open_level(kfe_i_json *json, const char *key, const char *opener, char closer)
{
    begin_value(json, key);
    assert(json->depth < KFE_JSON_MOST_LEVELS);
    kfe_i_text_puts(&json->text, opener);
    json->closers[json->depth++] = closer;
    json->has_values = 0;
}

void kfe_i_json_object(kfe_i_json *json, const char *key)
{
    open_level(json, key, "{", '}');
}

void kfe_i_json_array(kfe_i_json *json, const char *key)
{
    open_level(json, key, "[", ']');
}

void kfe_i_json_end(kfe_i_json *json)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->has_values)
        break_line(json);
    kfe_i_text_add(&json->text, &json->closers[json->depth], 1);
    json->has_values = 1;
}

void kfe_i_json_text(kfe_i_json *json, const char *key, const char *value)
{
    begin_value(json, key);
    put_quoted(&json->text, value);
}

void kfe_i_json_texts(kfe_i_json *json, const char *key, int64_t count, char *const *values)
{
    kfe_i_json_array(json, key);
    for (int64_t i = 0; i < count; i++)
        kfe_i_json_text(json, NULL, values[i]);
    kfe_i_json_end(json);
}

void kfe_i_json_integer(kfe_i_json *json, const char *key, int64_t value)
{
    begin_value(json, key);
    kfe_i_text_printf(&json->text, "%lld", (long long)value);
}

void kfe_i_json_real(kfe_i_json *json, const char *key, double value)
{
    char number[KFE_NUMBER_TEXT];

    if (!isfinite(value)) {
        kfe_i_json_null(json, key);
        return;
    }
    begin_value(json, key);
    kfe_i_format_number(value, number);
    kfe_i_text_puts(&json->text, number);
    if (!strpbrk(number, ".e")) /* readers tell reals from integers by that */
        kfe_i_text_puts(&json->text, ".0");
}

void kfe_i_json_boolean(kfe_i_json *json, const char *key, int value)
{
    begin_value(json, key);
    kfe_i_text_puts(&json->text, value ? "true" : "false");
}

void kfe_i_json_null(kfe_i_json *json, const char *key)
{
    begin_value(json, key);
    kfe_i_text_puts(&json->text, "null");
}

kfe_status kfe_i_json_finish(kfe_i_json *json, char **out)
{
    assert(json->depth == 0);
    if (json->indented)
        kfe_i_text_add(&json->text, "\n", 1);
    return kfe_i_text_take(&json->text, out);
}
