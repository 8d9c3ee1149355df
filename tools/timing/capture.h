/* capture.h: captures of a real board: which launches they hold, the thread traces of
 * each, the code objects that were loaded. Nothing in a file is trusted or executed.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMING_CAPTURE_H
#define RD_TIMING_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_SES     6
#define CAPTURE_BUFFERS 32

/* What a shader engine wrote down. Points into the file. */
struct capture_trace {
    unsigned se;
    const uint8_t *data;
    size_t bytes;
};

struct capture_launch {
    char name[128]; /* "" if the file does not say */
    unsigned n_traces;
    struct capture_trace trace[CAPTURE_SES];
    /* Sizes of the buffers that are its arguments, if known. */
    bool have_buffers;
    unsigned n_buffers;
    uint64_t buffer_bytes[CAPTURE_BUFFERS];
    unsigned process; /* whose objects are its, of a folder of several */
};

struct sqtt_object {
    uint64_t base; /* GPU address of its image */
    bool told;     /* no: the traces tell it by the object's number */
    uint64_t id;
    unsigned process;
    const uint8_t *data;
    size_t bytes;
};

struct sqtt_file {
    struct capture_launch *launch;
    size_t n_launches;
    struct sqtt_object *object;
    size_t n_objects;
};

/* A profile that tinygrad has pickled, or an .rgp file; data must stay until
 * capture_free.
 *
 * why  out, [why_bytes], filled if false is returned: what is wrong with the file
 */
bool capture_read(const void *data, size_t bytes, struct sqtt_file *out, char *why,
                  size_t why_bytes);
void capture_free(struct sqtt_file *c);

/* For the readers: rgp.c, tinygrad.c. false: out of memory. */
bool capture_is_rgp(const uint8_t *data, size_t bytes);
bool capture_read_rgp(const uint8_t *data, size_t bytes, struct sqtt_file *out,
                      char *why, size_t why_bytes);
bool capture_read_pickle(const uint8_t *data, size_t bytes, struct sqtt_file *out,
                         char *why, size_t why_bytes);
bool capture_add_object(struct sqtt_file *c, uint64_t base, const uint8_t *data,
                        size_t bytes);
/* To the launch with that number, which is made if it is the next one. */
bool capture_add_trace(struct sqtt_file *c, size_t launch, unsigned se,
                       const uint8_t *data, size_t bytes);

#endif
