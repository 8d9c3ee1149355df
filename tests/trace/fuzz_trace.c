/* fuzz_trace.c: the reader of traces takes any chunk for what it is.
 *
 * A chunk's checksum and compression would hide its contents from a fuzzer, so the
 * target puts them right: its input is a chunk's raw bytes. Without libFuzzer, main
 * records a trace, takes its first chunk and changes some bytes, the same ones every
 * time.
 *
 *   fuzz_trace COUNT
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include "codec.h"
#include "format.h"
#include "machine.h"
#include "trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *path;

/* A file of one chunk that is not compressed: the first two bytes of data say how many
 * events and whether there are values. */
static bool write_trace(const uint8_t *data, size_t size)
{
    uint32_t events = data[0] | (data[1] & 0x7fu) << 8, n = (uint32_t)size - 2;
    uint32_t head[2] = {data[1] >> 7, CODEC_NONE};
    uint32_t chunk[5] = {TRACE_CHUNK, events, n, n, trace_checksum(data + 2, n)};
    uint32_t end[2] = {TRACE_END, 0};
    uint64_t total = events;
    FILE *f = fopen(path, "wb");
    if (!f)
        return false;
    bool ok = fwrite(TRACE_MAGIC, 8, 1, f) && fwrite(head, sizeof head, 1, f) &&
              fwrite(chunk, sizeof chunk, 1, f) && (!n || fwrite(data + 2, n, 1, f)) &&
              fwrite(end, sizeof end, 1, f) && fwrite(&total, sizeof total, 1, f);
    return fclose(f) == 0 && ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_reader *r;
    struct trace_error err;
    const struct emu_event *e;
    uint64_t number, sum = 0;
    if (!path)
        path = test_file("fuzz.trace");
    if (size < 2 || size > 1u << 20 || !write_trace(data, size) ||
        trace_open(path, &r, &err) != RD_OK)
        return 0;
    while (trace_next(r, &number, &e) == RD_OK)
        sum += event_hash(e, 0);
    trace_reader_close(r);
    return sum == 1; /* everything was looked at; never so */
}

#ifndef FUZZ_LIBFUZZER
static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t random32(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(state * 0x2545f4914f6cdd1du >> 32);
}

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "fuzz_trace: %s\n", what);
    exit(EXIT_FAILURE);
}

/* The first chunk of a recording, behind two bytes for the target. */
static uint8_t *record_chunk(bool values, size_t *size)
{
    struct machine m;
    struct trace_writer *w;
    struct trace_error err;
    uint32_t head[4], chunk[5];
    machine_create(&m, PROGRAM_MIX, values ? 64 : 32);
    must(trace_create(path, &(struct trace_options){.values = values}, &w, &err) ==
             RD_OK,
         "no file");
    struct emu_observer observer = trace_observer(w);
    must(emu_add_observer(m.emu, &observer) == RD_OK, "no observer");
    must(emu_run(m.emu, &m.dispatch, NULL, NULL) == RD_OK, "no run");
    must(trace_close(w, &err) == RD_OK, "no trace");
    machine_destroy(&m);

    struct codec *codec;
    FILE *f = fopen(path, "rb");
    must(f && fread(head, sizeof head, 1, f) && fread(chunk, sizeof chunk, 1, f),
         "no chunk");
    uint8_t *packed = malloc(chunk[3]), *raw = malloc(chunk[2] + 2ul);
    must(packed && raw && fread(packed, chunk[3], 1, f), "no chunk");
    fclose(f);
    must(codec_create(head[3], &codec) == RD_OK &&
             codec_unpack(codec, packed, chunk[3], raw + 2, chunk[2]) == RD_OK,
         "no raw chunk");
    codec_destroy(codec);
    free(packed);
    raw[0] = (uint8_t)chunk[1];
    raw[1] = (uint8_t)(chunk[1] >> 8 | (values ? 0x80 : 0));
    *size = chunk[2] + 2ul;
    return raw;
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;
    path = test_file("fuzz.trace");
    for (unsigned values = 0; values < 2; values++) {
        size_t size;
        uint8_t *chunk = record_chunk(values, &size), *copy = malloc(size);
        must(copy != NULL, "out of memory");
        for (unsigned long i = 0; i < count; i++) {
            memcpy(copy, chunk, size);
            for (unsigned n = 1 + random32() % 4; n; n--) {
                /* mostly in the definitions and sizes, which lie in front */
                size_t room = random32() % 2 && size > 512 ? 512 : size;
                copy[random32() % room] = (uint8_t)random32();
            }
            LLVMFuzzerTestOneInput(copy, random32() % 8 ? size : random32() % size);
        }
        free(chunk);
        free(copy);
    }
    fprintf(stderr, "%lu inputs\n", 2 * count);
    return EXIT_SUCCESS;
}
#endif
