/* SPDX-License-Identifier: Apache-2.0 */
/* Save the sums of a stream now and then, and go on from them (kfe_context_set_checkpoint). Every process has a state of its own. */
#ifndef KFE_ACCUMULATE_STREAM_STATE_H
#define KFE_ACCUMULATE_STREAM_STATE_H

#include "accumulate/accumulator.h"
#include "accumulate/row_files.h"
#include "core/resume.h"

typedef struct kfe_i_stream_state {
    kfe_i_row_files *files;
    int process;  /* of this process */
    int on;       /* there is a checkpoint */
    int restored; /* the sums are those of an earlier run, over the parts before `parts` */
    int64_t parts;
    uint64_t mark; /* of these parts (kfe_i_row_files) */
    char *sums;    /* the accumulator as it is saved */
    int64_t size;
    kfe_i_loop loop;
} kfe_i_stream_state;

/* With a checkpoint: names the fit, for this process alone, or (`together`) for all of them. Fails for standard input. */
kfe_status kfe_i_stream_identity(const kfe_i_row_files *files, const kfe_spec *spec, int together,
                                 char **out);
/* Begins the checkpoints of this process, and replaces *sums by what an earlier run has saved. */
kfe_status kfe_i_stream_state_begin(kfe_accumulator **sums, kfe_i_row_files *files, kfe_i_stream_state *out);
/* Reads the parts that are in the restored sums already. */
kfe_status kfe_i_stream_state_skip(kfe_i_stream_state *state);
/* After a part: saves the sums if it is time to. */
kfe_status kfe_i_stream_state_save(kfe_i_stream_state *state, const kfe_accumulator *sums);
void kfe_i_stream_state_end(kfe_i_stream_state *state, int done);

#endif
