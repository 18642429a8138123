/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the progress of a command on terminals: a bar, or for searches the fits that are left. */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/system.h"

#define SECONDS_BEFORE_SHOWN 1.0
#define SECONDS_BETWEEN_DRAWS 0.1

enum { BAR_WIDTH = 30 };

static double first_call, last_draw;
static int visible;

static int on_terminal(void)
{
    const char *terminal = getenv("TERM");
    return kfe_i_is_terminal(stderr) && terminal && strcmp(terminal, "dumb") != 0;
}

/* The fits of a search: what matters is how many are left. */
static void draw_search(int64_t done, int64_t total, double spent)
{
    double left = done > 0 ? spent / (double)done * (double)(total - done) : 0;

    fprintf(stderr, "\r\033[Kfit %lld of %lld", (long long)done, (long long)total);
    if (done == 0)
        return;
    if (left < 120)
        fprintf(stderr, ", %.0f s left", left);
    else if (left < 7200)
        fprintf(stderr, ", %.0f min left", left / 60);
    else
        fprintf(stderr, ", %.1f h left", left / 3600);
}

static void draw(const char *stage, int64_t done, int64_t total)
{
    char bar[BAR_WIDTH + 1];
    double part = (double)done / (double)total;
    int filled = (int)(part * BAR_WIDTH);

    memset(bar, ' ', BAR_WIDTH);
    memset(bar, '#', (size_t)(filled < 0 ? 0 : filled > BAR_WIDTH ? BAR_WIDTH : filled));
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r\033[K%.30s [%s] %3.0f %%", stage, bar, 100 * part);
}

void cli_progress_show(void *user, const char *stage, int64_t done, int64_t total)
{
    double now = kfe_i_clock();

    (void)user;
    if (first_call == 0)
        first_call = now;
    if (now - first_call < SECONDS_BEFORE_SHOWN || now - last_draw < SECONDS_BETWEEN_DRAWS || !on_terminal())
        return;
    last_draw = now;
    visible = 1;
    if (total > 0 && strcmp(stage, "fit") == 0)
        draw_search(done, total, now - first_call);
    else if (total > 0)
        draw(stage, done, total);
    else
        fprintf(stderr, "\r\033[K%.30s … %lld", stage, (long long)done);
    fflush(stderr);
}

void cli_progress_erase(void)
{
    if (!visible)
        return;
    visible = 0;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}
