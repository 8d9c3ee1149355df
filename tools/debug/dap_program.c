/* dap_program.c: programs whose kernels are debugged by the Debug Adapter Protocol.
 *
 * What the program prints comes by two pipes and goes to the client as output, since
 * the adapter's own stdout is the protocol's. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board.h"
#include "dap_internal.h"

static const char *const categories[] = {"stdout", "stderr"};

void dap_program_output(struct dap *d)
{
    char text[4097];
    for (unsigned i = 0; i < 2 && d->program; i++)
        for (ssize_t n; (n = read(d->pipes[i], text, sizeof text - 1)) > 0;) {
            text[n] = '\0';
            dap_output(d, categories[i], text);
        }
}

bool dap_program_wait(struct dap *d)
{
    struct pollfd p[3] = {{.fd = fileno(d->in), .events = POLLIN},
                          {.fd = d->program ? d->pipes[0] : -1, .events = POLLIN},
                          {.fd = d->program ? d->pipes[1] : -1, .events = POLLIN}};
    while (d->program && !p[0].revents) {
        if (poll(p, 3, -1) < 0 && errno != EINTR)
            return false;
        dap_program_output(d);
    }
    return true;
}

static int open_pipes(struct dap *d)
{
    int *ends[2] = {&d->inferior.how.out, &d->inferior.how.err};
    for (unsigned i = 0; i < 2; i++) {
        int fd[2];
        if (pipe2(fd, O_CLOEXEC) != 0 || fcntl(fd[0], F_SETFL, O_NONBLOCK) != 0)
            return cli_error(CLI_FAILED, "pipe: %s", strerror(errno));
        d->pipes[i] = fd[0];
        *ends[i] = fd[1];
    }
    return CLI_OK;
}

static int take_code(struct dap *d, const struct json_t *code)
{
    int status = CLI_OK;
    const char *one = member_text(code, "code", NULL);
    const struct json_t *list = member(code, "code");
    if (one)
        return objects_add(&d->inferior.objects, "code", one);
    for (size_t i = 0; i < elements(list) && status == CLI_OK; i++) {
        char path[4096];
        status = as_text(element(list, i), path, sizeof path)
                     ? objects_add(&d->inferior.objects, "code", path)
                     : cli_error(CLI_USAGE, "code: names of files");
    }
    return status;
}

int dap_program_launch(struct dap *d, const struct json_t *args)
{
    const struct json_t *list = member(args, "command");
    size_t n = elements(list);
    const char *folder = member_text(args, "cwd", NULL);
    d->inferior.argv = calloc(n + 1, sizeof *d->inferior.argv);
    if (!d->inferior.argv)
        return cli_error(CLI_FAILED, "out of memory");
    for (size_t i = 0; i < n; i++) {
        char word[4096];
        if (!as_text(element(list, i), word, sizeof word))
            return cli_error(CLI_USAGE, "command: a list of strings");
        d->inferior.argv[i] = dap_keep(d, word);
    }
    if (!n || !d->inferior.argv[0])
        return cli_error(CLI_USAGE, "command: a list of strings");
    if (folder && chdir(folder) != 0)
        return cli_error(CLI_FAILED, "cwd %s: %s", folder, strerror(errno));
    const char *root = member_text(args, "root", NULL);
    d->inferior.how.root = root ? dap_keep(d, root) : NULL;
    d->inferior.how.vram = BOARD_VRAM_BYTES;
    d->inferior.stop_at_end = member_bool(args, "stopAtEnd", false);
    int status = take_code(d, args);
    if (status == CLI_OK)
        status = open_pipes(d);
    if (status != CLI_OK)
        return status;
    session_idle(&d->session);
    d->program = true;
    return CLI_OK;
}

void dap_program_continue(struct dap *d)
{
    enum inferior_news news = inferior_continue(&d->inferior, &d->session);
    dap_program_output(d);
    if (d->done)
        return;
    switch (news) {
    case INFERIOR_STOPPED:
        d->waves_per_group = emu_stepper_launch(d->session.stepper)->waves_per_group;
        dap_points_verified(d);
        dap_tell_stop(d);
        break;
    case INFERIOR_ENDED:
        dap_ended(d, (unsigned)d->inferior.status);
        break;
    case INFERIOR_INTERRUPTED:
        dap_tell_pause(d, "the program runs, and no kernel of it is here");
        break;
    case INFERIOR_FAILED:
        dap_output(d, "stderr", "the program cannot be started\n");
        dap_ended(d, 1);
        break;
    }
}

void dap_program_end(struct dap *d)
{
    if (!d->program)
        return;
    inferior_end(&d->inferior, &d->session);
    d->program = false;
    (void)close(d->pipes[0]);
    (void)close(d->pipes[1]);
    (void)close(d->inferior.how.out);
    (void)close(d->inferior.how.err);
}
