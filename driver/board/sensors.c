/* sensors.c: what the board's sensors show in sysfs: hwmon, and the binary table of
 * metrics (version 1.3, as drivers for this chip give it).
 *
 * Nothing is measured: a board at rest, of which board.h says what it shows.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>
#include <time.h>

#include "board.h"
#include "sysfs.h"
#include "words.h"

#define HWMON      SYSFS_PCI "/hwmon/" SYSFS_HWMON
#define MILLI      1000u
#define MICRO      1000000u
#define ZERO_K     (-273150)
#define METRICS    120u
#define NANO       1000000000u
#define LINK_SPEED 160u /* in 0.1 GT/s */
#define LINK_WIDTH 16u

struct number_file {
    const char *path;
    int64_t value;
};

static const struct number_file numbers[] = {
    {HWMON "/temp1_input", (int64_t)BOARD_EDGE_CELSIUS *MILLI},
    {HWMON "/temp1_crit", 100 * MILLI},
    {HWMON "/temp1_crit_hyst", ZERO_K},
    {HWMON "/temp1_emergency", 105 * MILLI},
    {HWMON "/temp2_input", (int64_t)BOARD_HOTSPOT_CELSIUS *MILLI},
    {HWMON "/temp2_crit", 110 * MILLI},
    {HWMON "/temp2_crit_hyst", ZERO_K},
    {HWMON "/temp2_emergency", 115 * MILLI},
    {HWMON "/temp3_input", (int64_t)BOARD_MEMORY_CELSIUS *MILLI},
    {HWMON "/temp3_crit", 108 * MILLI},
    {HWMON "/temp3_crit_hyst", ZERO_K},
    {HWMON "/temp3_emergency", 113 * MILLI},
    {HWMON "/power1_average", (int64_t)BOARD_WATTS *MICRO},
    {HWMON "/power1_cap", (int64_t)BOARD_CAP_WATTS *MICRO},
    {HWMON "/power1_cap_default", (int64_t)BOARD_CAP_WATTS *MICRO},
    {HWMON "/power1_cap_max", (int64_t)BOARD_CAP_MAX_WATTS *MICRO},
    {HWMON "/power1_cap_min", 0},
    {HWMON "/in0_input", BOARD_GFX_MILLIVOLTS},
    {HWMON "/freq1_input", (int64_t)BOARD_SCLK_MHZ *MICRO},
    {HWMON "/freq2_input", (int64_t)BOARD_MCLK_MHZ *MICRO},
    {HWMON "/fan1_input", 0},
    {HWMON "/fan1_target", 0},
    {HWMON "/fan1_min", 0},
    {HWMON "/fan1_max", BOARD_FAN_MAX_RPM},
    {HWMON "/fan1_enable", 0},
    {HWMON "/pwm1", 0},
    {HWMON "/pwm1_enable", 2}, /* by itself */
    {HWMON "/pwm1_min", 0},
    {HWMON "/pwm1_max", 255},
};

static const struct {
    const char *path, *text;
} texts[] = {
    {HWMON "/name", "amdgpu\n"},          {HWMON "/temp1_label", "edge\n"},
    {HWMON "/temp2_label", "junction\n"}, {HWMON "/temp3_label", "mem\n"},
    {HWMON "/power1_label", "PPT\n"},     {HWMON "/in0_label", "vddgfx\n"},
    {HWMON "/freq1_label", "sclk\n"},     {HWMON "/freq2_label", "mclk\n"},
};

static void put64(uint8_t *p, uint64_t v)
{
    put32(p, (uint32_t)v);
    put32(p + 4, (uint32_t)(v >> 32));
}

/* Offsets are those of the kernel's struct gpu_metrics_v1_3. All ones: not given, as
 * there. The driver's time is that of when the table was made: this one stands. */
static void fill_metrics(uint8_t t[METRICS])
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    memset(t, 0xff, METRICS);
    put16(t, METRICS);
    t[2] = 1; /* format, content */
    t[3] = 3;
    put16(t + 4, BOARD_EDGE_CELSIUS);
    put16(t + 6, BOARD_HOTSPOT_CELSIUS);
    put16(t + 8, BOARD_MEMORY_CELSIUS);
    for (unsigned at = 16; at <= 20; at += 2) /* activity: shader, memory, video */
        put16(t + at, 0);
    put16(t + 22, BOARD_WATTS);
    put64(t + 32, (uint64_t)now.tv_sec * NANO + (uint64_t)now.tv_nsec);
    for (unsigned at = 40; at <= 54; at += 14) { /* average, current clocks */
        put16(t + at, BOARD_SCLK_MHZ);
        put16(t + at + 4, BOARD_MCLK_MHZ);
        for (unsigned video = 6; video <= 12; video += 2)
            put16(t + at + video, 0);
    }
    put32(t + 68, 0); /* what holds clocks back: nothing */
    put16(t + 72, 0); /* fan */
    put16(t + 74, LINK_WIDTH);
    put16(t + 76, LINK_SPEED);
    put16(t + 106, BOARD_GFX_MILLIVOLTS);
    put64(t + 112, 0); /* what holds clocks back, of any chip */
}

rd_status sysfs_emit_sensors(const struct sysfs_out *out)
{
    uint8_t metrics[METRICS];
    fill_metrics(metrics);
    rd_status st = out->file(out->ctx, SYSFS_PCI "/gpu_metrics", metrics, METRICS);
    for (size_t i = 0; st == RD_OK && i < sizeof(texts) / sizeof(texts[0]); i++)
        st = out->file(out->ctx, texts[i].path, texts[i].text, strlen(texts[i].text));
    for (size_t i = 0; st == RD_OK && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        st = sysfs_text(out, numbers[i].path, "%lld\n", (long long)numbers[i].value);
    if (st == RD_OK)
        st = out->link(out->ctx, HWMON "/device", "../../../" BOARD_PCI_SLOT);
    return st;
}
