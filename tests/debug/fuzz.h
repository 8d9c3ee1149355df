/* fuzz.h: what libFuzzer calls, and main.c without it.
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_DEBUG_FUZZ_H
#define TEST_DEBUG_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
