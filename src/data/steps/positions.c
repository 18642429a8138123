/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads positions of columns out of their names. A name is a word, a number and a unit; word and unit are the same in all names, as in
 * "900 nm". Numbers without a word are always positions. After a word, they are positions if the unit or the word is a known one:
 * "gene12" is a name, "nm1200" a wavelength. Used by the steps cut and bin and by figures.
 */
#include "data/steps/positions.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MOST_UNIT = 24 };

typedef struct unit {
    const char *spelt; /* in lower case, without blanks, dots, brackets and underscores */
    const char *title;
    int is_reversed;
} unit;

static const unit units[] = {
    {"nm", "wavelength (nm)", 0},
    {"um", "wavelength (µm)", 0},
    {"µm", "wavelength (µm)", 0},
    {"wl", "wavelength", 0},
    {"wavelength", "wavelength", 0},
    {"cm-1", "wavenumber (cm⁻¹)", 1},
    {"cm^-1", "wavenumber (cm⁻¹)", 1},
    {"cm⁻¹", "wavenumber (cm⁻¹)", 1},
    {"cm1", "wavenumber (cm⁻¹)", 1}, /* "cm.1": R replaces the sign */
    {"1/cm", "wavenumber (cm⁻¹)", 1},
    {"wn", "wavenumber", 1},
    {"wavenumber", "wavenumber", 1},
    {"ppm", "chemical shift (ppm)", 1},
    {"mz", "m/z", 0},
    {"m/z", "m/z", 0},
    {"da", "mass (Da)", 0},
    {"min", "retention time (min)", 0},
    {"rt", "retention time", 0},
    {"ev", "energy (eV)", 0},
    {"kev", "energy (keV)", 0},
    {"hz", "frequency (Hz)", 0},
    {"khz", "frequency (kHz)", 0},
    {"mhz", "frequency (MHz)", 0},
    {"ghz", "frequency (GHz)", 0},
    {"thz", "frequency (THz)", 0},
};

/* ---- one name ---- */

/* The number at the beginning of "900 nm" or "1000.5cm-1"; *end is behind it. */
static int leading_number(const char *name, double *out, const char **end)
{
    const char *at = name;

    while (*at == ' ')
        at++;
    if (*at == '-' || *at == '+')
        at++;
    while (isdigit((unsigned char)*at) || *at == '.')
        at++;
    if ((*at == 'e' || *at == 'E') && isdigit((unsigned char)at[1 + (at[1] == '-' || at[1] == '+')]))
        for (at += 2; isdigit((unsigned char)*at);)
            at++;
    *end = at;
    return kfe_i_parse_number(name, at, out);
}

/* The word before the number of a name; a sign belongs to the number if nothing is before it. */
static size_t word_length(const char *name)
{
    double number = 0;
    const char *end = NULL;

    return leading_number(name, &number, &end) ? 0 : strcspn(name, "0123456789");
}

/* The unit that a word of `length` bytes means; NULL: none. */
static const unit *find_unit(const char *word, size_t length)
{
    char plain[MOST_UNIT];
    size_t count = 0;

    for (size_t k = 0; k < length; k++) {
        if (strchr(" ._()[]", word[k]))
            continue;
        if (count + 1 == sizeof plain)
            return NULL;
        plain[count++] = (char)tolower((unsigned char)word[k]);
    }
    plain[count] = '\0';
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strcmp(plain, units[k].spelt) == 0)
            return &units[k];
    return NULL;
}

/* ---- all names ---- */

/* What the numbers of names do from one to the next. */
typedef struct steps_of_numbers {
    int rise, fall;
    int count;        /* the numbers are 0, 1, 2, … or 1, 2, 3, … */
    int has_one_unit; /* the same text follows every number */
} steps_of_numbers;

/* Reads the numbers behind a word; 0: a name has another word, another unit or no number. */
static int read_numbers(const char *const *names, int64_t count, size_t before, const char **rest,
                        steps_of_numbers *out)
{
    double last = 0;
    double number = 0;

    *out = (steps_of_numbers){1, 1, 1, 1};
    for (int64_t j = 0; j < count; j++, last = number) {
        const char *end = NULL;
        if (strncmp(names[j], names[0], before) != 0 || !leading_number(names[j] + before, &number, &end))
            return 0;
        *rest = j == 0 ? end : *rest;
        out->has_one_unit &= strcmp(end, *rest) == 0;
        out->rise &= j == 0 || number > last;
        out->fall &= j == 0 || number < last;
        out->count &= j == 0 ? number == 0 || number == 1 : number == last + 1;
    }
    return 1;
}

/* Whether numbers between a word and a unit are more than a count, or identifiers. R puts an X before names that begin with a number. */
static int is_quantity(const unit *known, const char *word, size_t before, const steps_of_numbers *steps,
                       const char *rest)
{
    int is_plain = before == 0 || (before == 1 && (*word == 'X' || *word == 'x'));

    if (known)
        return 1;
    return is_plain && (steps->rise || steps->fall) && (*rest ? before == 0 : !steps->count);
}

kfe_i_positions kfe_i_positions_of(const char *const *names, int64_t count)
{
    kfe_i_positions out = {0};
    steps_of_numbers steps;
    const char *rest = "";

    for (int64_t j = 0; names && j < count; j++)
        if (!names[j])
            return out;
    if (!names || count < 1)
        return out;
    out.before = word_length(names[0]);
    if (!read_numbers(names, count, out.before, &rest, &steps)) {
        out.before = 0;
        return out;
    }
    const unit *known = find_unit(rest, strlen(rest));
    known = known || *rest ? known : find_unit(names[0], out.before);
    int is_one = count > 1 && steps.has_one_unit;
    out.is_numbered = is_one && (steps.rise || steps.fall);
    out.is_axis = is_one && is_quantity(known, names[0], out.before, &steps, rest);
    out.are_known = out.before == 0 || out.is_axis;
    out.is_reversed = known && known->is_reversed;
    out.title = known ? known->title : NULL;
    return out;
}

double kfe_i_position_at(const kfe_i_positions *positions, const char *const *names, int64_t j)
{
    double value = (double)(j + 1);
    const char *end = NULL;

    if (names && positions->are_known)
        leading_number(names[j] + positions->before, &value, &end);
    return value;
}

const char *kfe_i_position_unit(const kfe_i_positions *positions, const char *name)
{
    double value = 0;
    const char *end = name;

    leading_number(name + positions->before, &value, &end);
    return end;
}

void kfe_i_position_title(const kfe_i_positions *positions, const char *const *names, char *out, size_t size)
{
    const char *rest = names && positions->is_axis ? kfe_i_position_unit(positions, names[0]) : "";

    rest += strspn(rest, " ._([");
    if (positions->is_axis && positions->title)
        kfe_i_snprintf(out, size, "%s", positions->title);
    else if (*rest)
        kfe_i_snprintf(out, size, "column (%.*s)", (int)strcspn(rest, ")]"), rest);
    else
        kfe_i_snprintf(out, size, "column");
}
