/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all settings of a grid on all splits: walks the grid from what costs most to change to what costs least,
 * and shares kernel matrices, fits and features on the way. Called by assess.c. */
#include "select/sweep.h"
#include "select/deal.h"
#include "select/duplicates.h"

#include <string.h>

#include "core/cluster.h"
#include "core/memory.h"
#include "select/sweep_method.h"
#include "system/system.h"

static kfe_status run_methods(kfe_i_sweep_state *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;

    r->choice[KFE_AXIS_DIM] = r->largest_dim;
    for (r->choice[KFE_AXIS_METHOD] = 0; r->choice[KFE_AXIS_METHOD] < grid->counts[KFE_AXIS_METHOD];
         r->choice[KFE_AXIS_METHOD]++) {
        r->choice[KFE_AXIS_DIM] = r->largest_dim;
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, r->choice, KFE_AXIS_FIT, KFE_AXIS_DIM, r->spec));
        KFE_TRY(kfe_i_sweep_run_method(r));
    }
cleanup:
    return status;
}

/* ---- groups of splits ---- */

/* Whether any setting with the current kernel is wanted on the splits of the group. */
static int kernel_is_wanted(const kfe_i_sweep_state *r)
{
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t settings =
        grid->counts[KFE_AXIS_METHOD] * grid->counts[KFE_AXIS_DIM] * grid->counts[KFE_AXIS_LEARNER];
    int64_t choice[KFE_AXIS_PLACES] = {r->choice[KFE_AXIS_FIT], r->choice[KFE_AXIS_KERNEL]};
    int64_t first = kfe_i_sweep_setting(grid, choice);

    for (int64_t place = 0; place < r->group.count; place++)
        for (int64_t c = first; c < first + settings; c++)
            if (kfe_i_sweep_wants(r, r->group.members[place], c))
                return 1;
    return 0;
}

/* All methods with the current kernel, on one matrix for all splits if that pays off. */
static kfe_status run_shared(kfe_i_sweep_state *r)
{
    kfe_status status = KFE_OK;
    kfe_i_shared_matrix shared = {0};
    int shares = 0;
    double began = kfe_i_clock();

    KFE_TRY(kfe_i_group_can_share(&r->group, r->spec, r->sweep->grid->counts[KFE_AXIS_METHOD], &shares));
    if (shares) {
        KFE_TRY(kfe_i_group_fill(&r->group, r->spec, &shared));
        r->shared.matrix = &shared;
        KFE_TRY(kfe_i_train_cache_fill(&r->trains, r->sweep->data, r->spec, r->sweep->splits,
                                       r->group.members, r->group.count));
    }
    KFE_TRY(kfe_i_landmark_sums_make(&r->group, r->spec, &r->landmarks));
    r->matrix_seconds += kfe_i_clock() - began;
    KFE_TRY(run_methods(r));
cleanup:
    kfe_i_landmark_sums_free(&r->landmarks);
    r->shared.matrix = NULL;
    return status;
}

/* The current kernel on the splits of the group. `dependent` says which kernels have their turn: those that are resolved on
 * the training rows of a split (1) or those that are the same for all splits (0). The others are passed over. */
static kfe_status run_kernel(kfe_i_sweep_state *r, int dependent)
{
    kfe_status status = KFE_OK;
    int depends = 0;

    KFE_TRY(kfe_i_group_depends_on_rows(&r->group, r->spec, &depends));
    if (depends != dependent || !kernel_is_wanted(r))
        return KFE_OK;
    r->shared.keeps_units = !depends;
    status = run_shared(r);
    if (status != KFE_OK && kfe_i_group_leaves_device(&r->group))
        status = run_shared(r);
cleanup:
    return status;
}

/* Marks all settings with the current kernel, on all splits of the group. */
static kfe_status mark_failed_kernel(kfe_i_sweep_state *r, kfe_status why)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t settings =
        grid->counts[KFE_AXIS_METHOD] * grid->counts[KFE_AXIS_DIM] * grid->counts[KFE_AXIS_LEARNER];
    int64_t choice[KFE_AXIS_PLACES] = {r->choice[KFE_AXIS_FIT], r->choice[KFE_AXIS_KERNEL]};
    int64_t first = kfe_i_sweep_setting(grid, choice);
    kfe_i_task_failure failure = {.status = why};

    KFE_STRDUP(r->ctx, failure.reason, r->ctx->message);
    for (int64_t place = 0; place < r->group.count; place++)
        for (int64_t c = first; c < first + settings; c++) {
            kfe_i_grid_choice(grid, c, choice);
            KFE_TRY(kfe_i_sweep_fail_cell(r, r->group.members[place], choice, &failure));
        }
    r->done += r->group.count * grid->counts[KFE_AXIS_METHOD];
cleanup:
    kfe_i_free(r->ctx, failure.reason);
    return status;
}

/* All kernels of one kind (see run_kernel) on the splits of the group. */
static kfe_status run_group(kfe_i_sweep_state *r, int dependent)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;

    for (r->choice[KFE_AXIS_KERNEL] = 0; r->choice[KFE_AXIS_KERNEL] < grid->counts[KFE_AXIS_KERNEL];
         r->choice[KFE_AXIS_KERNEL]++) {
        r->choice[KFE_AXIS_METHOD] = 0;
        r->choice[KFE_AXIS_DIM] = r->largest_dim;
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, r->choice, KFE_AXIS_FIT, KFE_AXIS_DIM, r->spec));
        status = run_kernel(r, dependent);
        if (kfe_i_is_failed_cell(status))
            status = mark_failed_kernel(r, status);
        KFE_TRY(status);
    }
cleanup:
    return status;
}

/* One choice of fit options: first the kernels that all splits share, then split by split the others. */
static kfe_status run_fit_options(kfe_i_sweep_state *r)
{
    kfe_status status = KFE_OK;
    int64_t splits = r->sweep->splits->count;

    kfe_i_train_cache_free(&r->trains);
    KFE_TRY(kfe_i_grid_apply(r->ctx, r->sweep->grid, r->choice, KFE_AXIS_FIT, KFE_AXIS_FIT, r->spec));
    KFE_TRY(kfe_i_train_cache_init(r->ctx, r->sweep->data, r->spec, r->sweep->splits, &r->trains));
    KFE_TRY(kfe_i_group_set(&r->group, 0, splits));
    KFE_TRY(run_group(r, 0));
    for (int64_t s = 0; s < splits; s++) {
        KFE_TRY(kfe_i_group_set(&r->group, s, 1));
        KFE_TRY(run_group(r, 1));
    }
cleanup:
    return status;
}

/* ---- beginning and end ---- */

static kfe_status read_dims(kfe_i_sweep_state *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t choice[KFE_AXIS_PLACES] = {0};

    KFE_ALLOC_ZERO(r->ctx, r->dims, grid->counts[KFE_AXIS_DIM]);
    for (int64_t i = 0; i < grid->axis_count; i++) {
        if (grid->axes[i].place != KFE_AXIS_DIM)
            continue;
        for (int64_t d = 0; d < grid->axes[i].count; d++) {
            const kfe_i_param *row = kfe_i_param_find(&grid->base->method->params, "dim");
            choice[KFE_AXIS_DIM] = d;
            KFE_TRY(kfe_i_grid_apply(r->ctx, grid, choice, KFE_AXIS_DIM, KFE_AXIS_DIM, r->spec));
            r->dims[d] = *(const int64_t *)(const void *)((const char *)r->spec->settings + row->offset);
            r->largest_dim = r->dims[d] > r->dims[r->largest_dim] ? d : r->largest_dim;
        }
    }
cleanup:
    return status;
}

static kfe_status read_learners(kfe_i_sweep_state *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_grid *grid = r->sweep->grid;
    int64_t choice[KFE_AXIS_PLACES] = {0};

    KFE_ALLOC_ZERO(r->ctx, r->learners, grid->counts[KFE_AXIS_LEARNER]);
    for (int64_t l = 0; l < grid->counts[KFE_AXIS_LEARNER]; l++) {
        choice[KFE_AXIS_LEARNER] = l;
        KFE_TRY(kfe_i_spec_copy(r->ctx, grid->base, &r->learners[l]));
        KFE_TRY(kfe_i_grid_apply(r->ctx, grid, choice, KFE_AXIS_LEARNER, KFE_AXIS_LEARNER, r->learners[l]));
    }
cleanup:
    return status;
}

static int64_t most_test_rows(const kfe_i_splits *splits)
{
    int64_t most = 0;

    for (int64_t s = 0; s < splits->count; s++)
        most = splits->items[s].test_count > most ? splits->items[s].test_count : most;
    return most;
}

static kfe_status begin_run(kfe_i_sweep_state *r)
{
    kfe_status status = KFE_OK;
    const kfe_i_sweep *sweep = r->sweep;
    const kfe_i_grid *grid = sweep->grid;

    KFE_TRY(kfe_i_sweep_check(r->ctx, sweep));
    const kfe_i_target *target = &sweep->data->target;
    int64_t width = target->task == KFE_TASK_REAL ? target->cols : 1;
    const kfe_i_cells shape = {.splits = sweep->splits->count,
                               .settings = grid->count,
                               .metrics = sweep->metric_count,
                               .targets = target->task == KFE_TASK_REAL ? target->cols : 0,
                               .kept = sweep->keeps_predictions ? width * most_test_rows(sweep->splits) : 0};
    KFE_TRY(kfe_i_cells_make(r->ctx, &shape, r->cells));
    KFE_TRY(kfe_i_group_init(r->ctx, sweep->data, sweep->splits, &r->group));
    KFE_TRY(kfe_i_spec_copy(r->ctx, grid->base, &r->spec));
    KFE_TRY(read_dims(r));
    KFE_TRY(read_learners(r));
    r->began = kfe_i_clock();
    r->total = sweep->splits->count * grid->counts[KFE_AXIS_FIT] * grid->counts[KFE_AXIS_KERNEL] *
               grid->counts[KFE_AXIS_METHOD];
cleanup:
    return status;
}

static void end_run(kfe_i_sweep_state *r)
{
    for (int64_t l = 0; r->learners && l < r->sweep->grid->counts[KFE_AXIS_LEARNER]; l++)
        kfe_spec_free(r->learners[l]);
    kfe_i_free(r->ctx, r->learners);
    kfe_i_free(r->ctx, r->dims);
    kfe_i_group_free(&r->group);
    kfe_i_train_cache_free(&r->trains);
    kfe_i_row_sums_free(&r->sums);
    kfe_spec_free(r->spec);
}

static int64_t count_wanted(const kfe_i_sweep *sweep)
{
    int64_t cells = sweep->splits->count * sweep->grid->count;
    int64_t wanted = 0;

    for (int64_t i = 0; sweep->wanted && i < cells; i++)
        wanted += sweep->wanted[i] != 0;
    return sweep->wanted ? wanted : cells;
}

/* Fits the cells that are wanted; each stays in this process. */
static kfe_status run_cells(kfe_context *ctx, const kfe_i_sweep *sweep, kfe_i_cells *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sweep_state r = {.ctx = ctx, .sweep = sweep, .cells = out, .learns_on_device = 1};

    KFE_TRY(begin_run(&r));
    for (r.choice[KFE_AXIS_FIT] = 0; r.choice[KFE_AXIS_FIT] < sweep->grid->counts[KFE_AXIS_FIT];
         r.choice[KFE_AXIS_FIT]++)
        KFE_TRY(run_fit_options(&r));
    kfe_i_log(ctx, KFE_LOG_DEBUG,
              "the search took %.3g s for kernel matrices, %.3g s for features, %.3g s for learning",
              r.matrix_seconds, r.feature_seconds, r.learning_seconds);
cleanup:
    end_run(&r);
    return status;
}

/* In a cluster: this process fits the cells that it is dealt, and gets the others. */
static kfe_status run_dealt_cells(kfe_context *ctx, const kfe_i_sweep *sweep, kfe_i_cells *out)
{
    kfe_status status = KFE_OK;
    kfe_i_sweep own = *sweep;
    unsigned char *wanted = NULL;

    KFE_ALLOC(ctx, wanted, sweep->splits->count * sweep->grid->count);
    kfe_i_deal_cells(ctx, sweep, wanted);
    own.wanted = wanted;
    kfe_i_cluster *cluster = kfe_i_cluster_pause(ctx);
    status = run_cells(ctx, &own, out);
    kfe_i_cluster_resume(ctx, cluster);
    if (status == KFE_OK)
        status = kfe_i_deal_exchange(ctx, sweep, out);
cleanup:
    kfe_i_free(ctx, wanted);
    return status;
}

kfe_status kfe_i_sweep_run(kfe_context *ctx, const kfe_i_sweep *asked, kfe_i_cells *out)
{
    kfe_status status = KFE_OK;
    kfe_i_duplicates duplicates = {0};
    kfe_i_sweep once = *asked;

    memset(out, 0, sizeof *out);
    KFE_TRY(kfe_i_duplicates_find(ctx, asked->grid, asked->splits->count, asked->wanted, &duplicates));
    once.wanted = duplicates.first ? duplicates.wanted : asked->wanted;
    KFE_TRY(kfe_i_processes(ctx) > 1 ? run_dealt_cells(ctx, &once, out) : run_cells(ctx, &once, out));
    if (out->failed > 0 && out->failed == count_wanted(&once))
        KFE_FAIL(ctx, out->failures[0].status, "%s", out->failures[0].reason);
    KFE_TRY(kfe_i_duplicates_fill(&duplicates, asked->wanted, out));
cleanup:
    kfe_i_duplicates_free(&duplicates);
    if (status != KFE_OK)
        kfe_i_cells_free(out);
    return status;
}
