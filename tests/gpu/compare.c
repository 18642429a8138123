/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs every call of the device interface on two plug-ins with the same inputs and compares the results; tests/gpu/run.sh compares
 * the CUDA plug-in with the host's.
 *
 *     compare REFERENCE.so PLUGIN.so [PART_OF_A_NAME]
 *
 * A case is a function that makes numbers from a seed on one device. Results of double precision may differ by 1e-11 of the largest
 * number, those of single precision by 2e-5. Each case runs twice on the second plug-in and must give the same bits.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static int skipped, wrong, compared;

static void run_case(session *s, case_function run, const setting *c)
{
    s->random = 88172645463325252u;
    s->count = 0;
    s->status = KFE_DEVICE_OK;
    run(s, c);
    if (s->status == KFE_DEVICE_OK)
        session_failed(s, s->table->wait(s->device), "wait");
}

/* The largest difference relative to the largest number; infinite if one is NaN and the other is not. */
static double difference(const session *a, const session *b)
{
    double largest = 1e-300;
    double most = 0;

    if (a->count != b->count)
        return INFINITY;
    for (int64_t i = 0; i < a->count; i++)
        largest = fmax(largest, fabs(a->numbers[i]));
    for (int64_t i = 0; i < a->count; i++) {
        double d = fabs(a->numbers[i] - b->numbers[i]);
        if (isnan(a->numbers[i]) != isnan(b->numbers[i]))
            return INFINITY;
        most = d > most ? d : most;
    }
    return most / largest;
}

static void describe(const char *name, const setting *c)
{
    printf("%s formula=%d sparse=%d type=%d n=%lld d=%lld k=%lld: ", name, c->formula, c->sparse,
           (int)c->type, (long long)c->n, (long long)c->d, (long long)c->k);
}

static void compare(session *reference, session *tested, const char *name, case_function run,
                    const setting *c)
{
    double tolerance = c->type == KFE_DEVICE_F32 ? 2e-5 : 1e-11;

    run_case(reference, run, c);
    run_case(tested, run, c);
    compared++;
    if (tested->status == KFE_DEVICE_UNSUPPORTED || reference->status == KFE_DEVICE_UNSUPPORTED) {
        skipped++;
        return;
    }
    double d = reference->status || tested->status ? INFINITY : difference(reference, tested);
    double *first = malloc((size_t)(tested->count + 1) * sizeof *first);
    int64_t count = tested->count;
    memcpy(first, tested->numbers, (size_t)count * sizeof *first);
    if (tested->status == KFE_DEVICE_OK)
        run_case(tested, run, c);
    int same = count == tested->count && memcmp(first, tested->numbers, (size_t)count * sizeof *first) == 0;
    free(first);
    if (d <= tolerance && same)
        return;
    wrong++;
    describe(name, c);
    if (reference->status || tested->status)
        printf("status %d and %d (%s: %s)\n", reference->status, tested->status, tested->call,
               tested->table->message(tested->device));
    else
        printf("difference %.2e, tolerance %.0e%s\n", d, tolerance,
               same ? "" : ", and not the same bits twice");
    fflush(stdout);
}

static void run_kind(session *reference, session *tested, const kind *k)
{
    static const kfe_device_type types[] = {KFE_DEVICE_F64, KFE_DEVICE_F32, (kfe_device_type)0};

    for (int i = 0; i < SIZES_MOST && k->sizes[i].n > 0; i++)
        for (int f = 0; f < k->formulas; f++)
            for (int sparse = 0; sparse <= k->sparse; sparse++)
                for (int t = 0; t < k->types; t++) {
                    setting c = k->sizes[i];
                    c.formula = f;
                    c.sparse = sparse;
                    c.type = types[t];
                    if (!sparse || formula_takes_sparse(f))
                        compare(reference, tested, k->name, k->run, &c);
                }
}

static session open_plugin(const char *path)
{
    session s = {.numbers = malloc(NUMBERS_MOST * sizeof(double))};
    kfe_device_error error = {""};
    void *library = dlopen(path, RTLD_NOW);
    void *symbol = library ? dlsym(library, KFE_DEVICE_SYMBOL) : NULL;
    kfe_device_plugin_fn plugin;

    if (!symbol) {
        fprintf(stderr, "%s: %s\n", path, dlerror());
        exit(2);
    }
    memcpy(&plugin, &symbol, sizeof plugin);
    s.table = plugin();
    if (s.table->open(0, &s.device, &error) != KFE_DEVICE_OK) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        exit(3);
    }
    return s;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s REFERENCE.so PLUGIN.so [PART_OF_A_NAME]\n", argv[0]);
        return 2;
    }
    session reference = open_plugin(argv[1]);
    session tested = open_plugin(argv[2]);
    for (int i = 0; i < kind_count; i++) {
        int before = wrong;
        int done = compared;
        int left = skipped;
        if (argc > 3 && !strstr(kinds[i].name, argv[3]))
            continue;
        run_kind(&reference, &tested, &kinds[i]);
        if (compared - done == skipped - left) { /* nothing was compared */
            printf("%s: no case is supported\n", kinds[i].name);
            wrong++;
        }
        printf("%s: %d cases, %d wrong\n", kinds[i].name, compared - done, wrong - before);
        fflush(stdout);
    }
    printf("%d cases: %d wrong, %d not supported\n", compared, wrong, skipped);
    reference.table->close(reference.device);
    tested.table->close(tested.device);
    free(reference.numbers);
    free(tested.numbers);
    if (compared == 0)
        fprintf(stderr, "no kind of cases has '%s' in its name\n", argv[3]);
    return wrong > 0 || compared == 0;
}
