/* SPDX-License-Identifier: Apache-2.0 */
/* Handle Ctrl-C and termination: the running call is asked to stop and cleans up; the process then ends by the
 * signal, as shells expect. A second signal ends it at once. */
#ifndef KFE_CLI_SIGNALS_H
#define KFE_CLI_SIGNALS_H

void cli_signals_catch(void);
int cli_signal_arrived(void);
/* The cancel callback of the library. */
int cli_signal_cancels(void *user);
/* Ends the process by the signal, if one arrived. */
void cli_signals_finish(void);

#endif
