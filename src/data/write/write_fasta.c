/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of FASTA files: ">NAME [label=CLASS]", then the string in lines of sixty letters. */
#include <stdio.h>
#include <string.h>

#include "data/write/writer.h"

enum { LINE = 60 };

static void put_header(const kfe_i_written *what, kfe_i_sink *sink, int64_t i)
{
    const kfe_i_target *target = what->target;
    char name[32];

    kfe_i_sink_put(sink, ">", 1);
    if (what->ids) {
        int64_t begin = what->ids->row_start[i];
        kfe_i_sink_put(sink, what->ids->bytes + begin, what->ids->row_start[i + 1] - begin);
    } else {
        snprintf(name, sizeof name, "%lld", (long long)i + 1);
        kfe_i_sink_puts(sink, name);
    }
    if (target) {
        kfe_i_sink_puts(sink, " [");
        kfe_i_sink_puts(sink, what->target_name ? what->target_name : "label");
        kfe_i_sink_put(sink, "=", 1);
        if (target->task == KFE_TASK_CLASSES)
            kfe_i_sink_puts(sink, target->names[target->codes[i]]);
        else
            kfe_i_put_target_value(what, sink, target->values[i * target->cols]);
        kfe_i_sink_put(sink, "]", 1);
    }
    kfe_i_sink_put(sink, "\n", 1);
}

/* Fails if the string would not be read back as it is. */
static kfe_status check_sequence(const kfe_i_written *what, int64_t i)
{
    const kfe_i_table *table = &what->table;
    int64_t length = table->row_start[i + 1] - table->row_start[i];
    const char *text = table->bytes + table->row_start[i];

    for (int64_t p = 0; p < length; p++)
        if (!((text[p] >= 'A' && text[p] <= 'Z') || (text[p] >= 'a' && text[p] <= 'z') ||
              (text[p] && strchr("*-.", text[p]))))
            return kfe_i_fail(
                what->ctx, KFE_EINVAL,
                "%s: row %lld has a character that no sequence of a FASTA file may have; write .csv",
                what->path, (long long)i + 1);
    if (length == 0)
        return kfe_i_fail(what->ctx, KFE_EINVAL, "%s: the string of row %lld is empty; write .csv",
                          what->path, (long long)i + 1);
    return KFE_OK;
}

/* A class stands in brackets, so that its name may have blanks but no closing bracket. */
static kfe_status check_classes(const kfe_i_written *what)
{
    for (int64_t k = 0; what->target && k < what->target->class_count; k++)
        if (!what->target->names[k][0] || strpbrk(what->target->names[k], "]\r\n"))
            return kfe_i_fail(
                what->ctx, KFE_EINVAL,
                "%s: the label '%s' does not fit into a FASTA header; write .csv, or rename the "
                "class",
                what->path, what->target->names[k]);
    return KFE_OK;
}

static kfe_status write_fasta(const kfe_i_written *what, kfe_i_sink *sink)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &what->table;

    KFE_TRY(check_classes(what));
    for (int64_t i = 0; i < table->rows; i++) {
        KFE_TRY(check_sequence(what, i));
        put_header(what, sink, i);
        for (int64_t p = table->row_start[i]; p < table->row_start[i + 1]; p += LINE) {
            int64_t left = table->row_start[i + 1] - p;
            kfe_i_sink_put(sink, table->bytes + p, left < LINE ? left : LINE);
            kfe_i_sink_put(sink, "\n", 1);
        }
        KFE_TRY(kfe_i_written_row(what, sink, i));
    }
cleanup:
    return status;
}

const kfe_i_writer kfe_i_fasta_writer = {"fasta|fa",         write_fasta,       .packable = 1,
                                         .holds_strings = 1, .only_strings = 1, .holds_ids = 1};
