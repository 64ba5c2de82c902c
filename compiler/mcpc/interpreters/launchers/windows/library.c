/* Python in this process: its library is loaded as python.exe would load it, which saves a second process.
 *
 * Python is told that python.exe is the program, so it finds its own files, and starts workers, as if it had been started
 * so. Arguments are split by the C runtime that Python uses. Where anything is unusual (a virtual environment, the Store's
 * Python, a library for another machine, a path of ours that Python has no room for), nothing has been run yet, and the
 * server is started as a process. */
#include "launcher.h"

typedef int(__cdecl *main_function)(int, wchar_t **);
typedef int(__cdecl *configure_function)(int);
typedef int *(__cdecl *count_function)(void);
typedef wchar_t ***(__cdecl *arguments_function)(void);

enum { UNEXPANDED_ARGUMENTS = 1, LONGEST_PROGRAM = 255 /* what Python's getpath.c reads */ };

/* Tells whether a name is that of a library: `python3`, digits, `.dll`; free-threaded ones have another ending. */
static BOOL is_library(const wchar_t *name) {
    const wchar_t *rest = name + 7;
    if (*rest < L'0' || *rest > L'9') return FALSE;
    read_number(&rest);
    return is_same_name(rest, L".dll");
}

/* Returns the path of the library beside a python.exe, or NULL. */
static wchar_t *library_in(const wchar_t *folder) {
    WIN32_FIND_DATAW found;
    HANDLE search = FindFirstFileW(joined(folder, L"\\python3*.dll", NULL), &found);
    wchar_t *path = NULL;
    if (search == INVALID_HANDLE_VALUE) return NULL;
    do {
        if (is_library(found.cFileName)) path = joined(folder, L"\\", found.cFileName, NULL);
    } while (!path && FindNextFileW(search, &found));
    FindClose(search);
    return path;
}

static BOOL exists(const wchar_t *folder, const wchar_t *name) {
    return GetFileAttributesW(joined(folder, name, NULL)) != INVALID_FILE_ATTRIBUTES;
}

/* Returns our arguments behind the program's name as Python's C runtime splits them; FALSE if it cannot be asked. */
static BOOL split_arguments(int *count, wchar_t ***arguments) {
    HMODULE runtime = GetModuleHandleW(L"ucrtbase.dll");
    if (!runtime) return FALSE;
    configure_function configure = (configure_function)(void *)GetProcAddress(runtime, "_configure_wide_argv");
    count_function argc = (count_function)(void *)GetProcAddress(runtime, "__p___argc");
    arguments_function argv = (arguments_function)(void *)GetProcAddress(runtime, "__p___wargv");
    if (!configure || !argc || !argv || configure(UNEXPANDED_ARGUMENTS)) return FALSE;
    *count = *argc();
    *arguments = *argv();
    return *count > 0;
}

/* Runs the server in this process and ends it; returns if this Python has to be started as a process. */
void run_in_process(const wchar_t *python, const struct record *record) {
    wchar_t *folder = joined(python, NULL), **given;
    int count;
    SIZE_T end = length_of(folder);
    if (length_of(self) > LONGEST_PROGRAM) return;
    while (end && folder[end] != L'\\') end--;
    folder[end] = 0;
    if (exists(folder, L"\\pyvenv.cfg") || exists(folder, L"\\..\\pyvenv.cfg")) return;
    wchar_t *path = library_in(folder);
    HMODULE library = path ? LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
    if (!library) return;
    main_function run = (main_function)(void *)GetProcAddress(library, "Py_Main");
    if (!run || !split_arguments(&count, &given)) return;
    AddDllDirectory(folder); /* packages' libraries need those beside python.exe */
    wchar_t **arguments = allocate((SIZE_T)(count + 6) * sizeof *arguments);
    wchar_t *first[] = {joined(python, NULL), L"-I", L"-S", L"-c", joined(record->start, NULL), self};
    int total = 0;
    for (SIZE_T row = 0; row < sizeof first / sizeof *first; row++) arguments[total++] = first[row];
    for (int row = 1; row < count; row++) arguments[total++] = given[row];
    ExitProcess((UINT)run(total, arguments));
}
