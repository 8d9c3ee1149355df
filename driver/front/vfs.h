/* vfs.h: which paths are ours, and which open files are device files.
 * SPDX-License-Identifier: MIT
 */
#ifndef RD_VFS_H
#define RD_VFS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum vfs_node { VFS_NONE, VFS_KFD, VFS_RENDER, VFS_CARD, VFS_RECOVER, VFS_TIMELINE };

/* The path to use instead of the one that the program names: itself, or one in buf. */
const char *vfs_path(const char *path, char buf[PATH_MAX]);

/* Turn a path inside the state folder back into the one that the program knows.
 * Returns its new length. */
size_t vfs_unpath(char *path, size_t length);

/* A file that controls the device was opened to write. */
void vfs_watch_control(int fd);

/* Wait until what was written to such files has been acted upon; a second at most. */
void vfs_settle(void);

/* Is the descriptor one of our device files? By identity, so that dup, fcntl and
 * descriptor passing need no attention. */
enum vfs_node vfs_node_of_fd(int fd);

/* The descriptor to map when the program maps fd: both DRM nodes show the same memory,
 * which lies in the render node's file. */
int vfs_mapped_fd(int fd);

/* The render node's descriptor if fd is another file beside our device files; or -1. */
int vfs_memory_beside(int fd);

/* The path of an open file as the program knows it ("" if nobody tells); true: it is
 * one of ours. */
bool vfs_place_of_fd(int fd, char path[PATH_MAX]);

/* Make a device file of ours look like a character device. */
void vfs_fix_stat(struct stat *st);
void vfs_fix_statx(struct statx *stx);

#endif
