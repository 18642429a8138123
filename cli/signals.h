/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C and termination: the running call is asked to stop, cleans up, and the process then dies of the
 * signal, as shells expect. A second signal ends it at once. */
#ifndef KFE_CLI_SIGNALS_H
#define KFE_CLI_SIGNALS_H

void cli_signals_catch(void);
int cli_signal_arrived(void);
/* The cancel callback of the library. */
int cli_signal_cancels(void *user);
/* Does not return if a signal arrived. */
void cli_signals_finish(void);

#endif
