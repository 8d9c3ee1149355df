/* discovery.c: the table in the board's memory that tells which blocks the chip has.
 *
 * From the board's description. Sums are those of the bytes.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "internal.h"

enum { TABLE_BLOCKS, TABLE_GRAPHICS, TABLE_HARVEST };
#define TABLES 6u

#define SIGNATURE         0x28211407u
#define BLOCKS_SIGNATURE  0x53445049u
#define HARVEST_SIGNATURE 0x56524148u
#define GRAPHICS_ID       0x4347u
#define HEADER_BYTES      60u
#define SUMMED_FROM       10u
#define DIE_OFFSET        80u
#define HARVEST_ENTRIES   32u

struct writer {
    uint8_t *p;
    uint32_t at;
};

static void put(struct writer *w, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        w->p[w->at++] = (uint8_t)(value >> 8 * i);
}

static void put_at(uint8_t *p, uint32_t at, uint32_t value)
{
    struct writer w = {p, at};
    put(&w, value, 2);
}

static uint16_t sum(const uint8_t *p, uint32_t bytes)
{
    uint16_t total = 0;
    for (uint32_t i = 0; i < bytes; i++)
        total = (uint16_t)(total + p[i]);
    return total;
}

static bool is_smu(const struct board_ip *ip)
{
    return ip->hw_id == 1;
}

static void write_blocks(const struct pci_board *b, struct writer *w)
{
    size_t n;
    const struct board_ip *ip = board_ip_blocks(&n);
    uint32_t begin = w->at, count = 0, count_at;
    put(w, BLOCKS_SIGNATURE, 4);
    put(w, 4, 2);
    uint32_t size_at = w->at;
    put(w, 0, 2);
    put(w, 0, 4);
    put(w, 1, 2); /* dies */
    put(w, 0, 2);
    put(w, begin + DIE_OFFSET, 2);
    w->at = begin + DIE_OFFSET;
    put(w, 0, 2);
    count_at = w->at;
    put(w, 0, 2);
    for (size_t i = 0; i < n; i++) {
        unsigned bases = board_ip_bases(&ip[i]);
        if (!(ip[i].shown & BOARD_IP_CHIP))
            continue;
        count++;
        put(w, ip[i].hw_id, 2);
        put(w, ip[i].instance, 1);
        put(w, bases, 1);
        put(w, is_smu(&ip[i]) ? b->config.smu.major : ip[i].major, 1);
        put(w, is_smu(&ip[i]) ? b->config.smu.minor : ip[i].minor, 1);
        put(w, is_smu(&ip[i]) ? b->config.smu.revision : ip[i].revision, 1);
        put(w, 0, 1);
        for (unsigned k = 0; k < bases; k++)
            put(w, ip[i].base[k], 4);
    }
    put_at(w->p, count_at, count);
    put_at(w->p, size_at, w->at - begin);
}

static void write_graphics(struct writer *w)
{
    static const uint32_t facts[] = {
        BOARD_SE,
        BOARD_CU_PER_SA / 2, /* pairs of compute units */
        0,
        4,  /* render backends in a shader engine */
        24, /* L2 channels */
        1024,
        32,   /* geometry threads */
        32,   /* geometry table depth */
        1792, /* primitive buffer depth */
        512,  /* parameter cache */
        512,  /* off-chip LDS buffers */
        32,   /* lanes of a wave */
        16,   /* waves of a SIMD */
        32,   /* scratch slots of a CU */
        64,   /* LDS, KiB */
        1,    /* scan converters in a shader engine */
        BOARD_SA_PER_SE,
        4, /* packers */
        4, /* L2 arbiters */
        BOARD_CU_PER_SA,
        16, /* fabric ports */
        BOARD_CUS,
        2,   /* L1 of a pair of compute units */
        32,  /* its size, KiB */
        1,   /* scalar cache of such a pair */
        32,  /* instructions, KiB */
        16,  /* data, KiB */
        1,   /* middle cache in a shader array */
        256, /* its size, KiB */
        24,
        32,  /* L1 of a compute unit, KiB */
        128, /* its line */
        32,
        64,
        16,
        64,
        6144, /* L2, KiB */
        128,
    };
    put(w, GRAPHICS_ID, 4);
    put(w, 1, 2);
    put(w, 3, 2);
    put(w, 12 + sizeof(facts), 4);
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        put(w, facts[i], 4);
}

static void write_harvest(struct writer *w)
{
    size_t n;
    const struct board_ip *ip = board_ip_blocks(&n);
    uint32_t end = w->at + 8 + 4 * HARVEST_ENTRIES;
    put(w, HARVEST_SIGNATURE, 4);
    put(w, 0, 4);
    for (size_t i = 0; i < n; i++)
        if (ip[i].shown & BOARD_IP_FUSED) {
            put(w, ip[i].hw_id, 2);
            put(w, ip[i].instance, 2);
        }
    w->at = end;
}

void discovery_write(const struct pci_board *b, uint8_t *to)
{
    struct writer w = {.p = to, .at = HEADER_BYTES};
    uint32_t begin[TABLES] = {0}, end[TABLES] = {0};
    memset(to, 0, DISCOVERY_BYTES);
    begin[TABLE_BLOCKS] = w.at;
    write_blocks(b, &w);
    end[TABLE_BLOCKS] = w.at;
    begin[TABLE_GRAPHICS] = w.at;
    write_graphics(&w);
    end[TABLE_GRAPHICS] = w.at;
    begin[TABLE_HARVEST] = w.at;
    write_harvest(&w);
    end[TABLE_HARVEST] = w.at;
    uint32_t bytes = w.at;
    w.at = 0;
    put(&w, SIGNATURE, 4);
    put(&w, 1, 4);
    uint32_t sum_at = w.at;
    put(&w, 0, 2);
    put(&w, bytes, 2);
    for (unsigned i = 0; i < TABLES; i++) {
        put(&w, begin[i], 2);
        put(&w, sum(to + begin[i], end[i] - begin[i]), 2);
        put(&w, end[i] - begin[i], 2);
        put(&w, 0, 2);
    }
    put_at(to, sum_at, sum(to + SUMMED_FROM, bytes - SUMMED_FROM));
}
