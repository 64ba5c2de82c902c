/* Finding a Python: the registry (PEP 514), the folders of installers that write nothing there, then PATH.
 *
 * The minors that the file has bytecode for are tried first, from every source, since any other compiles the sources at
 * each start; then the newest. A Python is started without being asked for its version where the registry or the files
 * beside it have it. A Python that cannot be started is skipped. */
#include "launcher.h"

enum { UNKNOWN = -1, FIRST_ISOLATED = 4, MOST = 128, LONGEST_NAME = 256 };

/* Positions: up to that of the last minor with bytecode, and of every candidate. */
enum { EXACT = NEWEST_MINOR, ANY = MOST };

struct candidate {
    const wchar_t *path;
    int minor;
    int rank; /* among those of one minor: lowest first */
};

static struct candidate candidates[MOST];
static int count;
static const struct record *wanted;
static const wchar_t *too_old;
static int too_old_minor;

/* Where a Python comes from, and what it is: the rank is the sum. */
enum { FROM_REGISTRY = 0, FROM_FOLDER = 1, FROM_PATH = 2, OTHER_COMPANY = 4, OTHER_MACHINE = 8, FREE_THREADED = 16 };

#define STORE L"_qbz5n2kfra8p0"
#ifdef __aarch64__
#define SUFFIX L"-arm64"
#define OTHER_SUFFIX L"-64"
#else
#define SUFFIX L"-64"
#define OTHER_SUFFIX L"-arm64"
#endif

/* Folders of installers, with the minor in place of `*`: the install manager's, the Store's (whose python.exe is a link of
 * no bytes that the system follows), and those that are left where the registry was lost. */
static const wchar_t *const FOLDERS[] = {
    L"%LOCALAPPDATA%\\Python\\pythoncore-3.*",
    L"%LOCALAPPDATA%\\Microsoft\\WindowsApps\\PythonSoftwareFoundation.Python.3.*",
    L"%LOCALAPPDATA%\\Programs\\Python\\Python3*",
    L"%ProgramFiles%\\Python3*",
};

/* Names to look for in the folders of PATH. */
static const wchar_t *const NAMES[] = {L"\\python.exe", L"\\python3.exe"};

static const struct { HKEY root; REGSAM view; } VIEWS[] = {
    {HKEY_CURRENT_USER, 0},
    {HKEY_LOCAL_MACHINE, KEY_WOW64_64KEY},
    {HKEY_LOCAL_MACHINE, KEY_WOW64_32KEY},
};

static BOOL is_file(const wchar_t *path) {
    DWORD attributes = GetFileAttributesW(path);
    return attributes != INVALID_FILE_ATTRIBUTES && !(attributes & FILE_ATTRIBUTE_DIRECTORY);
}

/* Tells whether a file of PATH is a program, and not the Store's stub, whose link has no bytes. */
static BOOL is_program(const wchar_t *path) {
    WIN32_FILE_ATTRIBUTE_DATA found;
    return GetFileAttributesExW(path, GetFileExInfoStandard, &found) &&
           !(found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) && (found.nFileSizeLow || found.nFileSizeHigh);
}

/* Returns the position of a minor: that of the bytecode, else behind all of these, the newest first, and last what must be asked. */
static int position(int minor) {
    const wchar_t *minors = wanted->minors;
    for (int place = 0; *minors; place++) {
        if (*minors == L' ') minors++;
        if ((int)read_number(&minors) == minor) return place;
    }
    return minor == UNKNOWN ? MOST : MOST - 1 - minor;
}

static void add(const wchar_t *path, int minor, int rank) {
    if (minor != UNKNOWN && minor < OLDEST_MINOR) {
        too_old = path;
        too_old_minor = minor;
        return;
    }
    if (*wanted->only && minor != UNKNOWN && position(minor) > EXACT) return;
    for (int row = 0; row < count; row++)
        if (is_same_name(candidates[row].path, path)) return;
    if (count < MOST) candidates[count++] = (struct candidate){path, minor, rank};
}

/* Reads the minor of "3.13", and moves behind it; UNKNOWN if the text does not begin so. */
static int read_minor(const wchar_t **text) {
    if ((*text)[0] != L'3' || (*text)[1] != L'.' || (*text)[2] < L'0' || (*text)[2] > L'9') return UNKNOWN;
    *text += 2;
    return (int)read_number(text);
}

/* Returns a text of the registry, empty if there is none. */
static wchar_t *registry_text(HKEY key, const wchar_t *name) {
    DWORD kind, bytes = 0;
    if (RegQueryValueExW(key, name, NULL, &kind, NULL, &bytes) || kind != REG_SZ) return allocate(sizeof(wchar_t));
    BYTE *text = allocate(bytes + 2 * sizeof(wchar_t));
    return RegQueryValueExW(key, name, NULL, &kind, text, &bytes) ? allocate(sizeof(wchar_t)) : (wchar_t *)text;
}

/* Adds the Python of one tag, as PEP 514 has it. */
static void add_tag(HKEY tags, const wchar_t *tag, int rank) {
    HKEY key, place;
    if (RegOpenKeyExW(tags, tag, 0, KEY_READ, &key)) return;
    const wchar_t *version = registry_text(key, L"SysVersion"), *rest = tag;
    int minor = read_minor(*version ? &version : &rest);
    if (rest == tag) read_minor(&rest);
    if (*rest == L't') rank += FREE_THREADED, rest++;
    if (is_same(rest, OTHER_SUFFIX) || is_same(registry_text(key, L"SysArchitecture"), L"32bit")) rank += OTHER_MACHINE;
    if (minor != UNKNOWN && !RegOpenKeyExW(key, L"InstallPath", 0, KEY_READ, &place)) {
        const wchar_t *path = registry_text(place, L"ExecutablePath"), *folder = registry_text(place, NULL);
        if (!*path && *folder) path = joined(folder, folder[length_of(folder) - 1] == L'\\' ? L"" : L"\\", L"python.exe", NULL);
        if (is_file(path)) add(path, minor, rank);
        RegCloseKey(place);
    }
    RegCloseKey(key);
}

static BOOL next_name(HKEY key, DWORD index, wchar_t *name) {
    DWORD room = LONGEST_NAME;
    return !RegEnumKeyExW(key, index, name, &room, NULL, NULL, NULL, NULL);
}

static void add_registered(void) {
    wchar_t *company = allocate(LONGEST_NAME * sizeof(wchar_t)), *tag = allocate(LONGEST_NAME * sizeof(wchar_t));
    for (SIZE_T view = 0; view < sizeof VIEWS / sizeof *VIEWS; view++) {
        HKEY companies, tags;
        if (RegOpenKeyExW(VIEWS[view].root, L"Software\\Python", 0, KEY_READ | VIEWS[view].view, &companies)) continue;
        for (DWORD row = 0; next_name(companies, row, company); row++) {
            if (is_same_name(company, L"PyLauncher")) continue;
            if (RegOpenKeyExW(companies, company, 0, KEY_READ | VIEWS[view].view, &tags)) continue;
            int rank = FROM_REGISTRY + (is_same_name(company, L"PythonCore") ? 0 : OTHER_COMPANY);
            for (DWORD other = 0; next_name(tags, other, tag); other++) add_tag(tags, tag, rank);
            RegCloseKey(tags);
        }
        RegCloseKey(companies);
    }
}

static wchar_t *expanded(const wchar_t *text) {
    DWORD room = ExpandEnvironmentStringsW(text, NULL, 0);
    wchar_t *result = allocate((room + 1) * sizeof(wchar_t));
    ExpandEnvironmentStringsW(text, result, room);
    return result;
}

/* Adds the Pythons in the folders that match a pattern. */
static void add_matching(const wchar_t *pattern) {
    WIN32_FIND_DATAW found;
    HANDLE search = FindFirstFileW(pattern, &found);
    SIZE_T name = length_of(pattern), star;
    while (pattern[name - 1] != L'\\') name--;
    for (star = name; pattern[star] != L'*';) star++;
    if (search == INVALID_HANDLE_VALUE) return;
    wchar_t *above = joined(pattern, NULL);
    above[name] = 0;
    do {
        const wchar_t *rest = found.cFileName + (star - name);
        if (*rest < L'0' || *rest > L'9') continue;
        int minor = (int)read_number(&rest);
        BOOL is_native = !*rest || is_same(rest, SUFFIX) || is_same(rest, STORE);
        wchar_t *path = joined(above, found.cFileName, L"\\python.exe", NULL);
        if (is_file(path)) add(path, minor, FROM_FOLDER + (is_native ? 0 : OTHER_MACHINE));
    } while (FindNextFileW(search, &found));
    FindClose(search);
}

static void add_folders(void) {
    for (SIZE_T row = 0; row < sizeof FOLDERS / sizeof *FOLDERS; row++) {
        wchar_t *pattern = expanded(FOLDERS[row]);
        if (*pattern != L'%') add_matching(pattern); /* else the variable is not set */
    }
}

/* Returns the minor in the configuration of a virtual environment: "version = 3.13.1". */
static int minor_of_environment(const wchar_t *file) {
    char *text = allocate(4096);
    DWORD bytes = 0;
    HANDLE opened = CreateFileW(file, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    if (opened == INVALID_HANDLE_VALUE) return UNKNOWN;
    if (!ReadFile(opened, text, 4095, &bytes, NULL)) bytes = 0;
    CloseHandle(opened);
    wchar_t *line = allocate((bytes + 1) * sizeof(wchar_t));
    for (DWORD each = 0; each < bytes; each++) line[each] = (wchar_t)(unsigned char)text[each];
    for (; *line; line++) {
        const wchar_t *key = L"version", *value = line;
        while (*key && *value == *key) value++, key++;
        if (*key) continue;
        while (*value == L'_' || *value == L'i' || *value == L'n' || *value == L'f' || *value == L'o') value++;
        while (*value == L' ' || *value == L'=') value++;
        int minor = read_minor(&value);
        if (minor != UNKNOWN) return minor;
    }
    return UNKNOWN;
}

/* Returns the minor of the Python in a folder by the files there; UNKNOWN if it would have to be asked. */
static int minor_in(const wchar_t *folder) {
    WIN32_FIND_DATAW found;
    HANDLE search = FindFirstFileW(joined(folder, L"\\python3*.dll", NULL), &found);
    int minor = UNKNOWN;
    if (search != INVALID_HANDLE_VALUE) {
        do {
            const wchar_t *digits = found.cFileName + 7;
            if (*digits >= L'0' && *digits <= L'9') minor = (int)read_number(&digits);
        } while (minor == UNKNOWN && FindNextFileW(search, &found));
        FindClose(search);
    }
    if (minor == UNKNOWN) minor = minor_of_environment(joined(folder, L"\\..\\pyvenv.cfg", NULL));
    return minor;
}

/* Adds what is in the absolute folders of PATH. */
static void add_path(void) {
    for (wchar_t *rest = variable(L"PATH"); *rest;) {
        wchar_t *folder = rest + (*rest == L'"'), *end = folder;
        while (*rest && *rest != L';') end = ++rest;
        if (*rest) *rest++ = 0;
        if (end > folder && end[-1] == L'"') *--end = 0;
        while (end > folder && end[-1] == L'\\') *--end = 0;
        if (folder[0] == 0 || (folder[1] != L':' && !(folder[0] == L'\\' && folder[1] == L'\\'))) continue;
        for (SIZE_T name = 0; name < sizeof NAMES / sizeof *NAMES; name++) {
            wchar_t *path = joined(folder, NAMES[name], NULL);
            if (is_program(path)) add(path, minor_in(folder), FROM_PATH);
        }
    }
}

/* Asks a program for its minor. It may be no Python, Python 2, or Cygwin's, which has other paths. */
static int asked_minor(const wchar_t *path) {
    wchar_t *command = joined(L"\"", path, L"\" -I -S -c \"import sys; sys.exit(sys.version_info[1] if sys.platform == 'win32' else 99)\"", NULL);
    DWORD code = exit_code_of(path, command, NULL);
    return code >= FIRST_ISOLATED && code <= NEWEST_MINOR ? (int)code : UNKNOWN;
}

/* Starts the best candidates, up to a position; returns when none is left. */
static void run_best(int last) {
    for (;;) {
        struct candidate *best = NULL;
        int lowest = (last + 1) * MOST;
        for (struct candidate *each = candidates; each < candidates + count; each++) {
            int key = position(each->minor) * MOST + each->rank;
            if (key < lowest) best = each, lowest = key;
        }
        if (!best) return;
        struct candidate chosen = *best;
        *best = candidates[--count];
        if (chosen.minor == UNKNOWN) {
            int minor = asked_minor(chosen.path);
            if (minor != UNKNOWN) add(chosen.path, minor, chosen.rank);
        } else {
            run_server(chosen.path, wanted);
        }
    }
}

/* Runs the server with the best Python of this machine. */
void run_installed(const struct record *record) {
    const wchar_t *old = L"";
    wanted = record;
    add_registered();
    run_best(EXACT);
    add_folders();
    run_best(EXACT);
    add_path();
    run_best(ANY);
    if (too_old) old = joined(L"; ", too_old, L" is Python 3.", decimal((ULONGLONG)too_old_minor), NULL);
    refuse(joined(L"this server needs ", record->required,
                  L"; none was found in the registry or on PATH: install one from https://www.python.org/downloads/",
                  old, NULL));
}
