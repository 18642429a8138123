/* SPDX-License-Identifier: Apache-2.0 */
/* Divide work: into parts of limited size, and over processes: a range of rows for each, or panels dealt like cards. */
#ifndef KFE_CORE_SHARE_H
#define KFE_CORE_SHARE_H

#include <stdint.h>

/* The smaller of two counts: the size of a part, where fewer may be left. */
static inline int64_t kfe_i_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Part number `part`, from 0 on, of `parts`. */
typedef struct kfe_i_share {
    int part, parts;
} kfe_i_share;

/* The first of the `count` items that this process gets, if every process gets consecutive items and about equally many. */
static inline int64_t kfe_i_share_begin(int64_t count, int part, int parts)
{
    return count / parts * part + count % parts * part / parts;
}

/*
 * Panels of a triangle grow from the first to the last. They are dealt forwards and backwards in turn,
 *
 *     process   0  1  2    0  1  2
 *     panels    0  1  2    5  4  3    6  7  8    11  10  9   …
 *
 * so that every two turns give all processes the same number of entries.
 */
static inline int64_t kfe_i_dealt(kfe_i_share share, int64_t turn)
{
    return turn % 2 == 0 ? share.parts * turn + share.part : share.parts * (turn + 1) - 1 - share.part;
}

/* How many of `count` panels the process gets. */
static inline int64_t kfe_i_dealt_count(kfe_i_share share, int64_t count)
{
    int64_t rest = count % (2 * (int64_t)share.parts);

    return count / (2 * (int64_t)share.parts) * 2 + (rest > share.part) +
           (rest > 2 * (int64_t)share.parts - 1 - share.part);
}

#endif
