/* SPDX-License-Identifier: Apache-2.0 */
/* Means by Welford's update. Called by assess.c and path.c. */
#include "reproduce/src/mean.h"

#include <math.h>

void rep_mean_add(rep_mean *sum, double value)
{
    double before = value - sum->mean;

    if (isnan(value))
        return;
    sum->count++;
    sum->mean += before / (double)sum->count;
    sum->squares += before * (value - sum->mean);
}

double rep_mean_value(const rep_mean *sum)
{
    return sum->count > 0 ? sum->mean : NAN;
}

double rep_mean_sd(const rep_mean *sum)
{
    return sum->count > 1 ? sqrt(sum->squares / (double)(sum->count - 1)) : NAN;
}
