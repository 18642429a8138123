/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kfe: kernel feature extraction.
 *
 * The one public header. Conventions, true for every function below unless it says otherwise:
 *
 *  - A function that can fail returns kfe_status. On failure its outputs are NULL or zero, and the
 *    context holds the reason (kfe_error_message).
 *  - kfe_x_free accepts NULL and half-built objects.
 *  - A context must outlive what was made with it. One thread uses a context at a time; any number of
 *    threads may use any number of contexts, and may share data and models that nobody changes.
 *  - fork: after a call that used several threads, the child of a fork() has lost them, and OpenMP would wait
 *    for them without end. The library notices: in such a child every context has one thread. Objects that
 *    another thread was using at the fork are undefined there. A child that calls exec is not concerned.
 *  - Waiting threads of OpenMP spin, which slows other programs and the threads themselves on a busy machine.
 *    OMP_WAIT_POLICY=passive in the environment prevents it. OpenMP reads it while the program is loaded, so a
 *    library cannot set it; the command line and the Python package do.
 *  - Strings are UTF-8 and copied; returned `const char *` belong to the object and live as long as it.
 *  - Rows are examples. Matrices are row-major doubles.
 *  - Options are written "key=value,key=value"; a comma or backslash inside a value takes a backslash, and
 *    in keys - and _ are the same.
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

/* ---- status ---------------------------------------------------------------------------------- */

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
    X(KFE_ECANCEL, "cancelled")

#define KFE_STATUS_ENUM_ROW(code, text) code,
typedef enum kfe_status { KFE_STATUS_LIST(KFE_STATUS_ENUM_ROW) KFE_STATUS_COUNT } kfe_status;
#undef KFE_STATUS_ENUM_ROW

/* The text of a status, never NULL. */
KFE_API const char *kfe_status_text(kfe_status status);

/* The version of the library that is running, as "major.minor.patch". */
KFE_API const char *kfe_version(void);

/* ---- context --------------------------------------------------------------------------------- */

typedef struct kfe_context kfe_context;

typedef enum kfe_level {
    KFE_LOG_ERROR,
    KFE_LOG_WARNING,
    KFE_LOG_NOTICE, /* what lies ahead, such as the number of fits of a search */
    KFE_LOG_INFO,
    KFE_LOG_DEBUG
} kfe_level;

/* size 0 frees `block`; block NULL allocates. May return NULL. Called from one thread at a time. */
typedef void *(*kfe_reallocate_fn)(void *user, void *block, size_t size);
typedef void (*kfe_log_fn)(void *user, kfe_level level, const char *text);
/* `total` is 0 when it is not known. A search (kfe_cross_validate, kfe_compare) has one stage, "fit", which counts
 * its fits. Called from the thread that called the library. */
typedef void (*kfe_progress_fn)(void *user, const char *stage, int64_t done, int64_t total);
/* Nonzero asks the running call to stop with KFE_ECANCEL. Asked often, but not while LAPACK factors or LIBSVM,
 * LIBLINEAR, Clp or CSDP solve one problem, which may take seconds for thousands of examples. */
typedef int (*kfe_cancel_fn)(void *user);

KFE_API kfe_status kfe_context_new(kfe_context **out);
/* The same with every allocation, the context's own included, made by `reallocate` (NULL: realloc). */
KFE_API kfe_status kfe_context_new_with(kfe_reallocate_fn reallocate, void *user, kfe_context **out);
KFE_API void kfe_context_free(kfe_context *ctx);

/* 0 (the default): OMP_NUM_THREADS if it is set, else one per core. Always 1 in a forked child (see above). */
KFE_API kfe_status kfe_context_set_threads(kfe_context *ctx, int threads);
KFE_API int kfe_context_threads(const kfe_context *ctx);
KFE_API void kfe_context_set_seed(kfe_context *ctx, uint64_t seed);
KFE_API uint64_t kfe_context_seed(const kfe_context *ctx);
/* The memory limit in bytes; 0 (the default) means 70 % of what is free when asked, within the limits of control groups.
 * The library plans with it, counting what was allocated with this context, and chooses slower ways that need less. A
 * call that would exceed it by more than 16 MB fails with KFE_ELIMIT. */
KFE_API kfe_status kfe_context_set_memory(kfe_context *ctx, int64_t bytes);
KFE_API int64_t kfe_context_memory(const kfe_context *ctx);
/* How messages name parameters: as a program in C, as flags or as keywords of Python would write them. */
typedef enum kfe_wording {
    KFE_WORDING_C,      /* missing=mean, the default */
    KFE_WORDING_FLAGS,  /* --missing mean */
    KFE_WORDING_PYTHON, /* missing='mean' */
    KFE_WORDING_COUNT
} kfe_wording;
KFE_API kfe_status kfe_context_set_wording(kfe_context *ctx, kfe_wording wording);
/* NULL switches a callback off. */
KFE_API void kfe_context_on_log(kfe_context *ctx, kfe_log_fn log, void *user);
KFE_API void kfe_context_on_progress(kfe_context *ctx, kfe_progress_fn progress, void *user);
KFE_API void kfe_context_on_cancel(kfe_context *ctx, kfe_cancel_fn cancel, void *user);

/* The reason of the last failure, "" if there was none; it begins with "file:line:column: " where
 * there is such a place. Valid until the next failure on this context. */
KFE_API const char *kfe_error_message(const kfe_context *ctx);
/* 1-based place of the last input error, 0 where it does not apply. */
KFE_API int64_t kfe_error_line(const kfe_context *ctx);
KFE_API int64_t kfe_error_column(const kfe_context *ctx);

/* For "did you mean": how many letters were added, left out, replaced or swapped when `name` was typed as `word`;
 * -1 if that many make it unlikely. */
KFE_API int kfe_count_typos(const char *word, const char *name);

/* For code of your own that runs beside the library: a direction rule, a user kernel, a program.
 * kfe_fail records the reason of a failure, for kfe_error_message, and returns `status`. kfe_checkpoint reports
 * progress to the context's callback; it fails with KFE_ECANCEL if the cancel callback asks to stop. */
KFE_API kfe_status kfe_fail(kfe_context *ctx, kfe_status status, const char *reason);
KFE_API kfe_status kfe_checkpoint(kfe_context *ctx, const char *stage, int64_t done, int64_t total);

/* ---- matrices -------------------------------------------------------------------------------- */

typedef struct kfe_matrix {
    int64_t rows, cols, stride; /* element (i, j) is values[i * stride + j] */
    double *values;
    kfe_context *owner; /* frees values; NULL for borrowed memory */
} kfe_matrix;

/* Frees the values if owned and zeroes the struct. */
KFE_API void kfe_matrix_free(kfe_matrix *matrix);

/* Writes a matrix in the format that the extension of `path` names: .csv .tsv .npy .npz .svm .libsvm,
 * each also with .gz (except .npz); "-" is standard output, as CSV. The file appears whole or not at all. */
KFE_API kfe_status kfe_matrix_write(kfe_context *ctx, const kfe_matrix *matrix, const char *path);

/* The same for features of `data` (as many rows), with its labels where the format has a place for them: in LIBSVM
 * files. */
struct kfe_data;
KFE_API kfe_status kfe_features_write(kfe_context *ctx, const kfe_matrix *features,
                                      const struct kfe_data *data, const char *path);

/* ---- parameters ------------------------------------------------------------------------------ */

typedef enum kfe_param_type {
    KFE_PARAM_INT,
    KFE_PARAM_REAL,
    KFE_PARAM_CHOICE, /* one of `words` */
    KFE_PARAM_FLAG,   /* yes or no */
    KFE_PARAM_TEXT
} kfe_param_type;

/* One row of a parameter table. Numbers may also be given by a name listed in `words`. */
typedef struct kfe_param_info {
    const char *name;
    kfe_param_type type;
    const char *initial; /* the default, as it would be written */
    double min, max;     /* inclusive; of numbers only */
    const char *words;   /* "a|b|c" or NULL */
    const char *help;
    const char *alias; /* a former name, still understood; NULL: none */
} kfe_param_info;

/* ---- data ------------------------------------------------------------------------------------ */

typedef struct kfe_data kfe_data;

typedef enum kfe_task { KFE_TASK_NONE, KFE_TASK_CLASSES, KFE_TASK_REAL } kfe_task;

/* Options of reading (label, delimiter, header, task, ...), row by row; NULL past the end. */
KFE_API const kfe_param_info *kfe_read_option(int index);

/* Reads one table. `path` "-" is standard input. NULL options are the defaults. */
KFE_API kfe_status kfe_data_read(kfe_context *ctx, const char *path, const char *options, kfe_data **out);
/* Reads several views of the same examples. Where names, or one of them, is NULL, the file gives it
 * (kfe_view_name); two of the same name are refused. The label is looked for in the last file; with a label
 * file, no view has one. */
KFE_API kfe_status kfe_data_read_views(kfe_context *ctx, int count, const char *const *paths,
                                       const char *const *names, const char *options, kfe_data **out);
/* The name that a view gets from its file: without folder, ".gz" and the extension of a format that can be
 * read ("data/fac.csv.gz": "fac"), cut to size - 1 bytes. */
KFE_API void kfe_view_name(const char *path, char *out, size_t size);
/* Makes one data set of several with one view each, which must describe the same examples. Their tables are
 * borrowed: the parts must outlive it. Names as above, those of the parts in place of files. Labels are those
 * of the first part that has some (copied). */
KFE_API kfe_status kfe_data_join_views(kfe_context *ctx, int count, const kfe_data *const *parts,
                                       const char *const *names, kfe_data **out);
/* Wraps memory without copying: it must stay as it is for as long as the data is used. */
KFE_API kfe_status kfe_data_wrap_dense(kfe_context *ctx, int64_t rows, int64_t cols, int64_t stride,
                                       const double *values, kfe_data **out);
/* Compressed sparse rows: 0-based columns, increasing within a row; row_start has rows + 1 entries. */
KFE_API kfe_status kfe_data_wrap_csr(kfe_context *ctx, int64_t rows, int64_t cols, const int64_t *row_start,
                                     const int32_t *columns, const double *values, kfe_data **out);
/* One string per example (copied), for the kernels on strings. */
KFE_API kfe_status kfe_data_from_text(kfe_context *ctx, int64_t rows, const char *const *strings,
                                      kfe_data **out);
/* The rectangle features of Viola & Jones of grey images, width × height pixels a row, row-major: two, three
 * and four adjacent rectangles of the same size, at all positions and sizes. Labels and targets go with them.
 */
KFE_API kfe_status kfe_data_viola_jones(kfe_context *ctx, const kfe_data *images, int64_t width,
                                        int64_t height, kfe_data **out);
/* Generated data; kfe_generator names them. */
KFE_API kfe_status kfe_data_generate(kfe_context *ctx, const char *name, const char *options, kfe_data **out);
/* The rows listed (0-based, in this order; a row may be listed twice) in all views, with their labels or targets.
 * Everything is copied. Classes without a row are dropped. */
KFE_API kfe_status kfe_data_take(kfe_context *ctx, const kfe_data *data, int64_t count, const int64_t *rows,
                                 kfe_data **out);
KFE_API void kfe_data_free(kfe_data *data);

/* Class labels, one string per row (copied). Numerically equal labels ("1", "1.0", "+1") are one class, named as
 * the first of them was written. Classes are sorted: numbers by value, then text by its characters. */
KFE_API kfe_status kfe_data_set_labels(kfe_context *ctx, kfe_data *data, const char *const *labels);
/* Real targets, rows × cols (copied). */
KFE_API kfe_status kfe_data_set_targets(kfe_context *ctx, kfe_data *data, int64_t cols,
                                        const double *targets);
/* Whether numbers are classes or real values, for callers who are not told: the rule of kfe_data_read. Real values
 * if one of them is fractional or if they are of a floating-point type (`floating` nonzero), else classes if they
 * have at most 20 different values. In doubt (all are whole, but floating or with more values), it answers real
 * values and logs a warning that names the setting. */
KFE_API kfe_task kfe_guess_task(kfe_context *ctx, int64_t count, const double *values, int floating);
/* Gives `to` the labels or targets of `from`, which has as many rows (copied). */
KFE_API kfe_status kfe_data_copy_target(kfe_context *ctx, const kfe_data *from, kfe_data *to);

/* Says that NaNs of the dense views are missing values, to be filled with the "mean", "median" or "most-frequent" value
 * of their column. Like a scaling, every fit learns it on its own training rows, and the model fills in the same for new
 * data, which is given with its NaNs. Copies a view that has gaps. */
KFE_API kfe_status kfe_data_set_missing(kfe_context *ctx, kfe_data *data, const char *fill);
/* Encodes columns of categories of data with one dense view: each category of a column becomes a column of zeros and ones,
 * in its place, called "NAME=CATEGORY" if the columns have names. `columns` are `count` numbers from 0 that increase,
 * texts[k * rows + i] is the text of columns[k] in row i (copied; NULL: missing, see kfe_data_set_missing); what the data
 * holds in these columns is ignored. Categories are sorted as classes are, 1000 at most. The model keeps them: new data is
 * encoded by kfe_data_encode_for_model, or by kfe_data_read_for_model if it is in a file. */
KFE_API kfe_status kfe_data_encode(kfe_context *ctx, kfe_data *data, int64_t count, const int64_t *columns,
                                   const char *const *texts);
/* Groups of rows that cross-validation keeps together: one number per row (copied; NULL: none). Rows of a group are never
 * in the training and in the test part of the same split. */
KFE_API kfe_status kfe_data_set_groups(kfe_context *ctx, kfe_data *data, const int64_t *groups);
/* The same by a column of the first view, given by name or by number from 1, which is removed from the view. */
KFE_API kfe_status kfe_data_take_groups(kfe_context *ctx, kfe_data *data, const char *column);
/* Appends an outer split (rows from 0, copied). Cross-validation of data with such splits uses them in place of those
 * that its options ask for. */
KFE_API kfe_status kfe_data_add_split(kfe_context *ctx, kfe_data *data, int64_t train_count,
                                      const int64_t *train, int64_t test_count, const int64_t *test);

/* What the columns of one view are called (copied), one name each. Models keep the names and refuse columns
 * in another order. */
KFE_API kfe_status kfe_data_set_column_names(kfe_context *ctx, kfe_data *data, int view,
                                             const char *const *names);

KFE_API kfe_status kfe_data_write(kfe_context *ctx, const kfe_data *data, const char *path);

KFE_API int64_t kfe_data_rows(const kfe_data *data);
KFE_API int kfe_data_views(const kfe_data *data);
KFE_API const char *kfe_data_view_name(const kfe_data *data, int view); /* NULL if out of range */
KFE_API int64_t kfe_data_cols(const kfe_data *data, int view);
KFE_API int kfe_data_is_sparse(const kfe_data *data, int view);
/* The compressed sparse rows of a view, as kfe_data_wrap_csr takes them; they belong to the data. Returns 0, and
 * NULL, if the view is not sparse. */
KFE_API int kfe_data_csr(const kfe_data *data, int view, const int64_t **row_start, const int32_t **columns,
                         const double **values);
KFE_API kfe_task kfe_data_task(const kfe_data *data);
KFE_API int64_t kfe_data_class_count(const kfe_data *data);
KFE_API const char *kfe_data_class_name(const kfe_data *data, int64_t index); /* NULL if out of range */
KFE_API int64_t kfe_data_class_of(const kfe_data *data, int64_t row);         /* -1 if it has none */
KFE_API const char *kfe_data_column_name(const kfe_data *data, int view, int64_t col); /* or NULL */
/* The real targets, rows × *cols; NULL, and 0, if there are none. */
KFE_API const double *kfe_data_targets(const kfe_data *data, int64_t *cols);
/* Copies one row of one view, dense, into `row` (as many doubles as the view has columns). */
KFE_API kfe_status kfe_data_row(kfe_context *ctx, const kfe_data *data, int view, int64_t index, double *row);

/* ---- what there is: generators, kernels, methods ---------------------------------------------- */

typedef struct kfe_entry_info {
    const char *name;
    const char *summary; /* one line */
    const char *formula; /* kernels: the formula; methods: the paper; generators: the source */
    unsigned flags;      /* KFE_HAS_... */
    const char *kernel;  /* methods: the kernel of a fit that names none; NULL: the method takes none */
    const char *alias;   /* kernels: another name that is understood; NULL: none */
} kfe_entry_info;

enum {
    KFE_HAS_SUPERVISION = 1u << 0, /* needs labels */
    KFE_HAS_REGRESSION = 1u << 1,  /* takes real targets */
    KFE_HAS_KERNELS = 1u << 2,     /* works with every kernel (otherwise: linear only) */
    KFE_HAS_MULTIVIEW = 1u << 3,   /* takes several views or kernels */
    KFE_HAS_SPARSE = 1u << 4,      /* keeps sparse data sparse */
    KFE_HAS_SYNTHETIC = 1u << 5,   /* needs the points: no precomputed kernels, no strings */
    KFE_HAS_INDEFINITE = 1u << 6,  /* kernels: not positive definite for all parameters */
    KFE_HAS_NONNEGATIVE = 1u << 7, /* kernels: for data without negative values */
    KFE_HAS_STRINGS = 1u << 8,     /* kernels: on strings */
    KFE_HAS_NESTING = 1u << 9,     /* methods: fewer features are the first of more, so one fit answers all */
    KFE_HAS_TWO_CLASSES = 1u << 10, /* methods: exactly two classes, no more */
    KFE_HAS_WEIGHTS = 1u << 11,     /* methods: weigh the kernels themselves */
    KFE_HAS_PREDICTOR = 1u << 12    /* methods: predict without a learner */
};

/* One row of the guide "which method?". c is the number of classes. */
typedef struct kfe_guide_row {
    const char *goal;  /* what the user wants */
    const char *start; /* the method to start with, or several: "sma, smc" */
    const char *then;  /* others, each with the reason to take it; "" if none */
    unsigned flags;    /* KFE_HAS_... that all methods to start with have */
} kfe_guide_row;

/* Methods by goal, row by row. Returns 0 past the end, 1 otherwise. */
KFE_API int kfe_guide(int index, kfe_guide_row *out);

/* Each returns 0 past the end of its table, 1 otherwise. */
KFE_API int kfe_generator(int index, kfe_entry_info *out);
KFE_API int kfe_kernel(int index, kfe_entry_info *out);
KFE_API int kfe_method(int index, kfe_entry_info *out);
/* The parameters of one entry, row by row; NULL past the end of either table. */
KFE_API const kfe_param_info *kfe_generator_param(int index, int param);
KFE_API const kfe_param_info *kfe_kernel_param(int index, int param);
KFE_API const kfe_param_info *kfe_method_param(int index, int param);
KFE_API int kfe_learner(int index, kfe_entry_info *out);
KFE_API const kfe_param_info *kfe_learner_param(int index, int param);
/* Options of fitting that no method owns (scale, gram); NULL past the end. */
KFE_API const kfe_param_info *kfe_fit_option(int index);

/* The kernel matrix between the rows of two data sets of one view each (columns NULL: the first with itself),
 * into a matrix that the caller frees. Names such as gamma=scale are resolved on the columns' data. */
KFE_API kfe_status kfe_kernel_matrix(kfe_context *ctx, const char *kernel, const kfe_data *rows,
                                     const kfe_data *columns, kfe_matrix *out);

/* ---- fitting --------------------------------------------------------------------------------- */

typedef struct kfe_spec kfe_spec;
typedef struct kfe_model kfe_model;

/* `params`: the method's parameters and fit options; `kernel`: "name:key=value,..."; both may be NULL. */
KFE_API kfe_status kfe_spec_parse(kfe_context *ctx, const char *method, const char *params,
                                  const char *kernel, kfe_spec **out);
/* Sets the classifier or regressor on the features, so that the model can predict; NULL: none. kfe_spec_set also
 * sets its parameters. */
KFE_API kfe_status kfe_spec_set_learner(kfe_context *ctx, kfe_spec *spec, const char *learner,
                                        const char *params);
KFE_API kfe_status kfe_spec_set(kfe_context *ctx, kfe_spec *spec, const char *name, const char *value);
/* Adds a kernel: a fit uses the weighted sum (key `weight`) of its kernels. A family, such as
 * "rbf:gamma=0.001..10/8", adds eight. */
KFE_API kfe_status kfe_spec_add_kernel(kfe_context *ctx, kfe_spec *spec, const char *kernel);

/* Adds a kernel, or a family, for the view of this name only. Kernels without a view are for the views that have
 * no kernel of their own. */
KFE_API kfe_status kfe_spec_set_view_kernel(kfe_context *ctx, kfe_spec *spec, const char *view,
                                            const char *kernel);

/* κ(x, y) on dense rows of `cols` numbers; called from one thread at a time. */
typedef double (*kfe_kernel_fn)(void *user, const double *x, const double *y, int64_t cols);
KFE_API kfe_status kfe_spec_add_user_kernel(kfe_context *ctx, kfe_spec *spec, const char *name,
                                            kfe_kernel_fn kernel, void *user);

/* What a direction rule sees at the beginning of an iteration (docs/deflation.md). Only the target is deflated:
 * with Q the features, the deflated kernel matrix is (I − QQᵀ)K. */
typedef struct kfe_deflation_state {
    int64_t examples;
    int64_t targets;        /* columns of the target; 0 without one */
    int64_t iteration;      /* from 0; as many features have been found */
    const double *residual; /* examples × targets: the centred target, minus what the features explain */
    const double *features; /* iteration × examples, orthonormal */
    /* out (examples × k) = the kernel matrix, centred unless center=no, times v (examples × k) */
    kfe_status (*times)(void *handle, const double *v, int64_t k, double *out);
    void *handle; /* to be passed to `times` */
} kfe_deflation_state;
/* Fills direction[examples], which holds zeros before the call, with coefficients on the examples. A direction
 * that stays zero ends the iterations. Called from one thread at a time, except by cross-validation with several
 * threads. */
typedef kfe_status (*kfe_rule_fn)(void *user, const kfe_deflation_state *state, double *direction);
/* A spec of a method that you define by its direction rule. `params`: dim, center and fit options. The model
 * keeps `name` as its method and needs no function when it is used. */
KFE_API kfe_status kfe_spec_new_rule(kfe_context *ctx, const char *name, kfe_rule_fn rule, void *user,
                                     const char *params, const char *kernel, kfe_spec **out);
KFE_API void kfe_spec_free(kfe_spec *spec);

/* Nonzero if a model of this spec can predict: the spec has a learner, or the method predicts by itself. */
KFE_API int kfe_spec_predicts(const kfe_spec *spec);

KFE_API const char *kfe_spec_method(const kfe_spec *spec); /* lives as long as the spec */

/* Why a spec cannot be fitted. */
typedef enum kfe_misfit {
    KFE_FITS,
    KFE_MISFIT_KERNEL,      /* the method, or the learner without a method, takes no kernel */
    KFE_MISFIT_POINTS,      /* it needs columns of numbers, not strings or kernel values */
    KFE_MISFIT_VIEWS,       /* it takes one view */
    KFE_MISFIT_LABELS,      /* it needs labels */
    KFE_MISFIT_CLASSES,     /* it needs classes, not real targets */
    KFE_MISFIT_ONE_CLASS,   /* all examples are of one class */
    KFE_MISFIT_TWO_CLASSES, /* it takes two classes, not more */
    KFE_MISFIT_OTHER        /* any other reason; see the message */
} kfe_misfit;
/* The reason in a few words, such as "takes two classes"; static storage. */
KFE_API const char *kfe_misfit_text(kfe_misfit misfit);
/* Whether kfe_fit would accept this spec for this data. KFE_OK, or the status of the failure; the message
 * says why and what to use instead. data NULL: checks what does not depend on data, so that mistakes show
 * before data is read. *misfit, unless NULL, becomes the reason. Reads the data once. */
KFE_API kfe_status kfe_spec_check(kfe_context *ctx, const kfe_spec *spec, const kfe_data *data,
                                  kfe_misfit *misfit);

KFE_API kfe_status kfe_fit(kfe_context *ctx, const kfe_spec *spec, const kfe_data *train, kfe_model **out);
KFE_API void kfe_model_free(kfe_model *model);

/* Features of new data, rows × kfe_model_dim, into a matrix that the caller frees. Of several views, the
 * order does not matter if they are called as those of the model are; views none of which is, and which the
 * user did not name, are taken in the model's order. */
KFE_API kfe_status kfe_transform(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                 kfe_matrix *out);

/*
 * Predicts from new data; the model must have a learner. `predictions` is rows × 1, the index of a class
 * (kfe_model_class_name), or rows × targets for real targets. `scores`, if not NULL, are the decision values,
 * rows × kfe_model_outputs: one per class, or one per pair or link of the chain of classes, above zero for
 * the first of the two. The caller frees both.
 */
KFE_API kfe_status kfe_predict(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                               kfe_matrix *predictions, kfe_matrix *scores);

/*
 * The same for programs that answer request after request: rows are read where they lie, results are written where the
 * caller wants them, and nothing is wrapped or allocated on the way. Up to eight dense rows are answered in one pass
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
    int64_t stride; /* numbers from the beginning of one row to that of the next */
} kfe_rows;
/* `views` has one item per view of the model, in its order; `features` is room for rows × kfe_model_dim. NaN stands for
 * a missing value if the model fills them in, and is an error otherwise. */
KFE_API kfe_status kfe_transform_into(kfe_context *ctx, const kfe_model *model, const kfe_rows *views,
                                      double *features);
/* `predictions` and `scores` as kfe_predict returns them; scores may be NULL. */
KFE_API kfe_status kfe_predict_into(kfe_context *ctx, const kfe_model *model, const kfe_rows *views,
                                    double *predictions, double *scores);

/* The scores of kfe_predict as one per class, rows × classes; higher scores mean more likely. Votes of
 * pairs are counted; along a chain, the score is the smallest margin. The caller frees `out`. */
KFE_API kfe_status kfe_class_scores(kfe_context *ctx, const kfe_model *model, const kfe_matrix *scores,
                                    kfe_matrix *out);

/* Reads new data for a model, as kfe_data_read_views does (names, or one of them, may be NULL: named after the file). The
 * model tells which views hold strings, whether the last file has a label column, and where; `options` of the
 * caller win. */
KFE_API kfe_status kfe_data_read_for_model(kfe_context *ctx, const kfe_model *model, int count,
                                           const char *const *paths, const char *const *names,
                                           const char *options, kfe_data **out);

/* Encodes columns of new data with the categories of the model, which encodes exactly these columns. A category that the
 * training data did not have becomes zeros, with one warning that counts such cells. */
KFE_API kfe_status kfe_data_encode_for_model(kfe_context *ctx, const kfe_model *model, kfe_data *data,
                                             int64_t count, const int64_t *columns, const char *const *texts);

/* A model fitted with a user kernel and then loaded needs its function again. */
KFE_API kfe_status kfe_model_bind_kernel(kfe_context *ctx, kfe_model *model, const char *name,
                                         kfe_kernel_fn kernel, void *user);

/* ---- models ---------------------------------------------------------------------------------- */

KFE_API kfe_status kfe_model_save(kfe_context *ctx, const kfe_model *model, const char *path);
KFE_API kfe_status kfe_model_load(kfe_context *ctx, const char *path, kfe_model **out);
/* The bytes of the file that kfe_model_save writes; freed with kfe_string_free. */
KFE_API kfe_status kfe_model_save_bytes(kfe_context *ctx, const kfe_model *model, char **out, size_t *size);
/* The same from memory. */
KFE_API kfe_status kfe_model_load_bytes(kfe_context *ctx, const void *bytes, size_t size, kfe_model **out);

KFE_API const char *kfe_model_method(const kfe_model *model);
KFE_API const char *kfe_model_learner(const kfe_model *model); /* NULL: the model gives features only */
KFE_API int64_t kfe_model_outputs(const kfe_model *model);     /* decision values; 0 without a learner */
KFE_API kfe_task kfe_model_task(const kfe_model *model);
KFE_API int64_t kfe_model_dim(const kfe_model *model);
KFE_API int64_t kfe_model_support_size(const kfe_model *model); /* 0 for linear projectors */
KFE_API int kfe_model_views(const kfe_model *model);
KFE_API const char *kfe_model_view_name(const kfe_model *model, int view); /* NULL if out of range */
KFE_API int64_t kfe_model_cols(const kfe_model *model, int view);
/* The number of columns that the data of a view has before categories are encoded. */
KFE_API int64_t kfe_model_source_cols(const kfe_model *model, int view);
/* The categories of a column, numbered from 0 before encoding, sorted; they belong to the model. Returns how many; 0, and
 * NULL, if the column is not encoded or not there. */
KFE_API int64_t kfe_model_categories(const kfe_model *model, int view, int64_t column,
                                     const char *const **out);
/* How the columns of a view are scaled: x becomes (x - shift) * factor. kfe_model_cols numbers each, which belong to
 * the model; NULL: nothing is subtracted, or multiplied. Returns 0 if `view` is out of range, else 1. */
KFE_API int kfe_model_scaling(const kfe_model *model, int view, const double **shift, const double **factor);
/* Where the label stood in the training file, from 1; 0 if it did not come from there. */
KFE_API int64_t kfe_model_label_column(const kfe_model *model);
/* Nonzero if the view holds strings: read its data with content=strings. */
KFE_API int kfe_model_takes_strings(const kfe_model *model, int view);
KFE_API int64_t kfe_model_kernels(const kfe_model *model); /* 0 for models without a kernel */
/* A kernel with every number resolved, such as "rbf:gamma=0.25", freed with kfe_string_free; a method that weighs
 * kernels keeps those of a weight above zero. KFE_EINVAL if the index is out of range. */
KFE_API kfe_status kfe_model_kernel(kfe_context *ctx, const kfe_model *model, int64_t index, char **out);
KFE_API int64_t kfe_model_class_count(const kfe_model *model);
KFE_API const char *kfe_model_class_name(const kfe_model *model, int64_t index);
KFE_API const char *kfe_model_column_name(const kfe_model *model, int view, int64_t col); /* or NULL */
/* The matrix A of features(x) = Aᵀκ(S, x) − offset, or W of Wᵀx − offset where the support size is 0:
 * *rows × kfe_model_dim. NULL, and 0, if the columns themselves are the features, and for localized models.
 */
KFE_API const double *kfe_model_coefficients(const kfe_model *model, int64_t *rows);
KFE_API const double *kfe_model_offset(const kfe_model *model); /* kfe_model_dim numbers; NULL: zeros */
/* The training row, from 0, of each support example; NULL if they are not training examples. */
KFE_API const int64_t *kfe_model_support_index(const kfe_model *model);
/* One part of a localized model (lmkl, sldr): a kernel on a view, or on projections of it. */
typedef struct kfe_part_info {
    int view;
    int64_t cols, dim;        /* columns of the view, or landmarks where `mapped`; projections of them */
    int mapped;               /* the columns are kernel values against the training rows */
    const double *projection; /* cols × dim; NULL: none, the columns themselves are compared */
    const double *gating; /* cols × gate dimension: the part's rows of T; NULL: the gate does not see it */
} kfe_part_info;
/* 0 past the end, and for models that are not localized. */
KFE_API int kfe_model_part(const kfe_model *model, int index, kfe_part_info *out);
/* The gate softmax(Vᵀz + v₀): its dimension, V (dimension × parts; NULL: the identity) and v₀ (parts); 0 for
 * models that are not localized. */
KFE_API int64_t kfe_model_gate(const kfe_model *model, const double **weights, const double **offset);

/* Numbers that the fit recorded, such as "eigenvalues" or "kernel-evaluations" (an underscore will do for a dash);
 * NULL if there is no record of that name. */
KFE_API const double *kfe_model_record(const kfe_model *model, const char *name, int64_t *count);
KFE_API const char *kfe_model_record_name(const kfe_model *model, int64_t index); /* NULL past the end */

/* ---- metrics --------------------------------------------------------------------------------- */

/* The metrics of predictions; 0 past the end. `flags`: KFE_HAS_REGRESSION for real targets;
 * `formula`: "larger is better" or "smaller is better". */
KFE_API int kfe_metric(int index, kfe_entry_info *out);
/* One metric of predictions of classes, given as numbers 0 … classes−1. Scores (rows × classes, higher scores mean
 * more likely) may be NULL for metrics that need none, and `predicted` for those that need scores; `positive` is
 * the positive class of two. ovr-error takes a score above zero for "of this class", and without scores the
 * predicted class alone. NaN: the metric is not defined, as auc and average-precision with one class in the
 * truth. Plain arguments rather than a struct: a host language needs no layout to call it. */
KFE_API kfe_status kfe_metric_classes(kfe_context *ctx, const char *metric, int64_t rows, int64_t classes,
                                      int64_t positive, const int32_t *truth, const int32_t *predicted,
                                      const double *scores, double *out);
/* The same for real targets, rows × cols. NaN for r2 if a column of the truth does not vary. */
KFE_API kfe_status kfe_metric_values(kfe_context *ctx, const char *metric, int64_t rows, int64_t cols,
                                     const double *truth, const double *predicted, double *out);
/* Whether a and b, measured on the same `count` splits, differ: Student's t of a[i] − b[i] with count − 1
 * degrees of freedom, and P(|T| ≥ |t|). test_share 0 is the plain paired test; test rows / training rows is
 * Nadeau & Bengio's correction for splits whose training rows overlap. Both NaN with fewer than two pairs. */
KFE_API kfe_status kfe_paired_test(kfe_context *ctx, int64_t count, const double *a, const double *b,
                                   double test_share, double *t, double *p);

/* ---- reports --------------------------------------------------------------------------------- */

typedef enum kfe_style { KFE_STYLE_TEXT, KFE_STYLE_JSON } kfe_style;

/* Strings that the caller frees with kfe_string_free. */
KFE_API kfe_status kfe_model_describe(kfe_context *ctx, const kfe_model *model, kfe_style style, char **out);
/* Kernel-target alignment, HSIC, effective rank, ... of each kernel on the data: on all views, or as
 * "VIEW=KERNEL" on that one. */
KFE_API kfe_status kfe_measure(kfe_context *ctx, const kfe_data *data, int kernel_count,
                               const char *const *kernels, const char *options, kfe_style style, char **out);
/* Metrics of a model's predictions on data with labels; as JSON also the confusion matrix and the points of
 * the ROC and precision-recall curves. Options: kfe_evaluate_option. */
KFE_API kfe_status kfe_evaluate(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                const char *options, kfe_style style, char **out);
KFE_API const kfe_param_info *kfe_evaluate_option(int index); /* NULL past the end */
/* Writes predictions, one row per example: the label (by name) or values first, then the scores (NULL: none). If the rows of `data`
 * (NULL: not known) have names, or numbers because others were dropped, those come before. */
KFE_API kfe_status kfe_predictions_write(kfe_context *ctx, const kfe_model *model, const kfe_data *data,
                                         const kfe_matrix *predictions, const kfe_matrix *scores,
                                         const char *path);

/*
 * Cross-validation of a specification with a learner. A grid is "NAME=a,b,c", "NAME=lo:hi:logN" or
 * "NAME=lo:hi:linN" over a parameter of the kernels, the method, the learner or the fit. Settings are
 * compared on inner folds and assessed on outer ones; `best`, if not NULL, becomes a model of the best
 * setting, fitted on all the data.
 *
 * This call and kfe_compare take plain arguments rather than a struct, so that a host language needs no layout to
 * call them; everything that has a default is in `options`.
 */
KFE_API kfe_status kfe_cross_validate(kfe_context *ctx, const kfe_spec *spec, int grid_count,
                                      const char *const *grids, const kfe_data *data, const char *options,
                                      kfe_style style, kfe_model **best, char **out);
KFE_API const kfe_param_info *kfe_cv_option(int index); /* NULL past the end */
/* Checks the grids and options of a cross-validation before any data is read; *settings is the number of settings
 * that the grids make. */
KFE_API kfe_status kfe_cv_check(kfe_context *ctx, const kfe_spec *spec, int grid_count,
                                const char *const *grids, const char *options, int64_t *settings);
/* The outer splits that kfe_cross_validate makes of the data with these options and the context's seed. The rows
 * of a training or test part are 0-based and increasing, and belong to the splits; NULL, and 0, if `index` is out
 * of range. */
typedef struct kfe_splits kfe_splits;
KFE_API kfe_status kfe_splits_make(kfe_context *ctx, const kfe_data *data, const char *options,
                                   kfe_splits **out);
KFE_API int64_t kfe_splits_count(const kfe_splits *splits);
KFE_API const int64_t *kfe_splits_train(const kfe_splits *splits, int64_t index, int64_t *count);
KFE_API const int64_t *kfe_splits_test(const kfe_splits *splits, int64_t index, int64_t *count);
KFE_API void kfe_splits_free(kfe_splits *splits);
/* Whether the grids can be searched: each names a parameter of at least one of the specs, and every value is
 * valid. Needs no data. */
KFE_API kfe_status kfe_grids_check(kfe_context *ctx, int count, const kfe_spec *const *specs, int grid_count,
                                   const char *const *grids);
/* The same for several specifications under the same splits, with tests of which differ. A grid is used by
 * those that have its parameter; one at least must. */
KFE_API kfe_status kfe_compare(kfe_context *ctx, int count, const kfe_spec *const *specs, int grid_count,
                               const char *const *grids, const kfe_data *data, const char *options,
                               kfe_style style, char **out);
KFE_API const kfe_param_info *kfe_compare_option(int index); /* NULL past the end */

/*
 * Which method, which kernel, which width? Tries the candidates of a table (methods, kernels, widths, ridges and
 * learners, and baselines without a method) by successive halving within a budget, ranks them, and measures the whole
 * procedure on examples that took no part in choosing. `best`, if not NULL, becomes a model of the best setting, fitted
 * on all the data. Options: kfe_tune_option. While the time does not end the search, the result depends on the data,
 * the options and the seed only.
 */
KFE_API kfe_status kfe_tune(kfe_context *ctx, const kfe_data *data, const char *options, kfe_style style,
                            kfe_model **best, char **out);
KFE_API const kfe_param_info *kfe_tune_option(int index); /* NULL past the end */

/* Tables as JSON: the entry called `name` with its parameters, or an array of all entries (NULL). */
KFE_API kfe_status kfe_list_generators(kfe_context *ctx, const char *name, char **out);
KFE_API kfe_status kfe_list_kernels(kfe_context *ctx, const char *name, char **out);
KFE_API kfe_status kfe_list_methods(kfe_context *ctx, const char *name, char **out);
KFE_API kfe_status kfe_list_learners(kfe_context *ctx, const char *name, char **out);
KFE_API void kfe_string_free(kfe_context *ctx, char *string);

/* ---- outputs ----------------------------------------------------------------------------------- */

/* Every file that the library writes appears whole or not at all: it has a temporary name beside the final one,
 * NAME.xxxxxxxx.part, until it is complete. What a killed program left is removed by the next one that writes the
 * same file. A symbolic link is followed, and a file that may not be written is refused, not replaced.
 *
 * Fails as writing to `path` would fail now, so that a program can find out before a long computation. */
KFE_API kfe_status kfe_output_check(kfe_context *ctx, const char *path);
/* Writes bytes of your own in the same way; "-" is standard output. */
KFE_API kfe_status kfe_output_write(kfe_context *ctx, const char *path, const void *bytes, size_t size);
/* Makes text that somebody else wrote (names of classes, columns and files) safe to print on a terminal: each byte of
 * a control character, of a mark that changes the direction of writing, and of what is not UTF-8 becomes \xNN. Works as
 * snprintf does: writes at most `size` bytes, the NUL included, and returns the length of the whole result. Messages
 * of this library are already escaped; labels and names in data, files and JSON are not. */
KFE_API size_t kfe_escape(const char *text, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
