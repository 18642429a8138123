/* SPDX-License-Identifier: Apache-2.0 */
/* Catches Ctrl-C and termination signals and passes them to the library as a request to stop. */
#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

enum { SECONDS_TO_STOP = 1 };

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t arrived;

/* Ends the process by the signal that arrived. Nothing is lost: an output file has its name only when it is complete, and
 * the next run removes what is left of this one. */
static void end_now(int number)
{
    (void)number;
    signal(arrived, SIG_DFL);
    raise(arrived);
    _exit(128 + arrived);
}

/* The library stops at its next checkpoint. A solver that has none (LAPACK, LIBSVM) is not waited for. */
static void note_signal(int number)
{
    arrived = number;
    alarm(SECONDS_TO_STOP);
}

void cli_signals_catch(void)
{
    /* Without SA_RESTART, so that waiting for standard input ends as well. */
    struct sigaction note = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    sigemptyset(&note.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(caught[i], &note, NULL); /* a signal that is ignored, as under nohup, stays ignored */
    signal(SIGALRM, end_now);
    signal(SIGPIPE, SIG_DFL); /* a closed pipe ends the process without a message */
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the size limit becomes an error of write() */
}

int cli_signal_arrived(void)
{
    return arrived != 0;
}

int cli_signal_cancels(void *user)
{
    (void)user;
    return arrived != 0;
}

void cli_signals_finish(void)
{
    if (arrived)
        end_now(arrived);
}
