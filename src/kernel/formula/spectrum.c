/* SPDX-License-Identifier: Apache-2.0 */
/* κ(x, y) = Σ over substrings u of the given length: (times u occurs in x)·(times u occurs in y), for
 * strings (Leslie, Eskin & Noble, 2002); with normalize, divided by √(κ(x,x)·κ(y,y)). */
#include "kernel/formula/formula.h"

KFE_KERNEL(spectrum, 0, {
    for (int64_t j = 0; params[0] != 0 && j < count; j++) {
        KFE_NUMBER length = KFE_F(sqrt)(row_norm) * KFE_F(sqrt)(col_norms[j]);
        values[j] = length > 0 ? values[j] / length : 0;
    }
})

#ifdef KFE_KERNEL_FILE
typedef struct spectrum_settings {
    int64_t length;
    int normalize;
} spectrum_settings;

static const kfe_i_param rows[] = {
    KFE_INT(spectrum_settings, length, "length", "3", 1, 8, "length of the substrings, in bytes"),
    KFE_FLAG(spectrum_settings, normalize, "normalize", "no", "divide by the lengths, so that k(x,x) = 1"),
};

static void describe(const void *settings, double *params)
{
    const spectrum_settings *s = settings;

    params[0] = s->normalize;
}

static int64_t substring(const void *settings)
{
    return ((const spectrum_settings *)settings)->length;
}

const kfe_i_kernel_def kfe_i_kernel_spectrum = {
    .name = "spectrum",
    .summary = "common substrings, for strings",
    .formula = "sum_u count_u(x) count_u(y), u of the given length",
    .flags = KFE_HAS_STRINGS,
    .base = KFE_BASE_STRING,
    .params = KFE_PARAM_TABLE(rows, spectrum_settings),
    .map = KFE_KERNEL_spectrum,
    .describe = describe,
    .substring = substring,
};
#endif
