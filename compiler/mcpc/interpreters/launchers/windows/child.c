/* The server's process, where it is not this one: started with our handles and console, and ended with us.
 *
 * It is in a job object whose only handle is ours, so the system ends it, and all that it started, however this process
 * ends. It gets every handle that this process was given, as if the client had started it itself. */
#include "launcher.h"

enum { LONGEST_COMMAND = 32766, LONGEST_WAIT = 120 * 1000 };

/* Ends that mean that the system could not load the program, so that it has read nothing. */
static const DWORD NOT_LOADED[] = {0xC0000135, 0xC0000139, 0xC000007B, 0xC0000142};

/* Ctrl-C is for the server, which is in the same console. Where the console is closed, it gets the time to end. */
static BOOL WINAPI on_control(DWORD event) {
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) Sleep(INFINITE);
    return TRUE;
}

static HANDLE job_that_ends_with_us(void) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    HANDLE job = CreateJobObjectW(NULL, NULL);
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if (job) SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

/* Returns our arguments as they were written: the command line behind the program's name. */
static const wchar_t *arguments(void) {
    const wchar_t *rest = GetCommandLineW();
    BOOL quoted = FALSE;
    for (; *rest && (quoted || (*rest != L' ' && *rest != L'\t')); rest++)
        if (*rest == L'"') quoted = !quoted;
    return rest;
}

/* Starts a program in a job that ends with us, in our console or in none; returns NULL if it cannot be started. */
static HANDLE start(const wchar_t *program, wchar_t *command, STARTUPINFOW *startup) {
    PROCESS_INFORMATION child;
    DWORD flags = CREATE_SUSPENDED | (GetConsoleCP() ? 0 : DETACHED_PROCESS);
    if (!CreateProcessW(program, command, NULL, NULL, TRUE, flags, NULL, NULL, startup, &child)) return NULL;
    HANDLE job = job_that_ends_with_us();
    if (job) AssignProcessToJobObject(job, child.hProcess);
    ResumeThread(child.hThread);
    CloseHandle(child.hThread);
    return child.hProcess;
}

/* Returns a standard handle, which the child inherits. */
HANDLE inherited(DWORD which) {
    HANDLE handle = GetStdHandle(which);
    if (handle && handle != INVALID_HANDLE_VALUE) SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    return handle;
}

/* Runs the server and ends with its exit code; returns if this Python cannot be started. */
void run_server(const wchar_t *python, const struct record *record) {
    STARTUPINFOW startup;
    DWORD code = CANNOT_RUN;
    run_in_process(python, record);
    wchar_t *command =
        joined(L"\"", python, L"\" -I -S -c \"", record->start, L"\" \"", self, L"\"", arguments(), NULL);
    if (length_of(command) > LONGEST_COMMAND) refuse(L"the command line is too long");
    GetStartupInfoW(&startup);
    startup.lpReserved = startup.lpTitle = NULL;
    startup.dwFlags = (startup.dwFlags & STARTF_USESHOWWINDOW) | STARTF_USESTDHANDLES;
    startup.hStdInput = inherited(STD_INPUT_HANDLE);
    startup.hStdOutput = inherited(STD_OUTPUT_HANDLE);
    startup.hStdError = inherited(STD_ERROR_HANDLE);
    SetConsoleCtrlHandler(on_control, TRUE);
    HANDLE child = start(python, command, &startup);
    if (!child) return;
    WaitForSingleObject(child, INFINITE);
    GetExitCodeProcess(child, &code);
    for (SIZE_T row = 0; row < sizeof NOT_LOADED / sizeof *NOT_LOADED; row++)
        if (code == NOT_LOADED[row]) return;
    ExitProcess(code);
}

/* Runs a program that reads nothing and writes to `errors` only, NULL for nowhere; returns its exit code. */
DWORD exit_code_of(const wchar_t *program, wchar_t *command, HANDLE errors) {
    STARTUPINFOW startup = {.cb = sizeof startup, .dwFlags = STARTF_USESTDHANDLES, .hStdError = errors};
    DWORD code = NOT_STARTED;
    HANDLE child = start(program, command, &startup);
    if (!child) return code;
    if (WaitForSingleObject(child, LONGEST_WAIT) == WAIT_OBJECT_0) GetExitCodeProcess(child, &code);
    else TerminateProcess(child, code);
    CloseHandle(child);
    return code;
}
