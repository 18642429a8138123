/* SPDX-License-Identifier: Apache-2.0 */
/* Models: fitting, loading, saving and applying them. Called from R/model.R, R/kfe.R and R/predict.R. */
#include <string.h>

#include "rkfe.h"

/* ---- handles ---- */

static void finalize(SEXP handle)
{
    rkfe_model *m = R_ExternalPtrAddr(handle);

    if (!m)
        return;
    R_ClearExternalPtr(handle);
    kfe_model_free(m->model);
    kfe_context_free(m->ctx);
    R_Free(m);
}

SEXP rkfe_new_handle(rkfe_session *s)
{
    SEXP handle = PROTECT(R_MakeExternalPtr(NULL, Rf_install("kfe_model"), R_NilValue));
    rkfe_model *m = R_Calloc(1, rkfe_model);

    R_RegisterCFinalizerEx(handle, finalize, TRUE);
    m->ctx = s->ctx; /* the model needs its context; the callbacks belong to the session, which ends */
    m->model = s->model;
    kfe_context_on_log(m->ctx, NULL, NULL);
    kfe_context_on_cancel(m->ctx, NULL, NULL);
    kfe_context_on_progress(m->ctx, NULL, NULL);
    R_SetExternalPtrAddr(handle, m);
    s->model = NULL;
    s->handed_over = 1;
    UNPROTECT(1);
    return handle;
}

const kfe_model *rkfe_model_of(SEXP handle)
{
    rkfe_model *m = TYPEOF(handle) == EXTPTRSXP ? R_ExternalPtrAddr(handle) : NULL;

    return m ? m->model : NULL;
}

SEXP rkfe_is_alive(SEXP handle)
{
    return Rf_ScalarLogical(rkfe_model_of(handle) != NULL);
}

/* ---- fitting, loading, saving ---- */

SEXP rkfe_fit(SEXP settings, SEXP spec, SEXP data)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;

    if (!status)
        status = rkfe_make_spec(s, spec);
    if (!status)
        status = kfe_spec_check(s->ctx, s->specs[0], NULL, NULL);
    if (!status)
        status = rkfe_make_data(s, data, NULL);
    if (!status)
        status = kfe_fit(s->ctx, s->specs[0], s->data, &s->model);
    return rkfe_close(holder, status, status ? R_NilValue : rkfe_new_handle(s));
}

SEXP rkfe_from_bytes(SEXP settings, SEXP bytes)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;

    if (!status)
        status = kfe_model_load_bytes(s->ctx, RAW_RO(bytes), (size_t)Rf_xlength(bytes), &s->model);
    return rkfe_close(holder, status, status ? R_NilValue : rkfe_new_handle(s));
}

SEXP rkfe_load(SEXP settings, SEXP path)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;

    if (!status)
        status = kfe_model_load(s->ctx, rkfe_string(path), &s->model);
    return rkfe_close(holder, status, status ? R_NilValue : rkfe_new_handle(s));
}

SEXP rkfe_to_bytes(SEXP settings, SEXP handle)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;
    SEXP bytes = R_NilValue;

    if (!status)
        status = kfe_model_save_bytes(s->ctx, rkfe_model_of(handle), &s->text, &s->text_size);
    if (!status) {
        bytes = Rf_allocVector(RAWSXP, (R_xlen_t)s->text_size);
        memcpy(RAW(bytes), s->text, s->text_size);
    }
    return rkfe_close(holder, status, bytes);
}

SEXP rkfe_save(SEXP settings, SEXP handle, SEXP path)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;

    if (!status)
        status = kfe_model_save(s->ctx, rkfe_model_of(handle), rkfe_string(path));
    return rkfe_close(holder, status, R_NilValue);
}

SEXP rkfe_export_onnx(SEXP settings, SEXP handle, SEXP options, SEXP path)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;

    if (!status)
        status =
            kfe_model_export_onnx(s->ctx, rkfe_model_of(handle), rkfe_string(options), rkfe_string(path));
    return rkfe_close(holder, status, R_NilValue);
}

SEXP rkfe_describe(SEXP settings, SEXP handle, SEXP json)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_status status = s->status;
    kfe_style style = Rf_asLogical(json) == TRUE ? KFE_STYLE_JSON : KFE_STYLE_TEXT;

    if (!status)
        status = kfe_model_describe(s->ctx, rkfe_model_of(handle), style, &s->text);
    return rkfe_close(holder, status, status ? R_NilValue : rkfe_utf8(s->text));
}

SEXP rkfe_transfer(SEXP settings, SEXP handle, SEXP how, SEXP slave, SEXP master, SEXP train)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    SEXP master_holder = PROTECT(rkfe_open(settings));
    SEXP train_holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    rkfe_session *of_master = rkfe_session_of(master_holder);
    rkfe_session *of_train = rkfe_session_of(train_holder);
    const kfe_model *model = rkfe_model_of(handle);
    kfe_status status = s->status;
    SEXP value;

    if (!status)
        status = rkfe_make_data(s, slave, model);
    if (!status)
        status = rkfe_make_other(s, of_master, master, model);
    if (!status)
        status = rkfe_make_other(s, of_train, train, model);
    if (!status)
        status = kfe_transfer(s->ctx, model, rkfe_string(how), of_master->data, s->data, of_train->data,
                              &s->model);
    value = PROTECT(status ? R_NilValue : rkfe_new_handle(s));
    UNPROTECT(3);
    return rkfe_close(holder, status, value);
}

/* ---- applying ---- */

SEXP rkfe_transform(SEXP settings, SEXP handle, SEXP data)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    const kfe_model *model = rkfe_model_of(handle);
    kfe_status status = s->status;

    if (!status)
        status = rkfe_make_data(s, data, model);
    if (!status)
        status = kfe_transform(s->ctx, model, s->data, &s->first);
    return rkfe_close(holder, status, status ? R_NilValue : rkfe_matrix_to_r(&s->first));
}

/* Rows of R as a matrix of the library. */
static kfe_status rows_of(rkfe_session *s, SEXP matrix, kfe_matrix *out)
{
    int64_t rows = Rf_nrows(matrix);
    int64_t cols = Rf_ncols(matrix);
    double *values = rkfe_keep(s, sizeof *values * (size_t)(rows * cols));

    if (!values)
        return rkfe_fail(s, KFE_ENOMEM, "out of memory");
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            values[i * cols + j] = REAL_RO(matrix)[i + j * rows];
    *out = (kfe_matrix){.rows = rows, .cols = cols, .stride = cols, .values = values, .owner = NULL};
    return KFE_OK;
}

SEXP rkfe_inverse(SEXP settings, SEXP handle, SEXP features)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    kfe_matrix given = {0};
    kfe_status status = s->status;

    if (!status)
        status = rows_of(s, features, &given);
    if (!status)
        status = kfe_inverse_transform(s->ctx, rkfe_model_of(handle), &given, &s->first);
    return rkfe_close(holder, status, status ? R_NilValue : rkfe_matrix_to_r(&s->first));
}

/* Replaces the decision values by one score for each class. */
static kfe_status score_classes(rkfe_session *s, const kfe_model *model)
{
    kfe_matrix scores = {0};
    kfe_status status = kfe_class_scores(s->ctx, model, &s->second, &scores);

    kfe_matrix_free(&s->second);
    s->second = scores;
    return status;
}

static kfe_status predict(rkfe_session *s, const kfe_model *model, const char *kind, double level)
{
    kfe_status status;

    if (strcmp(kind, "path") == 0)
        return kfe_predict_path(s->ctx, model, s->data, &s->first);
    if (strcmp(kind, "prob") == 0)
        return kfe_predict_probabilities(s->ctx, model, s->data, &s->first, &s->second);
    if (strcmp(kind, "interval") == 0)
        return kfe_predict_intervals(s->ctx, model, s->data, level, &s->first, &s->second);
    if (strcmp(kind, "scores") != 0)
        return kfe_predict(s->ctx, model, s->data, &s->first, NULL);
    status = kfe_predict(s->ctx, model, s->data, &s->first, &s->second);
    return status || kfe_model_task(model) != KFE_TASK_CLASSES ? status : score_classes(s, model);
}

/* Returns list(predictions, scores); `kind` is "answer", "scores", "prob", "path" or, with a level, "interval". */
SEXP rkfe_predict(SEXP settings, SEXP handle, SEXP data, SEXP kind, SEXP level)
{
    SEXP holder = PROTECT(rkfe_open(settings));
    rkfe_session *s = rkfe_session_of(holder);
    const kfe_model *model = rkfe_model_of(handle);
    kfe_status status = s->status;
    SEXP value;

    if (!status)
        status = rkfe_make_data(s, data, model);
    if (!status)
        status = predict(s, model, rkfe_string(kind), Rf_asReal(level));
    value = PROTECT(status ? R_NilValue : Rf_allocVector(VECSXP, 2));
    if (!status) {
        SET_VECTOR_ELT(value, 0, rkfe_matrix_to_r(&s->first));
        SET_VECTOR_ELT(value, 1, s->second.values ? rkfe_matrix_to_r(&s->second) : R_NilValue);
    }
    UNPROTECT(1);
    return rkfe_close(holder, status, value);
}
