/* SPDX-License-Identifier: Apache-2.0 */
/* The command `kfe devices`: lists the devices that --device takes, and why one is not usable. */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"

static double gigabytes(int64_t bytes)
{
    return (double)bytes / 1e9;
}

static void print_row(const kfe_device_entry *device)
{
    printf("  %-10s", device->name);
    if (device->usable)
        printf("%s (%.1f of %.1f GB free)\n", cli_shown(device->description), gigabytes(device->free_memory),
               gigabytes(device->memory));
    else
        printf("not usable: %s\n", cli_shown(device->description));
}

static void print_json_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    putchar('"');
}

static void print_json_row(const kfe_device_entry *device, int last)
{
    fputs("  {\"name\": ", stdout);
    print_json_text(device->name);
    fputs(", \"description\": ", stdout);
    print_json_text(device->description);
    printf(", \"usable\": %s, \"memory\": %lld, \"free_memory\": %lld}%s\n",
           device->usable ? "true" : "false", (long long)device->memory, (long long)device->free_memory,
           last ? "" : ",");
}

static kfe_status run(cli_session *session)
{
    kfe_status status = cli_check_operands(session, 0, 0, "no operands");
    kfe_device_list *list = NULL;
    const kfe_device_entry *device;

    CLI_TRY(status);
    CLI_TRY(kfe_devices(session->ctx, &list));
    if (session->json)
        fputs("[\n", stdout);
    for (int i = 0; (device = kfe_device_list_entry(list, i)); i++)
        if (session->json)
            print_json_row(device, !kfe_device_list_entry(list, i + 1));
        else
            print_row(device);
    if (session->json)
        fputs("]\n", stdout);
cleanup:
    kfe_device_list_free(list);
    return status;
}

static const cli_flag flags[] = {CLI_JSON, CLI_FLAGS_END};

const cli_command cli_command_devices = {
    .name = "devices",
    .summary = "list the devices that --device takes",
    .operands = "[--json]",
    .description =
        "Lists the CPU and the accelerators that '--device' takes, with their memory. A device that "
        "cannot be used says what it lacks: its plug-in, a driver, or the hardware.",
    .examples = "  kfe devices\n",
    .flags = flags,
    .run = run,
};
