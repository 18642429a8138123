/* SPDX-License-Identifier: Apache-2.0 */
/* Write findings for readers: a list of rows, or a curve with one line for each point. */
#ifndef REP_FINDINGS_TEXT_H
#define REP_FINDINGS_TEXT_H

#include "reproduce/src/findings.h"

void rep_findings_text(const rep_findings *findings, rep_text *text);

#endif
