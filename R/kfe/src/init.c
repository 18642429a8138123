/* SPDX-License-Identifier: Apache-2.0 */
/* The routines that R may call; R reads the table when it loads the package. */
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#include "rkfe.h"

#define ROUTINE(name, count)                                                                                 \
    {                                                                                                        \
        "rkfe_" #name, (DL_FUNC)&rkfe_##name, count                                                          \
    }

static const R_CallMethodDef routines[] = {
    ROUTINE(fit, 3),           ROUTINE(is_alive, 1),  ROUTINE(to_bytes, 2),    ROUTINE(from_bytes, 2),
    ROUTINE(save, 3),          ROUTINE(load, 2),      ROUTINE(export_onnx, 4), ROUTINE(inspect, 2),
    ROUTINE(describe, 3),      ROUTINE(transform, 3), ROUTINE(inverse, 3),     ROUTINE(predict, 5),
    ROUTINE(evaluate, 4),      ROUTINE(explain, 5),   ROUTINE(search, 5),      ROUTINE(tune, 3),
    ROUTINE(kernel_matrix, 4), ROUTINE(guess, 2),     ROUTINE(generate, 3),    ROUTINE(entries, 1),
    ROUTINE(params, 2),        ROUTINE(version, 0),   ROUTINE(report, 5),      ROUTINE(let_threads_sleep, 0),
    ROUTINE(blas_advice, 0),   ROUTINE(shown, 1),     ROUTINE(transfer, 6),    {NULL, NULL, 0},
};

attribute_visible void R_init_kfe(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
