/* firmware.c: versions of the board's firmware and what its management unit manages, as
 * sysfs has them.
 *
 * The versions are those of the render node's INFO (AMDGPU_INFO_FW_VERSION): one for
 * all processors that the board has, 0 for those of other boards and of its video and
 * display, which are not there. The features are those of the unit at register level.
 *
 * Source: the file names of amdgpu_ucode.c, the text of smu_cmn.c, the bits of
 * smu13_driver_if_v13_0_0.h in the amdgpu kernel driver.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>

#include "board.h"
#include "sysfs.h"

static const struct {
    const char *path;
    unsigned version;
} versions[] = {
#define VERSION(name, version) {SYSFS_PCI "/fw_version/" name "_fw_version", version}
    VERSION("vce", 0),
    VERSION("uvd", 0),
    VERSION("mc", 0),
    VERSION("me", BOARD_FW_VERSION),
    VERSION("pfp", BOARD_FW_VERSION),
    VERSION("ce", 0),
    VERSION("rlc", BOARD_FW_VERSION),
    VERSION("rlc_srlc", 0),
    VERSION("rlc_srlg", 0),
    VERSION("rlc_srls", 0),
    VERSION("mec", BOARD_FW_VERSION),
    VERSION("mec2", BOARD_FW_VERSION),
    VERSION("imu", BOARD_FW_VERSION),
    VERSION("sos", BOARD_FW_VERSION),
    VERSION("asd", BOARD_FW_VERSION),
    VERSION("ta_ras", BOARD_FW_VERSION),
    VERSION("ta_xgmi", BOARD_FW_VERSION),
    VERSION("smc", BOARD_FW_VERSION),
    VERSION("sdma", BOARD_FW_VERSION),
    VERSION("sdma2", BOARD_FW_VERSION),
    VERSION("vcn", 0),
    VERSION("dmcu", 0),
#undef VERSION
};

/* By bit. */
static const char *const features[] = {
    "FW_DATA_READ",
    "DPM_GFXCLK",
    "DPM_GFX_POWER_OPTIMIZER",
    "DPM_UCLK",
    "DPM_FCLK",
    "DPM_SOCCLK",
    "DPM_MP0CLK",
    "DPM_LINK",
    "DPM_DCN",
    "VMEMP_SCALING",
    "VDDIO_MEM_SCALING",
    "DS_GFXCLK",
    "DS_SOCCLK",
    "DS_FCLK",
    "DS_LCLK",
    "DS_DCFCLK",
    "DS_UCLK",
    "GFX_ULV",
    "FW_DSTATE",
    "GFXOFF",
    "BACO",
    "MM_DPM",
    "SOC_MPCLK_DS",
    "BACO_MPCLK_DS",
    "THROTTLERS",
    "SMARTSHIFT",
    "GTHR",
    "ACDC",
    "VR0HOT",
    "FW_CTF",
    "FAN_CONTROL",
    "GFX_DCS",
    "GFX_READ_MARGIN",
    "LED_DISPLAY",
    "GFXCLK_SPREAD_SPECTRUM",
    "OUT_OF_BAND_MONITOR",
    "OPTIMIZED_VMIN",
    "GFX_IMU",
    "BOOT_TIME_CAL",
    "GFX_PCC_DFLL",
    "SOC_CG",
    "DF_CSTATE",
    "GFX_EDC",
    "BOOT_POWER_OPT",
    "CLOCK_POWER_DOWN_BYPASS",
    "DS_VCN",
    "BACO_CG",
    "MEM_TEMP_READ",
    "ATHUB_MMHUB_PG",
    "SOC_PCC",
};
#define FEATURES (sizeof(features) / sizeof(features[0]))
#define LINE     64

static rd_status emit_features(const struct sysfs_out *out)
{
    enum { ROOM = (FEATURES + 2) * LINE };
    char text[ROOM];
    const uint64_t on = BOARD_SMU_FEATURES;
    int n = snprintf(text, sizeof(text), "features high: 0x%08x low: 0x%08x\n",
                     (unsigned)(on >> 32), (unsigned)on);
    n += snprintf(text + n, sizeof(text) - (size_t)n, "%-2s. %-20s  %-3s : %-s\n", "No",
                  "Feature", "Bit", "State");
    for (unsigned i = 0; i < FEATURES; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%02u. %-20s (%2u) : %s\n", i,
                      features[i], i, on >> i & 1 ? "enabled" : "disabled");
    rd_assert(n < ROOM, "%d bytes of features", n);
    return out->file(out->ctx, SYSFS_PCI "/pp_features", text, (size_t)n);
}

rd_status sysfs_emit_firmware(const struct sysfs_out *out)
{
    rd_status st = emit_features(out);
    for (size_t i = 0; st == RD_OK && i < sizeof(versions) / sizeof(versions[0]); i++)
        st = sysfs_text(out, versions[i].path, "0x%08x\n", versions[i].version);
    return st;
}
