/* Shows by the system's clock a time that is ABIDE_SHIM_CLOCK seconds away from it. Clocks that nobody can set go on as they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    __typeof__(clock_gettime) *real = (__typeof__(real))dlsym(RTLD_NEXT, "clock_gettime");
    const char *away = getenv("ABIDE_SHIM_CLOCK");
    int result = real(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME && away) time->tv_sec += atol(away);
    return result;
}
