/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rectangle features of Viola & Jones: a grid of equal rectangles, side by side, of which neighbours have
 * opposite signs, the one at the upper left being negative. Five grids (columns × rows):
 *
 *     2×1, 1×2   two rectangles:   the right minus the left, the lower minus the upper
 *     3×1, 1×3   three rectangles: the middle one minus the two outside
 *     2×2        four rectangles:  one diagonal pair minus the other
 *
 * Every grid is taken at every position and with every size of rectangle, one pixel and more each way, that
 * fits into the image. Order: grids as above; then height, width, top, left of the rectangle at the upper
 * left, the last changing fastest.
 *
 * That makes 162,336 features of 24 × 24 pixels and 63,960 of 19 × 19. Dhanjal et al. have 30,798 of 19 × 19
 * and do not say which. No natural choice of grids, smallest and largest sizes, steps of sizes and of
 * positions that we tried has that number (near it: rectangles of at least 3 pixels across and 2 along the
 * division, 31,180; at least 3 × 3, 28,228). Whichever they are, rectangles of one size side by side are all
 * among these.
 *
 * A sum over a rectangle is four entries of the integral image I(x, y) = Σ of the pixels above and left of
 * (x, y).
 *
 * Viola & Jones, "Robust Real-Time Face Detection" (2004); Dhanjal, Gunn & Shawe-Taylor (2009), section 6.4.
 * Time: O(1) a feature; memory: the features, and one integral image a thread.
 */
#include "data/set/viola_jones.h"

#include <omp.h>
#include <string.h>

#include "core/memory.h"
#include "data/data.h"

typedef struct grid {
    int64_t across, down;
} grid;

static const grid grids[] = {{2, 1}, {1, 2}, {3, 1}, {1, 3}, {2, 2}};
enum { GRID_COUNT = sizeof grids / sizeof *grids };

/* Positions and sizes along one side of `length` pixels that is divided into `parts`. */
static int64_t placements(int64_t length, int64_t parts)
{
    int64_t count = 0;

    for (int64_t size = 1; size * parts <= length; size++)
        count += length - size * parts + 1;
    return count;
}

int64_t kfe_i_viola_jones_count(int64_t width, int64_t height)
{
    int64_t count = 0;

    for (int g = 0; g < GRID_COUNT; g++)
        count += placements(width, grids[g].across) * placements(height, grids[g].down);
    return count;
}

/* (height + 1) × (width + 1), zeros in the first row and column. */
static void integrate(int64_t width, int64_t height, const double *pixels, double *integral)
{
    int64_t stride = width + 1;

    memset(integral, 0, (size_t)stride * sizeof *integral);
    for (int64_t y = 0; y < height; y++) {
        double *row = integral + (y + 1) * stride;
        double sum = 0;
        row[0] = 0;
        for (int64_t x = 0; x < width; x++) {
            sum += pixels[y * width + x];
            row[x + 1] = row[x + 1 - stride] + sum;
        }
    }
}

/* The signed sum over a grid whose upper left corner is `corner`: each corner of a rectangle is one entry. */
static double grid_value(const grid *shape, const double *corner, int64_t stride, int64_t w, int64_t h)
{
    double value = 0;

    for (int64_t b = 0; b < shape->down; b++)
        for (int64_t a = 0; a < shape->across; a++) {
            const double *upper = corner + b * h * stride + a * w;
            const double *lower = upper + h * stride;
            double sum = (lower[w] - lower[0]) - (upper[w] - upper[0]);
            value += (a + b) % 2 ? sum : -sum;
        }
    return value;
}

/* Computes one grid with rectangles of w × h at all positions; returns the place of the next feature. */
static double *slide(const grid *shape, int64_t width, int64_t height, int64_t w, int64_t h,
                     const double *integral, double *feature)
{
    int64_t stride = width + 1;

    for (int64_t top = 0; top + h * shape->down <= height; top++)
        for (int64_t left = 0; left + w * shape->across <= width; left++)
            *feature++ = grid_value(shape, integral + top * stride + left, stride, w, h);
    return feature;
}

/* Computes features[count] of a row-major image. `integral` is workspace for (width + 1)·(height + 1) numbers. */
static void compute_image(int64_t width, int64_t height, const double *pixels, double *integral,
                          double *features)
{
    integrate(width, height, pixels, integral);
    for (int g = 0; g < GRID_COUNT; g++)
        for (int64_t h = 1; h * grids[g].down <= height; h++)
            for (int64_t w = 1; w * grids[g].across <= width; w++)
                features = slide(&grids[g], width, height, w, h, integral, features);
}

/* ---- data sets ---- */

static kfe_status check_images(kfe_context *ctx, const kfe_data *images, int64_t width, int64_t height)
{
    const kfe_i_view *view = &images->views[0];

    if (width < 1 || width > KFE_VIOLA_JONES_LARGEST || height < 1 || height > KFE_VIOLA_JONES_LARGEST ||
        width * height < 2)
        return kfe_i_fail(ctx, KFE_EINVAL, "images have between 2 pixels and %d × %d, not %lld × %lld",
                          KFE_VIOLA_JONES_LARGEST, KFE_VIOLA_JONES_LARGEST, (long long)width,
                          (long long)height);
    if (images->view_count > 1)
        return kfe_i_fail(ctx, KFE_EINVAL,
                          "rectangle features are computed from one table of images, not from %d",
                          images->view_count);
    if (view->table.kind == KFE_TABLE_TEXT)
        return kfe_i_fail(ctx, KFE_EINPUT, "%s: strings are not images", kfe_i_view_shown(view));
    if (view->table.cols != width * height)
        return kfe_i_fail(ctx, KFE_EINPUT,
                          "%s: images of %lld × %lld have %lld pixels, but the rows have %lld numbers; is a "
                          "label among them (see {label})?",
                          kfe_i_view_shown(view), (long long)width, (long long)height,
                          (long long)(width * height), (long long)view->table.cols);
    return kfe_i_table_check_finite(ctx, &view->table, kfe_i_view_shown(view));
}

/* Every thread has workspace for one image and its integral. */
static void map_rows(const kfe_i_table *images, int64_t width, int64_t height, int threads, double *room,
                     kfe_i_table *features)
{
    int64_t pixels = width * height;
    int64_t share = pixels + (width + 1) * (height + 1);

#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < images->rows; i++) {
        double *image = room + omp_get_thread_num() * share;
        kfe_i_table_dense_row(images, i, image);
        compute_image(width, height, image, image + pixels, features->values + i * features->stride);
    }
}

static kfe_status map_data(kfe_context *ctx, const kfe_data *images, int64_t width, int64_t height,
                           kfe_data *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_table *table = &images->views[0].table;
    int threads = kfe_context_threads(ctx);
    int64_t count = kfe_i_viola_jones_count(width, height);
    double *room = NULL;

    KFE_TRY(kfe_i_check_memory(ctx, 8.0 * (double)count * (double)table->rows, "the rectangle features",
                               "raise {memory} or convert fewer images at a time"));
    KFE_TRY(kfe_i_table_new_dense(ctx, table->rows, count, &out->views[0].table));
    KFE_TRY(kfe_i_view_copy_name(ctx, &images->views[0], &out->views[0]));
    KFE_ALLOC(ctx, room, threads * (width * height + (width + 1) * (height + 1)));
    map_rows(table, width, height, threads, room, &out->views[0].table);
    KFE_TRY(kfe_data_copy_target(ctx, images, out));
cleanup:
    kfe_i_free(ctx, room);
    return status;
}

kfe_status kfe_data_viola_jones(kfe_context *ctx, const kfe_data *images, int64_t width, int64_t height,
                                kfe_data **out)
{
    kfe_status status = KFE_OK;

    *out = NULL;
    KFE_TRY(check_images(ctx, images, width, height));
    KFE_TRY(kfe_i_data_new(ctx, 1, out));
    KFE_TRY(map_data(ctx, images, width, height, *out));
cleanup:
    if (status != KFE_OK) {
        kfe_data_free(*out);
        *out = NULL;
    }
    return status;
}
