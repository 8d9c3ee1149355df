/* rgp.c: thread traces of all shader engines in the container that Radeon GPU Profiler
 * reads: a header, then chunks that say their kind and size. Little endian; the layout
 * of the chunks is that of version 1.5, as Mesa's and tinygrad's writers and readers
 * describe it.
 *
 * Must not know tokens (sqtt.c). Invariant: chunks follow each other without gaps, at
 * multiples of four bytes, up to the file's end.
 *
 * Not there: queue timings, counters (SPM), marks that name dispatches in the stream.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bytes.h"
#include "timeline.h"

enum chunk {
    CHUNK_ASIC = 0,
    CHUNK_SQTT_DESC = 1,
    CHUNK_SQTT_DATA = 2,
    CHUNK_API = 3,
    CHUNK_CPU = 7,
    CHUNK_CODE = 9,
    CHUNK_LOADS = 10,
    CHUNK_PIPELINES = 11
};

enum { HEADER_BYTES = 56, CHUNK_HEADER_BYTES = 16, MAX_SES = 32 };

static void put32(struct buf *b, uint64_t v)
{
    for (unsigned i = 0; i < 4; i++)
        put_u8(b, (unsigned)(v >> (8 * i)) & 255u);
}

static void put64(struct buf *b, uint64_t v)
{
    put32(b, v);
    put32(b, v >> 32);
}

static void put_float(struct buf *b, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    put32(b, bits);
}

static void put_zeros(struct buf *b, size_t n)
{
    while (n--)
        put_u8(b, 0);
}

/* Text in a field of so many bytes. */
static void put_field(struct buf *b, const char *text, size_t bytes)
{
    size_t n = strlen(text) < bytes ? strlen(text) : bytes - 1;
    put_bytes(b, text, n);
    put_zeros(b, bytes - n);
}

/* ---- chunks ---------------------------------------------------------------------- */

static size_t begin(struct buf *b, enum chunk kind, unsigned index, unsigned major,
                    unsigned minor)
{
    size_t at = b->n;
    put32(b, (unsigned)kind | index << 8);
    put32(b, minor | major << 16);
    put64(b, 0); /* size, padding */
    return at;
}

static void end(struct buf *b, size_t at)
{
    put_zeros(b, (4 - b->n % 4) % 4);
    if (b->failed)
        return;
    uint64_t size = b->n - at;
    for (unsigned i = 0; i < 4; i++)
        b->p[at + 8 + i] = (uint8_t)(size >> (8 * i));
}

static void put_header(struct buf *b)
{
    put32(b, 0x50303042);
    put32(b, 1);
    put32(b, 5);
    put32(b, 1); /* flags: no timings of semaphores are to be expected */
    put32(b, HEADER_BYTES);
    /* second, minute, hour, day, month, year since 1900: no date, so that the same run
     * gives the same file */
    put64(b, 0);
    put32(b, 0);
    put32(b, 1);
    put32(b, 0);
    put32(b, 70);
    put32(b, 4);
    put64(b, 0);
}

static void put_cpu(struct buf *b)
{
    size_t at = begin(b, CHUNK_CPU, 0, 0, 0);
    put_field(b, "rdna3", 16);
    put_field(b, "timing model", 48);
    put64(b, 0);
    put64(b, 1000000000); /* its clock: nanoseconds */
    put32(b, 0);
    put32(b, 1);
    put32(b, 1);
    put32(b, 0);
    end(b, at);
}

static void put_masks(struct buf *b, const struct tm_machine *m)
{
    for (unsigned se = 0; se < MAX_SES; se++)
        for (unsigned sa = 0; sa < 2; sa++) {
            unsigned cus = se < m->ses ? m->enabled[se] >> (16 * sa) : 0;
            unsigned mask = (1u << 2 * m->wgps) - 1;
            put_u8(b, cus & mask & 255u);
            put_u8(b, (cus & mask) >> 8 & 255u);
        }
}

/* The RX 7900 XTX as the model has it. */
static void put_asic(struct buf *b, const struct tm_machine *m)
{
    const uint64_t memory_hz = 1250000000;
    uint64_t hz = (uint64_t)(m->sclk_mhz * 1e6);
    size_t at = begin(b, CHUNK_ASIC, 0, 0, 5);
    put64(b, 0);
    put64(b, hz);
    put64(b, memory_hz);
    put32(b, 0x744c);
    put32(b, 0xc8);
    put32(b, m->vgprs_per_simd);
    put32(b, 128 * (uint64_t)m->slots); /* SGPRs of a SIMD */
    put32(b, m->ses);
    put32(b, 2 * (uint64_t)m->wgps * m->arrays);
    put32(b, 2); /* SIMDs of a CU */
    put32(b, m->slots);
    put32(b, 24); /* VGPRs at least, and in steps */
    put32(b, 24);
    put32(b, 128); /* SGPRs likewise */
    put32(b, 128);
    put32(b, 8);  /* contexts */
    put32(b, 2);  /* a board of its own */
    put32(b, 12); /* gfx11.0 */
    put_zeros(b, 7 * 4);
    put64(b, UINT64_C(24) << 30);
    put32(b, 384);
    put32(b, 6u << 20);
    put32(b, 32u << 10);
    put32(b, m->lds_per_cu);
    put_field(b, "gfx1100 (rdna3 timing model)", 256);
    put_float(b, 0);
    put_float(b, 0);
    put_float(b, 6);
    put_float(b, 0);
    put64(b, 100000000);
    put64(b, hz);
    put64(b, memory_hz);
    put32(b, 16);
    put32(b, 0x13); /* GDDR6 */
    put32(b, 1024); /* LDS in steps */
    put_masks(b, m);
    put_zeros(b, 128 + 16 + 16);
    put32(b, 256u << 10);
    put32(b, 32u << 10);
    put32(b, 16u << 10);
    put32(b, 96u << 20);
    put32(b, 0);
    end(b, at);
}

static void put_api(struct buf *b, unsigned engines)
{
    size_t at = begin(b, CHUNK_API, 0, 0, 2);
    put32(b, 5); /* compute, as rgptool has it */
    put32(b, 0);
    put32(b, 0); /* profiled as a whole */
    put_zeros(b, 4 + 512);
    put32(b, 1); /* instructions are traced */
    put32(b, 0);
    put64(b, engines);
    end(b, at);
}

/* ---- the code -------------------------------------------------------------------- */

static uint64_t fnv(const uint8_t *p, size_t n, uint64_t hash)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void put_code(struct buf *b, const struct tl_rgp *r, const char *name)
{
    uint64_t hash[2] = {fnv(r->code, r->code_bytes, UINT64_C(0xcbf29ce484222325)),
                        fnv(r->code, r->code_bytes, 0x9e3779b9)};
    size_t padded = (r->code_bytes + 3) / 4 * 4, at = begin(b, CHUNK_CODE, 0, 0, 0);
    put32(b, at);
    put32(b, 0);
    put32(b, CHUNK_HEADER_BYTES + 16 + 4 + padded);
    put32(b, 1);
    put32(b, padded);
    put_bytes(b, r->code, r->code_bytes);
    end(b, at);

    at = begin(b, CHUNK_LOADS, 0, 1, 0);
    put32(b, at);
    put32(b, 0);
    put32(b, 40);
    put32(b, 1);
    put64(b, 0); /* it was loaded */
    put64(b, r->base);
    put64(b, hash[0]);
    put64(b, hash[1]);
    put64(b, 0);
    end(b, at);

    at = begin(b, CHUNK_PIPELINES, 0, 0, 0);
    put32(b, at);
    put32(b, 0);
    put32(b, 88);
    put32(b, 1);
    put64(b, hash[0]);
    put64(b, hash[0]);
    put64(b, hash[1]);
    put_field(b, name, 64);
    end(b, at);
}

/* ---- the traces ------------------------------------------------------------------ */

static rd_status put_trace(struct buf *b, const struct timeline *tl, size_t dispatch,
                           const struct tl_simd *simd, unsigned index)
{
    size_t at = begin(b, CHUNK_SQTT_DESC, index, 0, 2), n = 0;
    char *data = NULL;
    put32(b, simd->se);
    put32(b, 0xb); /* SQTT 3.2 */
    put32(b, 1);
    put32(b, 2 * simd->wgp + simd->simd % 2);
    end(b, at);
    FILE *f = open_memstream(&data, &n);
    rd_status st = f ? tl_write_sqtt(tl, dispatch, simd, 0, NULL, 0, f) : RD_E_NOMEM;
    if (f && fclose(f) != 0)
        st = RD_E_NOMEM;
    if (st == RD_OK) {
        at = begin(b, CHUNK_SQTT_DATA, index, 0, 0);
        put32(b, at + CHUNK_HEADER_BYTES + 8);
        put32(b, (n + 31) / 32 * 32);
        put_bytes(b, data, n);
        put_zeros(b, (32 - n % 32) % 32); /* no operations; the hardware writes 32 */
        end(b, at);
    }
    free(data);
    return st;
}

rd_status tl_write_rgp(const struct timeline *tl, size_t dispatch,
                       const struct tl_rgp *options, FILE *f)
{
    const struct tl_dispatch *d = &tl->dispatch[dispatch];
    struct tl_simd simd = options->simd;
    unsigned engines = 0, index = 0;
    struct buf b = {0};
    rd_status st = RD_OK;
    for (size_t i = 0; i < d->n_waves; i++)
        engines |= 1u << tl->wave[d->first_wave + i].se;
    put_header(&b);
    put_cpu(&b);
    put_asic(&b, &d->machine);
    put_api(&b, engines);
    if (options->code)
        put_code(&b, options, d->name);
    for (simd.se = 0; simd.se < d->machine.ses && st == RD_OK; simd.se++)
        if (engines >> simd.se & 1u)
            st = put_trace(&b, tl, dispatch, &simd, index++);
    if (b.failed)
        st = RD_E_NOMEM;
    if (st == RD_OK && fwrite(b.p, 1, b.n, f) != b.n)
        st = RD_E_IO;
    free(b.p);
    return st;
}
