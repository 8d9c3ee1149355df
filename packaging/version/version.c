/* version.c: the version as texts. commit.h is made by commit.cmake whenever the commit
 * has changed. SPDX-License-Identifier: MIT
 */
#include "version.h"

#include "commit.h"

const char *rd_version(void)
{
    return RDNA3_VERSION;
}

const char *rd_version_commit(void)
{
    return RDNA3_COMMIT;
}

const char *rd_version_text(void)
{
    return sizeof RDNA3_COMMIT > 1 ? "rdna3 " RDNA3_VERSION " (" RDNA3_COMMIT ")"
                                   : "rdna3 " RDNA3_VERSION;
}
