/* SPDX-License-Identifier: Apache-2.0 */
/* Divide the cells of a search over the processes of a cluster, and give every process the results of all. */
#ifndef KFE_SELECT_DEAL_H
#define KFE_SELECT_DEAL_H

#include "select/sweep.h"

/* own[cell]: whether this process fits a cell that is wanted. Cells of one kernel stay together if there are enough kernels, since
 * they share its matrix; else those of one split. */
void kfe_i_deal_cells(const kfe_context *ctx, const kfe_i_sweep *sweep, unsigned char *own);
/* Fills the cells of other processes. Every process calls it with the cells that it was dealt. */
kfe_status kfe_i_deal_exchange(kfe_context *ctx, const kfe_i_sweep *sweep, kfe_i_cells *cells);

#endif
