/* SPDX-License-Identifier: Apache-2.0 */
/* Draw records of a fit as lines: one panel for each record that the model has. */
#ifndef KFE_REPORT_FIGURE_KIND_RECORDS_H
#define KFE_REPORT_FIGURE_KIND_RECORDS_H

#include "report/figure/figure.h"

/* A panel: one record, or two that belong together. */
typedef struct kfe_i_record_panel {
    const char *title;
    const char *names[2]; /* the second may be NULL */
} kfe_i_record_panel;

/* Which records a figure takes: those with one number per feature, or the others. */
typedef enum kfe_i_record_axis { KFE_RECORD_FEATURES, KFE_RECORD_ITERATIONS } kfe_i_record_axis;

kfe_status kfe_i_draw_records(kfe_context *ctx, const kfe_i_source *source, kfe_i_record_axis axis,
                              const kfe_i_record_panel *panels, kfe_i_figure *out);

#endif
