/* SPDX-License-Identifier: Apache-2.0 */
/* Models: their descriptions, files with wrong content, and failing allocations. test_safetensors.c tests the
 * container; here the containers are sound and the content is wrong. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "core/memory.h"
#include "model/file/parts.h"
#include "support/model_file.h"
#include "support/sample.h"
#include "support/sweep.h"

enum { ROWS = 12, COLS = 4, CLASSES = 3 };

static support_sample make_sample(kfe_context *ctx)
{
    support_sample s = support_sample_make(
        ctx, &(support_shape){.seed = 31, .rows = ROWS, .cols = COLS, .classes = CLASSES, .apart = 3});

    for (int i = 0; i < ROWS * COLS; i++)
        s.x[i] = fabs(s.x[i]); /* the data borrows these numbers */
    return s;
}

/* ---- descriptions ---- */

static void test_model_describes_itself(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    kfe_model *model = support_fit(ctx, "koc", "dim=2", "rbf:gamma=0.5", s.data);
    int64_t count = -1;

    assert_string_equal(kfe_model_method(model), "koc");
    assert_int_equal(kfe_model_dim(model), 2);
    assert_int_equal(kfe_model_views(model), 1);
    assert_int_equal(kfe_model_cols(model, 0), COLS);
    assert_int_equal(kfe_model_cols(model, 1), 0);
    assert_int_equal(kfe_model_cols(model, -1), 0);
    assert_false(kfe_model_takes_strings(model, 0));
    assert_false(kfe_model_takes_strings(model, 5));
    assert_int_equal(kfe_model_classes(model), CLASSES);
    assert_string_equal(kfe_model_class_name(model, 2), "c2");
    assert_null(kfe_model_class_name(model, -1));
    const double *sizes = kfe_model_record(model, "centroid-sizes", &count);
    assert_int_equal(count, CLASSES);
    assert_true(sizes[0] + sizes[1] + sizes[2] == ROWS);
    /* with two of three features, the last centroid and the examples of its class are not needed */
    assert_int_equal(kfe_model_support_size(model), (int64_t)(sizes[0] + sizes[1]));
    assert_ptr_equal(kfe_model_record(model, "centroid_sizes", &count), sizes);
    assert_null(kfe_model_record(model, "eigenvalues", &count));
    assert_int_equal(count, 0);
    kfe_model_free(model);
    model = support_fit(ctx, "pca", NULL, NULL, s.data);
    assert_int_equal(kfe_model_support_size(model), 0);
    kfe_model_free(model);
    kfe_model_free(NULL);
    support_sample_free(&s);
}

static void test_model_names_its_kernels(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    kfe_model *model = support_fit(ctx, "koc", NULL, "rbf:gamma=0.5", s.data);
    char *kernel = NULL;

    assert_int_equal(kfe_model_kernels(model), 1);
    assert_ok(ctx, kfe_model_kernel(ctx, model, 0, &kernel));
    assert_string_equal(kernel, "rbf:gamma=0.5");
    kfe_string_free(ctx, kernel);
    assert_fails(ctx, KFE_EINVAL, "none has the index 1", kfe_model_kernel(ctx, model, 1, &kernel));
    assert_fails(ctx, KFE_EINVAL, "none has the index -1", kfe_model_kernel(ctx, model, -1, &kernel));
    assert_null(kernel);
    kfe_model_free(model);
    model = support_fit(ctx, "pca", NULL, NULL, s.data);
    assert_int_equal(kfe_model_kernels(model), 0);
    kfe_model_free(model);
    support_sample_free(&s);
}

static void test_metadata_says_what_was_fitted(void **state)
{
    static const char *const expected[][2] = {
        {"format", "kfe-model"},      {"format_version", "1"},
        {"kfe_version", KFE_VERSION}, {"method", "koc"},
        {"projector", "kernel"},      {"task", "classes"},
        {"train_rows", "12"},         {"classes", "[\"c0\",\"c1\",\"c2\"]"}};
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    const char *path = support_path("told.kfe");
    kfe_model *model = support_fit(ctx, "koc", NULL, "rbf:gamma=0.5", s.data);
    unsigned char length[8];

    assert_ok(ctx, kfe_model_save(ctx, model, path));
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(length, 1, 8, file), 8);
    json_t *header = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL);
    fclose(file);
    const json_t *metadata = json_object_get(header, "__metadata__");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(json_string_value(json_object_get(metadata, expected[i][0])), expected[i][1]);
    assert_non_null(strstr(json_string_value(json_object_get(metadata, "kernels")), "rbf:gamma=0.5"));
    json_decref(header);
    kfe_model_free(model);
    support_sample_free(&s);
}

/* ---- files with wrong content ---- */

static model_file saved(kfe_context *ctx, const char *method, const char *kernel, const kfe_data *data)
{
    const char *path = support_path("damage.kfe");
    kfe_model *model = support_fit(ctx, method, NULL, kernel, data);

    assert_ok(ctx, kfe_model_save(ctx, model, path));
    kfe_model_free(model);
    return model_file_read(path);
}

/* Files from before kfe 0.2 write the names of records with underscores. */
static void test_records_of_former_versions_are_read(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    model_file f = saved(ctx, "koc", "rbf:gamma=0.5", s.data);
    kfe_model *model = NULL;

    model_file_rename(&f, "record.centroid-sizes", "record.centroid-sizes");
    assert_ok(ctx, model_file_load(ctx, &f, &model));
    assert_string_equal(kfe_model_record_name(model, 0), "centroid-sizes");
    kfe_model_free(model);
    model_file_rename(&f, "record.centroid-sizes", "record.rounds");
    assert_ok(ctx, model_file_load(ctx, &f, &model));
    assert_string_equal(kfe_model_record_name(model, 0), "iterations");
    kfe_model_free(model);
    model_file_rename(&f, "record.rounds", "record.metric");
    assert_ok(ctx, model_file_load(ctx, &f, &model));
    assert_string_equal(kfe_model_record_name(model, 0), "distance");
    kfe_model_free(model);
    model_file_free(&f);
    support_sample_free(&s);
}

/* A file that was taken apart and written again without changes loads: what is refused below are the changes. */
static void test_untouched_file_loads(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    model_file f = saved(ctx, "koc", "rbf:gamma=0.5", s.data);
    kfe_model *model = NULL;

    assert_ok(ctx, model_file_load(ctx, &f, &model));
    kfe_model_free(model);
    model_file_free(&f);
    support_sample_free(&s);
}

#define VIEW(columns, strings, scale)                                                                        \
    "[{\"name\":\"v\",\"columns\":" columns ",\"strings\":" strings ",\"scale\":\"" scale "\"}]"
#define KERNEL(text, view) "[{\"kernel\":\"" text "\",\"view\":" view "}]"

/* key, value (NULL: deleted), text of the message */
static const char *const metadata_edits[][3] = {
    {"format", "other", "not a kfe model"},
    {"format", NULL, "not a kfe model"},
    {"format_version", "6", "update kfe"},
    {"format_version", "99999999999999999999999", "update kfe"},
    {"format_version", "0", "fit the model again"},
    {"format_version", "-7", "fit the model again"},
    {"format_version", "one", "format version"},
    {"format_version", "1x", "format version"},
    {"format_version", NULL, "format version"},
    {"kfe_version", NULL, "kfe_version"},
    {"method", NULL, "method"},
    {"parameters", NULL, "parameters"},
    {"projector", "both", "projector"},
    {"projector", "linear", "kernels"},
    {"projector", NULL, "projector"},
    {"task", "rank", "task"},
    {"task", NULL, "task"},
    {"task", "none", "classes"},
    {"task", "real", "classes"},
    {"classes", "[]", "classes"},
    {"train_rows", "0", "train_rows"},
    {"train_rows", "-5", "train_rows"},
    {"train_rows", "many", "train_rows"},
    {"train_rows", NULL, "train_rows"},
    {"classes", "[\"a\",1]", "classes"},
    {"classes", "{}", "classes"},
    {"classes", NULL, "classes"},
    {"kernels", KERNEL("rfb:gamma=1", "0"), "no kernel 'rfb'"},
    {"kernels", KERNEL("rbf:gamma=-1", "0"), "gamma"},
    {"kernels", KERNEL("rbf:gamma=nan", "0"), "gamma"},
    {"kernels", KERNEL("rbf:gamma=scale", "0"), "kernels"},
    {"kernels", KERNEL("rbf:colour=1", "0"), "colour"},
    {"kernels", KERNEL("rbf:gamma=1", "1"), "kernels"},
    {"kernels", KERNEL("rbf:gamma=1", "-1"), "kernels"},
    {"kernels", KERNEL("rbf:gamma=1", "4294967296"), "kernels"},
    {"kernels", KERNEL("spectrum:length=3", "0"), "kernels"},
    {"kernels", KERNEL("precomputed", "0"), "support"},
    {"kernels", "[{\"view\":0}]", "kernels"},
    {"kernels", "[{\"kernel\":7,\"view\":0}]", "kernels"},
    {"kernels", "[]", "kernels"},
    {"kernels", "[", "kernels"},
    {"kernels", NULL, "kernels"},
    {"views", VIEW("5", "false", "none"), "support"},
    {"views", VIEW("0", "false", "none"), "views"},
    {"views", VIEW("-4", "false", "none"), "views"},
    {"views", VIEW("4000000000", "false", "none"), "views"},
    {"views", VIEW("\"4\"", "false", "none"), "views"},
    {"views", VIEW("4", "true", "none"), "kernels"},
    {"views", VIEW("4", "false", "standard"), "scale.factor"},
    {"views", VIEW("4", "false", "loud"), "views"},
    {"views", "[{\"columns\":4,\"strings\":false,\"scale\":\"none\"}]", "views"},
    {"views", "[]", "views"},
    {"views", "[1]", "views"},
    {"views", "null", "views"},
    {"views", NULL, "views"},
};

static void test_wrong_metadata_is_refused(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);

    for (size_t i = 0; i < sizeof metadata_edits / sizeof *metadata_edits; i++) {
        model_file f = saved(ctx, "koc", "rbf:gamma=0.5", s.data);
        char what[256];
        if (metadata_edits[i][1])
            json_object_set_new(model_file_metadata(&f), metadata_edits[i][0],
                                json_string(metadata_edits[i][1]));
        else
            json_object_del(model_file_metadata(&f), metadata_edits[i][0]);
        snprintf(what, sizeof what, "%s = %s", metadata_edits[i][0],
                 metadata_edits[i][1] ? metadata_edits[i][1] : "(left out)");
        model_file_assert_refused(ctx, &f, what, metadata_edits[i][2]);
        model_file_free(&f);
    }
    support_sample_free(&s);
}

static void test_linear_model_of_strings_is_refused(void **state)
{
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    model_file f = saved(ctx, "pca", NULL, s.data);

    json_object_set_new(model_file_metadata(&f), "views", json_string(VIEW("4", "true", "none")));
    model_file_assert_refused(ctx, &f, "strings in a linear model", "damaged");
    model_file_free(&f);
    support_sample_free(&s);
}

static void test_strings_flag_must_fit_the_kernel(void **state)
{
    static const char *const strings[] = {"acgtacgt", "ccgtta", "ttgacca", "gattaca"};
    static const int class_of[] = {0, 1, 0, 1};
    kfe_context *ctx = *state;
    kfe_data *data = NULL;

    assert_ok(ctx, kfe_data_from_text(ctx, 4, strings, &data));
    support_label(ctx, data, 4, class_of);
    model_file f = saved(ctx, "koc", "spectrum:length=2", data);
    json_object_set_new(model_file_metadata(&f), "views", json_string(VIEW("1", "false", "none")));
    model_file_assert_refused(ctx, &f, "numbers under a kernel on strings", "kernels");
    model_file_free(&f);
    kfe_data_free(data);
}

/* ---- tensors ---- */

static void test_missing_tensors_are_refused(void **state)
{
    static const char *const names[][3] = {
        {"coefficients", "cofficients", "coefficients"},
        {"view0.support", "view1.support", "support"},
        {"record.centroid-sizes", "view0.scale.shift", "scale.shift"},
        {"support.index", "offset", "offset"},
    };
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        model_file f = saved(ctx, "koc", "rbf:gamma=0.5", s.data);
        model_file_rename(&f, names[i][0], names[i][1]);
        model_file_assert_refused(ctx, &f, names[i][0], names[i][2]);
        model_file_free(&f);
    }
    support_sample_free(&s);
}

static void test_wrong_shapes_are_refused(void **state)
{
    /* tensor, key, value as JSON */
    static const char *const edits[][3] = {
        {"coefficients", "shape", "[36,1]"},
        {"coefficients", "shape", "[36]"},
        {"coefficients", "shape", "[6,6]"},
        {"coefficients", "shape", "[3,12,1]"},
        {"coefficients", "dtype", "\"I64\""},
        {"view0.support", "dtype", "\"I64\""},
        {"record.centroid-sizes", "dtype", "\"I64\""},
        {"support.index", "dtype", "\"F64\""},
    };
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);

    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        model_file f = saved(ctx, "koc", "rbf:gamma=0.5", s.data);
        json_t *value = json_loads(edits[i][2], JSON_DECODE_ANY, NULL);
        json_object_set_new(json_object_get(f.header, edits[i][0]), edits[i][1], value);
        model_file_assert_refused(ctx, &f, edits[i][2], "damaged");
        model_file_free(&f);
    }
    support_sample_free(&s);
}

/* Counts whose products overflow: rows × columns of the support, dim × dim of the moments. */
static void test_sizes_that_overflow_are_refused(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_safetensors file;
    kfe_model model = {.dim = INT64_C(1) << 40};
    kfe_i_exchange x = {.ctx = ctx, .name = "m.kfe", .file = &file, .model = &model};
    kfe_i_table support = {0};
    double one = 1;

    kfe_i_safetensors_init(ctx, &file);
    assert_ok(ctx, kfe_i_safetensors_add(&file, "moments.products", KFE_DTYPE_F64, 1, 1, &one));
    assert_fails(ctx, KFE_EMODEL, "damaged",
                 kfe_i_exchange_table(&x, "learner.support", 0, INT32_MAX, INT64_C(1) << 40, &support));
    assert_fails(ctx, KFE_EMODEL, "moments", kfe_i_exchange_moments(&x, &model.moments));
    kfe_i_safetensors_free(&file);
}

static void test_numbers_that_are_none_are_refused(void **state)
{
    static const char *const names[] = {"coefficients", "view0.support", "record.centroid-sizes"};
    static const double values[] = {NAN, INFINITY, -INFINITY};
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);

    for (size_t i = 0; i < 9; i++) {
        model_file f = saved(ctx, "koc", "rbf:gamma=0.5", s.data);
        model_file_put(&f, names[i % 3], 1, values[i / 3]);
        model_file_assert_refused(ctx, &f, names[i % 3], "damaged");
        model_file_free(&f);
    }
    support_sample_free(&s);
}

static void test_missing_file_is_an_io_error(void **state)
{
    kfe_context *ctx = *state;
    kfe_model *model = NULL;

    assert_fails(ctx, KFE_EIO, "no-such.kfe", kfe_model_load(ctx, support_path("no-such.kfe"), &model));
    assert_null(model);
}

/* ---- failing allocations ---- */

typedef struct request {
    const char *method, *params, *kernel, *second_kernel;
    int sparse;
} request;

typedef struct sweep {
    support_csr arrays;
    const double *x;
    const char *labels[ROWS];
    char saved[512]; /* the model that a run without failures saved */
    char aside[512]; /* where models are saved again */
    const request *request;
    int first; /* save the model that later runs load */
} sweep;

static kfe_status wrap(kfe_context *ctx, const sweep *w, int sparse, kfe_data **out)
{
    kfe_status status = sparse ? kfe_data_wrap_csr(ctx, ROWS, COLS, w->arrays.row_start, w->arrays.columns,
                                                   w->arrays.values, out)
                               : kfe_data_wrap_dense(ctx, ROWS, COLS, COLS, w->x, out);
    return status == KFE_OK ? kfe_data_set_labels(ctx, *out, w->labels) : status;
}

static kfe_status describe_both_ways(kfe_context *ctx, const kfe_model *model)
{
    kfe_status status = KFE_OK;

    for (int style = 0; status == KFE_OK && style < 2; style++) {
        char *text = NULL;
        status = kfe_model_describe(ctx, model, (kfe_style)style, &text);
        kfe_string_free(ctx, text);
    }
    return status;
}

/* Uses a model in every way, from data to saved file. The first run saves the model that later ones load.
 * They save last, because syncing a file is slow. */
static kfe_status walk(kfe_context *ctx, void *user)
{
    const sweep *w = user;
    const request *r = w->request;
    kfe_data *data = NULL;
    kfe_spec *spec = NULL;
    kfe_model *model = NULL;
    kfe_model *loaded = NULL;
    kfe_matrix features = {0};
    kfe_status status;

    if ((status = wrap(ctx, w, r->sparse, &data)) == KFE_OK &&
        (status = kfe_spec_parse(ctx, r->method, r->params, r->kernel, &spec)) == KFE_OK &&
        (!r->second_kernel || (status = kfe_spec_add_kernel(ctx, spec, r->second_kernel)) == KFE_OK) &&
        (status = kfe_fit(ctx, spec, data, &model)) == KFE_OK &&
        (status = w->first ? kfe_model_save(ctx, model, w->saved) : KFE_OK) == KFE_OK &&
        (status = kfe_model_load(ctx, w->saved, &loaded)) == KFE_OK &&
        (status = kfe_transform(ctx, loaded, data, &features)) == KFE_OK &&
        (status = describe_both_ways(ctx, loaded)) == KFE_OK)
        status = kfe_model_save(ctx, model, w->aside);
    kfe_matrix_free(&features);
    kfe_model_free(model);
    kfe_model_free(loaded);
    kfe_spec_free(spec);
    kfe_data_free(data);
    return status;
}

static void sweep_request(kfe_context *ctx, sweep *w, const request *r)
{
    w->request = r;
    w->first = 1;
    assert_ok(ctx, walk(ctx, w));
    w->first = 0;
    support_sweep_all(r->method, walk, w, 40);
}

/* Labels with the first `classes` classes; examples of other classes get the last of these. */
static void label_for(sweep *w, const kfe_data *data, int64_t classes)
{
    for (int i = 0; i < ROWS; i++) {
        int64_t code = kfe_data_class_of(data, i);
        w->labels[i] = kfe_data_class_name(data, code < classes ? code : classes - 1);
    }
}

/* Few iterations of methods that iterate long: all iterations allocate alike, and every allocation is a whole fit. */
static const char *short_loops(const char *method)
{
    static const struct {
        const char *method, *params;
    } known[] = {
        {"skfe", "max-iter=2"}, {"rfm", "iterations=1"}, {"slmc", "max-iter=2"}, {"svm-mkl", "max-iter=2"}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].method, method) == 0)
            return known[i].params;
    return NULL;
}

static void test_allocations_that_fail(void **state)
{
    static const request special[] = {
        {"koc", "clusters-per-class=2,scale=standard", "rbf:gamma=0.5", "linear:weight=2", 0},
        {"koc", "solver=mgs,gram=tiled", "poly", NULL, 1},
        {"kfd", "ridge-on=coefficients,scale=minmax", "laplacian", NULL, 0},
        {"kpca", "gram=f32", "chi2", "cosine", 0},
        {"kpca", "center=no,gram=f64", "intersection", NULL, 1},
        {"pca", "dim=2", NULL, NULL, 1},
        {"akda-qr", NULL, "rbf:gamma=median", NULL, 1},
    };
    kfe_context *ctx = *state;
    support_sample s = make_sample(ctx);
    sweep w = {.x = s.x};
    const kfe_entry_info *method;

    snprintf(w.saved, sizeof w.saved, "%s", support_path("saved.kfe"));
    snprintf(w.aside, sizeof w.aside, "%s", support_path("aside.kfe"));
    kfe_data_free(support_sparse(ctx, ROWS, COLS, s.x, NULL, &w.arrays));
    for (int m = 0; (method = kfe_method(m)); m++) {
        label_for(&w, s.data, method->flags & KFE_HAS_TWO_CLASSES ? 2 : CLASSES);
        request plain = {.method = method->name, .params = short_loops(method->name)};
        plain.kernel = method->flags & KFE_HAS_KERNELS ? "rbf" : NULL;
        sweep_request(ctx, &w, &plain);
    }
    label_for(&w, s.data, CLASSES);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        sweep_request(ctx, &w, &special[i]);
    support_csr_free(&w.arrays);
    support_sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_model_describes_itself),
        with_context(test_model_names_its_kernels),
        with_context(test_records_of_former_versions_are_read),
        with_context(test_metadata_says_what_was_fitted),
        with_context(test_untouched_file_loads),
        with_context(test_wrong_metadata_is_refused),
        with_context(test_linear_model_of_strings_is_refused),
        with_context(test_strings_flag_must_fit_the_kernel),
        with_context(test_missing_tensors_are_refused),
        with_context(test_sizes_that_overflow_are_refused),
        with_context(test_wrong_shapes_are_refused),
        with_context(test_numbers_that_are_none_are_refused),
        with_context(test_missing_file_is_an_io_error),
        with_context(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
