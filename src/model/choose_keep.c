/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keep=auto of sparse methods: the number of columns of each direction by cross-validation, one direction after the other, and in each direction one view
 * after the other. With the numbers before it fixed, every candidate is tried for the next one, so that k candidates for d directions in V views
 * take k·d·V trials, not k^(dV). The fewest columns are taken whose squared error on rows left out is within one standard error of the
 * smallest; of V views, each may add its share 1/V of that. The views that have not had their turn use as many columns as in the direction
 * before, or 50. This is the order of Lê Cao, Boitard & Besse (2011), with the error of the predicted dummies in place of that of the classes,
 * which changes in steps.
 *
 * Called by choose_dim.c. Time: five fits per candidate, direction and view.
 */
#include "model/choose_keep.h"

#include <math.h>
#include <string.h>

#include "core/param.h"
#include "core/text.h"

enum { PATIENCE = 2, USUAL_COLUMNS = 50, NUMBER_ROOM = 7, NAME_ROOM = 24 };

typedef struct trying {
    kfe_i_choosing *c;
    const kfe_i_keep_task *task;
    double *path;    /* (most + 1) × units: the errors of the numbers chosen */
    double *trials;  /* candidates × units */
    int64_t *chosen; /* views × most; 0: all columns */
    int64_t stride;  /* most */
} trying;

/* ---- numbers as text ---- */

/* Views of short plain names by these, others by their numbers. */
static void put_view(const trying *t, int v, kfe_i_text *text)
{
    const char *name = t->c->train->views[v].name;

    if (v > 0)
        kfe_i_text_puts(text, ";");
    if (name && strlen(name) + 2 < NAME_ROOM && !name[strcspn(name, ",;:")])
        kfe_i_text_printf(text, "%s:", name);
    else
        kfe_i_text_printf(text, "%d:", v + 1);
}

/* "5;20;all", after the name of each view if there are several; the last number is that of all that follow. */
static kfe_status set_keep(const trying *t, int64_t count)
{
    kfe_status status = KFE_OK;
    kfe_i_choosing *c = t->c;
    char *written = NULL;
    kfe_i_text text;

    kfe_i_text_init(&text, c->ctx);
    for (int v = 0; v < t->task->view_count; v++) {
        const int64_t *numbers = t->chosen + v * t->stride;
        if (t->task->view_count > 1)
            put_view(t, v, &text);
        for (int64_t j = 0; j < count; j++)
            if (numbers[j] > 0)
                kfe_i_text_printf(&text, "%s%lld", j > 0 ? ";" : "", (long long)numbers[j]);
            else
                kfe_i_text_printf(&text, "%sall", j > 0 ? ";" : "");
    }
    KFE_TRY(kfe_i_text_take(&text, &written));
    KFE_TRY(kfe_i_param_set(c->ctx, &c->spec->method->params, NULL, c->spec->settings, "keep", written));
cleanup:
    kfe_i_free(c->ctx, written);
    return status;
}

void kfe_i_keep_of_first(const char *list, int64_t count, char *out)
{
    int64_t written = 0;
    int64_t direction = 0;

    for (const char *at = list; *at; at += strspn(at, ";")) {
        size_t length = strcspn(at, ";");
        if (memchr(at, ':', length))
            direction = 0; /* of the next view */
        if (direction++ < count) {
            if (written > 0)
                out[written++] = ';';
            memcpy(out + written, at, length);
            written += (int64_t)length;
        }
        at += length;
    }
    out[written] = 0;
}

/* How many directions fit into the parameter. */
static int64_t most_directions(const kfe_i_keep_task *task)
{
    return (KFE_PARAM_TEXT_SIZE - NAME_ROOM * task->view_count) / (NUMBER_ROOM * task->view_count);
}

/* ---- trials ---- */

/* How many candidates a view has: the numbers below that of its columns, and all. */
static int64_t candidates(const trying *t, int v)
{
    int64_t count = 0;

    while (count < t->task->values.count && t->task->values.items[count] < t->task->views[v].cols)
        count++;
    return count + 1;
}

/* 0: all columns. */
static int64_t candidate_at(const trying *t, int v, int64_t k)
{
    return k < candidates(t, v) - 1 ? t->task->values.items[k] : 0;
}

/* The first of the candidates whose error is within a share of the standard error of the smallest. *smallest is the smallest error so far of this
 * direction, *error its standard error; those of the candidates count, too. */
static int64_t fewest_within(const trying *t, int64_t count, double share, double *smallest, double *error)
{
    int64_t units = t->c->units;
    int64_t first = 0;

    for (int64_t k = 0; k < count; k++)
        if (kfe_i_choosing_sum(t->c, t->trials + k * units) < *smallest) {
            *smallest = kfe_i_choosing_sum(t->c, t->trials + k * units);
            *error = kfe_i_choosing_standard_error(t->c, t->trials + k * units);
        }
    double within = *smallest + share * *error;
    while (first < count - 1 &&
           kfe_i_choosing_sum(t->c, t->trials + first * units) > within * (1 + KFE_EQUAL_ERRORS))
        first++;
    return first;
}

/* Direction j, from 1 on, in view v. */
static kfe_status choose_view(trying *t, int64_t j, int v, double *smallest, double *error)
{
    kfe_status status = KFE_OK;
    kfe_i_choosing *c = t->c;
    int64_t *own = t->chosen + v * t->stride + j - 1;
    int64_t count = candidates(t, v);

    for (int64_t k = 0; k < count; k++) {
        *own = candidate_at(t, v, k);
        KFE_TRY(set_keep(t, j));
        KFE_TRY(kfe_i_choosing_measure(c));
        memcpy(t->trials + k * c->units, c->errors + j * c->units, (size_t)c->units * sizeof *c->errors);
    }
    if (j == 1)
        memcpy(t->path, c->errors, (size_t)c->units * sizeof *c->errors);
    int64_t taken = fewest_within(t, count, (v + 1.0) / t->task->view_count, smallest, error);
    memcpy(t->path + j * c->units, t->trials + taken * c->units, (size_t)c->units * sizeof *c->errors);
    *own = candidate_at(t, v, taken);
cleanup:
    return status;
}

static kfe_status choose_next(trying *t, int64_t j)
{
    kfe_status status = KFE_OK;
    double smallest = INFINITY;
    double error = 0;

    t->c->most = j;
    *kfe_i_spec_dim(t->c->spec) = j;
    for (int v = 0; v < t->task->view_count; v++)
        t->chosen[v * t->stride + j - 1] = j > 1 ? t->chosen[v * t->stride + j - 2] : USUAL_COLUMNS;
    for (int v = 0; v < t->task->view_count; v++)
        KFE_TRY(choose_view(t, j, v, &smallest, &error));
cleanup:
    return status;
}

/* Whether copies of the rows of all folds take at most a quarter of the memory that is left. */
static int folds_fit(const kfe_i_choosing *c, const kfe_i_keep_task *task)
{
    double numbers = 0;

    for (int v = 0; v < task->view_count; v++)
        numbers += (double)task->views[v].rows * (double)task->views[v].cols;
    return 8 * KFE_CHOOSING_FOLDS * numbers < 0.25 * (double)kfe_i_memory_left(c->ctx);
}

kfe_status kfe_i_choose_keep(kfe_i_choosing *c, const kfe_i_keep_task *task)
{
    kfe_status status = KFE_OK;
    trying t = {.c = c, .task = task, .stride = c->most};
    int64_t fits = most_directions(task);
    int64_t most = c->most < fits ? c->most : fits;
    double smallest = 0;
    int64_t best = 0;
    int64_t made = 0;

    c->keeps_folds = folds_fit(c, task);
    KFE_TAKE(&c->memory, t.chosen, task->view_count * c->most);
    KFE_TAKE(&c->memory, t.path, (c->most + 1) * c->units);
    KFE_TAKE(&c->memory, t.trials, (task->values.count + 1) * c->units);
    for (int64_t j = 1; j <= most && (task->given || j <= best + PATIENCE); j++) {
        KFE_TRY(choose_next(&t, j));
        double error = kfe_i_choosing_sum(c, t.path + j * c->units);
        if (j == 1 || error < smallest * (1 - KFE_EQUAL_ERRORS)) {
            smallest = error;
            best = j;
        }
        made = j;
    }
    KFE_TRY(set_keep(&t, made));
    memcpy(c->errors, t.path, (size_t)((made + 1) * c->units) * sizeof *c->errors);
    c->most = made;
cleanup:
    return status;
}
