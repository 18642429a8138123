/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse rows of ARFF files, "{index value, index value}" with indices from 0, for arff.c. What a row leaves out is zero; a nominal label that
 * is left out is the first value of its attribute, as in Weka. Other columns hold numbers.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/text.h"
#include "data/format/arff.h"
#include "data/read/pick.h"
#include "data/read/sparse_rows.h"

typedef struct rows {
    kfe_i_arff *arff;
    kfe_i_labels *labels;
    int64_t label; /* attribute, from 0; -1: none */
    kfe_i_sparse_rows found;
    int has_missing;
} rows;

static kfe_status choose_label(kfe_i_arff *arff, int64_t *label)
{
    kfe_status status = KFE_OK;
    char **names = NULL;
    unsigned char *removed = NULL;

    KFE_ALLOC_ZERO(arff->ctx, names, arff->count + 1);
    for (int64_t j = 0; j < arff->count; j++)
        names[j] = arff->attributes[j].name;
    KFE_TRY(kfe_i_label_column(arff->ctx, arff->file, arff->settings, arff->count, names, label));
    KFE_ALLOC_ZERO(arff->ctx, removed, arff->count);
    if (*label >= 0)
        KFE_TRY(kfe_i_guess_label(arff->ctx, arff->file, arff->settings, arff->count, names, removed, label));
    if (arff->count == 1 && *label == 0)
        status = kfe_i_arff_fail(arff, "the only attribute is the label, which leaves no features");
cleanup:
    kfe_i_free(arff->ctx, removed);
    kfe_i_free(arff->ctx, names);
    return status;
}

static int64_t current_line(void *user, const char *place)
{
    (void)place;
    return ((const kfe_i_arff *)user)->lines.number;
}

/* Takes arff->value as the label of the row. */
static kfe_status take_label(rows *out)
{
    kfe_i_arff *arff = out->arff;
    kfe_i_arff_attribute *attribute = &arff->attributes[out->label];
    kfe_status status = KFE_OK;

    if (kfe_i_arff_is_missing(arff)) {
        if (arff->settings->missing != KFE_MISSING_DROP)
            return kfe_i_fail_at(arff->ctx, KFE_EINPUT, arff->file, arff->lines.number, 0,
                                 "the label is missing; fill it in, or use {missing=drop}");
        out->has_missing = 1;
        return kfe_i_labels_add_missing(out->labels);
    }
    if (attribute->kind == KFE_ARFF_NOMINAL)
        status = kfe_i_arff_check_nominal(arff, attribute);
    return status == KFE_OK ? kfe_i_labels_add(out->labels, arff->value.bytes, arff->value.length,
                                               current_line, arff, NULL)
                            : status;
}

/* The label of a row that does not write it. */
static kfe_status take_label_left_out(rows *out)
{
    const kfe_i_arff_attribute *attribute = &out->arff->attributes[out->label];
    const char *word = "0";

    if (attribute->kind == KFE_ARFF_TEXT)
        return kfe_i_arff_fail(out->arff, "the label is left out, but its attribute is text");
    if (attribute->kind == KFE_ARFF_NOMINAL)
        word = kfe_i_intern_word(&attribute->values, 0);
    return kfe_i_labels_add(out->labels, word, (int64_t)strlen(word), current_line, out->arff, NULL);
}

/* Takes arff->value as entry `index` of the row. */
static kfe_status take_entry(rows *out, int64_t index)
{
    kfe_i_arff *arff = out->arff;
    double value = (double)NAN;

    if (kfe_i_arff_is_missing(arff)) {
        if (arff->settings->missing != KFE_MISSING_DROP)
            return kfe_i_fail_at(arff->ctx, KFE_EINPUT, arff->file, arff->lines.number, 0,
                                 "a value is missing; leave it out if it is zero, or use {missing=drop}");
        out->has_missing = 1;
    } else if (!kfe_i_parse_number(arff->value.bytes, arff->value.bytes + arff->value.length, &value) ||
               !isfinite(value)) {
        return kfe_i_fail_at(
            arff->ctx, KFE_EINPUT, arff->file, arff->lines.number, 0,
            "'%.60s' is not a number; sparse rows hold numbers; write dense rows, whose text columns "
            "{encode} turns into numbers",
            arff->value.bytes);
    }
    if (value == 0)
        return KFE_OK;
    return kfe_i_sparse_rows_add(&out->found, out->label >= 0 && index > out->label ? index - 1 : index,
                                 value);
}

static kfe_status scan_index(rows *out, const char **c, int64_t last, int64_t *index)
{
    kfe_i_arff *arff = out->arff;
    double number = -1;
    const char *begin = *c;

    while (*c < arff->lines.end && **c >= '0' && **c <= '9')
        (*c)++;
    if (*c == begin || !kfe_i_parse_number(begin, *c, &number) || number >= (double)arff->count)
        return kfe_i_fail_at(arff->ctx, KFE_EINPUT, arff->file, arff->lines.number,
                             begin - arff->lines.begin + 1, "an index from 0 to %lld is expected here",
                             (long long)arff->count - 1);
    *index = (int64_t)number;
    if (*index <= last)
        return kfe_i_arff_fail(arff, "indices must increase within a row; sort them");
    return KFE_OK;
}

static kfe_status end_row(rows *out, int has_label)
{
    kfe_status status = KFE_OK;

    if (out->label >= 0 && !has_label)
        KFE_TRY(take_label_left_out(out));
    KFE_TRY(kfe_i_sparse_rows_end_row(&out->found));
cleanup:
    return status;
}

static kfe_status take_row(rows *out, const char *c)
{
    kfe_status status = KFE_OK;
    kfe_i_arff *arff = out->arff;
    int64_t index = -1;
    int has_label = 0;

    if (*c++ != '{')
        return kfe_i_arff_fail(arff, "the row is not in braces, as the rows before are");
    c = kfe_i_arff_skip_blanks(arff, c);
    while (c < arff->lines.end && *c != '}') {
        KFE_TRY(scan_index(out, &c, index, &index));
        KFE_TRY(kfe_i_arff_scan(arff, &c, "}"));
        has_label |= index == out->label;
        KFE_TRY(index == out->label ? take_label(out) : take_entry(out, index));
        if (c < arff->lines.end && *c == ',')
            c = kfe_i_arff_skip_blanks(arff, c + 1);
        else if (c < arff->lines.end && *c != '}')
            return kfe_i_arff_fail(arff, "a comma or '}' is expected after a value");
    }
    if (c == arff->lines.end)
        return kfe_i_arff_fail(arff, "the row does not end in '}': the file may be truncated");
    if (kfe_i_arff_skip_blanks(arff, c + 1) != arff->lines.end)
        return kfe_i_arff_fail(arff, "nothing may follow '}'; instance weights are not read");
    KFE_TRY(end_row(out, has_label));
cleanup:
    return status;
}

static void take_result(rows *from, kfe_i_raw_table *out)
{
    const kfe_i_arff *arff = from->arff;

    kfe_i_sparse_rows_take(&from->found, arff->count - (from->label >= 0), &out->table);
    out->has_missing = from->has_missing;
    if (from->label < 0)
        return;
    out->labels.present = 1;
    out->labels.column = from->label + 1;
    out->labels.place = (kfe_i_label_place){from->label + 1, from->label, arff->count};
    out->labels.nominal = arff->attributes[from->label].kind == KFE_ARFF_NOMINAL;
}

kfe_status kfe_i_arff_read_sparse(kfe_i_arff *arff, const char *first, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    rows found = {.arff = arff, .labels = &out->labels, .label = -1};

    if (arff->settings->content != KFE_CONTENT_NUMBERS || arff->settings->encode[0])
        return kfe_i_arff_fail(arff,
                               "sparse rows hold numbers, neither strings nor categories; write dense rows");
    if (arff->count > INT32_MAX)
        return kfe_i_arff_fail(arff, "there are too many attributes");
    KFE_TRY(choose_label(arff, &found.label));
    KFE_TRY(kfe_i_sparse_rows_begin(arff->ctx, &found.found));
    for (const char *c = first; c;) {
        KFE_TRY(take_row(&found, c));
        KFE_TRY(kfe_i_arff_next_line(arff, &c));
    }
    take_result(&found, out);
    if (found.label >= 0)
        KFE_STRDUP(arff->ctx, out->labels.name, arff->attributes[found.label].name);
cleanup:
    kfe_i_sparse_rows_free(&found.found);
    return status;
}
