/* params_gfx1100.c: the parameter table: defaults, look-up by name, printing.
 *
 * Must not know what the model does with a value. Invariant: a number of the model is
 * written in params.def and nowhere else.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <string.h>

#include "params.h"
#include "timing.h"

const struct tm_params tm_params_gfx1100 = {
#define P(name, value, unit, affects, source) .name = value,
#include "params.def"
#undef P
};

struct tm_whole tm_params_whole(const struct tm_params *p)
{
    return (struct tm_whole){
#define P(name, value, unit, affects, source) .name = (int64_t)p->name,
#include "params.def"
#undef P
    };
}

static const struct tm_param table[] = {
#define P(name, value, unit, affects, source) {#name, value, unit, affects, source},
#include "params.def"
#undef P
};

size_t tm_param_count(void)
{
    return sizeof table / sizeof table[0];
}

const struct tm_param *tm_param(size_t index)
{
    return &table[index];
}

/* What the engine's arrays hold, and what it divides by. */
static const struct {
    const char *name;
    double least, most;
} limits[] = {
    {"shader_engines", 1, TM_MAX_SES},    {"arrays_per_se", 1, TM_MAX_ARRAYS},
    {"wgps_per_array", 1, TM_MAX_WGPS},   {"slots_per_simd", 1, TM_MAX_SLOTS},
    {"gl2_channels", 1, TM_MAX_CHANNELS}, {"lds_banks", 1, TM_MAX_BANKS},
    {"salu_queue", 1, TM_SHORT_QUEUE},    {"icache_ways", 1, TM_MAX_WAYS},
    {"scache_ways", 1, TM_MAX_WAYS},      {"l0_ways", 1, TM_MAX_WAYS},
    {"gl1_ways", 1, TM_MAX_WAYS},         {"gl2_ways", 1, TM_MAX_WAYS},
    {"mall_ways", 1, TM_MAX_WAYS},        {"tlb_page_bytes", TM_LEAST_PAGE, INFINITY}};

static bool possible(const struct tm_param *param, double value)
{
    bool time = strcmp(param->unit, "cycles") == 0 || strcmp(param->unit, "ns") == 0;
    if (!isfinite(value) || value < 0 || value > 1e12)
        return false;
    if (param->value >= 1 && value < 1 && !time) /* sizes and counts */
        return false;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (strcmp(limits[i].name, param->name) == 0 &&
            (value < limits[i].least || value > limits[i].most))
            return false;
    return true;
}

rd_status tm_params_set(struct tm_params *p, const char *name, double value)
{
    for (size_t i = 0; i < tm_param_count(); i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        if (!possible(&table[i], value))
            return RD_E_RANGE;
        memcpy((char *)p + i * sizeof(double), &value, sizeof value);
        return RD_OK;
    }
    return RD_E_NOT_FOUND;
}
