/* SPDX-License-Identifier: Apache-2.0 */
/* Make classes of labels: one class per number, whatever its spelling, and per text, in sorted order. */
#ifndef KFE_DATA_TARGET_CLASSES_H
#define KFE_DATA_TARGET_CLASSES_H

#include "core/intern.h"
#include "data/target/target.h"

/* Fills the classes of `out`, whose context and number of rows are set, from the word of each row (codes[rows], which becomes
 * the class of each row and belongs to `out` afterwards, also after a failure).
 *   - Numerically equal words ("1", "1.0", "+1") are one class, named as the first of them was written.
 *   - Classes are sorted: numbers by value, then text by its characters.
 *   - A word that no row has makes no class. */
kfe_status kfe_i_classes_from_words(const kfe_i_intern *words, int32_t *codes, kfe_i_target *out);

/* Whether two labels name the same class. */
int kfe_i_same_class(const char *a, const char *b);
/* The order of classes: below, at or above 0 as `a` comes before, is the same class as, or comes after `b`. */
int kfe_i_compare_classes(const char *a, const char *b);

#endif
