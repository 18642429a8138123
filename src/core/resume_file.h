/* SPDX-License-Identifier: Apache-2.0 */
/* Read and write the file in which long loops keep their state, for resume.c. */
#ifndef KFE_CORE_RESUME_FILE_H
#define KFE_CORE_RESUME_FILE_H

#include "core/resume.h"

/* A state in the file. */
typedef struct kfe_i_saved_state {
    int64_t number, next; /* of the loop; loops begun when it was saved */
    uint64_t key;
    char name[KFE_LOOP_NAME];
    int64_t count, sizes[KFE_LOOP_PARTS];
    long offset, end; /* from its first number to behind its last byte */
    long bytes;       /* where its parts begin */
} kfe_i_saved_state;

struct kfe_i_resume {
    char *path;
    double seconds;
    int wanted; /* to resume */
    int always; /* tests: after every iteration, however long that takes */
    int running;
    int processes; /* when the fit began: a loop of one process alone is not saved */
    char *identity;
    int64_t begun; /* loops */
    kfe_i_saved_state *states;
    int64_t count, capacity;
    double saved_at, took;
};

/* The error for a file that is not a checkpoint. */
kfe_status kfe_i_resume_damaged(kfe_context *ctx);
/* Process 0 reads which states the file has. Fails if it belongs to another fit; a missing file is a warning. */
kfe_status kfe_i_resume_read(kfe_context *ctx);
/* Process 0 writes the state of this loop, and keeps the states of loops that began before it. */
kfe_status kfe_i_resume_write(const kfe_i_loop *loop);
/* Meanwhile the other processes send their divided parts. */
kfe_status kfe_i_resume_send(const kfe_i_loop *loop);

#endif
