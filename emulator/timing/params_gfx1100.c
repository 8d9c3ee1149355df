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

rd_status tm_params_set(struct tm_params *p, const char *name, double value)
{
    for (size_t i = 0; i < tm_param_count(); i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        /* sizes and counts must stay positive; only latencies may be zero or less */
        if (!isfinite(value) || fabs(value) > 1e12 ||
            (value < 1 && table[i].value >= 1 &&
             strstr(table[i].unit, "cycles") == NULL &&
             strstr(table[i].unit, "ns") == NULL))
            return RD_E_RANGE;
        memcpy((char *)p + i * sizeof(double), &value, sizeof value);
        return RD_OK;
    }
    return RD_E_NOT_FOUND;
}
