/* demangle.h: C++ names as people wrote them.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_CLI_DEMANGLE_H
#define RD_CLI_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* The readable form of an Itanium C++ name ("_Z3addPf" is "add(float*)").
 *
 * text  out, cut off where it is full; unchanged on failure
 * Returns false if the name is none, or if there is no C++ runtime to ask.
 */
bool demangle(const char *name, char *text, size_t size);

#endif
