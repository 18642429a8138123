/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of "did you mean": kfe_count_typos, and kfe_i_suggest for the messages of the library. */
#include "core/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "kfe.h"

/* Names are compared up to this length. */
enum { NAME_LIMIT = 64 };

static int least(int a, int b, int c)
{
    int smaller = a < b ? a : b;

    return smaller < c ? smaller : c;
}

/* Whether two letters are the same but for their case. */
static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string alignment). */
static int edit_distance(const char *a, int a_length, const char *b, int b_length)
{
    int rows[3][NAME_LIMIT + 1]; /* of the prefixes of a with i − 2, i − 1 and i letters */
    int *before = rows[0];
    int *above = rows[1];
    int *row = rows[2];

    for (int j = 0; j <= b_length; j++)
        above[j] = j;
    for (int i = 1; i <= a_length; i++) {
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1, row[j]);
        }
        int *next = before;
        before = above;
        above = row;
        row = next;
    }
    return above[b_length];
}

int kfe_count_typos(const char *word, const char *name)
{
    int length = (int)strnlen(word, NAME_LIMIT);
    int name_length = (int)strnlen(name, NAME_LIMIT);
    int distance = edit_distance(word, length, name, name_length);
    int similar = distance <= (length + 2) / 3 && distance < length && distance < name_length;

    return similar ? distance : -1;
}

void kfe_i_suggest(const char *word, const char *(*name_at)(const void *, int), const void *list, char *out,
                   size_t size)
{
    const char *best = NULL;
    int fewest = 0;

    for (int i = 0; name_at(list, i); i++) {
        int typos = kfe_count_typos(word, name_at(list, i));
        if (typos >= 0 && (!best || typos < fewest)) {
            fewest = typos;
            best = name_at(list, i);
        }
    }
    if (best)
        snprintf(out, size, " (did you mean '%s'?)", best);
    else if (size)
        out[0] = '\0';
}
