/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The candidates of kfe_tune: one table row each. A new candidate is one row.
 *
 * Widths are multiples of a typical one. For the Gaussian kernel that is gamma=median on the prepared and scaled rows. For the
 * Laplacian kernel it is the same distance in the city-block norm, which for d columns of like spread is about
 * √(2d/π) times the Euclidean one. The labels have no part in it. Several views have a width each, so that their grids
 * have the names of widths instead.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "learn/learner.h"
#include "method/method.h"
#include "model/prepare.h"
#include "select/step_axis.h"
#include "workflow/tune.h"

#define ANY_TASK (KFE_TUNE_CLASSES | KFE_TUNE_REAL)
#define ANY_TABLE (KFE_TUNE_DENSE | KFE_TUNE_SPARSE)
#define WIDTHS "gamma=@0.0156,0.0625,0.25,1,4"
#define PRICES "C=0.1,1,10,100,1000"
#define REAL_PRICES "C=$0.3,1,3,10,30", "epsilon=$0.03,0.1,0.3"
#define STANDARDISED "scale=standard"
#define LENGTHS "length=2,3,4,5"

/* The first of equally good candidates is preferred, so simple ones stand first. */
static const kfe_i_candidate table[] = {
    {"least squares",
     "none",
     NULL,
     "ls",
     ANY_TASK | ANY_TABLE | KFE_TUNE_SEVERAL | KFE_TUNE_BASELINE,
     {"l2=0.01,1,100,10000"}},
    {"linear SVM",
     "none",
     NULL,
     "linear-svm",
     KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_BASELINE,
     {"C=0.001,0.01,0.1,1,10"}},
    {"linear SVM",
     "none",
     "linear",
     "svm",
     KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_BASELINE | KFE_TUNE_WEIGHTED,
     {"C=0.001,0.01,0.1,1,10"}},
    {"nearest neighbours",
     "none",
     NULL,
     "knn",
     ANY_TASK | ANY_TABLE | KFE_TUNE_SEVERAL | KFE_TUNE_BASELINE,
     {"neighbors=1,3,7,15,31"}},
    {"SVM, Gaussian kernel",
     "none",
     "rbf",
     "svm",
     KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_VIEWS | KFE_TUNE_BASELINE,
     {WIDTHS, PRICES}},
    {"SVM, Laplacian kernel",
     "none",
     "laplacian",
     "svm",
     KFE_TUNE_CLASSES | KFE_TUNE_DENSE | KFE_TUNE_VIEWS | KFE_TUNE_BASELINE,
     {WIDTHS, PRICES}},
    {"SVM, Gaussian kernel, standardised",
     "none",
     "rbf",
     "svm",
     KFE_TUNE_CLASSES | KFE_TUNE_DENSE | KFE_TUNE_WIDE | KFE_TUNE_BASELINE,
     {STANDARDISED, WIDTHS, PRICES}},
    {"SVM, cosine kernel",
     "none",
     "cosine",
     "svm",
     KFE_TUNE_CLASSES | KFE_TUNE_SPARSE | KFE_TUNE_BASELINE,
     {PRICES}},
    {"SVM, Gaussian kernel",
     "none",
     "rbf",
     "svm",
     KFE_TUNE_REAL | ANY_TABLE | KFE_TUNE_VIEWS | KFE_TUNE_BASELINE,
     {WIDTHS, REAL_PRICES}},
    {"SVM, Laplacian kernel",
     "none",
     "laplacian",
     "svm",
     KFE_TUNE_REAL | KFE_TUNE_DENSE | KFE_TUNE_VIEWS | KFE_TUNE_BASELINE,
     {WIDTHS, REAL_PRICES}},
    {"kfd, Gaussian kernel",
     "kfd",
     "rbf",
     "knn",
     KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_VIEWS,
     {WIDTHS, "ridge=0.0001,0.001,0.01,0.1", "neighbors=5,15"}},
    {"kfd, Laplacian kernel",
     "kfd",
     "laplacian",
     "knn",
     KFE_TUNE_CLASSES | KFE_TUNE_DENSE | KFE_TUNE_VIEWS,
     {WIDTHS, "ridge=0.0001,0.001,0.01,0.1", "neighbors=5,15"}},
    {"kfd, cosine kernel",
     "kfd",
     "cosine",
     "knn",
     KFE_TUNE_CLASSES | KFE_TUNE_SPARSE,
     {"ridge=0.0001,0.001,0.01,0.1", "neighbors=5,15"}},
    {"kfd, Gaussian kernel, centroids",
     "kfd",
     "rbf",
     "centroid",
     KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_VIEWS | KFE_TUNE_WEIGHTED,
     {WIDTHS, "ridge=0.0001,0.001,0.01,0.1"}},
    {"kfd, Laplacian kernel, centroids",
     "kfd",
     "laplacian",
     "centroid",
     KFE_TUNE_CLASSES | KFE_TUNE_DENSE | KFE_TUNE_VIEWS | KFE_TUNE_WEIGHTED,
     {WIDTHS, "ridge=0.0001,0.001,0.01,0.1"}},
    {"pls", "pls", NULL, "ls", ANY_TASK | ANY_TABLE | KFE_TUNE_SEVERAL, {"dim=1,2,3,5,8"}},
    {"pls, standardised",
     "pls",
     NULL,
     "ls",
     ANY_TASK | KFE_TUNE_DENSE | KFE_TUNE_WIDE | KFE_TUNE_SEVERAL,
     {STANDARDISED, "dim=1,2,3,5,8"}},
    {"plsda",
     "plsda",
     NULL,
     NULL,
     KFE_TUNE_CLASSES | ANY_TABLE,
     {"dim=1,2,3,5,8", "class-rule=centroid,threshold"}},
    {"splsda", "splsda", NULL, NULL, KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_WIDE, {"dim=2,4", "keep=10,50"}},
    {"kpls, Gaussian kernel",
     "kpls",
     "rbf",
     "ls",
     ANY_TASK | ANY_TABLE | KFE_TUNE_VIEWS | KFE_TUNE_SEVERAL,
     {WIDTHS, "dim=2,4,8,16,32"}},
    {"kpls, Laplacian kernel",
     "kpls",
     "laplacian",
     "ls",
     ANY_TASK | KFE_TUNE_DENSE | KFE_TUNE_VIEWS | KFE_TUNE_SEVERAL,
     {WIDTHS, "dim=2,4,8,16,32"}},
    {"kpls, cosine kernel",
     "kpls",
     "cosine",
     "ls",
     ANY_TASK | KFE_TUNE_SPARSE | KFE_TUNE_SEVERAL,
     {"dim=2,4,8,16,32"}},
    {"koc, Gaussian kernel",
     "koc",
     "rbf",
     "linear-svm",
     KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_VIEWS,
     {WIDTHS, "C=1,10,100"}},
    {"koc, Gaussian kernel, centroids",
     "koc",
     "rbf",
     "centroid",
     KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_VIEWS | KFE_TUNE_WEIGHTED,
     {WIDTHS}},
    {"kpca, Gaussian kernel",
     "kpca",
     "rbf",
     "linear-svm",
     KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_VIEWS,
     {WIDTHS, "dim=8,32", "C=1,100"}},
    {"mkl, Gaussian kernels",
     "mkl",
     "rbf",
     NULL,
     KFE_TUNE_CLASSES | ANY_TABLE | KFE_TUNE_VIEWS | KFE_TUNE_ONLY_VIEWS,
     {WIDTHS, "svm-C=1,10,100"}},
    {"SVM, spectrum kernel",
     "none",
     "spectrum",
     "svm",
     KFE_TUNE_CLASSES | KFE_TUNE_STRINGS | KFE_TUNE_VIEWS | KFE_TUNE_BASELINE,
     {LENGTHS, PRICES}},
    {"SVM, spectrum kernel",
     "none",
     "spectrum",
     "svm",
     KFE_TUNE_REAL | KFE_TUNE_STRINGS | KFE_TUNE_VIEWS | KFE_TUNE_BASELINE,
     {LENGTHS, REAL_PRICES}},
    {"kfd, spectrum kernel",
     "kfd",
     "spectrum",
     "knn",
     KFE_TUNE_CLASSES | KFE_TUNE_STRINGS | KFE_TUNE_VIEWS,
     {LENGTHS, "ridge=auto,0.001,0.1", "neighbors=5,15"}},
    {"kfd, spectrum kernel, centroids",
     "kfd",
     "spectrum",
     "centroid",
     KFE_TUNE_CLASSES | KFE_TUNE_STRINGS | KFE_TUNE_VIEWS | KFE_TUNE_WEIGHTED,
     {LENGTHS, "ridge=auto,0.001,0.1"}},
    {"kpls, spectrum kernel",
     "kpls",
     "spectrum",
     "ls",
     ANY_TASK | KFE_TUNE_STRINGS | KFE_TUNE_VIEWS | KFE_TUNE_SEVERAL,
     {LENGTHS, "dim=2,4,8,16,32"}},
    {"SVM, given kernel",
     "none",
     "precomputed",
     "svm",
     KFE_TUNE_CLASSES | KFE_TUNE_GIVEN | KFE_TUNE_BASELINE,
     {"C=0.01,0.1,1,10,100,1000"}},
    {"SVM, given kernel",
     "none",
     "precomputed",
     "svm",
     KFE_TUNE_REAL | KFE_TUNE_GIVEN | KFE_TUNE_BASELINE,
     {"C=$0.1,0.3,1,3,10,30", "epsilon=$0.03,0.1,0.3"}},
    {"kfd, given kernel",
     "kfd",
     "precomputed",
     "knn",
     KFE_TUNE_CLASSES | KFE_TUNE_GIVEN,
     {"ridge=auto,0.001,0.1,10", "neighbors=5,15"}},
    {"kfd, given kernel, centroids",
     "kfd",
     "precomputed",
     "centroid",
     KFE_TUNE_CLASSES | KFE_TUNE_GIVEN | KFE_TUNE_WEIGHTED,
     {"ridge=auto,0.001,0.1,10"}},
    {"kpls, given kernel",
     "kpls",
     "precomputed",
     "ls",
     ANY_TASK | KFE_TUNE_GIVEN | KFE_TUNE_SEVERAL,
     {"dim=1,2,4,8,16,32"}},
};

/* NULL past the end. */
static const kfe_i_candidate *candidate_at(int index)
{
    return index >= 0 && (size_t)index < sizeof table / sizeof *table ? &table[index] : NULL;
}

/* ---- which can take the data ---- */

static unsigned kind_of_view(const kfe_i_tune *tune, int view)
{
    if (tune->given_kernel)
        return KFE_TUNE_GIVEN;
    if (tune->data->views[view].table.kind == KFE_TABLE_TEXT)
        return KFE_TUNE_STRINGS;
    return kfe_data_is_sparse(tune->data, view) ? KFE_TUNE_SPARSE : KFE_TUNE_DENSE;
}

static int is_wide(const kfe_i_tune *tune)
{
    return kfe_data_cols(tune->data, 0) > tune->different;
}

/* Whether the method, and the learner if there is one, take weights of examples. */
static kfe_status takes_weights(kfe_context *ctx, const kfe_i_candidate *candidate, int *out)
{
    kfe_status status = KFE_OK;
    const kfe_i_method *method = NULL;
    const kfe_i_learner *learner = NULL;

    KFE_TRY(kfe_i_method_find(ctx, candidate->method, &method));
    if (candidate->learner)
        KFE_TRY(kfe_i_learner_find(ctx, candidate->learner, &learner));
    *out = (method->flags & KFE_HAS_SAMPLE_WEIGHTS) && (!learner || learner->flags & KFE_HAS_SAMPLE_WEIGHTS);
cleanup:
    return status;
}

static int can_take(const kfe_i_candidate *candidate, const kfe_i_tune *tune)
{
    const kfe_i_target *target = &tune->data->target;
    int views = tune->data->view_count;
    unsigned needed = target->task == KFE_TASK_REAL ? KFE_TUNE_REAL : KFE_TUNE_CLASSES;

    if (views == 1 && (candidate->flags & KFE_TUNE_ONLY_VIEWS))
        return 0;
    if (!target->weights && (candidate->flags & KFE_TUNE_WEIGHTED))
        return 0;
    if ((candidate->flags & KFE_TUNE_WIDE) && !is_wide(tune))
        return 0;
    if (target->task == KFE_TASK_REAL && target->cols > 1)
        needed |= KFE_TUNE_SEVERAL;
    needed |= views > 1 ? KFE_TUNE_VIEWS : 0u;
    for (int v = 0; v < views; v++)
        needed |= kind_of_view(tune, v);
    return (candidate->flags & needed) == needed;
}

/* Makes the spec of a candidate. */
static kfe_status make_spec(kfe_context *ctx, const kfe_i_candidate *candidate, kfe_spec **out)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_spec_parse(ctx, candidate->method, NULL, candidate->kernel, out));
    if (candidate->learner)
        KFE_TRY(kfe_spec_set_learner(ctx, *out, candidate->learner, NULL));
cleanup:
    if (status != KFE_OK) {
        kfe_spec_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- grids ---- */

/* What widths go by. */
typedef struct typical {
    const char *chain;
    double columns; /* that it makes */
    double median;  /* gamma=median on them; 0: there is none, as when all rows are equal */
    int is_named;   /* widths are named: every fit finds them on its own training rows */
} typical;

/* gamma=median of a Gaussian kernel on the first view, prepared by the chain and scaled as a fit would. */
static kfe_status find_typical(const kfe_i_tune *tune, typical *out)
{
    kfe_status status = KFE_OK;
    kfe_spec *spec = NULL;
    kfe_i_kernel_list kernels;
    kfe_i_table scaled = {0};
    const kfe_i_param *row = NULL;

    kfe_i_kernel_list_init(tune->ctx, &kernels);
    KFE_TRY(kfe_spec_parse(tune->ctx, "kpca", NULL, "rbf:gamma=median", &spec));
    KFE_TRY(kfe_spec_set(tune->ctx, spec, KFE_PREPARE, out->chain));
    KFE_TRY(kfe_i_spec_kernels(tune->ctx, spec, tune->data, &kernels));
    KFE_TRY(kfe_i_scale_views(tune->ctx, kfe_i_spec_scaling(spec), &kernels, tune->data, tune->data, NULL,
                              &scaled));
    out->columns = (double)scaled.cols;
    status = kfe_i_resolve_kernels(tune->ctx, tune->data, &scaled, &kernels);
    row = kfe_i_param_find(&kernels.items[0].def->params, "gamma");
    if (status == KFE_OK)
        out->median = *(const double *)(const void *)((const char *)kernels.items[0].settings + row->offset);
    else if (kfe_i_is_failed_cell(status))
        status = KFE_OK;
cleanup:
    kfe_i_table_free(&scaled);
    kfe_i_kernel_list_free(&kernels);
    kfe_spec_free(spec);
    return status;
}

/* The standard deviation of the first target, each row counted by its weight. */
static double target_spread(const kfe_i_target *target)
{
    double mass = 0;
    double mean = 0;
    double variance = 0;

    if (target->task != KFE_TASK_REAL)
        return 1;
    for (int64_t i = 0; i < target->rows; i++)
        mass += kfe_i_weight_of(target, i);
    for (int64_t i = 0; i < target->rows; i++)
        mean += kfe_i_weight_of(target, i) / mass * target->values[i * target->cols];
    for (int64_t i = 0; i < target->rows; i++) {
        double deviation = target->values[i * target->cols] - mean;
        variance += kfe_i_weight_of(target, i) / mass * deviation * deviation;
    }
    return variance > 0 ? sqrt(variance) : 1;
}

/* The width that '@' multiplies. Standardised rows are 2 × columns apart in the mean, squared. */
static double base_width(const kfe_i_candidate *candidate, const typical *t)
{
    if (strcmp(candidate->grids[0], STANDARDISED) == 0)
        return 1 / (2 * t->columns);
    if (t->median <= 0)
        return 1;
    if (candidate->kernel && strcmp(candidate->kernel, "laplacian") == 0)
        return sqrt(t->median) / sqrt(2 * fmax(t->columns, 2) / acos(-1.0));
    return t->median;
}

/* "C=$0.1,1" with every number multiplied. */
static void put_multiples(kfe_i_text *out, const char *grid, double factor)
{
    const char *numbers = grid + strcspn(grid, "@$");
    const char *separator = "";
    char *end = NULL;

    kfe_i_text_printf(out, "%.*s", (int)(numbers - grid), grid);
    for (numbers++; *numbers; numbers = *end ? end + 1 : end) {
        double value = strtod(numbers, &end);
        kfe_i_text_printf(out, "%s%.4g", separator, value * factor);
        separator = ",";
    }
}

static kfe_status write_grid(kfe_i_tune *tune, const kfe_i_candidate *candidate, const char *grid,
                             const typical *t, char **out)
{
    kfe_i_text text;

    kfe_i_text_init(&text, tune->ctx);
    if (strchr(grid, '@') && t->is_named)
        kfe_i_text_puts(&text, "gamma=scale,median,auto");
    else if (strchr(grid, '@'))
        put_multiples(&text, grid, base_width(candidate, t));
    else if (strchr(grid, '$'))
        put_multiples(&text, grid, target_spread(&tune->data->target));
    else
        kfe_i_text_puts(&text, grid);
    return kfe_i_text_take(&text, out);
}

/* ---- entries ---- */

void kfe_i_entry_free(kfe_context *ctx, kfe_i_entry *entry)
{
    for (int i = 0; i < entry->grid_count; i++)
        kfe_i_free(ctx, entry->grids[i]);
    kfe_i_grid_free(&entry->grid);
    kfe_i_free(ctx, entry->values);
    kfe_i_free(ctx, entry->variances);
    kfe_i_free(ctx, entry->residuals);
    kfe_i_free(ctx, entry->alive);
    kfe_i_free(ctx, entry->reason);
    memset(entry, 0, sizeof *entry);
}

static kfe_status fill_entry(kfe_i_tune *tune, kfe_i_entry *entry)
{
    kfe_status status = KFE_OK;
    const char *axes[KFE_TUNE_AXES + 1];
    kfe_i_grid_texts texts = {.texts = axes};
    char prepare[KFE_PARAM_TEXT_SIZE + sizeof KFE_PREPARE];
    kfe_spec *spec = NULL;

    for (int i = 0; i < entry->grid_count; i++)
        axes[texts.count++] = entry->grids[i];
    kfe_i_snprintf(prepare, sizeof prepare, KFE_PREPARE "=%s", entry->chain);
    if (tune->chain_count > 1 || strcmp(entry->chain, KFE_CHAIN_NONE) != 0)
        axes[texts.count++] = prepare;
    KFE_TRY(make_spec(tune->ctx, entry->candidate, &spec));
    KFE_TRY(kfe_i_grid_make(tune->ctx, spec, texts, NULL, &entry->grid));
    int64_t count = entry->grid.count * tune->searchers;
    KFE_ALLOC(tune->ctx, entry->values, count * KFE_TUNE_FOLDS);
    KFE_ALLOC(tune->ctx, entry->variances, count * KFE_TUNE_FOLDS);
    KFE_ALLOC_ZERO(tune->ctx, entry->alive, count);
    for (int64_t i = 0; i < count * KFE_TUNE_FOLDS; i++)
        entry->values[i] = entry->variances[i] = NAN;
    int64_t sums = count * KFE_TUNE_FOLDS * tune->honest.targets * 2;
    if (sums > 0)
        KFE_ALLOC(tune->ctx, entry->residuals, sums);
    for (int64_t i = 0; i < sums; i++)
        entry->residuals[i] = NAN;
    memset(entry->alive, 1, (size_t)count);
cleanup:
    kfe_spec_free(spec);
    return status;
}

kfe_status kfe_i_tune_add(kfe_i_tune *tune, const kfe_i_candidate *candidate, const char *chain,
                          int grid_count, const char *const *grids)
{
    kfe_status status = KFE_OK;
    kfe_i_entry *entry = NULL;

    KFE_GROW(tune->ctx, tune->entries, tune->entry_capacity, tune->entry_count + 1);
    entry = &tune->entries[tune->entry_count++];
    *entry = (kfe_i_entry){.candidate = candidate, .chain = chain};
    for (int i = 0; i < grid_count; i++) {
        KFE_STRDUP(tune->ctx, entry->grids[i], grids[i]);
        entry->grid_count++;
    }
    KFE_TRY(fill_entry(tune, entry));
cleanup:
    return status;
}

static kfe_status add_candidate(kfe_i_tune *tune, const kfe_i_candidate *candidate, const typical *t)
{
    kfe_status status = KFE_OK;
    char *grids[KFE_TUNE_AXES] = {NULL};
    int count = 0;

    for (; count < KFE_TUNE_AXES && candidate->grids[count]; count++)
        KFE_TRY(write_grid(tune, candidate, candidate->grids[count], t, &grids[count]));
    KFE_TRY(kfe_i_tune_add(tune, candidate, t->chain, count, (const char *const *)grids));
cleanup:
    for (int i = 0; i < KFE_TUNE_AXES; i++)
        kfe_i_free(tune->ctx, grids[i]);
    return status;
}

/* Widths of several views, and of columns that are chosen by the target, have names; others are multiples of a number. */
static kfe_status make_typical(const kfe_i_tune *tune, typical **out)
{
    kfe_status status = KFE_OK;

    KFE_ALLOC_ZERO(tune->ctx, *out, tune->chain_count);
    for (int64_t c = 0; c < tune->chain_count; c++) {
        typical *t = &(*out)[c];
        t->chain = tune->chains[c];
        KFE_TRY(kfe_i_chain_needs_target(tune->ctx, t->chain, &t->is_named));
        t->is_named |= tune->data->view_count > 1;
        t->columns = (double)kfe_data_cols(tune->data, 0);
        if (!t->is_named && (kind_of_view(tune, 0) & ANY_TABLE))
            KFE_TRY(find_typical(tune, t));
    }
cleanup:
    return status;
}

/* One entry for each chain. */
static kfe_status offer(kfe_i_tune *tune, const kfe_i_candidate *candidate, const typical *chains)
{
    kfe_status status = KFE_OK;
    int counts = 1;

    if (!can_take(candidate, tune))
        return KFE_OK;
    if (tune->data->target.weights)
        KFE_TRY(takes_weights(tune->ctx, candidate, &counts));
    for (int64_t c = 0; counts && c < tune->chain_count; c++)
        KFE_TRY(add_candidate(tune, candidate, &chains[c]));
cleanup:
    return status;
}

kfe_status kfe_i_tune_candidates(kfe_i_tune *tune)
{
    kfe_status status = KFE_OK;
    const kfe_i_candidate *candidate;
    typical *chains = NULL;

    KFE_TRY(make_typical(tune, &chains));
    for (int i = 0; (candidate = candidate_at(i)) != NULL; i++)
        KFE_TRY(offer(tune, candidate, chains));
    if (tune->entry_count == 0)
        KFE_FAIL(
            tune->ctx, KFE_EUNSUPPORTED,
            "there is no candidate for this data: its views must be all dense, all sparse or all strings; "
            "compare methods with {kernel} instead, which may name a kernel for each view");
cleanup:
    kfe_i_free(tune->ctx, chains);
    return status;
}
