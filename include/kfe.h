/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfe: kernel feature extraction.
 *
 * The only public header, in the order of a program: context, data, tables of methods and kernels, spec, fit, model,
 * evaluation and search, files. Conventions for every function, unless its comment says otherwise:
 *
 *  - A function that can fail returns kfe_status. On failure its outputs are NULL or zero, and the context holds the
 *    reason (kfe_error_message).
 *  - kfe_x_free accepts NULL and incomplete objects.
 *  - Every call that can fail takes a context first. Calls that change or finish an accumulator, an output or a
 *    stream must get the context that made it. Any other context is refused with KFE_EINVAL.
 *  - A context must outlive the objects made with it. Only one thread at a time may use a context. Threads with a
 *    context each may share data and models that none of them changes.
 *  - fork: the child of a fork() does not have the threads that earlier calls used, and OpenMP would wait for them
 *    forever. The library notices this, and in such a child every context has one thread. Objects that another thread
 *    was using at the fork are undefined in the child. A child that calls exec is not affected.
 *  - OpenMP's waiting threads spin, which slows down a busy machine. To prevent this, set OMP_WAIT_POLICY=passive in
 *    the environment before the program starts (the command does), or call kfe_let_threads_sleep.
 *  - Strings are UTF-8, and the library copies them. A returned `const char *` belongs to the object and is valid as
 *    long as the object exists.
 *  - Rows are examples. Matrices are row-major doubles.
 *  - A function that only reads an object cannot fail and takes no context. It returns what its name says: a number,
 *    or a string, struct or array that belongs to the object; NULL or 0 means that there is none. The last argument
 *    receives the length of an array unless another function gives it. To read a table, count the index up from 0
 *    until the result is NULL.
 *  - Structs of the library (kfe_entry_info, ...) may get more members at their end. kfe_matrix and kfe_rows, which callers
 *    make, keep their layout.
 *  - Options are written "key=value,key=value". A comma or backslash inside a value needs a backslash before it; in
 *    keys, - and _ are equivalent.
 */
#ifndef KFE_H
#define KFE_H

#include <stddef.h>
#include <stdint.h>

#define KFE_VERSION_MAJOR 0
#define KFE_VERSION_MINOR 2
#define KFE_VERSION_PATCH 0
#define KFE_VERSION "0.2.0" /* CMake and the Python package read it from here */

#if defined(_WIN32)
#define KFE_API
#elif defined(__GNUC__)
#define KFE_API __attribute__((visibility("default")))
#else
#define KFE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ----------------------------------------------------------------------------------- */

#define KFE_STATUS_LIST(X)                                                                                   \
    X(KFE_OK, "success")                                                                                     \
    X(KFE_ENOMEM, "out of memory")                                                                           \
    X(KFE_EINVAL, "invalid argument")                                                                        \
    X(KFE_EINPUT, "bad input data")                                                                          \
    X(KFE_EIO, "reading or writing failed")                                                                  \
    X(KFE_EMODEL, "not a usable model file")                                                                 \
    X(KFE_ELIMIT, "memory limit too small")                                                                  \
    X(KFE_ENUMERIC, "numerical failure")                                                                     \
    X(KFE_EUNSUPPORTED, "not supported")                                                                     \
    X(KFE_ECANCEL, "cancelled")                                                                              \
    X(KFE_EDEVICE, "device failure")

#define KFE_STATUS_ENUM_ROW(code, text) code,
typedef enum kfe_status { KFE_STATUS_LIST(KFE_STATUS_ENUM_ROW) KFE_STATUS_COUNT } kfe_status;
#undef KFE_STATUS_ENUM_ROW

/* The text of a status, never NULL. */
KFE_API const char *kfe_status_text(kfe_status status);

/* The version of the library that is running, as "major.minor.patch". */
KFE_API const char *kfe_version(void);

/* ---- context ---------------------------------------------------------------------------------- */

typedef struct kfe_context kfe_context;

typedef enum kfe_level {
    KFE_LOG_ERROR,
    KFE_LOG_WARNING,
    KFE_LOG_NOTICE, /* announcements, such as the number of fits of a search */
    KFE_LOG_INFO,
    KFE_LOG_DEBUG
} kfe_level;

/* Resizes a block; block NULL allocates, size 0 frees. May return NULL. Called from one thread at a time. */
typedef void *(*kfe_reallocate_fn)(void *user, void *block, size_t size);
typedef void (*kfe_log_fn)(void *user, kfe_level level, const char *text);
/* `total` is 0 if it is unknown. A search (kfe_cross_validate, kfe_compare) has one stage, "fit", which counts its
 * fits. Called from the thread that called the library. */
typedef void (*kfe_progress_fn)(void *user, const char *stage, int64_t done, int64_t total);
/* Returns nonzero to stop the running call with KFE_ECANCEL. Called often, but not inside one call of LAPACK, which may
 * take seconds for thousands of examples. */
typedef int (*kfe_cancel_fn)(void *user);

KFE_API kfe_status kfe_context_new(kfe_context **out);
/* The same, but `reallocate` (NULL: realloc) makes every allocation, including the context's own. */
KFE_API kfe_status kfe_context_new_with(kfe_reallocate_fn reallocate, void *user, kfe_context **out);
KFE_API void kfe_context_free(kfe_context *ctx);

/* 0 (the default): OMP_NUM_THREADS if set, otherwise one thread per core. Always 1 in a forked child (see above). */
KFE_API kfe_status kfe_context_set_threads(kfe_context *ctx, int threads);
KFE_API int kfe_context_threads(const kfe_context *ctx);
/* From now on, threads that wait for work sleep instead of spinning, in the whole process, unless the environment says
 * how they wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT or KMP_BLOCKTIME). For hosts such as R and Python, which load OpenMP
 * before anyone can set a variable. With GNU's OpenMP, the first call that uses several threads starts one idle
 * thread per processor, and the library must then stay loaded until the process ends. */
KFE_API void kfe_let_threads_sleep(void);
KFE_API void kfe_context_set_seed(kfe_context *ctx, uint64_t seed);
KFE_API uint64_t kfe_context_seed(const kfe_context *ctx);
/* The memory limit in bytes; 0 (the default) means 70 % of the memory that is free at the time, within the limits of
 * control groups. The library counts the allocations of this context and chooses slower algorithms that need less
 * memory. A call that would exceed the limit by more than 16 MB fails with KFE_ELIMIT. */
KFE_API kfe_status kfe_context_set_memory(kfe_context *ctx, int64_t bytes);
KFE_API int64_t kfe_context_memory(const kfe_context *ctx);
/* Where the kernel matrix lives and is computed:
 *
 * - "cpu": the CPU
 * - "cuda": an NVIDIA GPU; "cuda:1" the second one
 * - "host": the CPU, addressed like a device; for tests
 * - "auto": a GPU if there is one and the problem is large enough to gain from it, else the CPU
 * - NULL: the environment variable KFE_DEVICE, else the CPU (the default)
 *
 * A device needs its plug-in, libkfe_NAME.so, beside the library or in a folder of KFE_DEVICE_PATH (absolute paths). Fails with
 * KFE_EUNSUPPORTED and the reason if it cannot be opened. The device that KFE_DEVICE names is opened when a call
 * first needs it. Models do not depend on the device beyond rounding. */
KFE_API kfe_status kfe_context_set_device(kfe_context *ctx, const char *name);
/* The name of the device in use: "cpu" until a call needs another one. */
KFE_API const char *kfe_context_device(const kfe_context *ctx);

/* A device that this machine could use. */
typedef struct kfe_device_entry {
    char name[32];         /* for kfe_context_set_device */
    char description[256]; /* the model of the device, or why it is not usable */
    int usable;
    int64_t memory, free_memory; /* bytes; 0: not usable */
} kfe_device_entry;
/* Lists the devices, the CPU first. A device without a plug-in or a driver has an entry that says so. The caller frees
 * the list. */
typedef struct kfe_device_list kfe_device_list;
KFE_API kfe_status kfe_devices(kfe_context *ctx, kfe_device_list **out);
/* NULL past the end. */
KFE_API const kfe_device_entry *kfe_device_list_entry(const kfe_device_list *list, int index);
KFE_API void kfe_device_list_free(kfe_device_list *list);

/* Shares the work of the calls with this context among processes that MPI started (docs/cluster.md). `communicator` is the address of
 * an MPI_Comm. NULL joins MPI_COMM_WORLD and starts MPI if necessary. To leave, pass the address of MPI_COMM_NULL. Every process must
 * make the same calls with the same data and settings; all get the same results, but only process 0 writes files. Threads and the
 * memory limit are per process; by default, processes on one machine divide its cores and its free memory. Fails with
 * KFE_EUNSUPPORTED if the plug-in libkfe_mpi.so is missing or MPI does not start. */
KFE_API kfe_status kfe_context_set_cluster(kfe_context *ctx, const void *communicator);
/* The number of this process, from 0 on, among the processes that an MPI launcher (mpirun, srun) started together, and their
 * count. Both are read from the environment: 0 and 1 without a launcher. These calls do not need MPI. */
KFE_API int kfe_launched_process(void);
KFE_API int kfe_launched_processes(void);
/* On a processor that it does not know, OpenBLAS can be several times slower than necessary. Returns the value of the
 * environment variable OPENBLAS_CORETYPE that prevents this if set before the program starts. NULL: there is nothing
 * to gain, the variable is set, or the BLAS is not OpenBLAS. */
KFE_API const char *kfe_blas_advice(void);
/* The number of this process, from 0 on, and how many there are: 0 and 1 without a cluster. */
KFE_API int kfe_context_process(const kfe_context *ctx);
KFE_API int kfe_context_processes(const kfe_context *ctx);
/* Tells the other processes the status of a call here, and returns one status for all: that of the lowest-numbered process that
 * failed. kfe_error_message names that process unless all processes have the same message. Every process must call
 * this function after each call of the library, because if one process fails, the others have no result either.
 * Without a cluster it returns `status`. */
KFE_API kfe_status kfe_context_agree(kfe_context *ctx, kfe_status status);
/* Lets kfe_fit save the state of its long loops to the file `path`, whole or not at all. It saves when at least `seconds` have passed
 * since the last time; with 0, as often as possible. Saving never takes more than a twentieth of the time. With
 * `resume`, a fit continues from the state in the file, if the file exists, and gives the same model as without the
 * interruption. A file saved with another spec, seed or data is refused with KFE_EINPUT. The file stays after the
 * fit: delete it when the model is safe. path NULL: nothing is saved (the default). */
KFE_API kfe_status kfe_context_set_checkpoint(kfe_context *ctx, const char *path, double seconds, int resume);
/* How messages write parameters: as options in C, as flags of the command line, as Python keywords or as arguments in R. */
typedef enum kfe_wording {
    KFE_WORDING_C,      /* missing=mean, the default */
    KFE_WORDING_FLAGS,  /* --missing mean */
    KFE_WORDING_PYTHON, /* missing='mean' */
    KFE_WORDING_R,      /* missing = "mean" */
    KFE_WORDING_COUNT
} kfe_wording;
KFE_API kfe_status kfe_context_set_wording(kfe_context *ctx, kfe_wording wording);
/* NULL removes the callback. */
KFE_API void kfe_context_on_log(kfe_context *ctx, kfe_log_fn log, void *user);
KFE_API void kfe_context_on_progress(kfe_context *ctx, kfe_progress_fn progress, void *user);
KFE_API void kfe_context_on_cancel(kfe_context *ctx, kfe_cancel_fn cancel, void *user);

/* ---- failures --------------------------------------------------------------------------------- */

/* The reason for the last failure; "" if there was none. It begins with "file:line:column: " if the failure has a
 * position in a file. Valid until the next failure on this context. */
KFE_API const char *kfe_error_message(const kfe_context *ctx);
/* The position of the last input error, counted from 1; 0: not applicable. */
KFE_API int64_t kfe_error_line(const kfe_context *ctx);
KFE_API int64_t kfe_error_column(const kfe_context *ctx);

/* For your own code: a direction rule, a user kernel, a program. kfe_fail stores `reason` for kfe_error_message and
 * returns `status`. kfe_progress reports progress to the context's callback, and fails with KFE_ECANCEL if the cancel
 * callback asks to stop. */
KFE_API kfe_status kfe_fail(kfe_context *ctx, kfe_status status, const char *reason);
KFE_API kfe_status kfe_progress(kfe_context *ctx, const char *stage, int64_t done, int64_t total);

/* ---- matrices and strings --------------------------------------------------------------------- */

typedef struct kfe_matrix {
    int64_t rows, cols, stride; /* element (i, j) is values[i * stride + j] */
    double *values;
    kfe_context *owner; /* frees values; NULL for borrowed memory */
} kfe_matrix;

/* Frees the values if the matrix owns them, and zeroes the struct. */
KFE_API void kfe_matrix_free(kfe_matrix *matrix);

/* Frees a string that a function of the library returned as `char *`. */
KFE_API void kfe_string_free(kfe_context *ctx, char *string);

/* Writes a matrix in the format that the extension of `path` names: .csv .tsv .npy .npz .svm .libsvm .mtx .arff, each
 * (except .npz) also compressed: .gz, .xz or .zst (a build may lack the last two). "-" is standard output, as CSV.
 * The file appears whole or not at all. */
KFE_API kfe_status kfe_matrix_write(kfe_context *ctx, const kfe_matrix *matrix, const char *path);

/* ---- parameters ------------------------------------------------------------------------------- */

typedef enum kfe_param_type {
    KFE_PARAM_INT,
    KFE_PARAM_REAL,
    KFE_PARAM_CHOICE, /* one of `words` */
    KFE_PARAM_FLAG,   /* yes or no */
    KFE_PARAM_TEXT
} kfe_param_type;

/* One row of a parameter table. A number may also be one of `words`. */
typedef struct kfe_param_info {
    const char *name;
    kfe_param_type type;
    const char *initial; /* the default, as users write it */
    double min, max;     /* inclusive; for numbers only */
    const char *words;   /* "a|b|c" or NULL */
    const char *help;
    const char *alias; /* a former name that is still accepted; NULL: none */
} kfe_param_info;

/* ---- data: reading and making ----------------------------------------------------------------- */

typedef struct kfe_data kfe_data;

typedef enum kfe_task { KFE_TASK_NONE, KFE_TASK_CLASSES, KFE_TASK_REAL } kfe_task;

/* The options for reading data (label, delimiter, header, task, ...), row by row; NULL past the end. */
KFE_API const kfe_param_info *kfe_read_option(int index);

/* Reads one table. `path` "-" is standard input; options NULL: the defaults. */
KFE_API kfe_status kfe_data_read(kfe_context *ctx, const char *path, const char *options, kfe_data **out);
/* Reads several views of the same examples. If `names` or one of them is NULL, the view is named after its file
 * (kfe_view_name); names must differ. The last file contains the label, unless a label file is given. */
KFE_API kfe_status kfe_data_read_views(kfe_context *ctx, int count, const char *const *paths,
                                       const char *const *names, const char *options, kfe_data **out);
/* Writes the name that a view gets from its file: no folder, no extension of a known format or compression
 * ("data/fac.csv.gz": "fac"), cut to size - 1 bytes. */
KFE_API void kfe_view_name(const char *path, char *out, size_t size);
/* Joins several data sets of one view each, which must describe the same examples. The result borrows their tables,
 * so the parts must outlive it. Without `names`, views keep the names of the parts. Labels are copied from the first
 * part that has them. */
KFE_API kfe_status kfe_data_join_views(kfe_context *ctx, int count, const kfe_data *const *parts,
                                       const char *const *names, kfe_data **out);
/* Wraps memory without copying: do not change or free it while the data is in use. */
KFE_API kfe_status kfe_data_wrap_dense(kfe_context *ctx, int64_t rows, int64_t cols, int64_t stride,
                                       const double *values, kfe_data **out);
/* The same for single precision. Transforms, predictions, and fits with kernels of dot products or distances read the
 * values in place; other calls copy them. Results are the same as for these numbers in double precision. */
KFE_API kfe_status kfe_data_wrap_dense_f32(kfe_context *ctx, int64_t rows, int64_t cols, int64_t stride,
                                           const float *values, kfe_data **out);
/* The same for compressed sparse rows: columns from 0, increasing within a row; row_start has rows + 1 entries. */
KFE_API kfe_status kfe_data_wrap_csr(kfe_context *ctx, int64_t rows, int64_t cols, const int64_t *row_start,
                                     const int32_t *columns, const double *values, kfe_data **out);
/* One string per example (copied), for kernels on strings. */
KFE_API kfe_status kfe_data_from_text(kfe_context *ctx, int64_t rows, const char *const *strings,
                                      kfe_data **out);
/* The rectangle features of Viola & Jones for grey images of width × height pixels, one image per row, row-major: two,
 * three and four adjacent rectangles of the same size, at all positions and sizes. Labels and targets are copied. */
KFE_API kfe_status kfe_data_viola_jones(kfe_context *ctx, const kfe_data *images, int64_t width,
                                        int64_t height, kfe_data **out);
/* Generates data; kfe_generator lists the names. */
KFE_API kfe_status kfe_data_generate(kfe_context *ctx, const char *name, const char *options, kfe_data **out);
/* A copy of the listed rows (from 0, in this order; a row may occur twice) of all views, with their labels or targets.
 * Classes without a row are dropped. */
KFE_API kfe_status kfe_data_take(kfe_context *ctx, const kfe_data *data, int64_t count, const int64_t *rows,
                                 kfe_data **out);
KFE_API void kfe_data_free(kfe_data *data);

/* ---- data: targets, missing values, groups, names --------------------------------------------- */

/* Sets class labels, one string per row (copied). Numerically equal labels ("1", "1.0", "+1") are one class, named like
 * the first of them. Classes are sorted: numbers by value, then text by its characters. */
KFE_API kfe_status kfe_data_set_labels(kfe_context *ctx, kfe_data *data, const char *const *labels);
/* Sets real targets, rows × cols (copied). */
KFE_API kfe_status kfe_data_set_targets(kfe_context *ctx, kfe_data *data, int64_t cols,
                                        const double *targets);
/* Guesses whether numbers are classes or real values, as kfe_data_read does: real values if one of them is fractional
 * or if they have a floating-point type (`floating` nonzero), otherwise classes if there are at most 20 distinct values.
 * In doubt (all are whole, but of a floating-point type or with more distinct values) it returns real values and logs
 * a warning that names the setting to use. */
KFE_API kfe_task kfe_guess_task(kfe_context *ctx, int64_t count, const double *values, int floating);
/* Copies the labels or targets of `from` to `to`, which has as many rows. */
KFE_API kfe_status kfe_data_copy_target(kfe_context *ctx, const kfe_data *from, kfe_data *to);

/* Treats NaNs of the dense views as missing values, which are filled with the "mean", "median" or "most-frequent" value
 * of their column. Like scaling, every fit learns the values on its own training rows, and the model fills NaNs of new
 * data with the same values. With "nipals", methods flagged KFE_HAS_MISSING fit on the values that are there, and so does the model with
 * new data; others refuse such data. Copies a view that has gaps. */
KFE_API kfe_status kfe_data_set_missing(kfe_context *ctx, kfe_data *data, const char *fill);
/* Encodes columns that hold categories, in data with one dense view: such a column is replaced by one column of zeros
 * and ones per category, named "NAME=CATEGORY" if the columns have names. `columns` has `count` column numbers, from
 * 0, in increasing order; texts[k * rows + i] is the text of columns[k] in row i (copied; NULL: missing, see
 * kfe_data_set_missing). The numbers that the data has in these columns are ignored. Categories are sorted like
 * classes; there may be at most 1000. The model keeps them: encode new data with kfe_data_encode_for_model, or read
 * it with kfe_data_read_for_model. */
KFE_API kfe_status kfe_data_encode(kfe_context *ctx, kfe_data *data, int64_t count, const int64_t *columns,
                                   const char *const *texts);
/* Divides the columns of data with one view into `count` views, given by names and lists of columns: names, prefixes
 * such as fac_*, numbers from 1 and ranges such as 2-4, separated by commas; a comma inside a name needs a backslash
 * before it. Columns are counted before kfe_data_encode. A column belongs to one view at most. The model keeps the
 * division, so that new data is again one table. */
KFE_API kfe_status kfe_data_divide(kfe_context *ctx, kfe_data *data, int count, const char *const *names,
                                   const char *const *columns);
/* Sets groups of rows that cross-validation keeps together: one number per row (copied; NULL: no groups). No split
 * has rows of one group in both its training part and its test part. */
KFE_API kfe_status kfe_data_set_groups(kfe_context *ctx, kfe_data *data, const int64_t *groups);
/* The same with a column of the first view, given by name or by number from 1; the column is removed from the view. */
KFE_API kfe_status kfe_data_take_groups(kfe_context *ctx, kfe_data *data, const char *column);
/* Sets how many examples each row counts for: one number per row, not negative (copied; NULL: one each). A row of weight
 * 2 counts like two equal rows, and a row of weight 0 is left out. Fits and metrics take the weights into account; methods and
 * learners without KFE_HAS_SAMPLE_WEIGHTS refuse weights. Categories (see kfe_data_encode) that occur only in rows of
 * weight 0 lose their columns. */
KFE_API kfe_status kfe_data_set_weights(kfe_context *ctx, kfe_data *data, const double *weights);
/* The same with a column of the first view, given by name or by number from 1; the column is removed from the view. */
KFE_API kfe_status kfe_data_take_weights(kfe_context *ctx, kfe_data *data, const char *column);
/* The weights, one per row, which belong to the data; NULL: none were set. */
KFE_API const double *kfe_data_weights(const kfe_data *data);
/* Appends an outer split (rows from 0, copied). Cross-validation then uses these splits and ignores the options for
 * making splits. */
KFE_API kfe_status kfe_data_add_split(kfe_context *ctx, kfe_data *data, int64_t train_count,
                                      const int64_t *train, int64_t test_count, const int64_t *test);

/* Sets the names of a view's columns (copied). Models keep the names and refuse columns in another order. */
KFE_API kfe_status kfe_data_set_column_names(kfe_context *ctx, kfe_data *data, int view,
                                             const char *const *names);

/* ---- data: contents --------------------------------------------------------------------------- */

/* Writes data of one view with its target, in the format that the extension of `path` names (see kfe_matrix_write). */
KFE_API kfe_status kfe_data_write(kfe_context *ctx, const kfe_data *data, const char *path);

KFE_API int64_t kfe_data_rows(const kfe_data *data);
KFE_API int kfe_data_views(const kfe_data *data);
KFE_API const char *kfe_data_view_name(const kfe_data *data, int view); /* NULL if out of range */
KFE_API int64_t kfe_data_cols(const kfe_data *data, int view);
KFE_API int kfe_data_is_sparse(const kfe_data *data, int view);
/* The compressed sparse rows of a view (see kfe_data_wrap_csr); NULL if the view is not sparse. */
KFE_API const int64_t *kfe_data_csr_row_start(const kfe_data *data, int view);
KFE_API const int32_t *kfe_data_csr_columns(const kfe_data *data, int view);
KFE_API const double *kfe_data_csr_values(const kfe_data *data, int view);
KFE_API kfe_task kfe_data_task(const kfe_data *data);
KFE_API int64_t kfe_data_classes(const kfe_data *data);
KFE_API const char *kfe_data_class_name(const kfe_data *data, int64_t index); /* NULL if out of range */
KFE_API int64_t kfe_data_class_of(const kfe_data *data, int64_t row);         /* -1: no label */
KFE_API const char *kfe_data_column_name(const kfe_data *data, int view, int64_t col); /* or NULL */
/* The real targets, rows × *cols; NULL and *cols = 0 without real targets. */
KFE_API const double *kfe_data_targets(const kfe_data *data, int64_t *cols);
/* Copies one row of a view as a dense row into `row`, which has room for the view's columns. */
KFE_API kfe_status kfe_data_row(kfe_context *ctx, const kfe_data *data, int view, int64_t index, double *row);

/* ---- tables of generators, kernels, methods and learners -------------------------------------- */

typedef struct kfe_entry_info {
    const char *name;
    const char *summary; /* one line */
    const char *formula; /* kernels and steps: the formula; methods: the paper; generators: the source */
    unsigned flags;      /* KFE_HAS_... */
    const char *alias;   /* kernels: another accepted name; NULL: none */
} kfe_entry_info;

enum {
    KFE_HAS_SUPERVISION = 1u << 0,     /* needs labels */
    KFE_HAS_REGRESSION = 1u << 1,      /* takes real targets */
    KFE_HAS_KERNELS = 1u << 2,         /* works with every kernel (otherwise: linear only) */
    KFE_HAS_MULTIVIEW = 1u << 3,       /* takes several views or kernels */
    KFE_HAS_SPARSE = 1u << 4,          /* keeps sparse data sparse */
    KFE_HAS_SYNTHETIC = 1u << 5,       /* needs the points: no precomputed kernels, no strings */
    KFE_HAS_INDEFINITE = 1u << 6,      /* kernels: not positive definite for all parameters */
    KFE_HAS_NONNEGATIVE = 1u << 7,     /* kernels: for data without negative values */
    KFE_HAS_STRINGS = 1u << 8,         /* kernels: on strings */
    KFE_HAS_NESTING = 1u << 9,         /* methods: the first features do not depend on dim */
    KFE_HAS_TWO_CLASSES = 1u << 10,    /* methods: take exactly two classes */
    KFE_HAS_WEIGHTS = 1u << 11,        /* methods: weigh the kernels themselves */
    KFE_HAS_PREDICTOR = 1u << 12,      /* methods: predict without a learner */
    KFE_HAS_DERIVATIVE = 1u << 13,     /* kernels: have a derivative; methods: need kernels that have one */
    KFE_HAS_SAMPLE_WEIGHTS = 1u << 14, /* methods, learners: take weights of examples */
    KFE_HAS_PROBABILITIES = 1u << 15,  /* methods: give class probabilities unless told otherwise */
    KFE_HAS_MISSING = 1u << 16 /* methods: take missing values without filling them in, {missing=nipals} */
};

/* One row of the guide "which method?". c is the number of classes. */
typedef struct kfe_guide_row {
    const char *goal;  /* what the user wants */
    const char *start; /* the method to start with, or several: "sma, smc" */
    const char *then;  /* other methods, each with the reason to choose it; "": none */
    unsigned flags;    /* KFE_HAS_... of all methods to start with */
} kfe_guide_row;

/* Methods by goal, row by row; NULL past the end. */
KFE_API const kfe_guide_row *kfe_guide(int index);

/* Each is NULL past the end of its table. */
KFE_API const kfe_entry_info *kfe_generator(int index);
KFE_API const kfe_entry_info *kfe_kernel(int index);
KFE_API const kfe_entry_info *kfe_method(int index);
KFE_API const kfe_entry_info *kfe_learner(int index);
/* The steps that the fit option prepare takes. */
KFE_API const kfe_entry_info *kfe_step(int index);
/* The kernel that a method uses unless another is given; NULL: the method takes no kernel. */
KFE_API const char *kfe_method_kernel(int index);
/* The parameters of one entry, row by row; NULL past the end of either table. */
KFE_API const kfe_param_info *kfe_generator_param(int index, int param);
KFE_API const kfe_param_info *kfe_kernel_param(int index, int param);
KFE_API const kfe_param_info *kfe_method_param(int index, int param);
KFE_API const kfe_param_info *kfe_learner_param(int index, int param);
KFE_API const kfe_param_info *kfe_step_param(int index, int param);
/* The options of every fit (scale, gram, ...); NULL past the end. */
KFE_API const kfe_param_info *kfe_fit_option(int index);

/* The tables as JSON: the entry `name` with its parameters, or an array of all entries (NULL). The caller frees the
 * string with kfe_string_free. */
KFE_API kfe_status kfe_list_generators(kfe_context *ctx, const char *name, char **out);
KFE_API kfe_status kfe_list_kernels(kfe_context *ctx, const char *name, char **out);
KFE_API kfe_status kfe_list_methods(kfe_context *ctx, const char *name, char **out);
KFE_API kfe_status kfe_list_learners(kfe_context *ctx, const char *name, char **out);
KFE_API kfe_status kfe_list_steps(kfe_context *ctx, const char *name, char **out);

/* The kernel matrix between the rows of two data sets with one view each (columns NULL: `rows` with itself). Words such
 * as gamma=scale are resolved on the data of the columns. The caller frees the matrix. */
KFE_API kfe_status kfe_kernel_matrix(kfe_context *ctx, const char *kernel, const kfe_data *rows,
                                     const kfe_data *columns, kfe_matrix *out);

/* ---- specs ------------------------------------------------------------------------------------ */

typedef struct kfe_spec kfe_spec;
typedef struct kfe_model kfe_model;

/* A spec is a method with its kernels and settings. `params`: the method's parameters and fit options; `kernel`:
 * "name:key=value,..."; both may be NULL. */
KFE_API kfe_status kfe_spec_parse(kfe_context *ctx, const char *method, const char *params,
                                  const char *kernel, kfe_spec **out);
/* Sets the classifier or regressor on the features, so that the model can predict; NULL: none. */
KFE_API kfe_status kfe_spec_set_learner(kfe_context *ctx, kfe_spec *spec, const char *learner,
                                        const char *params);
/* Sets one parameter of the method or of the learner, or a fit option. */
KFE_API kfe_status kfe_spec_set(kfe_context *ctx, kfe_spec *spec, const char *name, const char *value);
/* Adds a kernel: a fit uses the sum of its kernels, weighted by their key `weight`. A family such as
 * "rbf:gamma=0.001..10/8" adds eight kernels. */
KFE_API kfe_status kfe_spec_add_kernel(kfe_context *ctx, kfe_spec *spec, const char *kernel);

/* Adds a kernel or a family for one view. Kernels without a view apply to the views that have no kernel of their own. */
KFE_API kfe_status kfe_spec_set_view_kernel(kfe_context *ctx, kfe_spec *spec, const char *view,
                                            const char *kernel);

/* κ(x, y) on dense rows of `cols` numbers; called from one thread at a time. */
typedef double (*kfe_kernel_fn)(void *user, const double *x, const double *y, int64_t cols);
KFE_API kfe_status kfe_spec_add_user_kernel(kfe_context *ctx, kfe_spec *spec, const char *name,
                                            kfe_kernel_fn kernel, void *user);

/* The state that a direction rule sees at the beginning of an iteration (docs/deflation.md). Only the target is
 * deflated: with the features Q, the deflated kernel matrix is (I − QQᵀ)K. */
typedef struct kfe_deflation_state {
    int64_t examples;
    int64_t targets;        /* columns of the target; 0: no target */
    int64_t iteration;      /* number of features found so far */
    const double *residual; /* examples × targets: the centred target minus what the features explain */
    const double *features; /* iteration × examples, orthonormal */
    /* out (examples × k) = the kernel matrix, centred unless center=no, times v (examples × k) */
    kfe_status (*times)(void *handle, const double *v, int64_t k, double *out);
    void *handle; /* the first argument of `times` */
} kfe_deflation_state;
/* Fills direction[examples], which is zero before the call, with coefficients on the examples. A zero direction ends the
 * iterations. Called from one thread at a time, except by cross-validation with several threads. */
typedef kfe_status (*kfe_rule_fn)(void *user, const kfe_deflation_state *state, double *direction);
/* A spec of your own method, defined by its direction rule. `params`: dim, center and fit options. The model stores
 * `name` as its method and does not need the function. */
KFE_API kfe_status kfe_spec_new_rule(kfe_context *ctx, const char *name, kfe_rule_fn rule, void *user,
                                     const char *params, const char *kernel, kfe_spec **out);
KFE_API void kfe_spec_free(kfe_spec *spec);

/* Nonzero if a model of this spec can predict: the spec has a learner, or the method has its own predictor. */
KFE_API int kfe_spec_predicts(const kfe_spec *spec);

KFE_API const char *kfe_spec_method(const kfe_spec *spec); /* lives as long as the spec */

/* Why a spec cannot be fitted. */
typedef enum kfe_misfit {
    KFE_FITS,
    KFE_MISFIT_KERNEL,      /* the method, or the learner without a method, takes no kernel */
    KFE_MISFIT_POINTS,      /* the method needs columns of numbers, not strings or kernel values */
    KFE_MISFIT_VIEWS,       /* the method takes one view */
    KFE_MISFIT_LABELS,      /* the method needs labels */
    KFE_MISFIT_CLASSES,     /* the method needs classes, not real targets */
    KFE_MISFIT_ONE_CLASS,   /* all examples belong to one class */
    KFE_MISFIT_TWO_CLASSES, /* the method takes exactly two classes */
    KFE_MISFIT_OTHER,       /* any other reason; see the message */
    KFE_MISFIT_WEIGHTS      /* the method or the learner takes no weights of examples */
} kfe_misfit;
/* The reason in a few words, such as "takes two classes"; static storage. */
KFE_API const char *kfe_misfit_text(kfe_misfit misfit);
/* Checks whether kfe_fit would accept this spec for this data. Returns KFE_OK or the status of the failure; the
 * message says why and what to use instead. *misfit receives the reason; misfit may be NULL. data NULL: checks
 * everything that does not depend on data. Reads the data once. */
KFE_API kfe_status kfe_spec_check(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                                  kfe_misfit *misfit);

/* ---- fitting and applying models -------------------------------------------------------------- */

KFE_API kfe_status kfe_fit(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model **out);
KFE_API void kfe_model_free(kfe_model *model);

/*
 * Fits from sums over rows, for data that does not fit into memory. An accumulator takes the rows in blocks of any size and
 * order, keeps only sums (counts, means, products of columns, class means), and makes the model that a fit on all rows would
 * give, up to rounding. It can be merged with others and saved, and can go on afterwards.
 *
 * kfe_spec_accumulates says whether a spec can be fitted this way. Linear methods (oc, pca, pls, ...) need nothing else; kernel
 * methods need landmarks. kfe_list_methods says which methods can; the learners are ls and centroid.
 *
 * - kfe_accumulator_new makes one;
 * - kfe_accumulator_add takes a block;
 * - kfe_accumulator_finish makes the model.
 *
 * With landmarks, some rows must decide the scaling, the width of the kernel (gamma=scale), the landmarks and ridge=auto before
 * the first sum: the rows given to kfe_accumulator_start, otherwise the first block that has rows. Accumulators that are to be merged
 * must start from the same rows: start one, copy it with save_bytes and load_bytes, and add different rows to the copies.
 * Linear methods learn their scaling from the sums, so that every row counts and no start is needed.
 *
 * Blocks may be dense or CSR; all have the same views and columns. Any block may bring new classes. Row weights and
 * class-weight count as in kfe_fit, but class-weight=balanced must know the size of every class beforehand: only
 * kfe_fit_stream accepts it, and counts them first. If add or merge fails because of the input, the sums are as they
 * were before. Free accepts NULL.
 */
typedef struct kfe_accumulator kfe_accumulator;
/* Whether kfe_accumulator_new accepts this spec. */
KFE_API int kfe_spec_accumulates(const kfe_spec *spec);
/* The spec is copied. If it cannot be fitted from sums: KFE_EUNSUPPORTED, with a message that names what can be used. */
KFE_API kfe_status kfe_accumulator_new(kfe_context *ctx, const kfe_spec *spec, kfe_accumulator **out);
/* Lets the rows of `sample` decide what must be known before the first sum. These rows are not added. KFE_EINVAL if
 * rows were added already. If there are no more rows than `landmarks`, all of them become landmarks. Does nothing for
 * linear methods. */
KFE_API kfe_status kfe_accumulator_start(kfe_context *ctx, kfe_accumulator *sums, const kfe_data *sample);
KFE_API kfe_status kfe_accumulator_add(kfe_context *ctx, kfe_accumulator *sums, const kfe_data *rows);
/* Adds the sums of `other`, which does not change. KFE_EINVAL if their specs or starts differ. */
KFE_API kfe_status kfe_accumulator_merge(kfe_context *ctx, kfe_accumulator *sums,
                                         const kfe_accumulator *other);
/* Rows added so far, not counting rows of weight zero. */
KFE_API int64_t kfe_accumulator_rows(const kfe_accumulator *sums);
/* The model of all rows added so far; the accumulator can go on. The caller frees the model. */
KFE_API kfe_status kfe_accumulator_finish(kfe_context *ctx, const kfe_accumulator *sums, kfe_model **out);
KFE_API kfe_status kfe_accumulator_save(kfe_context *ctx, const kfe_accumulator *sums, const char *path);
KFE_API kfe_status kfe_accumulator_load(kfe_context *ctx, const char *path, kfe_accumulator **out);
/* The bytes of the file that kfe_accumulator_save writes. The caller frees them with kfe_string_free. */
KFE_API kfe_status kfe_accumulator_save_bytes(kfe_context *ctx, const kfe_accumulator *sums, char **out,
                                              size_t *size);
KFE_API kfe_status kfe_accumulator_load_bytes(kfe_context *ctx, const void *bytes, size_t size,
                                              kfe_accumulator **out);
KFE_API void kfe_accumulator_free(kfe_accumulator *sums);
/*
 * Fits from files with more rows than memory holds, by an accumulator. The files have the same columns and are read one after the
 * other, in parts; "-" is standard input; `options` are those of kfe_data_read. Linear methods read each row once. With landmarks,
 * files are read twice: the first time for a random sample of the rows, which decides scaling, kernel width, landmarks and ridge=auto.
 * Standard input is read only once, so its first rows decide instead. class-weight=balanced counts the classes in a first pass. The
 * first part decides what task=auto means. *rows, unless NULL, receives the number of rows. .npz files and label_file are read whole.
 */
KFE_API kfe_status kfe_fit_stream(kfe_context *ctx, const kfe_spec *spec, int count, const char *const *paths,
                                  const char *options, int64_t *rows, kfe_model **out);

/* The features of new data, rows × kfe_model_dim. Several views are matched with the model's views by name. If the user
 * named no view and no name matches, they are taken in the model's order. The caller frees the matrix. */
KFE_API kfe_status kfe_transform(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                 kfe_matrix *out);

/*
 * Predicts for new data; the model must have a learner or its own predictor. `predictions` is rows × 1, the index of a
 * class (kfe_model_class_name), or rows × targets for real targets. `scores`, if not NULL, are the decision values,
 * rows × kfe_model_outputs: one per class; with multiclass=ovo, one per pair of classes; with multiclass=chain, one
 * per class except the last, against all later classes. For pairs and chains a positive value means the first class.
 * The caller frees both.
 */
KFE_API kfe_status kfe_predict(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                               kfe_matrix *predictions, kfe_matrix *scores);

/*
 * The same for programs that answer request after request: rows are read in place, results are written where the caller
 * wants them, and nothing is wrapped or allocated. Up to eight dense rows are answered in one pass
 * over the support examples, on one thread if that is faster. Threads may share a model, each with a context of its
 * own; a context keeps some memory from its first call for the next ones. (Localized models, nearest neighbours and
 * kernels on sparse support examples still allocate.)
 */
typedef enum kfe_number { KFE_F64, KFE_F32 } kfe_number;
/* Rows of one view in the caller's memory, row-major; double or float, as `type` says. */
typedef struct kfe_rows {
    const void *values;
    kfe_number type;
    int64_t rows, cols;
    int64_t stride; /* from the beginning of a row to the next, in numbers */
} kfe_rows;
/* `views` has one item per view of the model, in its order; `features` is room for rows × kfe_model_dim. NaN stands for
 * a missing value if the model fills them in, and is an error otherwise. */
KFE_API kfe_status kfe_transform_into(kfe_context *ctx, const kfe_model *model, const kfe_rows *views,
                                      double *features);
/* `predictions` and `scores` as kfe_predict returns them; scores may be NULL. */
KFE_API kfe_status kfe_predict_into(kfe_context *ctx, const kfe_model *model, const kfe_rows *views,
                                    double *predictions, double *scores);

/* Converts the scores of kfe_predict to one score per class, rows × classes; higher scores mean more likely. For pairs,
 * a class is scored by its votes; for a chain, by its smallest margin. The caller frees `out`. */
KFE_API kfe_status kfe_class_scores(kfe_context *ctx, const kfe_model *model, const kfe_matrix *scores,
                                    kfe_matrix *out);

/* Probabilities of the classes, rows × classes, for a model fitted with calibration=platt or isotonic (otherwise KFE_EINVAL);
 * each row sums to one. `predictions` are those of kfe_predict; where a decision is close, the most probable class may differ from
 * the prediction. The caller frees both. */
KFE_API kfe_status kfe_predict_probabilities(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                             kfe_matrix *predictions, kfe_matrix *probabilities);
/* Predictions with intervals or sets that hold the truth with a probability of about `level`, such as 0.9, for a model fitted with
 * conformal=split, cross or jackknife (otherwise KFE_EINVAL). Real targets: `intervals` is rows × (2 × targets), the lower and the upper
 * end for each target. Classes: rows × classes, 1 for the classes in the set, else 0; a set may have several classes or none.
 * docs/intervals.md says what holds when. The caller frees both matrices. */
KFE_API kfe_status kfe_predict_intervals(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                         double level, kfe_matrix *predictions, kfe_matrix *intervals);
/* Predicts with the first 1, 2, … kfe_model_dim features in one call: rows × dim classes, or rows × (dim × targets) values,
 * where the targets for the same number of features are side by side. For models with the learner ls and a method whose first
 * features do not depend on dim (KFE_HAS_NESTING), such as pls and pca: each prediction is that of a model fitted with as many
 * features. The caller frees the matrix. */
KFE_API kfe_status kfe_predict_path(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                    kfe_matrix *out);
/* Computes rows from features (rows × kfe_model_dim), in the units of the data: rows × the columns of all views. Linear models give
 * the least-squares reconstruction from the loadings of the training data. kpca with a Gaussian kernel gives the pre-image, which is
 * the row whose image is nearest, with a warning where it is not unique. The caller frees the matrix. */
KFE_API kfe_status kfe_inverse_transform(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features,
                                         kfe_matrix *out);

/* Reads new data for a model like kfe_data_read_views. The model determines which views contain strings, and whether
 * a table has a label column: the column with the name that it had in training, otherwise the column whose number was
 * given in training, otherwise the last column. `options` take precedence. */
KFE_API kfe_status kfe_data_read_for_model(kfe_context *ctx, const kfe_model *model, int count,
                                           const char *const *paths, const char *const *names,
                                           const char *options, kfe_data **out);

/*
 * Reads new data for a model in parts, so that inputs of any length need bounded memory. kfe_data_stream_next returns
 * the rows that have arrived, up to some thousands, and waits only if there are none, so that a line written into a
 * pipe ("-" is standard input) is returned at once. *out is NULL at the end; otherwise the caller frees it. Rows
 * before a faulty line are returned before it fails. Several files, label_file, missing=drop and .npz files are read
 * whole and returned as one part. The model and the context must outlive the stream; kfe_data_stream_close accepts
 * NULL.
 */
typedef struct kfe_data_stream kfe_data_stream;
KFE_API kfe_status kfe_data_stream_open(kfe_context *ctx, const kfe_model *model, int count,
                                        const char *const *paths, const char *const *names,
                                        const char *options, kfe_data_stream **out);
KFE_API kfe_status kfe_data_stream_next(kfe_context *ctx, kfe_data_stream *stream, kfe_data **out);
KFE_API void kfe_data_stream_close(kfe_data_stream *stream);

/* Encodes columns of new data with the model's categories; the model must encode exactly these columns. A category that the
 * training data did not have becomes zeros, and one warning counts such cells. */
KFE_API kfe_status kfe_data_encode_for_model(kfe_context *ctx, const kfe_model *model, kfe_data *data,
                                             int64_t count, const int64_t *columns, const char *const *texts);

/* Gives a loaded model the function of its user kernel. */
KFE_API kfe_status kfe_model_bind_kernel(kfe_context *ctx, kfe_model *model, const char *name,
                                         kfe_kernel_fn kernel, void *user);

/*
 * Adapts a model that was fitted on spectra of one instrument (the master) to another instrument (the slave). `how`
 * is one of
 *
 *     "pds:window=5,dim=2"   piecewise direct standardisation: spectra of the slave become what the master would have measured
 *     "epo:dim=1"            external parameter orthogonalisation: directions in which both differ are removed
 *     "slope-bias:slope=yes" predictions become bias + slope · prediction, so that they agree with reference values
 *
 * For pds and epo, row i of `master` and of `slave` is the same sample; the step comes first in the chain that
 * prepares rows. epo removes a part of the spectra, so the model should be fitted again on the rest: give `train`,
 * the training rows (only for epo; NULL: no new fit). slope-bias takes `slave` with real targets, and NULL for
 * `master`. The caller frees the model, and binds the functions of user kernels again. */
KFE_API kfe_status kfe_transfer(kfe_context *ctx, const kfe_model *model, const char *how,
                                const kfe_data *master, const kfe_data *slave, const kfe_data *train,
                                kfe_model **out);

/* ---- models ----------------------------------------------------------------------------------- */

KFE_API kfe_status kfe_model_save(kfe_context *ctx, const kfe_model *model, const char *path);
KFE_API kfe_status kfe_model_load(kfe_context *ctx, const char *path, kfe_model **out);
/* The bytes of a model file. The caller frees them with kfe_string_free. */
KFE_API kfe_status kfe_model_save_bytes(kfe_context *ctx, const kfe_model *model, char **out, size_t *size);
KFE_API kfe_status kfe_model_load_bytes(kfe_context *ctx, const void *bytes, size_t size, kfe_model **out);

/* Writes the model as an ONNX file of standard operations (opset 13), for programs that serve models without kfe. Its inputs are X,
 * or one per view: examples × columns, NaN where a value is missing. Its outputs are features and, with a learner, label
 * (names of classes) and scores (decision values), or prediction. options: "precision=float" (default) or "precision=double";
 * NULL: defaults. KFE_EINPUT with the reason if the model works on strings, given kernel matrices or user functions. */
KFE_API kfe_status kfe_model_export_onnx(kfe_context *ctx, const kfe_model *model, const char *options,
                                         const char *path);
/* The bytes of this ONNX file. The caller frees them with kfe_string_free. */
KFE_API kfe_status kfe_model_export_onnx_bytes(kfe_context *ctx, const kfe_model *model, const char *options,
                                               char **out, size_t *size);

KFE_API const char *kfe_model_method(const kfe_model *model);
KFE_API const char *kfe_model_learner(const kfe_model *model); /* NULL: features only */
/* The learner of a model that extracts no features (method none), such as "svm": it works on the columns or on the kernel itself.
 * kfe_transform then gives the columns, or the decision values of the learner. NULL: the model extracts features. */
KFE_API const char *kfe_model_plain_learner(const kfe_model *model);
KFE_API const char *kfe_model_calibration(const kfe_model *model); /* "platt", "isotonic"; NULL: none */
/* "split", "cross" or "jackknife"; NULL: none. */
KFE_API const char *kfe_model_conformal(const kfe_model *model);
KFE_API int64_t kfe_model_outputs(const kfe_model *model); /* decision values; 0 without a learner */
KFE_API kfe_task kfe_model_task(const kfe_model *model);
KFE_API int64_t kfe_model_dim(const kfe_model *model);
KFE_API int64_t kfe_model_support_size(const kfe_model *model); /* 0 for linear projectors */
KFE_API int kfe_model_views(const kfe_model *model);
KFE_API const char *kfe_model_view_name(const kfe_model *model, int view); /* NULL if out of range */
KFE_API int64_t kfe_model_cols(const kfe_model *model, int view);
/* How many columns the data of a view has before its categories are encoded. */
KFE_API int64_t kfe_model_source_cols(const kfe_model *model, int view);
/* The sorted categories of a column, numbered from 0 before encoding; NULL if the column does not exist or is not encoded. */
KFE_API const char *const *kfe_model_categories(const kfe_model *model, int view, int64_t column,
                                                int64_t *count);
/* For a model whose views are columns of one table (kfe_data_divide): the view of each of the *count columns of that table (-1:
 * none). NULL for other models. */
KFE_API const int32_t *kfe_model_division(const kfe_model *model, int64_t *count);
/* The steps that prepare the rows of a view before scaling, as written for the fit option `prepare`; "none" if there
 * are none. The caller frees the string with kfe_string_free. */
KFE_API kfe_status kfe_model_prepare(kfe_context *ctx, const kfe_model *model, int view, char **out);
/* How many columns a view has after its steps (kernels and coefficients see these columns), and their names (NULL: no
 * name). */
KFE_API int64_t kfe_model_prepared_cols(const kfe_model *model, int view); /* 0 if out of range */
KFE_API const char *kfe_model_prepared_name(const kfe_model *model, int view, int64_t col);
/* The scaling of a view's columns, (x - shift) * factor: arrays of kfe_model_prepared_cols numbers. NULL: nothing is
 * subtracted, or the factors are 1. */
KFE_API const double *kfe_model_shift(const kfe_model *model, int view);
KFE_API const double *kfe_model_factor(const kfe_model *model, int view);
/* The column of the label in the training file, from 1; 0 if the label was not a column of a table. */
KFE_API int64_t kfe_model_label_column(const kfe_model *model);
/* Nonzero if the view contains strings: read its data with content=strings. */
KFE_API int kfe_model_takes_strings(const kfe_model *model, int view);
KFE_API int64_t kfe_model_kernels(const kfe_model *model); /* 0 for models without a kernel */
/* A kernel with all its numbers, such as "rbf:gamma=0.25". Methods that learn weights keep only kernels with a positive
 * weight. KFE_EINVAL if the index is out of range. The caller frees the string with kfe_string_free. */
KFE_API kfe_status kfe_model_kernel(kfe_context *ctx, const kfe_model *model, int64_t index, char **out);
KFE_API int64_t kfe_model_classes(const kfe_model *model);
KFE_API const char *kfe_model_class_name(const kfe_model *model, int64_t index);
KFE_API const char *kfe_model_column_name(const kfe_model *model, int view, int64_t col); /* or NULL */
/* The name of a feature (counted from 0), for the header of a table: its usual name in the field ("LV1", "PC1",
 * "LD1", "predictive1", "orthogonal1"), otherwise the method and a number ("hsic1"). A model that passes its columns
 * on keeps their names. The caller frees the string with kfe_string_free. */
KFE_API kfe_status kfe_model_feature_name(kfe_context *ctx, const kfe_model *model, int64_t feature,
                                          char **out);
/* Names the columns of a view (copied, kfe_model_cols of them), for a model that was fitted on columns without names.
 * KFE_EINVAL if the columns already have names, because new data is matched by name, or if the view does not exist. */
KFE_API kfe_status kfe_model_set_column_names(kfe_context *ctx, kfe_model *model, int view,
                                              const char *const *names);
/* The matrix A in features(x) = Aᵀκ(S, x) − offset or, if the support size is 0, W in Wᵀx − offset: *rows × kfe_model_dim.
 * kcca and kgcca have one such block per view, one below the other, so that *rows is the support size times the number of views.
 * NULL and *rows = 0 for localized models, and if the columns themselves are the features. */
KFE_API const double *kfe_model_coefficients(const kfe_model *model, int64_t *rows);
KFE_API const double *kfe_model_offset(const kfe_model *model); /* kfe_model_dim numbers; NULL: zeros */
/* The training row (from 0) of each support example; NULL if they are not training examples. Rows are counted as in
 * the file or data, including rows of weight zero and rows that missing=drop left out. */
KFE_API const int64_t *kfe_model_support_index(const kfe_model *model);
/* One part of a localized model (lmkl, sldr): a kernel on a view, or on projections of it. */
typedef struct kfe_part_info {
    int view;
    int64_t cols, dim;        /* columns (if `mapped`, training rows); number of projections */
    int mapped;               /* the columns are kernel values with the training rows */
    const double *projection; /* cols × dim; NULL: the columns themselves are compared */
    const double *gating; /* cols × gate dimension: the part's rows of T; NULL: the gate does not use it */
} kfe_part_info;
/* NULL past the end and for models that are not localized. */
KFE_API const kfe_part_info *kfe_model_part(const kfe_model *model, int index);
/* The gate softmax(Vᵀz + v₀): V, *dim × parts (NULL: the identity), and v₀, one number per part. For models that are not
 * localized both are NULL and *dim is 0. */
KFE_API const double *kfe_model_gate_weights(const kfe_model *model, int64_t *dim);
KFE_API const double *kfe_model_gate_offset(const kfe_model *model);

/* Numbers that the fit recorded, such as "eigenvalues" or "kernel-evaluations" (underscores may replace the dashes); NULL if
 * there is no such record. */
KFE_API const double *kfe_model_record(const kfe_model *model, const char *name, int64_t *count);
KFE_API const char *kfe_model_record_name(const kfe_model *model, int64_t index); /* NULL past the end */

/* ---- results ---------------------------------------------------------------------------------- */

/* What an evaluation, a search, a measurement or an explanation found: tables with named columns. Table 0, "facts", has one
 * row; every other table belongs to rows of an earlier one. A '/' in a name groups: the facts of an evaluation have the
 * column "metrics/accuracy". Text, JSON and CSV are ways to write a result. */
typedef struct kfe_result kfe_result;

typedef enum kfe_column_kind {
    KFE_COLUMN_REAL,
    KFE_COLUMN_COUNT,
    KFE_COLUMN_FLAG, /* 0 or 1 */
    KFE_COLUMN_TEXT,
    KFE_COLUMN_GROUP /* has no values; columns named NAME/... belong to it, if there are any */
} kfe_column_kind;

/* Tables and columns belong to the result. Later versions may append members. */
typedef struct kfe_table {
    const char *name;
    const char *about; /* one line */
    int64_t rows, cols;
    int parent;                /* the table that the rows belong to; -1: none */
    const int64_t *parent_row; /* for each row, the row of the parent that it belongs to */
    int is_list;               /* JSON writes each row as an array of values, without column names */
} kfe_table;

typedef struct kfe_column {
    const char *name;
    const char *about; /* one line */
    const char *unit;  /* such as "s"; "": none */
    kfe_column_kind kind;
    const double *numbers;    /* one per row, NaN where not available; or NULL: the column has no numbers */
    const char *const *texts; /* one per row, NULL where not available; or NULL: the column has no text */
    /* one per row; 0: the row lacks this column, as a setting may lack a parameter. NULL: every row has it */
    const unsigned char *given;
} kfe_column;

KFE_API void kfe_result_free(kfe_result *result);
/* NULL past the end. */
KFE_API const kfe_table *kfe_result_table(const kfe_result *result, int index);
/* NULL: the result has no such table. */
KFE_API const kfe_table *kfe_result_find(const kfe_result *result, const char *table);
/* NULL past the end. */
KFE_API const kfe_column *kfe_table_column(const kfe_table *table, int64_t index);
/* NULL: the table has no such column. */
KFE_API const kfe_column *kfe_table_find(const kfe_table *table, const char *column);
/* A number or a text of the facts; NaN or NULL if it is not available. */
KFE_API double kfe_result_number(const kfe_result *result, const char *column);
KFE_API const char *kfe_result_text(const kfe_result *result, const char *column);

/* How results and models are written. */
typedef enum kfe_style { KFE_STYLE_TEXT, KFE_STYLE_JSON } kfe_style;
/* The result for people or as JSON; the caller frees it with kfe_string_free. The text leaves out rows of long tables. */
KFE_API kfe_status kfe_result_describe(kfe_context *ctx, const kfe_result *result, kfe_style style,
                                       char **out);
/* Writes all values as CSV, one per line: table, row, column, value. A path that ends in .json gets JSON. */
KFE_API kfe_status kfe_result_write(kfe_context *ctx, const kfe_result *result, const char *path);
/* Reads the JSON that kfe_result_describe, `kfe cv --json` and `kfe reproduce --json` write. */
KFE_API kfe_status kfe_result_parse(kfe_context *ctx, const char *json, kfe_result **out);

/* ---- explanations ----------------------------------------------------------------------------- */

/* Explains why a model decides as it does, in the user's own columns, as far as it applies: coefficients in raw units,
 * loadings and explained variance of linear models, permutation importance of columns and views, columns of a learned
 * distance, derivatives, and the support examples with the largest weights. docs/explain.md names every table. The
 * first column of a table has the labels of its rows, or numbers from 1; the others hold numbers, and `about` says
 * what they are: feature, output, target, column or value. `data` (NULL: none), with labels for permutation
 * importance, are examples to explain the model on. Options: kfe_explain_option. The caller frees the result. */
KFE_API kfe_status kfe_explain(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                               const char *options, kfe_result **out);
/* The same, but also fits the model's spec on `train` (NULL: does not) once per view, without that view. The table
 * "views" then has a column "drop", which says how much worse `data` is predicted; `data` should not be the training
 * examples. KFE_EUNSUPPORTED with the reason if the model has only one view, if its method is a user's direction
 * rule, or if kfe 0.1 wrote its file, which does not say how the model was fitted. */
KFE_API kfe_status kfe_explain_refit(kfe_context *ctx, const kfe_model *model, const kfe_data *train,
                                     const kfe_data *data, const char *options, kfe_result **out);
KFE_API const kfe_param_info *kfe_explain_option(int index); /* NULL past the end */

/* What kfe_diagnose says about a row. */
typedef enum kfe_diagnostic {
    KFE_DIAGNOSTIC_T2,       /* Hotelling's T²: the distance from the centre within the features */
    KFE_DIAGNOSTIC_Q,        /* squared prediction error: the squared residual of the scaled columns */
    KFE_DIAGNOSTIC_LEVERAGE, /* 1/n + T²/(n − 1) */
    KFE_DIAGNOSTIC_DISTANCE, /* T² and Q together */
    KFE_DIAGNOSTIC_DMODX,    /* residual standard deviation over that of the training rows */
    KFE_DIAGNOSTIC_P, /* P-value of the distance: the share of rows like the training data that are at least as far */
    KFE_DIAGNOSTIC_OUTLIER, /* 1: T² or Q is above its limit */
    KFE_DIAGNOSTICS
} kfe_diagnostic;
/* Compares rows with the training data of a model: out is rows × KFE_DIAGNOSTICS, and the caller frees it with
 * kfe_matrix_free. limits[KFE_DIAGNOSTICS], unless NULL, receives the values that a share `level`, such as 0.95, of
 * rows like the training data does not exceed. NaN: not defined, such as Q for a model that is not linear in its
 * columns. docs/diagnostics.md has the formulas. KFE_EUNSUPPORTED with the reason if the model does not know its
 * training data well enough. */
KFE_API kfe_status kfe_diagnose(kfe_context *ctx, const kfe_model *model, const kfe_data *data, double level,
                                kfe_matrix *out, double *limits);

/* ---- metrics ---------------------------------------------------------------------------------- */

/* The metrics of predictions; NULL past the end. `flags`: KFE_HAS_REGRESSION for real targets;
 * `formula`: "larger is better" or "smaller is better". */
KFE_API const kfe_entry_info *kfe_metric(int index);
/* The predictions and the truth that a metric compares. Members that do not apply are zero. */
typedef struct kfe_judged {
    size_t size; /* sizeof(kfe_judged), because the struct may get more members */
    int64_t rows;
    /* for classes, which are numbers 0 … classes−1 */
    int64_t classes;
    int64_t positive;                 /* the positive class of two */
    const int32_t *truth, *predicted; /* predicted: NULL for metrics that need scores only */
    /* rows × classes, higher scores mean more likely; for log-loss and brier probabilities, or scores whose softmax is taken. For
     * ovr-error a positive score means "in this class"; without scores it uses the predicted class. */
    const double *scores;
    /* for real targets, rows × cols */
    int64_t cols; /* 0: classes are judged */
    const double *true_values, *predicted_values;
    const double *weights; /* how many rows each counts for, as in kfe_data_set_weights; NULL: one each */
} kfe_judged;
/* Computes one metric. NaN: the metric is not defined, such as auc and average-precision with one class in the truth, and r2
 * if a column of the truth is constant. */
KFE_API kfe_status kfe_metric_compute(kfe_context *ctx, const char *metric, const kfe_judged *judged,
                                      double *out);
/* Tests whether a and b, measured on the same `count` splits, differ: Student's t of a[i] − b[i] with count − 1 degrees
 * of freedom, and p = P(|T| ≥ |t|). test_share 0 is the plain paired test; test rows / training rows is Nadeau &
 * Bengio's correction for splits whose training rows overlap. Both are NaN with fewer than two pairs. If all
 * differences are equal but not zero, t is infinite and p is NaN, because differences without spread cannot be
 * tested. */
KFE_API kfe_status kfe_paired_test(kfe_context *ctx, int64_t count, const double *a, const double *b,
                                   double test_share, double *t, double *p);

/* ---- evaluation and search -------------------------------------------------------------------- */

/* Describes a model as text or JSON, which the caller frees with kfe_string_free. The other calls of this section make a
 * result, which the caller frees with kfe_result_free. */
KFE_API kfe_status kfe_model_describe(kfe_context *ctx, const kfe_model *model, kfe_style style, char **out);
/* Kernel-target alignment, HSIC, effective rank, ... of each kernel, on all views, or on one view if written "VIEW=KERNEL".
 * Data with weights is refused. */
KFE_API kfe_status kfe_measure(kfe_context *ctx, const kfe_data *data, int kernel_count,
                               const char *const *kernels, const char *options, kfe_result **out);
/* Metrics of a model's predictions on labelled data ("metrics/accuracy" in the facts), the confusion matrix and, with
 * curves=yes, the points of the ROC and precision-recall curves. Options: kfe_evaluate_option. data NULL: only checks the options;
 * *out is NULL then. */
KFE_API kfe_status kfe_evaluate(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                const char *options, kfe_result **out);
KFE_API const kfe_param_info *kfe_evaluate_option(int index); /* NULL past the end */
/* Writes predictions, one row per example: the label (by name) or the values, then the scores (NULL: none). If the rows of
 * `data` (NULL: unknown) have names, or if rows were dropped, the name or number of the row comes first. */
KFE_API kfe_status kfe_predictions_write(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                         const kfe_matrix *predictions, const kfe_matrix *scores,
                                         const char *path);

/* Writes all features in one call; kfe_output_features writes them in parts. */
KFE_API kfe_status kfe_features_write(kfe_context *ctx, const kfe_model *model, const kfe_matrix *features,
                                      const kfe_data *data, const char *path);

/* Writes features or predictions in parts: open, one call for the rows of each part, commit, free (in all cases; NULL is
 * accepted). A pipe or standard output receives rows immediately; a file appears at the commit. Formats that hold the
 * number of rows (.npy, .npz) take one part only: kfe_output_takes_parts is 0. */
typedef struct kfe_output kfe_output;
KFE_API kfe_status kfe_output_open(kfe_context *ctx, const char *path, kfe_output **out);
KFE_API int kfe_output_takes_parts(const kfe_output *output);
/* The features of `data`; kfe_model_feature_name names the columns. LIBSVM files also get the labels. */
KFE_API kfe_status kfe_output_features(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                       const kfe_matrix *features, const kfe_data *data);
KFE_API kfe_status kfe_output_predictions(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                          const kfe_data *data, const kfe_matrix *predictions,
                                          const kfe_matrix *scores);
/* The predictions and probabilities of kfe_predict_probabilities. */
KFE_API kfe_status kfe_output_probabilities(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                            const kfe_data *data, const kfe_matrix *predictions,
                                            const kfe_matrix *probabilities);
/* The predictions and intervals (or sets) of kfe_predict_intervals. */
KFE_API kfe_status kfe_output_intervals(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                        const kfe_data *data, const kfe_matrix *predictions,
                                        const kfe_matrix *intervals);
/* Predictions with the numbers of kfe_diagnose for the same rows. */
KFE_API kfe_status kfe_output_diagnostics(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                          const kfe_data *data, const kfe_matrix *predictions,
                                          const kfe_matrix *diagnostics);
/* The predictions of kfe_predict_path: one column per number of features (and target). Class labels that are not numbers
 * are written as the number of the class, from 0. */
KFE_API kfe_status kfe_output_path(kfe_context *ctx, kfe_output *output, const kfe_model *model,
                                   const kfe_data *data, const kfe_matrix *path);
KFE_API kfe_status kfe_output_commit(kfe_context *ctx, kfe_output *output);
KFE_API void kfe_output_free(kfe_output *output);

/*
 * Cross-validates a spec that can predict. A grid is "NAME=a,b,c", "NAME=lo:hi" (whole numbers), "NAME=lo:hi:logN" or "NAME=lo:hi:linN" over a
 * parameter of the kernels, the method, the learner or the fit. Settings are compared on inner folds and assessed on
 * outer ones. `grids` ends with NULL; NULL: no grids. `best`, if not NULL, becomes a model of the best setting, fitted on all data.
 *
 * This function and kfe_compare have plain arguments instead of a struct, so that other languages can call them without knowing
 * a layout; everything with a default is in `options`.
 */
KFE_API kfe_status kfe_cross_validate(kfe_context *ctx, const kfe_spec *spec, const char *const *grids,
                                      const kfe_data *data, const char *options, kfe_model **best,
                                      kfe_result **out);
KFE_API const kfe_param_info *kfe_cv_option(int index); /* NULL past the end */
/* Checks the grids and options of a cross-validation without data; *settings is the number of settings. */
KFE_API kfe_status kfe_cv_check(kfe_context *ctx, const kfe_spec *spec, const char *const *grids,
                                const char *options, int64_t *settings);
/* Checks without data that each grid names a parameter of at least one spec and that all its values are valid. */
KFE_API kfe_status kfe_grids_check(kfe_context *ctx, int count, const kfe_spec *const *specs,
                                   const char *const *grids);
/* The outer splits of kfe_cross_validate with these options and the context's seed. The rows of a training or test part
 * count from 0 and increase; the arrays belong to the splits. NULL and *count = 0 if `index` is out of range. */
typedef struct kfe_splits kfe_splits;
KFE_API kfe_status kfe_splits_make(kfe_context *ctx, const kfe_data *data, const char *options,
                                   kfe_splits **out);
KFE_API int64_t kfe_splits_count(const kfe_splits *splits);
KFE_API const int64_t *kfe_splits_train(const kfe_splits *splits, int64_t index, int64_t *count);
KFE_API const int64_t *kfe_splits_test(const kfe_splits *splits, int64_t index, int64_t *count);
KFE_API void kfe_splits_free(kfe_splits *splits);
/* Cross-validates several specs on the same splits and tests which of them differ. A grid applies to the specs that
 * have its parameter; at least one spec must have it. */
KFE_API kfe_status kfe_compare(kfe_context *ctx, int count, const kfe_spec *const *specs,
                               const char *const *grids, const kfe_data *data, const char *options,
                               kfe_result **out);
KFE_API const kfe_param_info *kfe_compare_option(int index); /* NULL past the end */

/*
 * Searches for the method, the kernel and the settings that suit the data best. Tries the candidates of a table (methods,
 * kernels, widths, ridges and learners, and baselines without a method) by successive halving within a budget, ranks
 * them, and measures the error of the whole procedure on examples that did not influence the choice. `best`, if not NULL,
 * becomes a model of the best setting, fitted on all data. Unless the time limit ends the search, the result depends only
 * on the data, the options and the seed. Options: kfe_tune_option. data NULL: only checks the options.
 */
KFE_API kfe_status kfe_tune(kfe_context *ctx, const kfe_data *data, const char *options, kfe_model **best,
                            kfe_result **out);
KFE_API const kfe_param_info *kfe_tune_option(int index); /* NULL past the end */

/* ---- figures and reports ---------------------------------------------------------------------- */

/* What figures are drawn from: a model, data, and the result of a search. */
typedef struct kfe_report kfe_report;

/* The kinds of figures, in the order of a report; NULL past the end. `formula`: what the figure needs. */
KFE_API const kfe_entry_info *kfe_figure(int index);
/* Options: kfe_report_option, such as "x=1,y=3" for the axes of a scatter plot. */
KFE_API kfe_status kfe_report_new(kfe_context *ctx, const char *options, kfe_report **out);
KFE_API const kfe_param_info *kfe_report_option(int index); /* NULL past the end */
/* The model whose features and predictions are shown. The report borrows it. */
KFE_API kfe_status kfe_report_set_model(kfe_context *ctx, kfe_report *report, const kfe_model *model);
/* Examples to show; both are borrowed, and either may be NULL. Predictions are judged on `test`, otherwise on `train`. */
KFE_API kfe_status kfe_report_set_data(kfe_context *ctx, kfe_report *report, const kfe_data *train,
                                       const kfe_data *test);
/* The result of kfe_cross_validate or kfe_compare, or a parsed result that describes its own picture, as `kfe
 * reproduce --json` writes it. The report borrows it. */
KFE_API kfe_status kfe_report_set_results(kfe_context *ctx, kfe_report *report, const kfe_result *results);
/* One figure as "svg", as "html" (a page of its own), as "csv" (its numbers) or as "json" (its description). The caller
 * frees it with kfe_string_free. KFE_EINVAL if the report lacks what the figure needs; the message says what is missing. */
KFE_API kfe_status kfe_report_figure(kfe_context *ctx, kfe_report *report, const char *figure,
                                     const char *format, char **out);
/* The first adds a line about the report's origin, such as "command", "kfe fit ..."; the second adds a warning to the
 * top, once. Both copy the strings. */
KFE_API kfe_status kfe_report_add_fact(kfe_context *ctx, kfe_report *report, const char *name,
                                       const char *value);
KFE_API kfe_status kfe_report_add_warning(kfe_context *ctx, kfe_report *report, const char *text);
/* Everything that can be drawn, as one HTML page that needs no network. Its charts are interactive if the bundle of
 * plotly.js (share/kfe/kfe-charts.js.gz, or the file that the environment variable KFE_CHARTS names) is found beside the
 * library, and static otherwise. The caller frees it with kfe_string_free. */
KFE_API kfe_status kfe_report_html(kfe_context *ctx, kfe_report *report, char **out);
KFE_API void kfe_report_free(kfe_report *report);

/* ---- files and messages of your own ----------------------------------------------------------- */

/* Every file that the library writes appears whole or not at all: until it is complete it has a temporary name in the same
 * folder, NAME.xxxxxxxx.part. If a program is killed, the next one that writes the same file removes what is left.
 * Symbolic links are followed, and a write-protected file is refused, not replaced.
 *
 * Checks whether `path` could be written now, so that a program can fail before a long computation. */
KFE_API kfe_status kfe_output_check(kfe_context *ctx, const char *path);
/* Writes your own bytes in the same way; "-" is standard output. */
KFE_API kfe_status kfe_output_write(kfe_context *ctx, const char *path, const void *bytes, size_t size);
/* Makes foreign text (names of classes, columns and files) safe to print on a terminal: each byte of a control character,
 * of a mark that changes the writing direction, or of invalid UTF-8 becomes \xNN. Like snprintf, writes at most `size`
 * bytes including the NUL and returns the length of the whole result. Messages of this library are already escaped;
 * labels and names in data and files are not. */
KFE_API size_t kfe_escape(const char *text, char *out, size_t size);
/* For "did you mean": the number of letters that were added, omitted, replaced or swapped when `word` was typed for
 * `name`; -1 if there are too many for a typo. */
KFE_API int kfe_count_typos(const char *word, const char *name);

#ifdef __cplusplus
}
#endif
#endif
