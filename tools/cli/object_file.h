/* object_file.h: code objects in files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_OBJECT_FILE_H
#define RD_OBJECT_FILE_H

#include "cli.h"

/* Read a code object, or a bundle of them; what is none by its beginning is not read
 * to its end, and co_open says why. As cli_read_file. */
RD_CHECKED rd_status object_file_read(const char *path, void **data, size_t *bytes);

#endif
