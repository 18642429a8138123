/* SPDX-License-Identifier: Apache-2.0 */
/* Processes on Linux and macOS: clocks, locales, libraries, forks, signals and other programs. */
#define _GNU_SOURCE /* dladdr, uselocale, RTLD_NODELETE */
#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "system/inside.h"

extern char **environ;

/* ---- time ---- */

static double read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double kfe_i_clock(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double kfe_i_processor_seconds(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- threads after fork() ---- */

static volatile int forked;

static void note_fork(void)
{
    forked = 1;
}

static void watch(void)
{
    (void)pthread_atfork(NULL, NULL, note_fork);
}

void kfe_i_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, watch);
}

int kfe_i_is_forked(void)
{
    return forked;
}

/* ---- code ---- */

void *kfe_i_library_open(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

const char *kfe_i_library_error(void)
{
    return dlerror();
}

void *kfe_i_library_symbol(void *library, const char *name)
{
    return dlsym(library ? library : RTLD_DEFAULT, name);
}

/* The name of a program that the shell found in PATH has no folder. */
void kfe_i_own_folder(char out[KFE_PATH_SIZE])
{
    Dl_info info;

    out[0] = '\0';
    if (!dladdr((const void *)(uintptr_t)&kfe_i_own_folder, &info) || !info.dli_fname)
        return;
    if (strchr(info.dli_fname, '/'))
        (void)snprintf(out, KFE_PATH_SIZE, "%s", info.dli_fname);
    else
        kfe_i_own_program(out);
    char *slash = strrchr(out, '/');
    out[slash ? slash + 1 - out : 0] = '\0';
}

/* ---- text ---- */

/* The numeric rules of the "C" locale for the calling thread. glibc keeps this locale ready, so that entering it allocates
 * nothing. */
typedef struct locale_state {
    locale_t c_locale, saved;
} locale_state;

static locale_state enter_c_locale(void)
{
    locale_state state = {newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), (locale_t)0};

    if (state.c_locale)
        state.saved = uselocale(state.c_locale);
    return state;
}

static void leave_c_locale(locale_state state)
{
    if (!state.c_locale)
        return;
    uselocale(state.saved);
    freelocale(state.c_locale);
}

int kfe_i_vsnprintf(char *out, size_t size, const char *format, va_list arguments)
{
    locale_state state = enter_c_locale();
    int needed = vsnprintf(out, size, format, arguments);

    leave_c_locale(state);
    return needed;
}

double kfe_i_strtod(const char *text, char **end)
{
    locale_state state = enter_c_locale();
    double value = strtod(text, end);

    leave_c_locale(state);
    return value;
}

struct kfe_i_pattern {
    regex_t compiled;
};

kfe_i_pattern *kfe_i_pattern_new(const char *expression, char *reason, size_t size)
{
    kfe_i_pattern *pattern = malloc(sizeof *pattern);
    int code = pattern ? regcomp(&pattern->compiled, expression, REG_EXTENDED) : REG_ESPACE;

    if (code == 0)
        return pattern;
    regerror(code, NULL, reason, size);
    free(pattern);
    return NULL;
}

int kfe_i_pattern_find(const kfe_i_pattern *pattern, const char *text, int64_t *begin, int64_t *end)
{
    regmatch_t found[2]; /* the whole match and its first group */

    if (regexec(&pattern->compiled, text, 2, found, 0) != 0)
        return 0;
    const regmatch_t *wanted = &found[pattern->compiled.re_nsub > 0];
    *begin = wanted->rm_so >= 0 ? wanted->rm_so : 0;
    *end = wanted->rm_so >= 0 ? wanted->rm_eo : 0;
    return 1;
}

void kfe_i_pattern_free(kfe_i_pattern *pattern)
{
    if (!pattern)
        return;
    regfree(&pattern->compiled);
    free(pattern);
}

/* ---- signals ---- */

enum { SECONDS_TO_STOP = 1 };

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t arrived;

/* Ends the process by the signal that arrived, as shells expect. Nothing is lost: an output file has its name only when it is complete, and
 * the next run removes what is left of this one. */
static void end_now(int number)
{
    (void)number;
    signal(arrived, SIG_DFL);
    raise(arrived);
    _exit(128 + arrived);
}

/* The library stops where it next reports progress. A solver that never does (LAPACK, LIBSVM) is not waited for. */
static void note_signal(int number)
{
    arrived = number;
    alarm(SECONDS_TO_STOP);
}

void kfe_i_catch_signals(void)
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

int kfe_i_signal_arrived(void)
{
    return arrived != 0;
}

void kfe_i_end_by_signal(void)
{
    if (arrived)
        end_now(arrived);
}

/* ---- other programs ---- */

void kfe_i_run_again_with(const char *variable, const char *value, char **arguments)
{
    char path[KFE_PATH_SIZE] = "";

    kfe_i_own_program(path);
    if (path[0] && setenv(variable, value, 1) == 0)
        (void)execv(path, arguments);
}

void kfe_i_become(const char *program, char **arguments)
{
    (void)execvp(program, arguments);
}

int kfe_i_run_filter(char *const *arguments, FILE *from, FILE *to)
{
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int result = 127;
    int state = 0;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return result;
    posix_spawn_file_actions_adddup2(&actions, fileno(from), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(to), STDOUT_FILENO);
    if (posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ) == 0 &&
        waitpid(child, &state, 0) == child && WIFEXITED(state))
        result = WEXITSTATUS(state);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}
