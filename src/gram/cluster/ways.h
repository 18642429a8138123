/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to solve systems in a cluster: those of one process, and a factor that the processes make together. */
#ifndef KFE_GRAM_CLUSTER_WAYS_H
#define KFE_GRAM_CLUSTER_WAYS_H

#include "gram/solve/ways.h"

extern const kfe_i_way *const kfe_i_ways_of_cluster[];

#endif
