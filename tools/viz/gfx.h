/* gfx.h: drawing for the window: rectangles, lines, text from an atlas of glyphs.
 * SPDX-License-Identifier: MIT
 */
#ifndef VIZ_GFX_H
#define VIZ_GFX_H

#include <SDL2/SDL.h>
#include <stdbool.h>
#include <stdint.h>

#include "status.h"

/* 0xrrggbb */
typedef uint32_t color;

enum gfx_font { FONT_SANS, FONT_BOLD, FONT_MONO, FONTS };
enum { GLYPHS = 224 }; /* Latin-1 from the space on */

struct gfx_atlas {
    SDL_Texture *texture;
    SDL_Rect glyph[GLYPHS];
    int advance[GLYPHS];
    int height;
};

struct gfx {
    SDL_Renderer *r;
    struct gfx_atlas font[FONTS];
    int size; /* of text, pixels */
};

/* Load the fonts at a size. Prints the error; false if there is no font. */
bool gfx_fonts(struct gfx *g, int size);
void gfx_close(struct gfx *g);

void gfx_fill(struct gfx *g, SDL_Rect r, color c);
void gfx_blend(struct gfx *g, SDL_Rect r, color c, unsigned alpha);
void gfx_frame(struct gfx *g, SDL_Rect r, color c);
void gfx_line(struct gfx *g, int x0, int y0, int x1, int y1, color c);
void gfx_clip(struct gfx *g, const SDL_Rect *r); /* NULL: none */

/* A triangle that points right (closed) or down (open), in a square of that size. */
void gfx_arrow(struct gfx *g, int x, int y, int size, bool down, color c);

/* Text in Latin-1 with its top left corner at x, y. Returns the x after it. */
int gfx_text(struct gfx *g, enum gfx_font f, int x, int y, color c, const char *fmt,
             ...) __attribute__((format(printf, 6, 7)));
/* The same up to an x: what does not fit is cut and ends in two dots. */
int gfx_text_to(struct gfx *g, enum gfx_font f, int x, int y, int right, color c,
                const char *text);
int gfx_width(const struct gfx *g, enum gfx_font f, const char *text);

static inline int gfx_height(const struct gfx *g, enum gfx_font f)
{
    return g->font[f].height;
}

static inline SDL_Rect rect(int x, int y, int w, int h)
{
    return (SDL_Rect){x, y, w, h};
}

static inline bool inside(SDL_Rect r, int x, int y)
{
    return x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h;
}

/* A mixture: share of 256 of b. */
static inline color mix(color a, color b, unsigned share)
{
    color out = 0;
    for (unsigned s = 0; s < 24; s += 8) {
        unsigned x = a >> s & 255u, y = b >> s & 255u;
        out |= ((x * (256 - share) + y * share) / 256) << s;
    }
    return out;
}

/* What the renderer shows, as a PNG. Prints the error. */
bool gfx_save(struct gfx *g, int width, int height, const char *path);

#endif
