/* SPDX-License-Identifier: Apache-2.0 */
/* Rectangle features against plain sums over pixels. */
#include "support/fit.h"

#include <math.h>
#include <stdio.h>

#include "data/set/viola_jones.h"
#include "support/sweep.h"
#include "support/tolerance.h"

enum { IMAGES = 7, WIDTH = 7, HEIGHT = 5, PIXELS = WIDTH * HEIGHT };

/* Integer grey values, so that sums are exact. */
static double *make_images(uint64_t seed, int64_t count)
{
    double *pixels = calloc((size_t)(count * PIXELS), sizeof *pixels);

    for (int64_t i = 0; i < count * PIXELS; i++)
        pixels[i] = floor(256 * support_uniform(&seed));
    return pixels;
}

static double rectangle_sum(const double *image, int left, int top, int w, int h)
{
    double sum = 0;

    for (int y = top; y < top + h; y++)
        for (int x = left; x < left + w; x++)
            sum += image[y * WIDTH + x];
    return sum;
}

/* All features of one image by their definition, in the documented order; returns their number. */
static int64_t brute_force(const double *image, double *out)
{
    int64_t count = 0;

    for (int kind = 0; kind < 5; kind++)
        for (int h = 1; h <= HEIGHT; h++)
            for (int w = 1; w <= WIDTH; w++)
                for (int y = 0; y < HEIGHT; y++)
                    for (int x = 0; x < WIDTH; x++) {
                        const int right[] = {2, 1, 3, 1, 2};
                        const int below[] = {1, 2, 1, 3, 2};
                        if (x + right[kind] * w > WIDTH || y + below[kind] * h > HEIGHT)
                            continue;
                        double a = rectangle_sum(image, x, y, w, h);
                        double e = right[kind] > 1 ? rectangle_sum(image, x + w, y, w, h) : 0;
                        double s = below[kind] > 1 ? rectangle_sum(image, x, y + h, w, h) : 0;
                        switch (kind) {
                        case 0:
                            out[count++] = e - a;
                            break;
                        case 1:
                            out[count++] = s - a;
                            break;
                        case 2:
                            out[count++] = e - a - rectangle_sum(image, x + 2 * w, y, w, h);
                            break;
                        case 3:
                            out[count++] = s - a - rectangle_sum(image, x, y + 2 * h, w, h);
                            break;
                        default:
                            out[count++] = e + s - a - rectangle_sum(image, x + w, y + h, w, h);
                        }
                    }
    return count;
}

static void test_counts(void **state)
{
    (void)state;
    /* the published number of features of 24 × 24 pixels */
    assert_int_equal(kfe_i_viola_jones_count(24, 24), 162336);
    assert_int_equal(kfe_i_viola_jones_count(19, 19), 63960);
    assert_int_equal(kfe_i_viola_jones_count(2, 1), 1);
    assert_int_equal(kfe_i_viola_jones_count(1, 2), 1);
    assert_int_equal(kfe_i_viola_jones_count(1, 1), 0);
    assert_int_equal(kfe_i_viola_jones_count(3, 1), 3);
}

static void compare(kfe_context *ctx, const kfe_data *images, const double *pixels)
{
    static double expected[4096];
    static double got[4096];
    kfe_data *features = NULL;

    assert_ok(ctx, kfe_data_viola_jones(ctx, images, WIDTH, HEIGHT, &features));
    assert_int_equal(kfe_data_rows(features), IMAGES);
    for (int64_t i = 0; i < IMAGES; i++) {
        int64_t count = brute_force(pixels + i * PIXELS, expected);
        assert_int_equal(kfe_data_cols(features, 0), count);
        assert_ok(ctx, kfe_data_row(ctx, features, 0, i, got));
        assert_memory_equal(got, expected, (size_t)count * sizeof *got);
    }
    kfe_data_free(features);
}

static void test_features_equal_sums_over_pixels(void **state)
{
    kfe_context *ctx = *state;
    double *pixels = make_images(1, IMAGES);
    support_csr arrays;
    kfe_data *dense = support_dense(ctx, IMAGES, PIXELS, pixels, NULL);
    kfe_data *sparse = support_sparse(ctx, IMAGES, PIXELS, pixels, NULL, &arrays);

    for (int threads = 1; threads <= 3; threads++) {
        assert_ok(ctx, kfe_context_set_threads(ctx, threads));
        compare(ctx, dense, pixels);
        compare(ctx, sparse, pixels);
    }
    kfe_data_free(dense);
    kfe_data_free(sparse);
    support_csr_free(&arrays);
    free(pixels);
}

static void test_labels_and_targets_go_along(void **state)
{
    kfe_context *ctx = *state;
    double *pixels = make_images(2, IMAGES);
    int class_of[IMAGES] = {0, 1, 1, 0, 2, 2, 1};
    kfe_data *images = support_dense(ctx, IMAGES, PIXELS, pixels, class_of);
    kfe_data *features = NULL;

    assert_ok(ctx, kfe_data_viola_jones(ctx, images, WIDTH, HEIGHT, &features));
    assert_int_equal(kfe_data_classes(features), 3);
    for (int64_t i = 0; i < IMAGES; i++)
        assert_int_equal(kfe_data_class_of(features, i), class_of[i]);
    kfe_data_free(features);
    assert_ok(ctx, kfe_data_set_targets(ctx, images, 1, pixels));
    assert_ok(ctx, kfe_data_viola_jones(ctx, images, WIDTH, HEIGHT, &features));
    assert_int_equal(kfe_data_task(features), KFE_TASK_REAL);
    kfe_data_free(features);
    kfe_data_free(images);
    free(pixels);
}

static void test_what_is_no_image_is_refused(void **state)
{
    static const char *const strings[] = {"ACGT", "TTTT"};
    kfe_context *ctx = *state;
    double *pixels = make_images(3, IMAGES);
    kfe_data *images = support_dense(ctx, IMAGES, PIXELS, pixels, NULL);
    kfe_data *text = NULL;
    kfe_data *out = NULL;

    assert_ok(ctx, kfe_data_from_text(ctx, 2, strings, &text));
    assert_fails(ctx, KFE_EINPUT, "6 × 6 have 36 pixels, but the rows have 35",
                 kfe_data_viola_jones(ctx, images, 6, 6, &out));
    assert_null(out);
    assert_fails(ctx, KFE_EINVAL, "between", kfe_data_viola_jones(ctx, images, -7, -5, &out));
    assert_fails(ctx, KFE_EINVAL, "between", kfe_data_viola_jones(ctx, images, 0, 5, &out));
    assert_fails(ctx, KFE_EINVAL, "between", kfe_data_viola_jones(ctx, images, INT64_MAX, INT64_MAX, &out));
    assert_fails(ctx, KFE_EINPUT, "strings", kfe_data_viola_jones(ctx, text, 2, 2, &out));
    pixels[PIXELS + 2] = NAN;
    assert_fails(ctx, KFE_EINPUT, "row 2, column 3", kfe_data_viola_jones(ctx, images, WIDTH, HEIGHT, &out));
    pixels[PIXELS + 2] = 0;
    assert_ok(ctx, kfe_context_set_memory(ctx, 10000));
    assert_fails(ctx, KFE_ELIMIT, "rectangle features",
                 kfe_data_viola_jones(ctx, images, WIDTH, HEIGHT, &out));
    kfe_data_free(images);
    kfe_data_free(text);
    free(pixels);
}

static kfe_status map_images(kfe_context *ctx, void *user)
{
    const double *pixels = user;
    const char *labels[IMAGES] = {"a", "b", "a", "b", "a", "b", "c"};
    kfe_data *images = NULL;
    kfe_data *features = NULL;
    kfe_status status;

    if ((status = kfe_data_wrap_dense(ctx, IMAGES, PIXELS, PIXELS, pixels, &images)) == KFE_OK &&
        (status = kfe_data_set_labels(ctx, images, labels)) == KFE_OK)
        status = kfe_data_viola_jones(ctx, images, WIDTH, HEIGHT, &features);
    kfe_data_free(features);
    kfe_data_free(images);
    return status;
}

static void test_allocations_that_fail(void **state)
{
    double *pixels = make_images(4, IMAGES);

    (void)state;
    support_sweep_all("rectangle features", map_images, pixels, 10);
    free(pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        with_context(test_features_equal_sums_over_pixels),
        with_context(test_labels_and_targets_go_along),
        with_context(test_what_is_no_image_is_refused),
        cmocka_unit_test(test_allocations_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
