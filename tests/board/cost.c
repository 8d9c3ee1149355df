/* cost.c: what a driver and a program wait for: an ioctl that does nothing, a read of a
 * register of the board, a dispatch that does next to nothing.
 *
 * usage: cost CODE32 CODE64 RESOURCE    CODEs: hsa_kernels.cl; RESOURCE: sysfs's file
 * of the window with the registers. Prints microseconds. SPDX-License-Identifier: MIT
 */
#define main suite_main
#include "hsa_suite.c"
#undef main
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>

#define ROUNDS    2000
#define REGISTER  0xc040                 /* SCRATCH_REG0, which nothing else uses */
#define KFD_EMPTY _IOR('K', 1, uint64_t) /* AMDKFD_IOC_GET_VERSION */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *us, unsigned n)
{
    qsort(us, n, sizeof(*us), by_value);
    printf("%-22s us: min %.1f median %.1f p90 %.1f\n", what, us[0], us[n / 2],
           us[n * 9 / 10]);
}

static bool cost_of_ioctls(double *us)
{
    int fd = open("/dev/kfd", O_RDWR);
    uint64_t version;
    CHECK(fd >= 0);
    for (int i = 0; i < ROUNDS; i++) {
        double t = now();
        CHECK(ioctl(fd, KFD_EMPTY, &version) == 0);
        us[i] = now() - t;
    }
    close(fd);
    report("empty ioctl", us, ROUNDS);
    return true;
}

static bool cost_of_registers(const char *resource, double *us)
{
    int fd = open(resource, O_RDWR | O_SYNC);
    CHECK(fd >= 0);
    volatile uint32_t *regs =
        mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(regs != MAP_FAILED);
    for (int i = 0; i < ROUNDS; i++) {
        double t = now();
        (void)regs[REGISTER];
        us[i] = now() - t;
    }
    report("register, read", us, ROUNDS);
    close(fd);
    return true;
}

static bool cost_of_dispatches(const char *name, hsa_wait_state_t how, double *us)
{
    enum { N = ROUNDS / 4 };
    struct {
        uint32_t *counter;
    } *args;
    hsa_signal_t done;
    if (!host_alloc(sizeof(*args), &args) || !host_alloc(4, &args->counter))
        return false;
    HSA(hsa_signal_create(1, 0, NULL, &done));
    for (int i = 0; i < N; i++) {
        hsa_signal_store_relaxed(done, 1);
        double t = now();
        if (!dispatch(queue, code[0], "increment.kd", args, 64, 64, done))
            return false;
        hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, how);
        us[i] = now() - t;
    }
    CHECK(*args->counter == N);
    report(name, us, N);
    return true;
}

int main(int argc, char **argv)
{
    static double us[ROUNDS];
    bool ok = argc == 4 && start(argv[1], argv[2]) && cost_of_ioctls(us) &&
              cost_of_registers(argv[3], us) &&
              cost_of_dispatches("dispatch, waits busily", HSA_WAIT_STATE_ACTIVE, us) &&
              cost_of_dispatches("dispatch, waits asleep", HSA_WAIT_STATE_BLOCKED, us);
    if (!ok)
        printf("cost FAILED: %s\n", why);
    return !ok;
}
