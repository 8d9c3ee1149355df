/* ending.c: kernels that do not end well: SIGINT, source lines of faults, --core.
 *
 * Must not know how a core file looks. SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <string.h>

#include "run.h"

static volatile int *to_cancel;

static void on_interrupt(int signal)
{
    (void)signal;
    if (to_cancel)
        *to_cancel = EMU_CONTROL_CANCEL;
}

int run_ending_options(const struct run_options *o)
{
    if (o->ending.core_path && (o->timing.on || o->device_kfd))
        return cli_error(CLI_USAGE, "--core goes without --%s",
                         o->timing.on ? "timing" : "device kfd");
    return CLI_OK;
}

void run_ending_begin(struct run_options *o, struct emu_dispatch *d)
{
    struct run_ending *e = &o->ending;
    capture_begin(&e->capture, e->core_path != NULL);
    d->inspector = &e->capture.inspector;
    d->control = &e->control;
    to_cancel = &e->control;
    /* the second time it ends the program, whatever that does */
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGINT, &action, NULL);
}

int run_ending_end(struct run_options *o, struct emu *emu, const struct emu_dispatch *d,
                   rd_status st, const struct emu_fault *fault, int status)
{
    struct run_ending *e = &o->ending;
    const struct checks_object *object = &o->checks.object;
    bool interrupted = st == RD_E_TIMEOUT && e->control == EMU_CONTROL_CANCEL;
    char text[1024] = "interrupted";
    (void)signal(SIGINT, SIG_DFL);
    to_cancel = NULL;
    if (st == RD_E_FAULT)
        emu_fault_text(fault, text, sizeof text);
    struct core_subject about = {.emu = emu,
                                 .dispatch = d,
                                 .image = object->image,
                                 .kernel = o->k.name,
                                 .path = object->path,
                                 .reason = text,
                                 .object = object->path ? object->data : NULL,
                                 .object_bytes = object->path ? object->bytes : 0};
    if (st == RD_E_FAULT && object->path && !run_check_told(o))
        postmortem_place(object->data, object->bytes, object->image, fault->pc);
    if (interrupted) {
        postmortem_waves(&e->capture, &about);
        status = RUN_INTERRUPTED;
    }
    about.memory = true;
    if (e->core_path && (interrupted || st == RD_E_FAULT)) {
        int written = postmortem_core(&e->capture, &about, e->core_path);
        status = status == CLI_OK ? written : status;
    }
    capture_end(&e->capture);
    return status;
}
