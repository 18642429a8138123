/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the R package share. An entry point that R calls is written like this:
 *
 *     SEXP holder = PROTECT(rkfe_open(settings));
 *     rkfe_session *s = rkfe_session_of(holder);
 *     kfe_status status = s->status;
 *     if (!status)
 *         status = kfe_...(s->ctx, ..., &s->text);
 *     return rkfe_close(holder, status, value);
 *
 * A session owns everything that a call makes in the library. An error of R itself (out of memory, an interrupt) leaves
 * the call by a jump; then the finalizer of the session frees what is left.
 */
#ifndef RKFE_H
#define RKFE_H

#include <pthread.h>

#include <kfe.h>

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

typedef struct rkfe_block {
    struct rkfe_block *next;
    double values[]; /* doubles, so that the memory is aligned for them */
} rkfe_block;

typedef struct rkfe_message {
    struct rkfe_message *next;
    char text[];
} rkfe_message;

typedef struct rkfe_session {
    kfe_status status; /* of opening */
    kfe_context *ctx;
    kfe_spec **specs;
    int spec_count;
    kfe_data **parts; /* one for each view */
    int part_count;
    kfe_data *data; /* one of the parts, or their join */
    rkfe_block *blocks;
    kfe_model *model; /* a new one, until rkfe_new_handle takes it and the context over */
    int handed_over;
    kfe_matrix first, second;
    kfe_report *report;
    kfe_result *result;
    char *text, *json;
    size_t text_size;
    char failure[512]; /* a failure of this package, not of the library */
    rkfe_message *warnings;
    pthread_mutex_t lock; /* of the warnings */
    pthread_t thread;     /* the only one that may call R */
    int verbose;
    int unwinding; /* R wants to leave by a jump; see rkfe_close */
    double last_check, last_line;
    SEXP continuation;
} rkfe_session;

/* A model and the context that it was made with: the content of an external pointer. */
typedef struct rkfe_model {
    kfe_context *ctx;
    kfe_model *model;
} rkfe_model;

/* ---- sessions (session.c) ---- */

/* Opens a session with a list of settings: threads, seed, memory, device, verbose. */
SEXP rkfe_open(SEXP settings);
rkfe_session *rkfe_session_of(SEXP holder);
/* Frees the session and returns list(value, status, message, warnings). */
SEXP rkfe_close(SEXP holder, kfe_status status, SEXP value);
/* Memory that lives as long as the session; NULL: none left. */
void *rkfe_keep(rkfe_session *s, size_t bytes);
/* Records a failure in the words of this package. */
kfe_status rkfe_fail(rkfe_session *s, kfe_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- conversions (convert.c) ---- */

SEXP rkfe_item(SEXP list, const char *name);
/* The string in UTF-8; NULL for NULL and NA. */
const char *rkfe_string(SEXP text);
const char *rkfe_element(SEXP texts, R_xlen_t index);
SEXP rkfe_utf8(const char *text);
SEXP rkfe_matrix_to_r(const kfe_matrix *matrix);
/* An array of strings that lives as long as the session; *status is KFE_ENOMEM if it cannot be made. */
const char *const *rkfe_strings(rkfe_session *s, SEXP texts, kfe_status *status);

/* ---- data (data.c) and specs (spec.c) ---- */

/* Makes s->data from the list that R/data.R describes. model NULL: for a fit. */
kfe_status rkfe_make_data(rkfe_session *s, SEXP description, const kfe_model *model);
/* Makes the data of another session, NULL: none; its failure becomes one of `s`. */
kfe_status rkfe_make_other(rkfe_session *s, rkfe_session *other, SEXP description, const kfe_model *model);
/* Adds a spec from the list that R/spec.R describes. */
kfe_status rkfe_make_spec(rkfe_session *s, SEXP description);

/* ---- models (model.c) ---- */

SEXP rkfe_new_handle(rkfe_session *s);
/* The model of an external pointer; NULL if the pointer was saved and read again. */
const kfe_model *rkfe_model_of(SEXP handle);

/* ---- what R calls ---- */

SEXP rkfe_fit(SEXP settings, SEXP spec, SEXP data);
SEXP rkfe_is_alive(SEXP handle);
SEXP rkfe_to_bytes(SEXP settings, SEXP handle);
SEXP rkfe_from_bytes(SEXP settings, SEXP bytes);
SEXP rkfe_save(SEXP settings, SEXP handle, SEXP path);
SEXP rkfe_load(SEXP settings, SEXP path);
SEXP rkfe_export_onnx(SEXP settings, SEXP handle, SEXP options, SEXP path);
SEXP rkfe_inspect(SEXP settings, SEXP handle);
SEXP rkfe_describe(SEXP settings, SEXP handle, SEXP json);
SEXP rkfe_transform(SEXP settings, SEXP handle, SEXP data);
SEXP rkfe_transfer(SEXP settings, SEXP handle, SEXP how, SEXP slave, SEXP master, SEXP train);
SEXP rkfe_inverse(SEXP settings, SEXP handle, SEXP features);
SEXP rkfe_predict(SEXP settings, SEXP handle, SEXP data, SEXP kind, SEXP level);
SEXP rkfe_evaluate(SEXP settings, SEXP handle, SEXP data, SEXP options);
SEXP rkfe_explain(SEXP settings, SEXP handle, SEXP data, SEXP train, SEXP options);
SEXP rkfe_report(SEXP settings, SEXP source, SEXP options, SEXP figure, SEXP path);
SEXP rkfe_search(SEXP settings, SEXP specs, SEXP grids, SEXP data, SEXP options);
SEXP rkfe_tune(SEXP settings, SEXP data, SEXP options);
SEXP rkfe_kernel_matrix(SEXP settings, SEXP kernel, SEXP rows, SEXP columns);
SEXP rkfe_guess(SEXP settings, SEXP values);
SEXP rkfe_generate(SEXP settings, SEXP name, SEXP options);
/* Data as list(x, y, names, classes) (generated.c). */
SEXP rkfe_data_to_r(rkfe_session *s);
SEXP rkfe_entries(SEXP table);
SEXP rkfe_params(SEXP table, SEXP index);
SEXP rkfe_version(void);
SEXP rkfe_let_threads_sleep(void);
/* The core that OPENBLAS_CORETYPE should name, or NA. */
SEXP rkfe_blas_advice(void);
SEXP rkfe_shown(SEXP names);

#endif
