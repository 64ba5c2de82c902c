/* The launcher of a built file on Windows: it finds a Python, or unpacks its own, and runs the archive behind it.
 *
 * Where no Python can run the file, it writes one line and ends with status 8, as the file does on other systems. */
#include "launcher.h"

void begin(void) {
    struct record record;
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX); /* no message boxes, here and in the server */
    read_record(&record);
    if (*record.digest) run_unpacked(&record);
    else run_installed(&record);
    ExitProcess(CANNOT_RUN);
}
