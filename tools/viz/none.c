/* none.c: `rdna3 viz` of a build without SDL2: says what is missing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "viz.h"

int cmd_viz(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_error(
        CLI_FAILED,
        "this build has no window: install libsdl2-dev, libsdl2-ttf-dev and "
        "libpng-dev, configure and build again. rdna3 trace TIMELINE lists "
        "and exports what the window would show");
}
