/* SPDX-License-Identifier: Apache-2.0 */
/* Means by Welford's update, and a clock. Called by assess.c, path.c and reproduce.c. */
#include "reproduce/src/mean.h"

#include <math.h>
#include <time.h>

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

static double read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double rep_seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double rep_processor_seconds(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}
