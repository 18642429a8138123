/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waveforms: every class mixes two of three triangular waves h₁, h₂, h₃ sampled at t = 1 … 21,
 *   x(t) = u h_a(t) + (1 − u) h_b(t) + ε,   u uniform in [0, 1), ε standard normal,
 * classes 1, 2, 3 being the pairs (1, 2), (1, 3), (2, 3); h₁ has its peak of 6 at t = 11, h₂ at 15, h₃ at 7.
 * With 40 features, 19 columns of standard normal noise follow. The best possible error is about 14 %.
 */
#include <math.h>

#include "data/generate/generated.h"

enum { CLASSES = 3, WAVE_COLUMNS = 21 };

struct waveform_settings {
    int64_t n;
    int features;
};

enum { FEATURES_21, FEATURES_40 };

static const kfe_i_param waveform_params[] = {
    KFE_INT(struct waveform_settings, n, "n", "300", CLASSES, KFE_GENERATED_MAX_ROWS, "number of rows"),
    KFE_CHOICE(struct waveform_settings, features, "features", "21", "21|40",
               "columns: 21, or 40 with 19 of noise"),
};

static double wave(int peak, int t)
{
    return fmax(6 - fabs((double)(t - peak)), 0);
}

static void draw_waveform(kfe_i_rng *rng, int64_t class_index, int64_t columns, double *row)
{
    static const int peaks[CLASSES][2] = {{11, 15}, {11, 7}, {15, 7}};
    double u = kfe_i_rng_uniform(rng);

    for (int64_t j = 0; j < columns; j++)
        row[j] = kfe_i_rng_normal(rng);
    for (int j = 0; j < WAVE_COLUMNS; j++)
        row[j] += u * wave(peaks[class_index][0], j + 1) + (1 - u) * wave(peaks[class_index][1], j + 1);
}

static kfe_status make_waveform(kfe_context *ctx, const void *settings, kfe_i_rng *rng, kfe_data *out)
{
    kfe_status status = KFE_OK;
    const struct waveform_settings *asked = settings;
    int64_t columns = asked->features == FEATURES_40 ? 40 : WAVE_COLUMNS;

    KFE_TRY(kfe_i_generated_table(ctx, out, asked->n, columns));
    for (int64_t i = 0; i < asked->n; i++)
        draw_waveform(rng, kfe_i_generated_class(i, CLASSES), columns, kfe_i_generated_row(out, i));
    KFE_TRY(kfe_i_generated_classes(ctx, out, CLASSES));
cleanup:
    return status;
}

const kfe_i_generator kfe_i_generator_waveform = {
    .name = "waveform",
    .summary = "three classes of noisy mixed waves, with or without columns of noise",
    .source = "Breiman, Friedman, Olshen & Stone, Classification and Regression Trees, 1984, 2.6.2",
    .params = KFE_PARAM_TABLE(waveform_params, struct waveform_settings),
    .make = make_waveform,
};
