/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: one call of the library with its context, warnings, progress and interruption. Every entry point opens and
 * closes one.
 *
 * R leaves C code by longjmp, which must not pass through the library. So the callbacks run R code under
 * R_UnwindProtect: a jump is caught in the callback itself, the library is told to stop, and once everything is freed,
 * rkfe_close lets the jump go on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rkfe.h"

enum { LONGEST_LINE = 400 };
static const double CHECK_SECONDS = 0.05, LINE_SECONDS = 0.5;

/* ---- R code inside callbacks ---- */

static void jump_back(void *back, Rboolean jump)
{
    if (jump)
        longjmp(*(jmp_buf *)back, 1);
}

/* Calls R code; if it wants to jump, notes it. The library sees it in ask_to_cancel. */
static void call_r(rkfe_session *s, SEXP (*code)(void *), void *argument)
{
    jmp_buf back;

    if (s->unwinding || !pthread_equal(pthread_self(), s->thread))
        return;
    if (setjmp(back)) {
        s->unwinding = 1;
        return;
    }
    R_UnwindProtect(code, argument, jump_back, &back, s->continuation);
}

static SEXP check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
    return R_NilValue;
}

static SEXP print_line(void *line)
{
    REprintf("%s\n", (const char *)line);
    return R_NilValue;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- callbacks of the library ---- */

static int ask_to_cancel(void *user)
{
    rkfe_session *s = user;
    double now;

    if (s->unwinding || !pthread_equal(pthread_self(), s->thread))
        return s->unwinding;
    now = seconds();
    if (now - s->last_check >= CHECK_SECONDS) {
        s->last_check = now;
        call_r(s, check_interrupt, NULL);
    }
    return s->unwinding;
}

static void show_progress(void *user, const char *stage, int64_t done, int64_t total)
{
    rkfe_session *s = user;
    char line[LONGEST_LINE];
    double now = seconds();

    if (now - s->last_line < LINE_SECONDS)
        return;
    s->last_line = now;
    if (total > 0)
        snprintf(line, sizeof line, "[kfe] %s: %lld of %lld", stage, (long long)done, (long long)total);
    else
        snprintf(line, sizeof line, "[kfe] %s: %lld", stage, (long long)done);
    call_r(s, print_line, line);
}

static void keep_warning(rkfe_session *s, const char *text)
{
    size_t size = strlen(text) + 1;
    rkfe_message *message = malloc(sizeof *message + size);
    rkfe_message **end = &s->warnings;

    if (!message)
        return;
    message->next = NULL;
    memcpy(message->text, text, size);
    pthread_mutex_lock(&s->lock);
    while (*end)
        end = &(*end)->next;
    *end = message;
    pthread_mutex_unlock(&s->lock);
}

static void take_log(void *user, kfe_level level, const char *text)
{
    rkfe_session *s = user;
    char line[LONGEST_LINE];

    if (level <= KFE_LOG_WARNING) {
        keep_warning(s, text);
    } else if (s->verbose) {
        snprintf(line, sizeof line, "[kfe] %s", text);
        call_r(s, print_line, line);
    }
}

/* ---- making and freeing ---- */

static void free_list_of_blocks(rkfe_session *s)
{
    while (s->blocks) {
        rkfe_block *next = s->blocks->next;
        free(s->blocks);
        s->blocks = next;
    }
    while (s->warnings) {
        rkfe_message *next = s->warnings->next;
        free(s->warnings);
        s->warnings = next;
    }
}

static void session_free(rkfe_session *s)
{
    int joined = s->part_count != 1 || s->data != s->parts[0];

    kfe_matrix_free(&s->first);
    kfe_matrix_free(&s->second);
    kfe_report_free(s->report);
    kfe_result_free(s->result);
    if (s->ctx) {
        kfe_string_free(s->ctx, s->text);
        kfe_string_free(s->ctx, s->json);
    }
    if (joined)
        kfe_data_free(s->data);
    for (int k = 0; k < s->part_count; k++)
        kfe_data_free(s->parts[k]);
    for (int k = 0; k < s->spec_count; k++)
        kfe_spec_free(s->specs[k]);
    kfe_model_free(s->model);
    if (!s->handed_over)
        kfe_context_free(s->ctx);
    free_list_of_blocks(s);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void finalize(SEXP holder)
{
    rkfe_session *s = R_ExternalPtrAddr(holder);

    if (s) {
        R_ClearExternalPtr(holder);
        session_free(s);
    }
}

rkfe_session *rkfe_session_of(SEXP holder)
{
    return R_ExternalPtrAddr(holder);
}

static kfe_status apply_settings(rkfe_session *s, SEXP settings)
{
    SEXP seed = rkfe_item(settings, "seed");
    SEXP threads = rkfe_item(settings, "threads");
    SEXP memory = rkfe_item(settings, "memory");
    SEXP device = rkfe_item(settings, "device");
    kfe_status status = kfe_context_set_wording(s->ctx, KFE_WORDING_R);

    if (!status && !Rf_isNull(threads))
        status = kfe_context_set_threads(s->ctx, Rf_asInteger(threads));
    if (!status && !Rf_isNull(memory))
        status = kfe_context_set_memory(s->ctx, (int64_t)Rf_asReal(memory));
    if (!status && !Rf_isNull(device))
        status = kfe_context_set_device(s->ctx, rkfe_string(device));
    if (!status && !Rf_isNull(seed))
        kfe_context_set_seed(s->ctx, (uint64_t)Rf_asReal(seed));
    return status;
}

SEXP rkfe_open(SEXP settings)
{
    SEXP continuation = PROTECT(R_MakeUnwindCont());
    SEXP holder = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, continuation));
    rkfe_session *s;

    R_RegisterCFinalizerEx(holder, finalize, TRUE);
    s = calloc(1, sizeof *s);
    if (!s)
        Rf_error("out of memory");
    pthread_mutex_init(&s->lock, NULL);
    s->thread = pthread_self();
    s->continuation = continuation;
    s->last_check = s->last_line = seconds();
    s->verbose = Rf_asLogical(rkfe_item(settings, "verbose")) == TRUE;
    R_SetExternalPtrAddr(holder, s);
    s->status = kfe_context_new(&s->ctx);
    if (!s->status) {
        kfe_context_on_log(s->ctx, take_log, s);
        kfe_context_on_cancel(s->ctx, ask_to_cancel, s);
        if (s->verbose)
            kfe_context_on_progress(s->ctx, show_progress, s);
        s->status = apply_settings(s, settings);
    }
    UNPROTECT(2);
    return holder;
}

void *rkfe_keep(rkfe_session *s, size_t bytes)
{
    rkfe_block *block = malloc(sizeof *block + (bytes > 0 ? bytes : 1));

    if (!block)
        return NULL;
    block->next = s->blocks;
    s->blocks = block;
    return block->values;
}

kfe_status rkfe_fail(rkfe_session *s, kfe_status status, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(s->failure, sizeof s->failure, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- the reply ---- */

static SEXP list_of_warnings(const rkfe_session *s)
{
    R_xlen_t count = 0;
    SEXP texts;

    for (const rkfe_message *m = s->warnings; m; m = m->next)
        count++;
    texts = PROTECT(Rf_allocVector(STRSXP, count));
    count = 0;
    for (const rkfe_message *m = s->warnings; m; m = m->next)
        SET_STRING_ELT(texts, count++, Rf_mkCharCE(m->text, CE_UTF8));
    UNPROTECT(1);
    return texts;
}

static const char *reason(const rkfe_session *s, kfe_status status)
{
    const char *text = s->ctx ? kfe_error_message(s->ctx) : "";

    if (s->failure[0])
        return s->failure;
    return text[0] ? text : kfe_status_text(status);
}

SEXP rkfe_close(SEXP holder, kfe_status status, SEXP value)
{
    static const char *const names[] = {"value", "status", "message", "warnings", ""};
    rkfe_session *s = rkfe_session_of(holder);
    SEXP reply;

    if (s->unwinding) {
        SEXP continuation = s->continuation; /* the holder keeps it */
        finalize(holder);
        R_ContinueUnwind(continuation);
    }
    PROTECT(value);
    reply = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
    SET_VECTOR_ELT(reply, 0, value);
    SET_VECTOR_ELT(reply, 1, Rf_ScalarInteger((int)status));
    SET_VECTOR_ELT(reply, 2, status ? rkfe_utf8(reason(s, status)) : R_NilValue);
    SET_VECTOR_ELT(reply, 3, list_of_warnings(s));
    finalize(holder);
    UNPROTECT(3); /* the holder too */
    return reply;
}
