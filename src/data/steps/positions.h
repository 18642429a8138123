/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read the positions of columns out of their names: "900", "900 nm", "nm900", "1000.5 cm-1", and "X900.nm", as R writes it. Steps cut and
 * join columns by them, and figures draw columns over them.
 */
#ifndef KFE_DATA_STEPS_POSITIONS_H
#define KFE_DATA_STEPS_POSITIONS_H

#include <stdint.h>

#include "core/text.h"

typedef struct kfe_i_positions {
    int are_known;     /* the names have positions; otherwise those are the places from 1 */
    int is_numbered;   /* one word with numbers that rise or fall, such as x1, x2, x3 */
    int is_axis;       /* the numbers are more than a count: wavelengths, times, masses */
    int is_reversed;   /* high numbers belong on the left, as of wavenumbers */
    size_t before;     /* bytes of each name before its number */
    const char *title; /* of an axis: "wavelength (nm)"; NULL: the unit is not a known one */
} kfe_i_positions;

/* NULL: there are no names. */
kfe_i_positions kfe_i_positions_of(const char *const *names, int64_t count);
/* The position of column j, from 0. */
double kfe_i_position_at(const kfe_i_positions *positions, const char *const *names, int64_t j);
/* What follows the number in a name, " nm". */
const char *kfe_i_position_unit(const kfe_i_positions *positions, const char *name);
/* The title of the axis, "wavelength (nm)", or "column (a.u.)" with the unit in the names. */
void kfe_i_position_title(const kfe_i_positions *positions, const char *const *names, char *out, size_t size);

#endif
