/* SPDX-License-Identifier: Apache-2.0 */
/* Write a report for readers: a list of rows, or a curve with one line for each point. */
#ifndef REP_REPORT_TEXT_H
#define REP_REPORT_TEXT_H

#include "reproduce/src/report.h"

void rep_report_text(const rep_report *report, rep_text *text);

#endif
