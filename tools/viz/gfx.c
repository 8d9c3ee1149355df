/* gfx.c: drawing primitives on an SDL renderer, text from an atlas of glyphs.
 *
 * Must not know what is drawn. Invariant: works the same with a window's renderer and
 * with the software renderer of a surface. SPDX-License-Identifier: MIT
 */
#include "gfx.h"

#include <SDL2/SDL_ttf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static SDL_Color sdl(color c, unsigned alpha)
{
    return (SDL_Color){(Uint8)(c >> 16), (Uint8)(c >> 8), (Uint8)c, (Uint8)alpha};
}

static void use(struct gfx *g, color c, unsigned alpha)
{
    SDL_Color s = sdl(c, alpha);
    SDL_SetRenderDrawBlendMode(g->r,
                               alpha < 255 ? SDL_BLENDMODE_BLEND : SDL_BLENDMODE_NONE);
    SDL_SetRenderDrawColor(g->r, s.r, s.g, s.b, s.a);
}

void gfx_fill(struct gfx *g, SDL_Rect r, color c)
{
    if (r.w <= 0 || r.h <= 0)
        return;
    use(g, c, 255);
    SDL_RenderFillRect(g->r, &r);
}

void gfx_blend(struct gfx *g, SDL_Rect r, color c, unsigned alpha)
{
    if (r.w <= 0 || r.h <= 0)
        return;
    use(g, c, alpha);
    SDL_RenderFillRect(g->r, &r);
}

void gfx_frame(struct gfx *g, SDL_Rect r, color c)
{
    use(g, c, 255);
    SDL_RenderDrawRect(g->r, &r);
}

void gfx_line(struct gfx *g, int x0, int y0, int x1, int y1, color c)
{
    use(g, c, 255);
    SDL_RenderDrawLine(g->r, x0, y0, x1, y1);
}

void gfx_clip(struct gfx *g, const SDL_Rect *r)
{
    SDL_RenderSetClipRect(g->r, r);
}

void gfx_arrow(struct gfx *g, int x, int y, int size, bool down, color c)
{
    use(g, c, 255);
    for (int i = 0; i < size / 2 + 1; i++) {
        if (down)
            SDL_RenderDrawLine(g->r, x + i, y + i + size / 4, x + size - i,
                               y + i + size / 4);
        else
            SDL_RenderDrawLine(g->r, x + i + size / 4, y + i, x + i + size / 4,
                               y + size - i);
    }
}

/* ---- text ------------------------------------------------------------------------ */

/* Where distributions keep readable fonts; RDNA3_FONT and RDNA3_FONT_MONO come first.
 */
static const char *find_font(enum gfx_font f)
{
    static const char *const names[FONTS][4] = {
        {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
         "/usr/share/fonts/TTF/DejaVuSans.ttf",
         "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
         "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf"},
        {"/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
         "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf",
         "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf",
         "/usr/share/fonts/truetype/noto/NotoSans-Bold.ttf"},
        {"/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
         "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
         "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf",
         "/usr/share/fonts/truetype/noto/NotoSansMono-Regular.ttf"}};
    const char *own = getenv(f == FONT_MONO ? "RDNA3_FONT_MONO" : "RDNA3_FONT");
    if (own && *own)
        return own;
    for (unsigned i = 0; i < 4; i++)
        if (access(names[f][i], R_OK) == 0)
            return names[f][i];
    return NULL;
}

static void free_atlas(struct gfx_atlas *a)
{
    if (a->texture)
        SDL_DestroyTexture(a->texture);
    a->texture = NULL;
}

/* All glyphs side by side in rows, white; colour comes when they are drawn. */
static bool fill_atlas(struct gfx *g, struct gfx_atlas *a, TTF_Font *font)
{
    enum { WIDTH = 512 };
    a->height = TTF_FontHeight(font);
    int rows = 1, x = 0;
    SDL_Surface *glyph[GLYPHS] = {0};
    for (unsigned i = 0; i < GLYPHS; i++) {
        Uint16 ch = (Uint16)(i + 32);
        if ((ch >= 127 && ch < 160) || !TTF_GlyphIsProvided(font, ch))
            continue;
        TTF_GlyphMetrics(font, ch, NULL, NULL, NULL, NULL, &a->advance[i]);
        glyph[i] = TTF_RenderGlyph_Blended(font, ch, sdl(0xffffff, 255));
        if (!glyph[i])
            continue;
        if (x + glyph[i]->w > WIDTH) {
            x = 0;
            rows++;
        }
        a->glyph[i] = rect(x, (rows - 1) * (a->height + 1), glyph[i]->w, glyph[i]->h);
        x += glyph[i]->w + 1;
    }
    SDL_Surface *all = SDL_CreateRGBSurfaceWithFormat(0, WIDTH, rows * (a->height + 1),
                                                      32, SDL_PIXELFORMAT_ARGB8888);
    for (unsigned i = 0; i < GLYPHS; i++) {
        if (glyph[i] && all) {
            SDL_SetSurfaceBlendMode(glyph[i], SDL_BLENDMODE_NONE);
            SDL_BlitSurface(glyph[i], NULL, all, &a->glyph[i]);
        }
        SDL_FreeSurface(glyph[i]);
    }
    if (all) {
        a->texture = SDL_CreateTextureFromSurface(g->r, all);
        SDL_SetTextureBlendMode(a->texture, SDL_BLENDMODE_BLEND);
    }
    SDL_FreeSurface(all);
    return a->texture != NULL;
}

bool gfx_fonts(struct gfx *g, int size)
{
    if (!TTF_WasInit() && TTF_Init() != 0) {
        cli_error(CLI_FAILED, "SDL_ttf: %s", TTF_GetError());
        return false;
    }
    g->size = size;
    for (unsigned f = 0; f < FONTS; f++) {
        const char *path = find_font(f);
        TTF_Font *font =
            path ? TTF_OpenFont(path, f == FONT_MONO ? size - 1 : size) : NULL;
        if (!font) {
            cli_error(
                CLI_FAILED,
                "no font%s%s: install fonts-dejavu-core, or name TrueType fonts in "
                "RDNA3_FONT and RDNA3_FONT_MONO",
                path ? ": " : "", path ? path : "");
            return false;
        }
        free_atlas(&g->font[f]);
        memset(&g->font[f], 0, sizeof g->font[f]);
        bool ok = fill_atlas(g, &g->font[f], font);
        TTF_CloseFont(font);
        if (!ok) {
            cli_error(CLI_FAILED, "cannot draw text: %s", SDL_GetError());
            return false;
        }
    }
    return true;
}

void gfx_close(struct gfx *g)
{
    for (unsigned f = 0; f < FONTS; f++)
        free_atlas(&g->font[f]);
    if (TTF_WasInit())
        TTF_Quit();
}

int gfx_width(const struct gfx *g, enum gfx_font f, const char *text)
{
    int width = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p >= 32)
            width += g->font[f].advance[*p - 32];
    return width;
}

int gfx_text(struct gfx *g, enum gfx_font f, int x, int y, color c, const char *fmt,
             ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct gfx_atlas *a = &g->font[f];
    SDL_Color s = sdl(c, 255);
    SDL_SetTextureColorMod(a->texture, s.r, s.g, s.b);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p < 32)
            continue;
        const SDL_Rect *from = &a->glyph[*p - 32];
        SDL_Rect to = rect(x, y, from->w, from->h);
        if (from->w && *p != ' ')
            SDL_RenderCopy(g->r, a->texture, from, &to);
        x += a->advance[*p - 32];
    }
    return x;
}

int gfx_text_to(struct gfx *g, enum gfx_font f, int x, int y, int right, color c,
                const char *text)
{
    int room = right - x, dots = gfx_width(g, f, "..");
    if (room <= 0 || gfx_width(g, f, text) <= room)
        return room > 0 ? gfx_text(g, f, x, y, c, "%s", text) : x;
    char part[512];
    size_t n = 0;
    int width = 0;
    while (text[n] && n < sizeof part - 3) {
        part[n] = text[n];
        part[n + 1] = '\0';
        if (width + gfx_width(g, f, part + n) + dots > room)
            break;
        width += gfx_width(g, f, part + n);
        n++;
    }
    if (n == 0)
        return x;
    snprintf(part + n, sizeof part - n, "..");
    return gfx_text(g, f, x, y, c, "%s", part);
}
