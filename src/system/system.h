/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library and its programs ask of the operating system. Include this header instead of the system's own, which only
 * this folder includes (tools/check-layers). A new system is one more file that implements these functions.
 *
 * Nothing here knows a context or takes its memory. Functions that can fail set errno. Paths are UTF-8.
 */
#ifndef KFE_SYSTEM_SYSTEM_H
#define KFE_SYSTEM_SYSTEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Room for any path, with its NUL. */
enum { KFE_PATH_SIZE = 4096 };

/* ---- time ---- */

/* Seconds on a clock that only goes forward. */
double kfe_i_clock(void);
/* Seconds that the processors have worked for this process, all threads together. */
double kfe_i_processor_seconds(void);

/* ---- memory ---- */

/* Bytes that this process can take without swapping, and within the limits that containers and batch systems set.
 * `root`: "", or the folder of a test with made-up files of Linux. */
int64_t kfe_i_available_memory(const char *root);
/* Advises the system to back a large block by large pages. */
void kfe_i_ask_for_large_pages(void *block, size_t size);
/* For programs: lets malloc give the memory of large freed blocks back. */
void kfe_i_set_up_allocator(void);

/* ---- processors and threads ---- */

/* The number of processors that this process is bound to; 0 if it may use all of them. */
int kfe_i_bound_processors(void);
/* Makes threads of GNU's OpenMP sleep early while they wait, which it has no function for. */
void kfe_i_keep_idle_team(void);
/* Forked children do not have the threads of their parent. After the first call of kfe_i_watch_forks, kfe_i_is_forked says
 * whether this process is such a child. */
void kfe_i_watch_forks(void);
int kfe_i_is_forked(void);

/* ---- code ---- */

/* Loads a library, which then stays to the end of the process. NULL: kfe_i_library_error says why. */
void *kfe_i_library_open(const char *path);
const char *kfe_i_library_error(void);
/* The address of a function; of any library in the process if `library` is NULL. NULL: there is no such function. */
void *kfe_i_library_symbol(void *library, const char *name);
/* The folder of the library or program that contains this code, with a separator at its end; "" if it is unknown. */
void kfe_i_own_folder(char out[KFE_PATH_SIZE]);

/* ---- text ---- */

/* As vsnprintf and strtod, with a decimal point in every locale. */
int kfe_i_vsnprintf(char *out, size_t size, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
double kfe_i_strtod(const char *text, char **end);

/* An extended regular expression. NULL if it is not one: `reason` says why. */
typedef struct kfe_i_pattern kfe_i_pattern;
kfe_i_pattern *kfe_i_pattern_new(const char *expression, char *reason, size_t size);
/* Finds the first match in the text. [*begin, *end) is its first group, or all of it if the expression has no group; an
 * unmatched group is empty. Returns 0 if nothing matches. */
int kfe_i_pattern_find(const kfe_i_pattern *pattern, const char *text, int64_t *begin, int64_t *end);
void kfe_i_pattern_free(kfe_i_pattern *pattern);

/* ---- files ---- */

typedef enum kfe_i_path_kind {
    KFE_PATH_NOTHING,
    KFE_PATH_FILE,
    KFE_PATH_FOLDER,
    KFE_PATH_OTHER
} kfe_i_path_kind;

/* What is there, symbolic links followed. `size` receives the bytes of a file and may be NULL. */
kfe_i_path_kind kfe_i_path_look(const char *path, int64_t *size);
/* Whether both paths lead to one file. */
int kfe_i_is_same_file(const char *path, const char *other);
/* Whether this process may write to what is there; if not, errno says why. */
int kfe_i_path_is_writable(const char *path);
/* Creates a folder unless there is one. Returns 0 if that fails. */
int kfe_i_make_folder(const char *path);
/* fopen for paths in UTF-8. Programs that this one starts do not inherit the file. */
FILE *kfe_i_fopen(const char *path, const char *mode);

/* Raw input. "-" is standard input. -1: failure. */
int kfe_i_input_open(const char *path);
/* What it is, and how many bytes a file has from here on; 0 if that is unknown. */
kfe_i_path_kind kfe_i_input_look(int input, int64_t *left);
/* Returns the number of bytes, 0 at the end, and -1 after a failure, or with EINTR if a signal came. */
int64_t kfe_i_input_read(int input, void *buffer, int64_t size);
/* Whether a read would not wait. */
int kfe_i_input_is_ready(int input);
void kfe_i_input_close(int input);

/* A file that is replaced as a whole, or created: written under another name in the same folder, and renamed at the end.
 * Initialise with zeros. */
typedef struct kfe_i_replacement {
    char path[KFE_PATH_SIZE]; /* after all symbolic links; "": nothing was begun */
    const char *name;         /* its last part */
    int folder;               /* descriptor */
    char temporary[256];      /* name of the file until it is renamed; "": there is none */
} kfe_i_replacement;

/* Returns where to write. The new file has the mode and owner of the one that it replaces, as far as this process may give
 * them. What killed processes left of the same output is removed. NULL after a failure. */
FILE *kfe_i_replacement_begin(kfe_i_replacement *replacement, const char *path);
/* Flushes the file to the disk and renames it. Returns 0 after a failure. Close the stream after that. */
int kfe_i_replacement_end(kfe_i_replacement *replacement, FILE *stream);
/* Removes what was not renamed. */
void kfe_i_replacement_abandon(kfe_i_replacement *replacement);

/* A file without a name, which goes when it is closed. -1: failure. */
int kfe_i_unnamed_file(const char *folder);
/* Appends the bytes at *length, or somewhat behind it, and maps them read-only. NULL after a failure. */
void *kfe_i_append_mapped(int file, const void *bytes, int64_t size, int64_t *length);
void kfe_i_unmap(void *mapped, int64_t size);
void kfe_i_unnamed_close(int file);

/* Swallows what is written to it. */
extern const char *const kfe_i_null_device;
/* Standard output as one more stream, written from where it stands. */
FILE *kfe_i_standard_output(void);
int kfe_i_is_terminal(FILE *stream);
/* Whether a write failed with this errno because there is no room. */
int kfe_i_is_disk_full(int reason);

/* ---- for programs ---- */

/* From now on, a request to end (Ctrl-C, termination) is noted, and kfe_i_signal_arrived tells it. The process ends by
 * itself a second later; a second request ends it at once. */
void kfe_i_catch_signals(void);
int kfe_i_signal_arrived(void);
/* Ends the process as the request wanted, if one arrived. */
void kfe_i_end_by_signal(void);

/* Sets a variable of the environment and executes this program again; returns if that is impossible. */
void kfe_i_run_again_with(const char *variable, const char *value, char **arguments);
/* Becomes another program. `program` is a path, or a name that is looked for in PATH. Returns if there is none. */
void kfe_i_become(const char *program, char **arguments);
/* Runs a program, arguments[0], from one file to another. Returns its exit status, or 127 if it is not installed. */
int kfe_i_run_filter(char *const *arguments, FILE *from, FILE *to);

#endif
