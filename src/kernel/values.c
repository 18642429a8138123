/* SPDX-License-Identifier: Apache-2.0 */
/* From base values to kernel values and derivatives: the formulas of the kernels' files, applied to tiles. */
#include "kernel/kernel.h"

#define KFE_KERNEL(name, term, ...) kfe_i_formula_fn kfe_i_formula_##name;
#include "kernel/kernels.def"
#undef KFE_KERNEL

#define KFE_KERNEL(name, term, ...) [KFE_KERNEL_##name] = kfe_i_formula_##name,
static kfe_i_formula_fn *const formulas[KFE_KERNEL_COUNT] = {
#include "kernel/kernels.def"
};
#undef KFE_KERNEL

int kfe_i_kernel_has_formula(const kfe_i_kernel *kernel)
{
    kfe_i_kernel_base base = kernel->def->base;

    return base == KFE_BASE_DOT || base == KFE_BASE_DISTANCE || base == KFE_BASE_COORDINATE;
}

kfe_i_formula kfe_i_kernel_formula(const kfe_i_kernel *kernel)
{
    const kfe_i_kernel_def *def = kernel->def;
    kfe_i_formula formula = {.base = (int32_t)def->base, .map = def->map, .term = def->map};

    if (def->describe)
        def->describe(kernel->settings, formula.params);
    return formula;
}

static void apply(const kfe_i_formula *formula, kfe_i_tile *tile)
{
    static const double zeros[KFE_FORMULA_CHUNK] = {0};

    for (int64_t i = 0; i < tile->rows; i++)
        for (int64_t j = 0; j < tile->cols; j += KFE_FORMULA_CHUNK) {
            int64_t left = tile->cols - j;
            formulas[formula->map](tile->values + i * tile->stride + j,
                                   left < KFE_FORMULA_CHUNK ? left : KFE_FORMULA_CHUNK,
                                   tile->row_norms ? tile->row_norms[i] : 0,
                                   tile->col_norms ? tile->col_norms + j : zeros, formula->params);
        }
}

void kfe_i_kernel_map(const kfe_i_kernel *kernel, kfe_i_tile *tile)
{
    kfe_i_formula formula = kfe_i_kernel_formula(kernel);

    if (formula.map != KFE_KERNEL_NONE)
        apply(&formula, tile);
}

/* Far from a point, the factor of a narrow kernel may be infinite and the formula 0. */
void kfe_i_kernel_slope(const kfe_i_kernel *kernel, kfe_i_tile *tile)
{
    kfe_i_formula formula;
    double factor = kernel->def->slope(kernel->settings, &formula);

    apply(&formula, tile);
    for (int64_t i = 0; i < tile->rows; i++) {
        double *row = tile->values + i * tile->stride;
        for (int64_t j = 0; j < tile->cols; j++)
            row[j] = row[j] == 0 ? 0 : factor * row[j];
    }
}

void kfe_i_kernel_finish(const kfe_i_kernel *kernel, kfe_i_tile *tile)
{
    if (kernel->part == KFE_PART_VALUE)
        kfe_i_kernel_map(kernel, tile);
    else if (kernel->part == KFE_PART_SLOPE)
        kfe_i_kernel_slope(kernel, tile);
}
