/* png.c: what a renderer shows, written as a PNG by libpng.
 *
 * Must not know what is drawn. SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "gfx.h"

bool gfx_save(struct gfx *g, int width, int height, const char *path)
{
    size_t pitch = (size_t)width * 3;
    uint8_t *pixels = malloc(pitch * (size_t)height);
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    if (!pixels || SDL_RenderReadPixels(g->r, NULL, SDL_PIXELFORMAT_RGB24, pixels,
                                        (int)pitch) != 0) {
        cli_error(CLI_FAILED, "cannot read the picture: %s",
                  pixels ? SDL_GetError() : "out of memory");
        free(pixels);
        return false;
    }
    errno = 0;
    /* by its name libpng would remove what it cannot write to, devices, too */
    struct cli_output file;
    FILE *f = cli_output_begin(&file, path);
    bool ok = f && png_image_write_to_stdio(&image, f, 0, pixels, 0, NULL);
    ok = cli_output_end(&file, ok) == RD_OK;
    free(pixels);
    if (!ok)
        cli_error(CLI_FAILED, "cannot write '%s': %s", path,
                  errno ? strerror(errno) : image.message);
    return ok;
}
