/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about fields of delimited text that cannot be read, for csv_block.c. */
#include <string.h>

#include "core/wording.h"
#include "data/format/csv.h"

static void describe_column(const kfe_i_csv *csv, int64_t number, kfe_i_text *out)
{
    kfe_i_text_printf(out, "field %lld", (long long)number + 1);
    if (csv->dialect.names && number < csv->dialect.fields)
        kfe_i_text_printf(out, " ('%.100s')", csv->dialect.names[number]);
}

/* Whether the field is a number with a decimal comma, as spreadsheets write it in many countries. */
static int has_decimal_comma(const kfe_i_field *at)
{
    char text[64];
    double number = 0;
    size_t length = (size_t)(at->end - at->begin);
    const char *comma = memchr(at->begin, ',', length);

    if (!comma || length >= sizeof text)
        return 0;
    memcpy(text, at->begin, length);
    text[comma - at->begin] = '.';
    return kfe_i_parse_number(text, text + length, &number);
}

/* What to do about a text where a number belongs. */
static void put_text_advice(const kfe_i_csv *csv, const kfe_i_csv_fault *found, kfe_i_text *out)
{
    if (has_decimal_comma(&found->at))
        kfe_i_text_puts(out, "write decimals with a point, not a comma");
    else if (csv->settings->expected)
        kfe_i_text_message(
            out, "the model takes numbers: correct it, or, if it is the label, say so ({label}); a model of "
                 "strings is fitted with a kernel on strings, such as {kernel=spectrum}");
    else if (csv->cols == 1)
        kfe_i_text_message(
            out, "if every row is one string, use a kernel on strings, such as {kernel=spectrum}; otherwise "
                 "correct it, encode the column as categories ({encode}), or, if it is the label, say so "
                 "({label})");
    else
        kfe_i_text_message(
            out, "correct it, encode the column as categories ({encode}), leave it out ({drop}), keep it as "
                 "the name of the row ({id}), or, if it is the label, say so ({label})");
}

static void describe_fault(const kfe_i_csv *csv, const kfe_i_csv_fault *found, kfe_i_text *out)
{
    int length = (int)(found->at.end - found->at.begin < 60 ? found->at.end - found->at.begin : 60);

    if (found->kind == KFE_CSV_FAULT_RAGGED) {
        kfe_i_text_message(out,
                           "the row has %lld fields, but the first one has %lld; correct the row, or check "
                           "{delimiter}",
                           (long long)found->field, (long long)csv->dialect.fields);
        return;
    }
    describe_column(csv, found->field, out);
    switch (found->kind) {
    case KFE_CSV_FAULT_TEXT:
        kfe_i_text_printf(out, " is '%.*s', which is not a number; ", length, found->at.begin);
        put_text_advice(csv, found, out);
        break;
    case KFE_CSV_FAULT_MISSING:
        if (csv->settings->in_parts_to_fit)
            kfe_i_text_message(out, " is missing; fill it in, or use {missing=drop}");
        else if (csv->dialect.text && csv->dialect.text[found->field] >= 0)
            kfe_i_text_message(out,
                               " is missing; fill it in, or use {missing=most-frequent} or {missing=drop}");
        else
            kfe_i_text_message(out, " is missing; fill it in, or use {missing=mean} or {missing=drop}");
        break;
    case KFE_CSV_FAULT_INFINITE:
        kfe_i_text_printf(out, " is '%.*s', which is not finite; replace it with a number", length,
                          found->at.begin);
        break;
    case KFE_CSV_FAULT_GROUP_MISSING:
        kfe_i_text_message(out, ", the group of the row ({groups}), is missing; fill it in");
        break;
    case KFE_CSV_FAULT_WEIGHT:
        kfe_i_text_message(out, " is '%.*s', but the weight of a row ({weight}) is a number of at least 0",
                           length, found->at.begin);
        break;
    case KFE_CSV_FAULT_LABEL_MISSING:
        kfe_i_text_message(out, ", the label, is missing; fill it in, or use {missing=drop}");
        break;
    default:
        kfe_i_text_puts(out, " goes on after its closing quote; double the quotes inside it");
        break;
    }
}

kfe_status kfe_i_csv_raise(kfe_i_csv *csv, const kfe_i_csv_fault *found)
{
    int64_t line = kfe_i_block_line(&csv->block, found->at.begin);
    kfe_i_text text;
    kfe_status status;

    kfe_i_text_init(&text, csv->ctx);
    describe_fault(csv, found, &text);
    status = text.status;
    if (status == KFE_OK)
        status = kfe_i_fail_at(csv->ctx, KFE_EINPUT, csv->block.source->name, line,
                               found->kind == KFE_CSV_FAULT_RAGGED ? 0 : found->field + 1, "%s", text.bytes);
    kfe_i_text_free(&text);
    return status;
}
