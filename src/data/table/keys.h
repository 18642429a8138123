/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of rows: what their columns contain, in two numbers (table.h). With steps, numbers are standardised by the columns and weights of the
 * table and rounded to steps of 2^-20, so that neither constants added to columns nor their units, nor rounding, nor the order of
 * columns change the order of the keys; without steps, numbers count as they are and do not depend on the other rows.
 */
#ifndef KFE_DATA_TABLE_KEYS_H
#define KFE_DATA_TABLE_KEYS_H

#include "data/table/facts.h"
#include "data/table/table.h"

typedef struct kfe_i_keyed {
    const kfe_i_table *table;
    double *mean;   /* of each column; NULL: numbers count as they are */
    double *steps;  /* per unit of its values; 0: its numbers count as they are */
    uint64_t zeros; /* the order of a row of zeros */
} kfe_i_keyed;

/* Finds the steps of a table, whose weights count. It must outlive `out`. Free that also after a failure. */
kfe_status kfe_i_keyed_begin(kfe_context *ctx, const kfe_i_table *table, kfe_i_keyed *out);
/* The same from facts about the columns of rows that are in several tables of this total weight; set out->table to one after the other. */
kfe_status kfe_i_keyed_from_facts(kfe_context *ctx, int64_t cols, const kfe_i_column_facts *facts,
                                  double mass, kfe_i_keyed *out);
void kfe_i_keyed_free(kfe_context *ctx, kfe_i_keyed *keyed);
/* What a row of view number `place` adds to the key of a row of several views. */
kfe_i_row_key kfe_i_keyed_of_view(const kfe_i_keyed *keyed, int64_t row, uint64_t place);
/* `same` of the key of a row, which needs no steps. */
uint64_t kfe_i_row_content(const kfe_i_table *table, int64_t row);
/* Keys of all rows, with steps; the caller frees them. */
kfe_status kfe_i_table_row_keys(kfe_context *ctx, const kfe_i_table *table, kfe_i_row_key **out);

/* Mixes the bits of a number, as the last step of SplitMix64 does (Steele, Lea & Flood 2014). */
uint64_t kfe_i_scramble(uint64_t z);

#endif
