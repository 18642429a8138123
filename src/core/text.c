/* SPDX-License-Identifier: Apache-2.0 */
/* Growing strings, and numbers to and from text in every locale. */
#include "core/text.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/utf8.h"
#include "system/system.h"

/* ---- growing strings ---- */

void kfe_i_text_init(kfe_i_text *text, kfe_context *ctx)
{
    memset(text, 0, sizeof *text);
    text->ctx = ctx;
}

void kfe_i_text_free(kfe_i_text *text)
{
    if (text->ctx)
        kfe_i_free(text->ctx, text->bytes);
    text->bytes = NULL;
    text->length = text->capacity = 0;
}

static int make_room(kfe_i_text *text, int64_t more)
{
    kfe_status status = text->status;

    if (status != KFE_OK)
        return 0;
    KFE_GROW(text->ctx, text->bytes, text->capacity, text->length + more + 1);
cleanup:
    text->status = status;
    return status == KFE_OK;
}

void kfe_i_text_add(kfe_i_text *text, const char *bytes, int64_t length)
{
    if (!make_room(text, length))
        return;
    memcpy(text->bytes + text->length, bytes, (size_t)length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void kfe_i_text_puts(kfe_i_text *text, const char *string)
{
    kfe_i_text_add(text, string, (int64_t)strlen(string));
}

void kfe_i_text_add_shown(kfe_i_text *text, const char *name)
{
    size_t length = strlen(name);

    if (!make_room(text, (int64_t)length * KFE_ESCAPE_GROWTH))
        return;
    text->length += (int64_t)kfe_i_escape(name, length, "", text->bytes + text->length);
    text->bytes[text->length] = '\0';
}

/* The part of an escaped name that is shown; is_cut: an ellipsis follows. `shown` has room for ESCAPED bytes. */
enum { MOST_SHOWN = 64, ESCAPED = (MOST_SHOWN + 2) * 4 * KFE_ESCAPE_GROWTH };

static int cut_shown(const char *name, int most, char *shown, int *is_cut)
{
    size_t bytes = strnlen(name, 4 * (MOST_SHOWN + 1)); /* enough characters */
    size_t end = kfe_i_escape(name, bytes, "", shown);
    int characters = 0;
    size_t kept = 0;

    shown[end] = '\0';
    *is_cut = 0;
    for (size_t i = 0; i < end; i++) {
        if (((unsigned char)shown[i] & 0xC0) == 0x80)
            continue;
        if (characters == most - 1)
            kept = i;
        characters++;
    }
    if (characters <= most)
        return characters;
    shown[kept] = '\0';
    *is_cut = 1;
    return most;
}

int kfe_i_shown_width(const char *name, int most)
{
    char shown[ESCAPED];
    int is_cut = 0;

    return cut_shown(name, most < MOST_SHOWN ? most : MOST_SHOWN, shown, &is_cut);
}

void kfe_i_text_add_cell(kfe_i_text *text, const char *name, int width, int most)
{
    char shown[ESCAPED];
    int is_cut = 0;
    int characters = cut_shown(name, most < MOST_SHOWN ? most : MOST_SHOWN, shown, &is_cut);

    kfe_i_text_printf(text, "%*s%s%s", width > characters ? width - characters : 0, "", shown,
                      is_cut ? "…" : "");
}

void kfe_i_text_printf(kfe_i_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int needed = kfe_i_vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (needed < 0 || !make_room(text, needed))
        return;
    va_start(arguments, format);
    kfe_i_vsnprintf(text->bytes + text->length, (size_t)needed + 1, format, arguments);
    va_end(arguments);
    text->length += needed;
}

kfe_status kfe_i_text_take(kfe_i_text *text, char **out)
{
    *out = NULL;
    kfe_i_text_add(text, "", 0);
    if (text->status == KFE_OK) {
        *out = text->bytes;
        text->bytes = NULL;
    }
    kfe_i_text_free(text);
    return text->status;
}

void kfe_string_free(kfe_context *ctx, char *string)
{
    kfe_i_free(ctx, string);
}

/* ---- numbers ---- */

int kfe_i_snprintf(char *out, size_t size, const char *format, ...)
{
    va_list arguments;
    int needed;

    va_start(arguments, format);
    needed = kfe_i_vsnprintf(out, size, format, arguments);
    va_end(arguments);
    return needed;
}

void kfe_i_format_number(double value, char out[KFE_NUMBER_TEXT])
{
    if (isnan(value)) {
        strcpy(out, "nan");
        return;
    }
    /* 15 digits always survive a double and %g drops trailing zeros, so fewer are tried only for subnormal numbers. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        double back = 0;
        kfe_i_snprintf(out, KFE_NUMBER_TEXT, "%.*g", digits, value);
        if (kfe_i_parse_number(out, out + strlen(out), &back) && back == value)
            return;
    }
}

void kfe_i_format_bytes(double bytes, char *out, size_t size)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;

    while (bytes >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1000;
        unit++;
    }
    kfe_i_snprintf(out, size, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

static const char *skip_blanks(const char *begin, const char *end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    return begin;
}

/* Names of values that are not finite, as NumPy, R and C write them. */
static int parse_special(const char *begin, const char *end, double *out)
{
    double sign = 1;

    if (begin < end && (*begin == '+' || *begin == '-'))
        sign = *begin++ == '-' ? -1 : 1;
    if (kfe_i_is_word(begin, end, "nan"))
        *out = (double)NAN;
    else if (kfe_i_is_word(begin, end, "inf") || kfe_i_is_word(begin, end, "infinity"))
        *out = sign * (double)INFINITY;
    else
        return 0;
    return 1;
}

/* For the few numbers that scale_exactly cannot round: strtod in the "C" locale. */
static int parse_slowly(const char *begin, const char *end, double *out)
{
    char buffer[512];
    size_t length = (size_t)(end - begin);
    char *stop = NULL;

    if (length >= sizeof buffer)
        return 0;
    memcpy(buffer, begin, length);
    buffer[length] = '\0';
    *out = kfe_i_strtod(buffer, &stop);
    return stop == buffer + length;
}

/* mantissa · 10^exponent by one operation in extended precision, whose 64-bit result is off by at most one unit in
 * its last place. Rounding that to double is correct unless its low 11 bits are within one unit of the halfway
 * point; then it returns 0. */
static int scale_exactly(uint64_t mantissa, int exponent, double *out)
{
#if LDBL_MANT_DIG == 64
    static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                         1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                         1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    union {
        long double value;
        uint64_t mantissa;
    } wide = {0};
    uint64_t low;

    if (exponent < -27 || exponent > 27)
        return 0;
    wide.value =
        exponent < 0 ? (long double)mantissa / powers[-exponent] : (long double)mantissa * powers[exponent];
    low = wide.mantissa & 0x7ff;
    if (low >= 0x3ff && low <= 0x401)
        return 0;
    *out = (double)wide.value;
    return 1;
#else
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (exponent < -22 || exponent > 22 || mantissa > (UINT64_C(1) << 53))
        return 0;
    *out = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
    return 1;
#endif
}

/* Parses digits[.digits][e[+-]digits] into mantissa and exponent. Returns 0 if the text has another form, -1 if it
 * has more digits than the mantissa can hold. */
static int scan_decimal(const char *c, const char *end, uint64_t *mantissa, int *exponent)
{
    const char *first = c;
    int seen = 0;
    int shift = 0;
    int power = 0;

    *mantissa = 0;
    for (; c < end && (unsigned)(*c - '0') < 10; c++, seen++)
        *mantissa = *mantissa * 10 + (unsigned)(*c - '0');
    if (c < end && *c == '.') {
        const char *fraction = ++c;
        for (; c < end && (unsigned)(*c - '0') < 10; c++, seen++)
            *mantissa = *mantissa * 10 + (unsigned)(*c - '0');
        shift = (int)(c - fraction < 1000 ? c - fraction : 1000);
    }
    if (seen == 0)
        return 0;
    if (c < end && (*c == 'e' || *c == 'E')) {
        int negative = 0;
        if (++c < end && (*c == '+' || *c == '-'))
            negative = *c++ == '-';
        if (c == end)
            return 0;
        for (; c < end && (unsigned)(*c - '0') < 10; c++)
            power = power < 10000 ? power * 10 + (*c - '0') : power;
        power = negative ? -power : power;
    }
    if (c != end)
        return 0;
    *exponent = power - shift;
    if (seen > 19) /* leading zeros would not count, but the slow way is correct for them too */
        return first == end ? 0 : -1;
    return 1;
}

int kfe_i_parse_number(const char *begin, const char *end, double *out)
{
    const char *digits;
    uint64_t mantissa = 0;
    int exponent = 0;
    int negative;
    int form;

    begin = skip_blanks(begin, end);
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (begin == end)
        return 0;
    negative = *begin == '-';
    digits = begin + (*begin == '-' || *begin == '+');
    form = scan_decimal(digits, end, &mantissa, &exponent);
    if (form == 0)
        return parse_special(begin, end, out);
    if (form < 0 || !scale_exactly(mantissa, exponent, out))
        return parse_slowly(begin, end, out);
    if (negative)
        *out = -*out;
    return 1;
}

/* ---- words ---- */

int kfe_i_begins_with(const char *begin, const char *end, const char *word)
{
    for (; *word; begin++, word++)
        if (begin == end || (*begin >= 'A' && *begin <= 'Z' ? *begin + ('a' - 'A') : *begin) != *word)
            return 0;
    return 1;
}

int kfe_i_is_word(const char *begin, const char *end, const char *word)
{
    return (size_t)(end - begin) == strlen(word) && kfe_i_begins_with(begin, end, word);
}

int kfe_i_word_at(const char *words, int index, char *out, size_t size)
{
    const char *word = words;
    size_t length;

    for (; word && index > 0; index--) {
        word = strchr(word, '|');
        word = word ? word + 1 : NULL;
    }
    if (!word)
        return 0;
    length = strcspn(word, "|");
    if (length >= size)
        length = size - 1;
    memcpy(out, word, length);
    out[length] = '\0';
    return 1;
}

int kfe_i_same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(strchr("-_", *a) && strchr("-_", *b)))
            return 0;
    return *a == *b;
}

int kfe_i_word_index(const char *words, const char *word)
{
    char entry[64];

    for (int i = 0; kfe_i_word_at(words, i, entry, sizeof entry); i++)
        if (strcmp(entry, word) == 0)
            return i;
    return -1;
}

/* A spreadsheet evaluates a cell that begins with one of these, so that a hostile name could run a formula. */
static int is_formula(const char *cell)
{
    double number;

    return strchr("=+-@\t\r", cell[0]) && cell[0] && !kfe_i_parse_number(cell, cell + strlen(cell), &number);
}

void kfe_i_text_add_csv(kfe_i_text *text, const char *cell)
{
    if (!strpbrk(cell, ",\"\r\n") && *cell != ' ' && !is_formula(cell)) {
        kfe_i_text_puts(text, cell);
        return;
    }
    kfe_i_text_puts(text, is_formula(cell) ? "\"'" : "\"");
    for (; *cell; cell++)
        kfe_i_text_add(text, *cell == '"' ? "\"\"" : cell, *cell == '"' ? 2 : 1);
    kfe_i_text_puts(text, "\"");
}
