/* object.h: what is in a code object, for people and machines.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_INFO_OBJECT_H
#define RD_INFO_OBJECT_H

#include "json.h"

/* Print the kernels of a file, or add them to an array. Prints the error; returns an
 * exit status. */
int info_object(const char *path, struct json *j);

#endif
