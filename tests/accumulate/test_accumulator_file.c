/* SPDX-License-Identifier: Apache-2.0 */
/* Files of accumulators that were written by others: whatever use relies on is checked when they are loaded, and what would not load is
 * not saved. */
#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "model/file/safetensors.h"
#include "support/fit.h"

enum { ROWS = 12, COLS = 3 };

/* ---- files ---- */

static kfe_accumulator *make_sums(kfe_context *ctx, const char *method, const char *params,
                                  const char *learner, int real)
{
    double *x = support_normals(3, ROWS * COLS);
    int class_of[ROWS];
    kfe_spec *spec = NULL;
    kfe_accumulator *sums = NULL;

    for (int i = 0; i < ROWS; i++)
        class_of[i] = i % 3;
    kfe_data *data = support_dense(ctx, ROWS, COLS, x, real ? NULL : class_of);
    if (real)
        assert_ok(ctx, kfe_data_set_targets(ctx, data, 1, x));
    assert_ok(ctx, kfe_spec_parse(ctx, method, params, NULL, &spec));
    if (learner)
        assert_ok(ctx, kfe_spec_set_learner(ctx, spec, learner, NULL));
    assert_ok(ctx, kfe_accumulator_new(ctx, spec, &sums));
    assert_ok(ctx, kfe_accumulator_add(ctx, sums, data));
    kfe_spec_free(spec);
    kfe_data_free(data);
    free(x);
    return sums;
}

/* Bytes of a file, which kfe_i_free frees. */
typedef struct bytes {
    char *text;
    size_t size;
} bytes;

static bytes save(kfe_context *ctx, const kfe_accumulator *sums)
{
    bytes out = {0};

    assert_ok(ctx, kfe_accumulator_save_bytes(ctx, sums, &out.text, &out.size));
    return out;
}

static kfe_i_tensor *tensor_of(kfe_i_safetensors *file, const char *name)
{
    for (int64_t i = 0; i < file->tensor_count; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    fail_msg("the file has no tensor %s", name);
    return NULL;
}

/* Signs the file again and loads it. */
static kfe_status load_changed(kfe_context *ctx, kfe_i_safetensors *file)
{
    bytes changed = {0};
    kfe_accumulator *sums = NULL;

    for (int64_t i = 0; i < file->metadata_count; i++)
        if (strstr(file->metadata[i].key, "sha256")) {
            kfe_i_free(ctx, file->metadata[i].key);
            kfe_i_free(ctx, file->metadata[i].value);
            file->metadata[i--] = file->metadata[--file->metadata_count];
        }
    assert_ok(ctx, kfe_i_safetensors_print(file, &changed.text, &changed.size));
    kfe_status status = kfe_accumulator_load_bytes(ctx, changed.text, changed.size, &sums);
    assert_true((status == KFE_OK) == (sums != NULL));
    kfe_accumulator_free(sums);
    kfe_i_free(ctx, changed.text);
    return status;
}

/* ---- what is refused ---- */

/* One number of a tensor is changed; the message names the part. */
static void refuse_number(kfe_context *ctx, const bytes *good, const char *tensor, int64_t at, double value,
                          const char *part)
{
    kfe_i_safetensors file = {0};

    assert_ok(ctx, kfe_i_safetensors_parse(ctx, "good", good->text, good->size, &file));
    kfe_i_tensor *changed = tensor_of(&file, tensor);
    if (changed->dtype == KFE_DTYPE_F64)
        ((double *)(uintptr_t)changed->data)[at] = value;
    else if (changed->dtype == KFE_DTYPE_I64)
        ((int64_t *)(uintptr_t)changed->data)[at] = (int64_t)value;
    else
        ((char *)(uintptr_t)changed->data)[at] = (char)value;
    assert_fails(ctx, KFE_EMODEL, part, load_changed(ctx, &file));
    kfe_i_safetensors_free(&file);
}

/* Another method with its default parameters. */
static void refuse_method(kfe_context *ctx, const bytes *good, const char *method, const char *text)
{
    kfe_i_safetensors file = {0};

    assert_ok(ctx, kfe_i_safetensors_parse(ctx, "good", good->text, good->size, &file));
    assert_ok(ctx, kfe_i_safetensors_set(&file, "method", method));
    assert_ok(ctx, kfe_i_safetensors_set(&file, "parameters", ""));
    kfe_status status = load_changed(ctx, &file);
    assert_int_not_equal(status, KFE_OK);
    if (!strstr(kfe_error_message(ctx), text))
        fail_msg("%s: %s", method, kfe_error_message(ctx));
    kfe_i_safetensors_free(&file);
}

static void test_numbers_that_no_file_of_ours_has(void **state)
{
    kfe_context *ctx = *state;
    kfe_accumulator *sums = make_sums(ctx, "oc", NULL, "ls", 0);
    bytes good = save(ctx, sums);

    refuse_number(ctx, &good, "rows", 0, 1e300, "rows");
    refuse_number(ctx, &good, "rows", 0, 11.5, "rows");
    refuse_number(ctx, &good, "rows", 0, 13, "class_rows");
    refuse_number(ctx, &good, "class_rows", 0, -4, "class_rows");
    refuse_number(ctx, &good, "mean", 1, NAN, "mean");
    refuse_number(ctx, &good, "scatter", 2, INFINITY, "scatter");
    refuse_number(ctx, &good, "scatter", COLS + 1, -1, "scatter");
    refuse_number(ctx, &good, "least", 0, 1e9, "least");
    refuse_number(ctx, &good, "class_means", 0, NAN, "class_means");
    refuse_number(ctx, &good, "classes", 1, '5', "classes"); /* c5, c1, c2 */
    refuse_number(ctx, &good, "counts", 4, 0, "damaged");    /* classes without any */
    refuse_number(ctx, &good, "counts", 2, 2, "damaged");    /* real targets */
    refuse_number(ctx, &good, "counts", 2, 0, "damaged");    /* no targets */
    refuse_method(ctx, &good, "pls2", "pls2");
    refuse_method(ctx, &good, "kfd", "landmarks");
    kfe_i_free(ctx, good.text);
    kfe_accumulator_free(sums);
}

static void test_real_targets(void **state)
{
    kfe_context *ctx = *state;
    kfe_accumulator *sums = make_sums(ctx, "pls", NULL, "ls", 1);
    bytes good = save(ctx, sums);

    refuse_number(ctx, &good, "target_mean", 0, NAN, "target_mean");
    refuse_number(ctx, &good, "target_scatter", 0, -1, "target_scatter");
    refuse_number(ctx, &good, "cross", 0, INFINITY, "cross");
    refuse_method(ctx, &good, "oc", "task");
    kfe_i_free(ctx, good.text);
    kfe_accumulator_free(sums);
}

/* The map of one accumulator in the file of another. */
static void test_maps_are_those_of_the_method(void **state)
{
    kfe_context *ctx = *state;
    kfe_accumulator *linear = make_sums(ctx, "oc", NULL, NULL, 0);
    kfe_accumulator *kernel = make_sums(ctx, "kfd", "landmarks=3", NULL, 0);
    bytes files[2] = {save(ctx, linear), save(ctx, kernel)};
    kfe_i_safetensors file[2] = {{0}};

    for (int i = 0; i < 2; i++)
        assert_ok(ctx, kfe_i_safetensors_parse(ctx, "good", files[i].text, files[i].size, &file[i]));
    for (int i = 0; i < 2; i++) {
        kfe_i_tensor *map = tensor_of(&file[i], "map");
        kfe_i_tensor kept = *map;
        const kfe_i_tensor *other = tensor_of(&file[1 - i], "map");
        map->data = other->data;
        map->count = map->shape[0] = other->count;
        assert_fails(ctx, KFE_EMODEL, "map", load_changed(ctx, &file[i]));
        *map = kept;
        assert_ok(ctx, load_changed(ctx, &file[i]));
    }
    for (int i = 0; i < 2; i++) {
        kfe_i_safetensors_free(&file[i]);
        kfe_i_free(ctx, files[i].text);
    }
    kfe_accumulator_free(linear);
    kfe_accumulator_free(kernel);
}

/* ---- sums that overflow ---- */

/* Squares of the largest numbers that are accepted are near 1e300; sums of billions of them overflow. */
static void test_sums_that_overflow(void **state)
{
    kfe_context *ctx = *state;
    static const double x[] = {1e150, 1, -1e150, 2, 9e149, 3, 1e149, 4};
    static const int class_of[] = {0, 1, 0, 1};
    kfe_spec *spec = NULL;
    kfe_accumulator *sums = NULL;
    kfe_model *model = NULL;
    bytes file = {0};

    kfe_data *data = support_dense(ctx, 4, 2, x, class_of);
    assert_ok(ctx, kfe_spec_parse(ctx, "oc", NULL, NULL, &spec));
    assert_ok(ctx, kfe_accumulator_new(ctx, spec, &sums));
    assert_ok(ctx, kfe_accumulator_add(ctx, sums, data));
    for (int i = 0; i < 30; i++) {
        kfe_accumulator *same = NULL;
        if (kfe_accumulator_save_bytes(ctx, sums, &file.text, &file.size) != KFE_OK)
            break;
        assert_ok(ctx, kfe_accumulator_load_bytes(ctx, file.text, file.size, &same));
        assert_ok(ctx, kfe_accumulator_merge(ctx, sums, same));
        kfe_accumulator_free(same);
        kfe_i_free(ctx, file.text);
    }
    assert_fails(ctx, KFE_EINPUT, "too large", kfe_accumulator_finish(ctx, sums, &model));
    assert_fails(ctx, KFE_EINPUT, "cannot be saved",
                 kfe_accumulator_save_bytes(ctx, sums, &file.text, &file.size));
    assert_fails(ctx, KFE_EINPUT, "cannot be saved",
                 kfe_accumulator_save(ctx, sums, support_path("large.sums")));
    assert_null(fopen(support_path("large.sums"), "rb"));
    kfe_accumulator_free(sums);
    kfe_spec_free(spec);
    kfe_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_numbers_that_no_file_of_ours_has),
        with_context(test_real_targets),
        with_context(test_maps_are_those_of_the_method),
        with_context(test_sums_that_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
