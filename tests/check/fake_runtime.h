/* fake_runtime.h: see fake_runtime.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_FAKE_RUNTIME_H
#define RD_FAKE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
/* The GPU's memory that all is taken from. */
void fake_arena(void *memory, size_t bytes);
/* Where a buffer of OpenCL is. */
void *fake_memory(void *object);

int hsa_amd_memory_pool_allocate(uint64_t pool, size_t size, uint32_t flags,
                                 void **out);
int hsa_amd_memory_pool_free(void *p);
int hsa_code_object_reader_create_from_memory(const void *code, size_t bytes,
                                              void *reader);
int hipMalloc(void **out, size_t size);
int hipFree(void *p);
int hipMemcpy(void *to, const void *from, size_t n, int kind);
int hipMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                size_t width, size_t height, int kind);
/* Done when the program waits for the stream or an event. */
int hipMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream);
int hipEventSynchronize(void *event);
int hipMallocAsync(void **out, size_t size, void *stream);
int hipFreeAsync(void *p, void *stream);
int hipStreamSynchronize(void *stream);
void *clCreateBuffer(void *context, uint64_t flags, size_t size, void *host,
                     int *error);
int clRetainMemObject(void *object);
int clReleaseMemObject(void *object);
#pragma GCC visibility pop

#endif
