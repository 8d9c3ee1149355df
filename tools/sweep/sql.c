/* sql.c: see sql.h. SPDX-License-Identifier: MIT */
#include "sql.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "cli.h"

#define LIBRARY "libsqlite3.so.0"

struct sqlite sqlite;

static const struct {
    const char *name;
    size_t at;
} calls[] = {
#define X(name) {"sqlite3_" #name, offsetof(struct sqlite, name)},
    SQL_CALLS(X)
#undef X
};

int sql_load(void)
{
    void *so = sqlite.open_v2 ? NULL : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (sqlite.open_v2)
        return CLI_OK;
    if (!so)
        return cli_error(CLI_FAILED, "a sweep needs SQLite: %s", dlerror());
    struct sqlite all;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *call = dlsym(so, calls[i].name);
        if (!call)
            return cli_error(CLI_FAILED, "%s has no %s", LIBRARY, calls[i].name);
        memcpy((char *)&all + calls[i].at, &call, sizeof call);
    }
    sqlite = all;
    return CLI_OK;
}
