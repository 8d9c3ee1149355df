/* test_card.c: the primary node: masters, clients that they admit, what each may ask.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <drm/amdgpu_drm.h>

#include "../suite.h"
#include "mock.h"

#define SET   _IO('d', DRM_NR_SET_MASTER)
#define DROP  _IO('d', DRM_NR_DROP_MASTER)
#define MAGIC DRM_IOR(DRM_NR_GET_MAGIC, struct drm_auth)
#define ADMIT DRM_IOW(DRM_NR_AUTH_MAGIC, struct drm_auth)

static int magic_of(int fd, uint32_t *magic)
{
    struct drm_auth a = {0};
    int r = card(fd, MAGIC, &a);
    *magic = a.magic;
    return r;
}

static int admit(int fd, uint32_t magic)
{
    struct drm_auth a = {magic};
    return card(fd, ADMIT, &a);
}

static int create(int fd)
{
    union drm_amdgpu_gem_create c = {
        .in = {.bo_size = 4096, .domains = AMDGPU_GEM_DOMAIN_GTT}};
    return card(fd, DRM_IOCTL_AMDGPU_GEM_CREATE, &c);
}

/* Who opens first is master until it gives that up or its last copy is closed. */
START_TEST(one_master)
{
    int a = mock_card_open(), b = mock_card_open(), copy;
    ck_assert_int_eq(admit(a, 0), -EINVAL);
    ck_assert_int_eq(admit(b, 0), -EACCES);
    ck_assert_int_eq(card(a, SET, NULL), 0);
    ck_assert_int_eq(card(b, SET, NULL), -EBUSY);
    ck_assert_int_eq(card(b, DROP, NULL), -EINVAL);
    ck_assert_int_eq(card(a, DROP, NULL), 0);
    ck_assert_int_eq(card(a, DROP, NULL), -EINVAL);
    ck_assert_int_eq(card(b, SET, NULL), 0);
    ck_assert_int_eq(card(a, SET, NULL), -EBUSY);
    copy = dup(b);
    close(b);
    ck_assert_int_eq(card(a, SET, NULL), -EBUSY);
    ck_assert_int_eq(admit(copy, 0), -EINVAL);
    close(copy);
    ck_assert_int_eq(admit(a, 0), -EACCES);
    ck_assert_int_eq(card(a, SET, NULL), 0);
    close(a);
}
END_TEST

/* A client has one magic, which its master admits it by, once, and no other master. */
START_TEST(magics)
{
    uint32_t magic, again;
    int a = mock_card_open(), b = mock_card_open(), c = mock_card_open();
    ck_assert_int_eq(magic_of(c, &magic), 0);
    ck_assert_uint_ne(magic, 0);
    ck_assert_int_eq(magic_of(c, &again), 0);
    ck_assert_uint_eq(magic, again);
    ck_assert_int_eq(admit(c, magic), -EACCES);
    ck_assert_int_eq(admit(a, magic + 1), -EINVAL);
    ck_assert_int_eq(admit(a, magic), 0);
    ck_assert_int_eq(admit(a, magic), -EINVAL);
    close(c);
    c = mock_card_open();
    ck_assert_int_eq(magic_of(c, &magic), 0);
    ck_assert_int_eq(card(a, DROP, NULL), 0);
    ck_assert_int_eq(card(b, SET, NULL), 0);
    ck_assert_int_eq(admit(b, magic), -EINVAL);
    ck_assert_int_eq(card(b, DROP, NULL), 0);
    ck_assert_int_eq(card(a, SET, NULL), 0);
    ck_assert_int_eq(admit(a, magic), 0);
    close(a), close(b), close(c);
}
END_TEST

static int child_of(int fd, int other)
{
    uint32_t magic;
    if (setuid(65534) != 0)
        return 1;
    int mine = mock_card_open();
    struct drm_client client = {0};
    return card(fd, DROP, NULL) != -EACCES                                      ? 2
           : card(fd, SET, NULL) != -EACCES                                     ? 3
           : card(other, SET, NULL) != -EACCES                                  ? 4
           : create(fd)                                                         ? 5
           : create(mine) != -EACCES                                            ? 6
           : card(mine, DRM_IOR(DRM_NR_GET_CLIENT, struct drm_client), &client) ? 7
           : client.auth                                                        ? 8
           : magic_of(mine, &magic)                                             ? 9
           : admit(fd, magic)                                                   ? 10
           : create(mine)                                                       ? 11
                                                                                : 0;
}

/* Another user's process keeps what the file may do, but cannot change who is master,
 * and has to be admitted to draw. */
START_TEST(other_users)
{
    int status;
    if (geteuid() != 0)
        return;
    int a = mock_card_open(), b = mock_card_open();
    pid_t child = fork();
    if (child == 0)
        _exit(child_of(a, b));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    close(a), close(b);
}
END_TEST

/* The render node has no masters, pictures or names. */
START_TEST(nodes)
{
    struct drm_auth a = {0};
    struct drm_mode_create_dumb d = {.width = 8, .height = 8, .bpp = 32};
    struct drm_gem_flink name = {0};
    union drm_amdgpu_gem_create c = {
        .in = {.bo_size = 4096, .domains = AMDGPU_GEM_DOMAIN_GTT}};
    union drm_amdgpu_sched s = {
        .in = {.op = AMDGPU_SCHED_OP_PROCESS_PRIORITY_OVERRIDE}};
    ck_assert_int_eq(render(MAGIC, &a), -EACCES);
    ck_assert_int_eq(render(SET, NULL), -EACCES);
    ck_assert_int_eq(
        render(DRM_IOWR(DRM_NR_CREATE_DUMB, struct drm_mode_create_dumb), &d), -EACCES);
    ck_assert_int_eq(render(DRM_IOWR(DRM_NR_GEM_FLINK, struct drm_gem_flink), &name),
                     -EACCES);
    ck_assert_int_eq(render(DRM_IOCTL_AMDGPU_SCHED, &s), -EACCES);
    const unsigned long resources = DRM_IOWR(0xa0, char[64]); /* of displays */
    char unknown[64] = {0};
    ck_assert_int_eq(render(resources, unknown), -EACCES);
    ck_assert_int_eq(render(DRM_IOCTL_AMDGPU_GEM_CREATE, &c), 0);
    int fd = mock_card_open();
    ck_assert_int_eq(card(fd, resources, unknown), -EOPNOTSUPP);
    ck_assert_int_eq(
        card(fd, DRM_IOWR(DRM_NR_CREATE_DUMB, struct drm_mode_create_dumb), &d), 0);
    s.in.fd = RENDER_FD;
    ck_assert_int_eq(card(fd, DRM_IOCTL_AMDGPU_SCHED, &s), 0);
    s.in.priority = 7;
    ck_assert_int_eq(card(fd, DRM_IOCTL_AMDGPU_SCHED, &s), -EINVAL);
    struct drm_set_version v = {1, 4, 3, 0}, newer = {1, 5, -1, -1};
    const unsigned long set_version =
        DRM_IOWR(DRM_NR_SET_VERSION, struct drm_set_version);
    ck_assert_int_eq(card(fd, set_version, &v), 0);
    ck_assert_int_eq(v.drm_di_minor, 4);
    ck_assert_int_gt(v.drm_dd_minor, 50);
    ck_assert_int_eq(card(fd, set_version, &newer), -EINVAL);
    close(fd);
}
END_TEST

int main(void)
{
    mock_begin();
    Suite *s = suite_create("card");
    TCase *t = tcase_create("primary node");
    tcase_add_test(t, one_master);
    tcase_add_test(t, magics);
    tcase_add_test(t, other_users);
    tcase_add_test(t, nodes);
    suite_add_tcase(s, t);
    int status = suite_run_here(s);
    mock_end();
    return status;
}
