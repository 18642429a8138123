/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer harness of everything that users write as text: specs, kernels, families, grids and options. The
 * input is lines: method, parameters, kernel, second kernel, learner, its parameters, grid, options, steps that prepare
 * rows. Nothing is fitted; kernels are evaluated on two tiny tables.
 */
#include <stdlib.h>
#include <string.h>

#include "kfe.h"
#include "support/result.h"

enum { MEMORY_LIMIT = 64 << 20, LINES = 9, MOST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct texts {
    char storage[MOST + 1];
    const char *line[LINES]; /* NULL: the line is empty or missing */
} texts;

static void split(const uint8_t *bytes, size_t size, texts *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->storage, bytes, size < MOST ? size : MOST);
    char *at = out->storage;
    for (int i = 0; i < LINES && at; i++) {
        char *end = strchr(at, '\n');
        if (end)
            *end = '\0';
        out->line[i] = *at ? at : NULL;
        at = end ? end + 1 : NULL;
    }
}

static void use_spec(kfe_context *ctx, const texts *t)
{
    kfe_spec *spec = NULL;
    int64_t settings = 0;

    if (!t->line[0] || kfe_spec_parse(ctx, t->line[0], t->line[1], t->line[2], &spec) != KFE_OK)
        return;
    if (t->line[3]) {
        kfe_spec_add_kernel(ctx, spec, t->line[3]);
        kfe_spec_set_view_kernel(ctx, spec, "x", t->line[3]);
    }
    if (t->line[4])
        kfe_spec_set_learner(ctx, spec, t->line[4], t->line[5]);
    if (t->line[8])
        kfe_spec_set(ctx, spec, "prepare", t->line[8]);
    if (t->line[6])
        kfe_spec_set(ctx, spec, t->line[6], t->line[7] ? t->line[7] : "");
    kfe_cv_check(ctx, spec, (const char *const[]){t->line[6], NULL}, t->line[7], &settings);
    kfe_spec_free(spec);
}

static void use_kernel(kfe_context *ctx, const char *kernel)
{
    static const double values[] = {1, 0, -2, 0.5, 3, 1};
    static const char *const strings[] = {"acg", "", "gacga"};
    kfe_data *tables[2] = {0};
    char *text = NULL;

    if (kfe_data_wrap_dense(ctx, 3, 2, 2, values, &tables[0]) == KFE_OK &&
        kfe_data_from_text(ctx, 3, strings, &tables[1]) == KFE_OK)
        for (int i = 0; i < 2; i++) {
            kfe_matrix matrix = {0};
            kfe_kernel_matrix(ctx, kernel, tables[i], NULL, &matrix);
            kfe_matrix_free(&matrix);
        }
    if (tables[0] && write_measure(ctx, tables[0], 1, &kernel, NULL, KFE_STYLE_JSON, &text) == KFE_OK)
        kfe_string_free(ctx, text);
    kfe_data_free(tables[0]);
    kfe_data_free(tables[1]);
}

static void use_options(kfe_context *ctx, const char *options)
{
    static const double values[] = {1, 0, -2, 0.5, 3, 1, 4, 4};
    static const char *const labels[] = {"a", "b", "a", "b"};
    kfe_data *data = NULL;
    kfe_data *generated = NULL;
    kfe_splits *splits = NULL;

    if (strstr(options, "file")) /* other harnesses read files */
        return;
    if (kfe_data_wrap_dense(ctx, 4, 2, 2, values, &data) == KFE_OK &&
        kfe_data_set_labels(ctx, data, labels) == KFE_OK)
        kfe_splits_make(ctx, data, options, &splits);
    kfe_data_generate(ctx, "slabs", options, &generated);
    kfe_splits_free(splits);
    kfe_data_free(generated);
    kfe_data_free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static texts t;
    kfe_context *ctx = NULL;
    char *listed = NULL;

    if (kfe_context_new(&ctx) != KFE_OK)
        return 0;
    kfe_context_set_memory(ctx, MEMORY_LIMIT);
    kfe_context_set_threads(ctx, 1);
    split(bytes, size, &t);
    use_spec(ctx, &t);
    if (t.line[2])
        use_kernel(ctx, t.line[2]);
    if (t.line[7])
        use_options(ctx, t.line[7]);
    if (t.line[0] && kfe_list_methods(ctx, t.line[0], &listed) == KFE_OK)
        kfe_string_free(ctx, listed);
    kfe_context_free(ctx);
    return 0;
}
