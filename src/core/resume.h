/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Save the state of a long loop to a file now and then, and take it up again in a later run of the same fit
 * (kfe_context_set_checkpoint). A loop lists its state once and asks for both:
 *
 *     kfe_i_loop_begin(ctx, "solving", key, &loop);
 *     KFE_LOOP_VALUE(&loop, iterations);
 *     KFE_LOOP_ARRAY(&loop, x, n);
 *     KFE_TRY(kfe_i_loop_restore(&loop, &restored));
 *     while (...) { ...; KFE_TRY(kfe_i_loop_save(&loop)); }
 *
 * Without a checkpoint all of this does nothing. Loops are numbered in the order in which they begin. A fit takes the same road
 * whenever it runs, so that the number, the name, the sizes and the key of a loop say which saved state is its own. The state of an outer
 * loop replaces the states of the loops inside it. In a cluster process 0 alone writes and reads; state is the same on all processes, except
 * for arrays that are divided over the processes (KFE_LOOP_DIVIDED), which it collects.
 */
#ifndef KFE_CORE_RESUME_H
#define KFE_CORE_RESUME_H

#include "core/context.h"

enum { KFE_LOOP_PARTS = 64, KFE_LOOP_NAME = 32 };

typedef struct kfe_i_loop_part {
    void *bytes;
    int64_t size; /* in the file */
    int divided;  /* over the processes: this one has `own` bytes of it */
    int64_t own;
    char **text; /* of a part whose size changes: where its bytes and their number are; NULL: it does not */
    int64_t *text_size;
} kfe_i_loop_part;

typedef struct kfe_i_loop {
    kfe_context *ctx;
    const char *name;
    /* A number that depends on what the loop starts from, to distinguish two loops of one kind; 0: none */
    uint64_t key;
    int64_t number; /* -1: nothing is saved */
    int count;
    kfe_i_loop_part parts[KFE_LOOP_PARTS];
} kfe_i_loop;

/* As kfe_i_resume_begin, while the processes of a cluster work on their own (kfe_i_cluster_pause), each with a state of its own: process r > 0
 * keeps it in FILE.r.
 * With `remove_file` the file of a process > 0 is deleted; that of process 0 belongs to the caller. */
kfe_status kfe_i_resume_begin_alone(kfe_context *ctx, const char *identity, int process);
void kfe_i_resume_end_alone(kfe_context *ctx, int process, int remove_file);
/* A fit begins and ends. `identity` says which fit of which data it is: "settings\ndata". With `resume`, fails if the file
 * belongs to another one. */
kfe_status kfe_i_resume_begin(kfe_context *ctx, const char *identity);
void kfe_i_resume_end(kfe_context *ctx);
/* Whether the loops of this fit are saved. */
int kfe_i_resume_is_on(const kfe_context *ctx);
/* Forgets the file; for kfe_context_free. */
void kfe_i_resume_free(kfe_context *ctx);

/* `name` has less than KFE_LOOP_NAME bytes. */
void kfe_i_loop_begin(kfe_context *ctx, const char *name, uint64_t key, kfe_i_loop *out);
/* NULL is left out. */
void kfe_i_loop_add(kfe_i_loop *loop, void *bytes, int64_t size);
#define KFE_LOOP_VALUE(loop, value) kfe_i_loop_add(loop, &(value), (int64_t)sizeof(value))
#define KFE_LOOP_ARRAY(loop, array, items) kfe_i_loop_add(loop, array, (items) * (int64_t)sizeof *(array))
/* Bytes that differ between processes. All processes save and restore such a loop at the same time, and in the same number. */
void kfe_i_loop_add_divided(kfe_i_loop *loop, void *bytes, int64_t own);
/* The same for an array; not divided if `is_divided` is 0. */
#define KFE_LOOP_DIVIDED(loop, is_divided, array, items)                                                     \
    ((is_divided) ? kfe_i_loop_add_divided(loop, array, (items) * (int64_t)sizeof *(array))                  \
                  : KFE_LOOP_ARRAY(loop, array, items))
/* A part of changing size. *text is allocated when the state is restored, and freed by the caller. */
void kfe_i_loop_add_text(kfe_i_loop *loop, char **text, int64_t *size);
/* Fills the parts with the state that an earlier run saved; *restored 0: there is none. */
kfe_status kfe_i_loop_restore(kfe_i_loop *loop, int *restored);
/* Whether the next kfe_i_loop_save writes, on process 0; for loops whose state must be made first. */
int kfe_i_loop_is_due(const kfe_i_loop *loop);
/* At the end of an iteration: writes the state if it is time to. A file that cannot be written is a warning. */
kfe_status kfe_i_loop_save(kfe_i_loop *loop);

/* A number made of these, for keys. */
uint64_t kfe_i_loop_key(uint64_t key, const double *values, int64_t count);

#endif
