/* report.c: --advice, --report and --baseline of a timed run.
 *
 * Must not know what advice there is (tools/advice). SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "advice.h"
#include "run.h"

static int write_page(const char *path, const struct advice *a,
                      const struct advice *before)
{
    struct cli_output file;
    FILE *f = cli_output_begin(&file, path);
    if (f)
        advice_html(a, before, f);
    if (cli_output_end(&file, true) != RD_OK)
        return cli_error(CLI_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return CLI_OK;
}

int run_timing_baseline(const struct run_timing *rt)
{
    struct advice before;
    int status = rt->baseline_path ? advice_read(rt->baseline_path, &before) : CLI_OK;
    if (rt->baseline_path && status == CLI_OK)
        advice_free(&before);
    return status;
}

int run_timing_advice(const struct run_timing *rt, const struct tm_engine *t)
{
    struct advice now, before;
    int status = CLI_OK;
    if (!rt->advice && !rt->report_path)
        return CLI_OK;
    if (rt->baseline_path) /* first: the page may be the one to be written */
        status = advice_read(rt->baseline_path, &before);
    /* without it: the run may have taken hours */
    const struct advice *old = rt->baseline_path && status == CLI_OK ? &before : NULL;
    rd_status st = advice_take(t, rt->kernel, &now);
    if (st != RD_OK) {
        status = cli_error(CLI_FAILED, "%s", rd_status_text(st));
    } else {
        if (rt->advice)
            advice_print(&now, old, stdout);
        int written = rt->report_path ? write_page(rt->report_path, &now, old) : CLI_OK;
        status = status == CLI_OK ? written : status;
        advice_free(&now);
    }
    if (old)
        advice_free(&before);
    return status;
}
