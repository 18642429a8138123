/* SPDX-License-Identifier: Apache-2.0 */
/* Gives OpenMP an environment that does not hurt other programs: threads that have no work sleep instead of spinning,
 * unless the user says how they wait, and a malformed number of threads is dropped with a warning.
 *
 * OpenMP reads its variables while libraries are loaded, and LLVM's runtime may abort or hang right there over a number
 * that it cannot read. So `settle` runs before the initialisation of any library, from .preinit_array, which glibc
 * has and other C libraries do not. If a variable has to change, the program executes itself again with the same
 * arguments. That time nothing has to change, so it does not loop. */
#include <string.h> /* which also says whether this is glibc */
#if defined(__linux__) && defined(__GLIBC__)
#include <sys/auxv.h>
#include <unistd.h>

enum { MOST_VARIABLES = 4096 };

/* Sanitizers are not ready either. */
#define EARLY __attribute__((no_sanitize("address", "undefined", "thread")))

/* The value if the variable has that name, else NULL. */
EARLY static const char *value_of(const char *variable, const char *name)
{
    size_t length = strlen(name);

    return strncmp(variable, name, length) == 0 && variable[length] == '=' ? variable + length + 1 : NULL;
}

/* A positive number of at most nine digits, with blanks around it; moves `text` behind it. */
EARLY static int skip_number(const char **text)
{
    const char *digit = *text + strspn(*text, " \t");
    size_t digits = strspn(digit, "0123456789"), zeros = strspn(digit, "0");

    *text = digit + digits + strspn(digit + digits, " \t");
    return digits <= 9 && zeros < digits;
}

/* "4" or, for nested teams, "4,2". */
EARLY static int is_list_of_numbers(const char *text)
{
    while (skip_number(&text)) {
        if (*text == '\0')
            return 1;
        if (*text++ != ',')
            return 0;
    }
    return 0;
}

EARLY static void warn(const char *name)
{
    char line[128] = "kfe: warning: ";

    strcat(strcat(line, name), " is ignored, since it is not a positive number\n");
    if (write(STDERR_FILENO, line, strlen(line)) < 0)
        return; /* goes on without the warning */
}

EARLY static int is_malformed(const char *variable)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = value_of(variable, names[i]);
        if (value && !is_list_of_numbers(value)) {
            warn(names[i]);
            return 1;
        }
    }
    return 0;
}

EARLY static int is_about_waiting(const char *variable)
{
    return value_of(variable, "OMP_WAIT_POLICY") || value_of(variable, "GOMP_SPINCOUNT") ||
           value_of(variable, "KMP_BLOCKTIME");
}

/* Valgrind would not watch a program that is executed again. */
EARLY static int is_valgrind(const char *variable)
{
    const char *preload = value_of(variable, "LD_PRELOAD");

    return preload && strstr(preload, "vgpreload");
}

/* If it cannot execute itself, the program goes on as it is. So it does if the loader was called as a program
 * (ld.so kfe …), since then /proc/self/exe is the loader. */
EARLY static void settle(int argc, char **argv, char **environment)
{
    static char *kept[MOST_VARIABLES + 2], passive[] = "OMP_WAIT_POLICY=passive";
    int count = 0, dropped = 0, told = 0;

    (void)argc;
    for (char **variable = environment; *variable; variable++) {
        if (count == MOST_VARIABLES || is_valgrind(*variable))
            return;
        told |= is_about_waiting(*variable);
        if (is_malformed(*variable))
            dropped = 1;
        else
            kept[count++] = *variable;
    }
    if (!told)
        kept[count++] = passive;
    if ((dropped || !told) && getauxval(AT_BASE) != 0)
        execve("/proc/self/exe", argv, kept);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = settle;
#endif
