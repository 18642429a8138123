/* SPDX-License-Identifier: Apache-2.0 */
/* The examples of the suite of invariances and the changes that no method may notice. */
#include "support/examples.h"

#include <math.h>

const char *const support_target_names[TARGET_KINDS] = {"three classes", "two classes", "one real target",
                                                        "two real targets"};

/* The width of the given kernel matrix and the bits of a number after the point. */
#define GIVEN_GAMMA 0.02
#define BITS 65536.0

int support_examples_classes(const support_examples *e)
{
    return e->kind == TWO_CLASSES ? 2 : EXAMPLE_CLASSES;
}

static double rounded(double value, int nonnegative)
{
    value = round(value * BITS) / BITS;
    return nonnegative ? fabs(value) : value;
}

/* Each class prefers one letter. */
static void write_text(uint64_t *random, int class_of, char *text)
{
    for (int c = 0; c < EXAMPLE_LETTERS; c++) {
        double draw = support_uniform(random) * 6;
        text[c] = draw < 4 ? "acgt"[(int)draw] : "acg"[class_of];
    }
    text[EXAMPLE_LETTERS] = 0;
}

support_examples support_examples_make(support_target_kind kind, support_example_form form, int nonnegative)
{
    support_examples e = {
        .kind = kind, .form = form, .rows = EXAMPLE_ROWS, .class_names = {"c0", "c1", "c2"}};
    uint64_t random = 17;

    for (int64_t i = 0; i < e.rows; i++) {
        double *x = e.x + i * EXAMPLE_COLS;
        e.class_of[i] = (int)(i % support_examples_classes(&e));
        for (int64_t j = 0; j < EXAMPLE_COLS; j++)
            x[j] = rounded((support_normal(&random) + 1.2 * (double)(e.class_of[i] == j)) * (double)(1 + j),
                           nonnegative);
        e.targets[2 * i] = sin(x[0]) + x[1] + 0.3 * support_normal(&random);
        e.targets[2 * i + 1] = x[2] + x[3] + 0.3 * support_normal(&random);
        write_text(&random, e.class_of[i], e.text[i]);
    }
    for (int64_t i = 0; i < EXAMPLE_TESTS; i++) {
        for (int64_t j = 0; j < EXAMPLE_COLS; j++)
            e.test[i * EXAMPLE_COLS + j] = rounded(support_normal(&random) * (double)(1 + j), nonnegative);
        write_text(&random, (int)(i % 3), e.test_text[i]);
    }
    return e;
}

enum { WORDS = 4, WORD_COLUMN = 4 };
static const char *const words[WORDS] = {"red", "blue", "lime", "teal"};

void support_examples_wear(support_examples *e, support_dress dress)
{
    e->dress = dress;
    for (int64_t i = 0; i < e->rows; i++)
        if (dress ==
            EXAMPLE_TEXTS) /* the last word belongs to every fourth member of a class, as weights of zero do */
            e->word_of[i] =
                (int)((i / support_examples_classes(e)) % WORDS == WORDS - 1 ? WORDS - 1
                                                                             : (i * i) % (WORDS - 1));
        else if (dress == EXAMPLE_GAPS && i % 5 == 2)
            e->x[i * EXAMPLE_COLS + (i / 5) % EXAMPLE_COLS] = (double)NAN;
    for (int64_t i = 0; i < EXAMPLE_TESTS; i++)
        if (dress == EXAMPLE_TEXTS)
            e->test_word_of[i] = (int)(i % WORDS);
        else if (dress == EXAMPLE_GAPS && i % 3 == 0)
            e->test[i * EXAMPLE_COLS + i % EXAMPLE_COLS] = (double)NAN;
}

/* ---- changes ---- */

static void copy_row(const support_examples *from, int64_t i, support_examples *to, int64_t at)
{
    memcpy(to->x + at * EXAMPLE_COLS, from->x + i * EXAMPLE_COLS, EXAMPLE_COLS * sizeof *to->x);
    memcpy(to->text[at], from->text[i], sizeof to->text[at]);
    memcpy(to->targets + 2 * at, from->targets + 2 * i, 2 * sizeof *to->targets);
    to->class_of[at] = from->class_of[i];
    to->word_of[at] = from->word_of[i];
    to->weights[at] = from->weights[i];
}

void support_reorder_rows(support_examples *e, int step)
{
    support_examples before = *e;
    uint64_t random = (uint64_t)step + 1;
    int64_t order[EXAMPLE_MOST];

    for (int64_t i = 0; i < e->rows; i++)
        order[i] = i;
    for (int64_t i = e->rows - 1; i > 0; i--) {
        int64_t other = (int64_t)(support_uniform(&random) * (double)(i + 1));
        int64_t moved = order[i];
        order[i] = order[other];
        order[other] = moved;
    }
    for (int64_t i = 0; i < e->rows; i++)
        copy_row(&before, order[i], e, i);
}

void support_make_rows_equal(support_examples *e, int step)
{
    (void)step;
    for (int64_t i = 1; i < e->rows; i += 4) {
        memcpy(e->x + i * EXAMPLE_COLS, e->x + (i - 1) * EXAMPLE_COLS, EXAMPLE_COLS * sizeof *e->x);
        memcpy(e->text[i], e->text[i - 1], sizeof e->text[i]);
    }
    for (int64_t i = 0; i < EXAMPLE_TESTS; i += 2) {
        memcpy(e->test + i * EXAMPLE_COLS, e->x + 2 * i * EXAMPLE_COLS, EXAMPLE_COLS * sizeof *e->x);
        memcpy(e->test_text[i], e->text[2 * i], sizeof e->test_text[i]);
    }
}

static void reorder_row(double *row, int step)
{
    static const int64_t orders[2][EXAMPLE_COLS] = {{4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}};
    double before[EXAMPLE_COLS];

    memcpy(before, row, sizeof before);
    for (int64_t j = 0; j < EXAMPLE_COLS; j++)
        row[j] = before[orders[step % 2][j]];
}

void support_reorder_columns(support_examples *e, int step)
{
    for (int64_t i = 0; i < e->rows; i++)
        reorder_row(e->x + i * EXAMPLE_COLS, step);
    for (int64_t i = 0; i < EXAMPLE_TESTS; i++)
        reorder_row(e->test + i * EXAMPLE_COLS, step);
}

/* x := x·factor + constant, column by column. */
static void map_columns(support_examples *e, const double *factors, const double *constants)
{
    for (int64_t i = 0; i < e->rows * EXAMPLE_COLS; i++)
        e->x[i] = e->x[i] * factors[i % EXAMPLE_COLS] + constants[i % EXAMPLE_COLS];
    for (int64_t i = 0; i < EXAMPLE_TESTS * EXAMPLE_COLS; i++)
        e->test[i] = e->test[i] * factors[i % EXAMPLE_COLS] + constants[i % EXAMPLE_COLS];
}

void support_add_constants(support_examples *e, int step)
{
    static const double ones[EXAMPLE_COLS] = {1, 1, 1, 1, 1};
    static const double constants[2][EXAMPLE_COLS] = {{0, 0, 1000, 0, 0}, {3, 70, 0, 200, 17}};

    map_columns(e, ones, constants[step % 2]);
}

void support_change_units(support_examples *e, int step)
{
    static const double factors[2][EXAMPLE_COLS] = {{1000, 1, 1, 1, 1}, {0.001, 60, 2.54, 0.01, 3600}};
    static const double zeros[EXAMPLE_COLS] = {0};

    map_columns(e, factors[step % 2], zeros);
}

void support_part_units(support_examples *e, int step)
{
    static const double factors[EXAMPLE_COLS] = {4096, 1, 0.0078125, 512, 1};
    static const double zeros[EXAMPLE_COLS] = {0};

    (void)step;
    map_columns(e, factors, zeros);
}

void support_rename_classes(support_examples *e, int step)
{
    static const char *const names[EXAMPLE_CLASSES] = {"zebra", "mule", "ass"};

    (void)step;
    memcpy(e->class_names, names, sizeof names);
}

void support_weigh(support_examples *e, int step)
{
    (void)step;
    e->weighted = 1;
    for (int64_t i = 0; i < e->rows; i++)
        e->weights[i] = (double)((i / support_examples_classes(e) + 1) % 4);
    for (int64_t i = 0; i < e->rows && e->form == EXAMPLE_GIVEN;
         i++) /* a given matrix takes no weight of zero */
        e->weights[i] = fmax(1, e->weights[i]);
}

void support_weigh_by_class(support_examples *e, int step)
{
    static const double weights[EXAMPLE_CLASSES] = {2, 1, 3};

    (void)step;
    for (int64_t i = 0; i < e->rows; i++)
        e->weights[i] = weights[e->class_of[i]];
}

void support_weigh_twice(support_examples *e, int step)
{
    (void)step;
    e->weighted = 1;
    for (int64_t i = 0; i < e->rows; i++)
        e->weights[i] = 2;
}

void support_repeat(support_examples *e, int step)
{
    support_examples before = *e;

    (void)step;
    e->rows = 0;
    e->weighted = 0;
    for (int copy = 0; copy < 3; copy++)
        for (int64_t i = 0; i < before.rows; i++)
            if (copy < (int)before.weights[i])
                copy_row(&before, i, e, e->rows++);
}

void support_give_twice(support_examples *e, int step)
{
    support_weigh_twice(e, step);
    support_repeat(e, step);
}

/* ---- data ---- */

static kfe_data *wrap(kfe_context *ctx, const support_examples *e, int test)
{
    const double *x = test ? e->test : e->x;
    int64_t rows = test ? EXAMPLE_TESTS : e->rows;
    const char *texts[EXAMPLE_MOST];
    kfe_data *data = NULL;

    for (int64_t i = 0; i < rows; i++)
        texts[i] = test ? e->test_text[i] : e->text[i];
    if (e->form == EXAMPLE_STRINGS) {
        assert_ok(ctx, kfe_data_from_text(ctx, rows, texts, &data));
    } else if (e->form == EXAMPLE_GIVEN) {
        static double matrix[EXAMPLE_MOST * EXAMPLE_MOST];
        static double test_matrix[EXAMPLE_TESTS * EXAMPLE_MOST];
        double *values = support_rbf(rows, x, e->rows, e->x, EXAMPLE_COLS, GIVEN_GAMMA);
        double *kept = test ? test_matrix : matrix;
        memcpy(kept, values, (size_t)(rows * e->rows) * sizeof *values);
        free(values);
        assert_ok(ctx, kfe_data_wrap_dense(ctx, rows, e->rows, e->rows, kept, &data));
    } else {
        assert_ok(ctx, kfe_data_wrap_dense(ctx, rows, EXAMPLE_COLS, EXAMPLE_COLS, x, &data));
    }
    return data;
}

static void encode(kfe_context *ctx, const support_examples *e, const kfe_model *model, kfe_data *data)
{
    static const int64_t column = WORD_COLUMN;
    const char *texts[EXAMPLE_MOST];

    for (int64_t i = 0; i < kfe_data_rows(data); i++)
        texts[i] = words[model ? e->test_word_of[i] : e->word_of[i]];
    if (model)
        assert_ok(ctx, kfe_data_encode_for_model(ctx, model, data, 1, &column, texts));
    else
        assert_ok(ctx, kfe_data_encode(ctx, data, 1, &column, texts));
}

/* Before there is a target. model NULL: training data. */
static void dress(kfe_context *ctx, const support_examples *e, const kfe_model *model, kfe_data *data)
{
    static const char *const names[] = {"left", "right"};
    static const char *const columns[] = {"1-2", "3-5"};

    if (e->dress == EXAMPLE_TEXTS)
        encode(ctx, e, model, data);
    if (e->dress == EXAMPLE_GAPS && !model)
        assert_ok(ctx, kfe_data_set_missing(ctx, data, "mean"));
    if (e->dress == EXAMPLE_VIEWS && !model)
        assert_ok(ctx, kfe_data_divide(ctx, data, 2, names, columns));
}

kfe_data *support_examples_train(kfe_context *ctx, const support_examples *e)
{
    kfe_data *data = wrap(ctx, e, 0);
    dress(ctx, e, NULL, data);
    const char *labels[EXAMPLE_MOST];
    double single[EXAMPLE_MOST];

    for (int64_t i = 0; i < e->rows; i++) {
        labels[i] = e->class_names[e->class_of[i]];
        single[i] = e->targets[2 * i];
    }
    if (e->kind <= TWO_CLASSES)
        assert_ok(ctx, kfe_data_set_labels(ctx, data, labels));
    else if (e->kind == ONE_TARGET)
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, single));
    else
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 2, e->targets));
    if (e->weighted)
        assert_ok(ctx, kfe_data_set_weights(ctx, data, e->weights));
    return data;
}

kfe_data *support_examples_test(kfe_context *ctx, const support_examples *e, const kfe_model *model)
{
    kfe_data *data = wrap(ctx, e, 1);

    dress(ctx, e, model, data);
    return data;
}
