/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (A + ridge·I) X = R by ScaLAPACK's Cholesky factorisation, with A divided over all processes; the solver of the library uses it
 * through the table.
 *
 * The processes form a grid of p rows and q columns, as square as their number allows. Blocks of 128 × 128 entries are dealt in both
 * directions (block-cyclic), and every process evaluates those of its blocks that touch the lower triangle. The factorisation takes n³/3
 * operations, 8n²/(pq) bytes in each process, and sends about 8n²·(1/p + 1/q)·log₂(pq)/2 bytes.
 *
 * ScaLAPACK waits for other processes without asking whether they have failed, so all agree that the matrix is complete before it begins.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/mpi/mpi_cluster.h"

#ifdef KFE_HAVE_SCALAPACK

enum { BLOCK = 128, DESCRIPTOR = 9, CONTEXT = 1 /* place of the grid in a descriptor */ };

extern int Csys2blacs_handle(MPI_Comm comm);
extern void Cfree_blacs_system_handle(int handle);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int cols);
extern void Cblacs_gridinfo(int context, int *rows, int *cols, int *row, int *col);
extern void Cblacs_gridexit(int context);
extern int numroc_(const int *n, const int *block, const int *at, const int *from, const int *count);
extern void descinit_(int *out, const int *m, const int *n, const int *mb, const int *nb, const int *row,
                      const int *col, const int *context, const int *lead, int *info);
extern void pdpotrf_(const char *half, const int *n, double *a, const int *ia, const int *ja, const int *desc,
                     int *info);
extern void pdpotrs_(const char *half, const int *n, const int *k, const double *a, const int *ia,
                     const int *ja, const int *desc, double *b, const int *ib, const int *jb,
                     const int *descb, int *info);

/* Where this process is, and its parts of the matrix and of the right-hand sides, column after column. */
typedef struct layout {
    int handle, context;
    int rows, cols, row, col; /* of the grid; of this process in it */
    int n, k;
    int local_rows, local_cols, right_cols, lead;
    int matrix[DESCRIPTOR], right[DESCRIPTOR];
    double *a, *b, *tile;
} layout;

int kfe_mpi_has_solve(void)
{
    return 1;
}

static int grid_rows(int processes)
{
    int rows = 1;

    for (int r = 1; (int64_t)r * r <= processes; r++)
        if (processes % r == 0)
            rows = r;
    return rows;
}

double kfe_mpi_solve_bytes(const kfe_cluster *cluster, int64_t order, int64_t columns)
{
    double rows = grid_rows(cluster->processes);
    double cols = cluster->processes / rows;
    double local = ((double)order / rows + BLOCK) * ((double)order / cols + BLOCK);

    return 8 * (local + ((double)order / rows + BLOCK) * ((double)columns / cols + BLOCK));
}

static int arrange(const kfe_cluster *cluster, const kfe_cluster_system *system, layout *l)
{
    const int block = BLOCK;
    const int zero = 0;
    int info = 0;

    l->n = (int)system->order;
    l->k = (int)system->columns;
    l->rows = grid_rows(cluster->processes);
    l->cols = cluster->processes / l->rows;
    l->handle = l->context = Csys2blacs_handle(cluster->work);
    Cblacs_gridinit(&l->context, "Row", l->rows, l->cols);
    Cblacs_gridinfo(l->context, &l->rows, &l->cols, &l->row, &l->col);
    l->local_rows = numroc_(&l->n, &block, &l->row, &zero, &l->rows);
    l->local_cols = numroc_(&l->n, &block, &l->col, &zero, &l->cols);
    l->right_cols = numroc_(&l->k, &block, &l->col, &zero, &l->cols);
    l->lead = l->local_rows > 1 ? l->local_rows : 1;
    descinit_(l->matrix, &l->n, &l->n, &block, &block, &zero, &zero, &l->context, &l->lead, &info);
    descinit_(l->right, &l->n, &l->k, &block, &block, &zero, &zero, &l->context, &l->lead, &info);
    l->a = calloc((size_t)l->lead * (size_t)(l->local_cols > 0 ? l->local_cols : 1), sizeof *l->a);
    l->b = calloc((size_t)l->lead * (size_t)(l->right_cols > 0 ? l->right_cols : 1), sizeof *l->b);
    l->tile = malloc((size_t)BLOCK * BLOCK * sizeof *l->tile);
    return info == 0 && l->a && l->b && l->tile;
}

/* Where the local row or column lies in the whole matrix. */
static int64_t global_of(int local, int at, int count)
{
    return ((int64_t)(local / BLOCK) * count + at) * BLOCK + local % BLOCK;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Evaluates the blocks of this process; those above the diagonal are not needed. Returns nonzero if the caller is to stop. */
static int fill(const kfe_cluster_system *system, layout *l)
{
    for (int j = 0; j < l->local_cols; j += BLOCK)
        for (int i = 0; i < l->local_rows; i += BLOCK) {
            int64_t row = global_of(i, l->row, l->rows);
            int64_t col = global_of(j, l->col, l->cols);
            int rows = least(BLOCK, l->local_rows - i);
            int cols = least(BLOCK, l->local_cols - j);
            if (row + rows <= col)
                continue;
            if (system->block(system->user, row, rows, col, cols, l->tile))
                return 1;
            for (int c = 0; c < cols; c++)
                for (int r = 0; r < rows; r++)
                    l->a[(int64_t)(j + c) * l->lead + i + r] =
                        l->tile[r * cols + c] + (row + r == col + c ? system->ridge : 0);
        }
    return 0;
}

static void scatter_right(const kfe_cluster_system *system, layout *l)
{
    for (int j = 0; j < l->right_cols; j++)
        for (int i = 0; i < l->local_rows; i++)
            l->b[(int64_t)j * l->lead + i] =
                system
                    ->right[global_of(i, l->row, l->rows) * system->columns + global_of(j, l->col, l->cols)];
}

/* Each number is on one process: the sum over processes is the solution. */
static kfe_cluster_status collect(kfe_cluster *cluster, const kfe_cluster_system *system, const layout *l)
{
    memset(system->right, 0, (size_t)(system->order * system->columns) * sizeof *system->right);
    for (int j = 0; j < l->right_cols; j++)
        for (int i = 0; i < l->local_rows; i++)
            system->right[global_of(i, l->row, l->rows) * system->columns + global_of(j, l->col, l->cols)] =
                l->b[(int64_t)j * l->lead + i];
    return kfe_mpi_sum(cluster, system->right, system->order * system->columns);
}

/* Whether all processes are ready. */
static kfe_cluster_status agree(kfe_cluster *cluster, int ready, kfe_cluster_status otherwise)
{
    double count = ready;
    kfe_cluster_status status = kfe_mpi_sum(cluster, &count, 1);

    if (status != KFE_CLUSTER_OK)
        return status;
    return count == cluster->processes ? KFE_CLUSTER_OK : otherwise;
}

kfe_cluster_status kfe_mpi_solve(kfe_cluster *cluster, const kfe_cluster_system *system)
{
    kfe_cluster_status status = KFE_CLUSTER_OK;
    const int one = 1;
    int info = 0;
    layout l = {0};

    MPI_TRY(agree(cluster, arrange(cluster, system, &l), KFE_CLUSTER_NO_MEMORY));
    MPI_TRY(agree(cluster, !fill(system, &l), KFE_CLUSTER_STOPPED));
    scatter_right(system, &l);
    pdpotrf_("L", &l.n, l.a, &one, &one, l.matrix, &info);
    if (info != 0) {
        status = KFE_CLUSTER_NUMERIC; /* all processes have the same `info` */
        goto done;
    }
    pdpotrs_("L", &l.n, &l.k, l.a, &one, &one, l.matrix, l.b, &one, &one, l.right, &info);
    MPI_TRY(collect(cluster, system, &l));
done:
    if (l.rows > 0) {
        Cblacs_gridexit(l.context);
        Cfree_blacs_system_handle(l.handle);
    }
    free(l.a);
    free(l.b);
    free(l.tile);
    return status;
}

#else

int kfe_mpi_has_solve(void)
{
    return 0;
}

double kfe_mpi_solve_bytes(const kfe_cluster *cluster, int64_t order, int64_t columns)
{
    (void)cluster;
    return 8.0 * (double)order * (double)(order + columns);
}

kfe_cluster_status kfe_mpi_solve(kfe_cluster *cluster, const kfe_cluster_system *system)
{
    (void)cluster;
    (void)system;
    return KFE_CLUSTER_NOT_THERE;
}

#endif
