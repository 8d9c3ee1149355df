/* object_file.c: see object_file.h. Must not know ELF. SPDX-License-Identifier: MIT */
#include "object_file.h"

#include "codeobj.h"

static bool is_none(const void *head, size_t bytes)
{
    return !co_may_begin(head, bytes);
}

rd_status object_file_read(const char *path, void **data, size_t *bytes)
{
    static const struct cli_kind kind = {.most = (uint64_t)4 << 30, .wrong = is_none};
    return cli_read_kind(path, &kind, data, bytes);
}
