/* SPDX-License-Identifier: Apache-2.0 */
/* Times reading a table. Prints rows, columns, seconds and peak memory in bytes.
 * usage: read_csv FILE [OPTIONS [THREADS]] */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "kfe.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    kfe_context *ctx = NULL;
    kfe_data *data = NULL;
    struct rusage usage;
    double start = now();

    if (argc < 2 || kfe_context_new(&ctx) != KFE_OK)
        return 2;
    if (argc > 3 && kfe_context_set_threads(ctx, atoi(argv[3])) != KFE_OK)
        return 2;
    if (kfe_data_read(ctx, argv[1], argc > 2 ? argv[2] : NULL, &data) != KFE_OK) {
        fprintf(stderr, "%s\n", kfe_error_message(ctx));
        return 1;
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%lld %lld %.3f %lld\n", (long long)kfe_data_rows(data), (long long)kfe_data_cols(data, 0),
           now() - start, (long long)usage.ru_maxrss * 1024);
    kfe_data_free(data);
    kfe_context_free(ctx);
    return 0;
}
