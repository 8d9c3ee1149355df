/* host.c: facts about the host for bench and info.
 *
 * Must not know what is done with them. Invariant: asks the system, assumes nothing.
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"

void host_cpu_name(char *text, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    snprintf(text, size, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(text, size, "%s", colon[1] == ' ' ? colon + 2 : colon + 1);
        break;
    }
    if (f)
        fclose(f);
}

unsigned host_cpu_count(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

const char *host_simd_name(void)
{
    struct emu_config config = {.threads = 1};
    struct emu *emu;
    if (emu_create(&config, &emu) != RD_OK)
        return "unknown";
    const char *name = emu_simd_name(emu_simd_level(emu));
    emu_destroy(emu);
    return name;
}
