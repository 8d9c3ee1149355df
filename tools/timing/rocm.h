/* rocm.h: what AMD's rocprofv3 leaves in a folder (--att): a file of thread trace for
 * each engine of each dispatch, and the code objects. SPDX-License-Identifier: MIT
 */
#ifndef RD_TIMING_ROCM_H
#define RD_TIMING_ROCM_H

#include "capture.h"

/* The files' contents, which must stay as long as what points to them. */
struct rocm_files {
    void **data;
    size_t n;
};

/* Is that path a folder, or a thread trace in one? */
bool rocm_is(const char *path);

/* Are both traces of one dispatch, in one folder? */
bool rocm_same(const char *path, const char *other);

/* All dispatches of a folder in the order of their numbers, or the one of a trace.
 * Prints the error; returns an exit status. Owner: capture_free, then rocm_free; also
 * after an error. */
int rocm_read(const char *path, struct sqtt_file *out, struct rocm_files *files);
void rocm_free(struct rocm_files *files);

#endif
