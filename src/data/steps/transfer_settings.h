/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of the steps that model/transfer_steps.c learns from spectra of two instruments. */
#ifndef KFE_DATA_STEPS_TRANSFER_SETTINGS_H
#define KFE_DATA_STEPS_TRANSFER_SETTINGS_H

#include <stdint.h>

typedef struct kfe_i_pds_settings {
    int64_t window, dim;
} kfe_i_pds_settings;

typedef struct kfe_i_epo_settings {
    int64_t dim;
} kfe_i_epo_settings;

#endif
