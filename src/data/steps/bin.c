/* SPDX-License-Identifier: Apache-2.0 */
/* The step bin: neighbouring columns are replaced by their mean. The last bin has what is left. Time O(d) per row. */
#include <string.h>

#include "core/memory.h"
#include "data/steps/positions.h"
#include "data/steps/step.h"

typedef struct bin_settings {
    int64_t width;
} bin_settings;

static const kfe_i_param rows[] = {
    KFE_INT(bin_settings, width, "width", "2", 1, 1000000, "columns of a bin"),
};

static int64_t width_of(const kfe_i_fitted_step *fit)
{
    return ((const bin_settings *)fit->settings)->width;
}

/* The number of columns of bin b. */
static int64_t members(const kfe_i_fitted_step *fit, int64_t b)
{
    int64_t left = fit->cols - b * width_of(fit);

    return left < width_of(fit) ? left : width_of(fit);
}

static kfe_status plan(kfe_context *ctx, char *const *names, kfe_i_fitted_step *fit)
{
    (void)ctx;
    (void)names;
    fit->made = (fit->cols - 1) / width_of(fit) + 1;
    return KFE_OK;
}

static int64_t apply(const kfe_i_fitted_step *fit, const double *row, double *out, double *work)
{
    (void)work;
    for (int64_t b = 0; b < fit->made; b++) {
        const double *first = row + b * width_of(fit);
        double mean = 0;
        for (int64_t i = 0; i < members(fit, b); i++)
            mean += (first[i] - mean) / (double)(i + 1);
        out[b] = mean;
    }
    return -1;
}

static void pull(const kfe_i_fitted_step *fit, const double *out, double *in)
{
    for (int64_t j = 0; j < fit->cols; j++) {
        int64_t b = j / width_of(fit);
        in[j] = out[b] / (double)members(fit, b);
    }
}

/* The middle of positions, with their unit, or the first and the last name. */
static void name(const kfe_i_fitted_step *fit, char *const *names, int64_t j, kfe_i_text *out)
{
    int64_t first = j * width_of(fit);
    int64_t last = first + members(fit, j) - 1;
    const char *const *words = (const char *const *)names;
    kfe_i_positions positions = kfe_i_positions_of(words, fit->cols);
    char number[KFE_NUMBER_TEXT];

    if (positions.are_known) {
        kfe_i_format_number(
            (kfe_i_position_at(&positions, words, first) + kfe_i_position_at(&positions, words, last)) / 2,
            number);
        kfe_i_text_printf(out, "%.*s%s%s", (int)positions.before, names[first], number,
                          kfe_i_position_unit(&positions, names[first]));
    } else if (names) {
        kfe_i_text_printf(out, first == last ? "%s" : "%s..%s", names[first], names[last]);
    } else {
        kfe_i_text_printf(out, first == last ? "%lld" : "%lld..%lld", (long long)first + 1,
                          (long long)last + 1);
    }
}

/* The members of all bins of full width, one after the other in each bin, are added and divided. */
static int64_t graph(const kfe_i_fitted_step *fit, const kfe_i_step_graph *g, int64_t x)
{
    int64_t *columns = kfe_i_alloc(fit->ctx, fit->made, sizeof *columns);
    double *shares = kfe_i_alloc(fit->ctx, fit->made, sizeof *shares);
    int64_t sum = -1;

    for (int64_t i = 0; columns && shares && i < members(fit, 0); i++) {
        for (int64_t b = 0; b < fit->made; b++) { /* a bin that is too short adds a column with weight 0 */
            columns[b] = b * width_of(fit) + (i < members(fit, b) ? i : 0);
            shares[b] = i < members(fit, b) ? 1 / (double)members(fit, b) : 0;
        }
        int64_t part = g->two(g->state, "Mul", g->columns(g->state, x, columns, fit->made),
                              g->row(g->state, shares, fit->made));
        sum = sum < 0 ? part : g->two(g->state, "Add", sum, part);
    }
    kfe_i_free(fit->ctx, columns);
    kfe_i_free(fit->ctx, shares);
    return sum;
}

const kfe_i_row_step kfe_i_step_bin = {
    .name = "bin",
    .summary = "means of neighbouring columns",
    .formula = "mean of width neighbouring columns",
    .params = KFE_PARAM_TABLE(rows, bin_settings),
    .plan = plan,
    .apply = apply,
    .pull = pull,
    .name_of = name,
    .graph = graph,
};
