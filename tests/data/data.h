/* data.h: where a test's vectors lie: tests/data, or the folder that RDNA3_DATA names
 * (../shared has the same layout and more rows).
 * SPDX-License-Identifier: MIT
 */
#ifndef TEST_DATA_H
#define TEST_DATA_H

#include <stdio.h>
#include <stdlib.h>

#ifndef RDNA3_TEST_DATA
#define RDNA3_TEST_DATA "tests/data"
#endif
#define DATA_PATH 4096

static inline const char *data_path(char path[DATA_PATH], const char *name)
{
    const char *folder = getenv("RDNA3_DATA");
    snprintf(path, DATA_PATH, "%s/%s", folder ? folder : RDNA3_TEST_DATA, name);
    return path;
}

#endif
