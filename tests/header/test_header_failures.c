/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every function of include/kfe.h under failing allocations: the uses (uses.h) call all of them, the sweep fails each
 * allocation in turn, and the last test reads the header and fails for a function that no use calls.
 */
#include "header/uses.h"

#include <ctype.h>
#include <stdio.h>

#include "support/fit.h"

/* ---- which functions were called ---- */

enum { MOST_FUNCTIONS = 400 };

static const char *called[MOST_FUNCTIONS];
static int called_count;

static int was_called(const char *name)
{
    for (int i = 0; i < called_count; i++)
        if (strcmp(called[i], name) == 0)
            return 1;
    return 0;
}

void note_call(const char *name)
{
    if (was_called(name))
        return;
    assert_true(called_count < MOST_FUNCTIONS);
    called[called_count++] = name;
}

/* ---- data that the uses share ---- */

const char *const labels[ROWS] = {"a", "b", "c", "a", "b", "c", "a", "b", "c", "a", "b", "c"};
double values[ROWS * COLS];
char csv_path[512], npy_path[512], model_path[512], out_path[512], predictions_path[512];

static int make_files(void **state)
{
    uint64_t random = 3;
    char text[2048] = "";

    (void)state;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            values[i * COLS + j] = support_normal(&random) + 3 * (i % 3 == j);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%.6f,", values[i * COLS + j]);
            if (j == COLS - 1)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", labels[i]);
        }
    snprintf(csv_path, sizeof csv_path, "%s", support_text("table.csv", text));
    snprintf(npy_path, sizeof npy_path, "%s", support_path("view.npy"));
    snprintf(model_path, sizeof model_path, "%s", support_path("model.kfe"));
    snprintf(out_path, sizeof out_path, "%s", support_path("out.npz"));
    snprintf(predictions_path, sizeof predictions_path, "%s", support_path("predictions.csv"));
    return 0;
}

kfe_status wrap_labelled(kfe_context *ctx, kfe_data **out)
{
    kfe_status status = CALL(kfe_data_wrap_dense)(ctx, ROWS, COLS, COLS, values, out);
    return status == KFE_OK ? CALL(kfe_data_set_labels)(ctx, *out, labels) : status;
}

/* ---- the sweeps ---- */

typedef struct header_use {
    const char *name;
    support_use use;
    int64_t harmless; /* failing allocations that the library can do without */
    int64_t step;     /* fail every step-th allocation only; 0: each */
} header_use;

static header_use uses[] = {
    {"context", use_context, 0, 0}, {"files", use_files, 2, 0},
    {"memory", use_memory, 0, 0},   {"views", use_views, 0, 0},
    {"tables", use_tables, 0, 0},   {"model", use_model, 1, 0},
    {"rule", use_rule, 0, 0},       {"accumulator", use_accumulator, 0, 0},
    {"metrics", use_metrics, 0, 0}, {"search", use_search, 0, 0},
    {"tune", use_tune, 0, 23},      {"categories", use_categories, 0, 0},
    {"report", use_report, 0, 5},   {"explanations", use_explanations, 0, 7},
};

static void test_use(void **state)
{
    const header_use *one = *state;

    support_sweep_run(
        &(support_sweep){.name = one->name, .use = one->use, .harmless = one->harmless, .step = one->step});
}

/* ---- every function is called ---- */

static char *read_header(void)
{
    FILE *file = fopen(KFE_HEADER, "r");
    char *text = calloc(1 << 20, 1);

    if (!file || fread(text, 1, (1 << 20) - 1, file) == 0)
        fail_msg("cannot read %s", KFE_HEADER);
    fclose(file);
    return text;
}

/* The function that the declaration beginning here declares: the word before its first parenthesis. */
static void declared_name(const char *declaration, char *name, size_t size)
{
    const char *end = strchr(declaration, '(');
    const char *begin = end;

    assert_non_null(end);
    while (isalnum((unsigned char)begin[-1]) || begin[-1] == '_')
        begin--;
    snprintf(name, size, "%.*s", (int)(end - begin), begin);
}

static void test_every_function_is_called(void **state)
{
    char *text = read_header();
    char missing[4096] = "";
    int functions = 0;

    (void)state;
    for (char *at = text; (at = strstr(at, "\nKFE_API ")); at++) {
        char name[100];
        declared_name(at, name, sizeof name);
        functions++;
        if (!was_called(name))
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s", name);
    }
    free(text);
    print_message("%d public functions, %d called\n", functions, called_count);
    assert_true(functions > 100);
    if (missing[0])
        fail_msg("functions of kfe.h that no sweep calls:%s", missing);
}

int main(void)
{
    enum { USES = sizeof uses / sizeof *uses };
    struct CMUnitTest tests[USES + 1];

    for (size_t i = 0; i < USES; i++)
        tests[i] = (struct CMUnitTest){uses[i].name, test_use, NULL, NULL, &uses[i]};
    tests[USES] = (struct CMUnitTest)cmocka_unit_test(test_every_function_is_called);
    return _cmocka_run_group_tests("header", tests, USES + 1, make_files, NULL);
}
