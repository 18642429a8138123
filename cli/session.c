/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one command: sets up a context, parses the command line, prints what went wrong and returns the exit status.
 * Called by the programs kfe and kfe-reproduce. Only this folder prints and handles signals; the library does neither. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "command.h"
#include "help.h"
#include "progress.h"
#include "system/system.h"

enum { EXIT_FAILED = 1 };

const cli_flag cli_common_flags[] = {
    CLI_INT("threads", "0", 0, 4096, "number of threads; 0: OMP_NUM_THREADS if set, else one per core"),
    CLI_INT("seed", "0", 0, 9007199254740992.0, "seed of the random numbers"),
    CLI_TEXT("memory", 0, "LIMIT",
             "memory limit, such as 500M, 1.5GB or 8GiB (K, M, G, T and KiB … are powers of 1024, KB … of "
             "1000); 70 % "
             "of the free memory unless given"),
    CLI_TEXT(
        "device", 0, "NAME",
        "where kernel matrices are computed: cpu, cuda (an NVIDIA GPU; cuda:1 is the second one), host "
        "(for tests), auto (a GPU if there is one and the problem is large) or mpi (the processes that "
        "mpirun or srun started; they share the work unless the device is cpu); by default KFE_DEVICE in "
        "the environment, else cpu"),
    CLI_LETTER_SWITCH("quiet", 'q', "print no summary and no progress, only warnings and errors"),
    CLI_LETTER_SWITCH("verbose", 'v', "say what is being done"),
    CLI_LETTER_SWITCH("help", 'h', "show this help"),
    CLI_LETTER_SWITCH("version", 'V', "show the version"),
    CLI_FLAGS_END};

kfe_status cli_fail(cli_session *session, const char *format, ...)
{
    char reason[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    cli_text_add(&session->problem, reason);
    return KFE_EINVAL;
}

kfe_status cli_check_operands(cli_session *session, int min, int max, const char *what)
{
    const cli_arguments *arguments = &session->arguments;

    if (arguments->operand_count < min)
        return cli_fail(session, "%s needs %s; usage: kfe %s %s", session->command->name, what,
                        session->command->name, session->command->operands);
    if (arguments->operand_count > max)
        return cli_fail(session, "%s does not take '%s'; usage: kfe %s %s", session->command->name,
                        arguments->operands[max], session->command->name, session->command->operands);
    return KFE_OK;
}

static int is_shown(const cli_session *session, kfe_level level)
{
    if (level == KFE_LOG_NOTICE && session->command->uses & CLI_SHOWS_NOTICES && !session->quiet)
        return 1;
    return level <= KFE_LOG_WARNING || (level <= KFE_LOG_INFO && cli_is_set(&session->arguments, "verbose"));
}

static void print_log(void *user, kfe_level level, const char *text)
{
    cli_session *session = user;

    if (!is_shown(session, level))
        return;
    if (strcmp(cli_text_string(&session->said), text) == 0)
        return;
    if (level == KFE_LOG_WARNING)
        cli_text_printf(&session->warnings, "%s\n", text);
    session->said.length = 0;
    cli_text_add(&session->said, text);
    cli_progress_erase();
    fprintf(stderr, "kfe: %s%s\n", level == KFE_LOG_WARNING ? "warning: " : "", cli_shown(text));
}

/* "8GiB" into bytes; 0 if it is not a size. */
static int64_t parse_size(const char *text)
{
    static const char prefixes[] = "KMGT";
    char *unit;
    double bytes = strtod(text, &unit);
    const char *prefix = *unit ? strchr(prefixes, *unit == 'k' ? 'K' : *unit) : NULL;
    double base = 1024;

    if (unit == text || !(bytes > 0))
        return 0;
    if (prefix) {
        unit++;
        if (*unit == 'B')
            base = 1000;
        else if (unit[0] == 'i' && unit[1] == 'B')
            unit++;
        for (long i = prefix - prefixes; i >= 0; i--)
            bytes *= base;
    }
    unit += *unit == 'B';
    return *unit == '\0' && bytes >= 1 && bytes < 9e18 ? (int64_t)bytes : 0;
}

static kfe_status apply_common_flags(cli_session *session)
{
    const cli_arguments *arguments = &session->arguments;
    const char *threads = cli_value(arguments, "threads");
    const char *seed = cli_value(arguments, "seed");
    const char *memory = cli_value(arguments, "memory");
    int64_t bytes = memory ? parse_size(memory) : 0;

    if (memory && bytes == 0)
        return cli_fail(session, "--memory takes a size such as 500M, 1.5GB or 8GiB, not '%s'", memory);
    if (seed)
        kfe_context_set_seed(session->ctx, strtoull(seed, NULL, 10));
    session->quiet = cli_is_set(arguments, "quiet");
    session->json = cli_is_set(arguments, "json");
    kfe_status status = kfe_context_set_memory(session->ctx, bytes);
    if (status == KFE_OK && threads)
        status = kfe_context_set_threads(session->ctx, atoi(threads));
    return status;
}

static int is_cancelled(void *user)
{
    (void)user;
    return kfe_i_signal_arrived();
}

static kfe_status run_command(cli_session *session)
{
    kfe_status status = KFE_OK;
    const char *device = cli_value(&session->arguments, "device");

    CLI_TRY(apply_common_flags(session));
    kfe_context_on_log(session->ctx, print_log, session);
    kfe_context_on_cancel(session->ctx, is_cancelled, NULL);
    if (!session->quiet)
        kfe_context_on_progress(session->ctx, cli_progress_show, NULL);
    kfe_i_catch_signals();
    CLI_TRY(cli_cluster_join(session));
    if (device && strcmp(device, "mpi") != 0)
        CLI_TRY(kfe_context_set_device(session->ctx, device));
    status = session->command->run(session);
    cli_progress_erase();
    kfe_context_on_log(session->ctx, NULL, NULL);
cleanup:
    return status;
}

static kfe_status parse_and_run(cli_session *session, int argc, char **argv)
{
    if (!cli_arguments_parse(session->command, argc, argv, &session->arguments, &session->problem))
        return KFE_EINVAL;
    if (cli_is_set(&session->arguments, "help")) {
        cli_help_command(stdout, session->command, &session->arguments);
        return KFE_OK;
    }
    if (cli_is_set(&session->arguments, "version")) {
        printf("kfe %s\n", kfe_version());
        return KFE_OK;
    }
    return run_command(session);
}

static void print_problem(const cli_session *session, kfe_status status)
{
    const char *reason = cli_text_string(&session->problem);

    if (!*reason && session->ctx)
        reason = kfe_error_message(session->ctx);
    fprintf(stderr, "kfe: %s\n", *reason ? cli_shown(reason) : kfe_status_text(status));
}

static int exit_status_of(kfe_status status)
{
    if (status == KFE_OK)
        return EXIT_SUCCESS;
    return status == KFE_ENOMEM || status == KFE_ENUMERIC || status == KFE_ECANCEL ? EXIT_FAILED
                                                                                   : CLI_EXIT_WRONG_USE;
}

/* Closes standard output, since a full disk shows only when the last bytes are written. */
int cli_close_output(int exit_status)
{
    int failed = ferror(stdout);

    if (fclose(stdout) == 0 && !failed)
        return exit_status;
    if (exit_status == EXIT_SUCCESS)
        fprintf(stderr, "kfe: standard output: cannot write: %s\n", strerror(errno));
    return exit_status == EXIT_SUCCESS ? CLI_EXIT_WRONG_USE : exit_status;
}

/* Only the first of several processes prints, also if they could not join. */
static int prints(const cli_session *session)
{
    if (!session->ctx || kfe_context_processes(session->ctx) == 1)
        return !cli_cluster_is_follower();
    return kfe_context_process(session->ctx) == 0;
}

int cli_run(const cli_command *command, int argc, char **argv)
{
    cli_session session = {
        .command = command, .arguments.entries = {-1, -1}, .words = argv, .word_count = argc};
    kfe_status status = kfe_context_new(&session.ctx);

    if (status == KFE_OK)
        status = kfe_context_set_wording(session.ctx, KFE_WORDING_FLAGS);
    if (status == KFE_OK)
        status = parse_and_run(&session, argc, argv);
    if (!kfe_i_signal_arrived() && session.ctx)
        status = cli_cluster_end(&session, status);
    if (status != KFE_OK && !kfe_i_signal_arrived() && prints(&session))
        print_problem(&session, status);
    cli_arguments_free(&session.arguments);
    free(session.problem.bytes);
    free(session.warnings.bytes);
    free(session.said.bytes);
    kfe_context_free(session.ctx);
    kfe_i_end_by_signal();
    return exit_status_of(status);
}

/* OpenBLAS reads the variable while it is loaded. */
void cli_begin(char **argv)
{
    const char *core = kfe_blas_advice();

    if (core)
        kfe_i_run_again_with("OPENBLAS_CORETYPE", core, argv);
    kfe_i_set_up_allocator();
}
