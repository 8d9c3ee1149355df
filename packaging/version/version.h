/* version.h: which version this is, and the commit it was built from.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_VERSION_H
#define RD_VERSION_H

/* "0.1.0". */
const char *rd_version(void);

/* The commit, abbreviated, with '+' if files were changed since; "" if it is not known:
 * built from an archive. */
const char *rd_version_commit(void);

/* "rdna3 0.1.0 (1a2b3c4d5e)". */
const char *rd_version_text(void);

#endif
