/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep=auto of sparse methods: the number of columns of each direction by cross-validation, one direction after the other. With the numbers of
 * the directions before it fixed, every candidate is tried for the next one, and the fewest columns are taken whose squared error on rows left
 * out is within one standard error of the smallest. So k candidates for d directions take k·d trials, not k^d. This is the order of Lê Cao,
 * Boitard & Besse (2011), with the error of the predicted dummies in place of that of the classes, which changes in steps.
 *
 * Called by choose_dim.c. Time: five fits per candidate and direction.
 */
#include "model/choose_keep.h"

#include <string.h>

#include "core/param.h"
#include "core/text.h"

static const int64_t candidates[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
enum { CANDIDATES = sizeof candidates / sizeof *candidates, PATIENCE = 2 };

/* Writes numbers as "5;20;all"; 0: all columns. */
static kfe_status set_keep(kfe_i_choosing *c, const int64_t *numbers, int64_t count)
{
    kfe_status status = KFE_OK;
    char *written = NULL;
    kfe_i_text text;

    kfe_i_text_init(&text, c->ctx);
    for (int64_t j = 0; j < count; j++)
        if (numbers[j] > 0)
            kfe_i_text_printf(&text, "%s%lld", j > 0 ? ";" : "", (long long)numbers[j]);
        else
            kfe_i_text_printf(&text, "%sall", j > 0 ? ";" : "");
    KFE_TRY(kfe_i_text_take(&text, &written));
    KFE_TRY(kfe_i_param_set(c->ctx, &c->spec->method->params, NULL, c->spec->settings, "keep", written));
cleanup:
    kfe_i_free(c->ctx, written);
    return status;
}

/* How many candidates use fewer than all columns; one more uses all. */
static int64_t sparse_candidates(int64_t columns)
{
    int64_t count = 0;

    while (count < CANDIDATES && candidates[count] < columns)
        count++;
    return count;
}

typedef struct trying {
    kfe_i_choosing *c;
    double *path;   /* (most + 1) × units: the errors of the numbers chosen */
    double *trials; /* candidates × units */
    int64_t count;  /* of the candidates, all columns included */
    int64_t *chosen;
} trying;

/* 0: all columns. */
static int64_t candidate_at(const trying *t, int64_t k)
{
    return k < t->count - 1 ? candidates[k] : 0;
}

/* The first of the candidates within one standard error of the best. */
static int64_t fewest_within(const trying *t)
{
    int64_t units = t->c->units;
    int64_t best = 0;
    int64_t first = 0;

    for (int64_t k = 1; k < t->count; k++)
        if (kfe_i_choosing_sum(t->c, t->trials + k * units) <
            kfe_i_choosing_sum(t->c, t->trials + best * units))
            best = k;
    double within = kfe_i_choosing_sum(t->c, t->trials + best * units) +
                    kfe_i_choosing_standard_error(t->c, t->trials + best * units);
    while (kfe_i_choosing_sum(t->c, t->trials + first * units) > within * (1 + KFE_EQUAL_ERRORS))
        first++;
    return first;
}

/* Direction j, from 1 on. */
static kfe_status choose_next(trying *t, int64_t j)
{
    kfe_status status = KFE_OK;
    kfe_i_choosing *c = t->c;

    c->most = j;
    *kfe_i_spec_dim(c->spec) = j;
    for (int64_t k = 0; k < t->count; k++) {
        t->chosen[j - 1] = candidate_at(t, k);
        KFE_TRY(set_keep(c, t->chosen, j));
        KFE_TRY(kfe_i_choosing_measure(c));
        memcpy(t->trials + k * c->units, c->errors + j * c->units, (size_t)c->units * sizeof *c->errors);
    }
    if (j == 1)
        memcpy(t->path, c->errors, (size_t)c->units * sizeof *c->errors);
    int64_t taken = fewest_within(t);
    memcpy(t->path + j * c->units, t->trials + taken * c->units, (size_t)c->units * sizeof *c->errors);
    t->chosen[j - 1] = candidate_at(t, taken);
cleanup:
    return status;
}

kfe_status kfe_i_choose_keep(kfe_i_choosing *c, int64_t columns, int given)
{
    kfe_status status = KFE_OK;
    trying t = {.c = c, .count = sparse_candidates(columns) + 1};
    int64_t most = c->most;
    double smallest = 0;
    int64_t best = 0;
    int64_t made = 0;

    KFE_TAKE(&c->memory, t.chosen, most);
    KFE_TAKE(&c->memory, t.path, (most + 1) * c->units);
    KFE_TAKE(&c->memory, t.trials, t.count * c->units);
    for (int64_t j = 1; j <= most && (given || j <= best + PATIENCE); j++) {
        KFE_TRY(choose_next(&t, j));
        double error = kfe_i_choosing_sum(c, t.path + j * c->units);
        if (j == 1 || error < smallest * (1 - KFE_EQUAL_ERRORS)) {
            smallest = error;
            best = j;
        }
        made = j;
    }
    KFE_TRY(set_keep(c, t.chosen, made));
    memcpy(c->errors, t.path, (size_t)((made + 1) * c->units) * sizeof *c->errors);
    c->most = made;
cleanup:
    return status;
}
