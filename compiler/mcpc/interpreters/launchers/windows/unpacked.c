/* The interpreter that a self-contained file brings: unpacked once, into a folder named by its digest.
 *
 * The files that Python needs to start are stored in this file and copied; that Python then unpacks the others and
 * compares the digest of each, so no decompression is needed here. All is written to a folder beside, which gets its
 * name when it is complete: of two first starts at once one uses what the other wrote. Later starts compare the names
 * and sizes of all files, and that the folder is private. */
#include "launcher.h"

enum { PIECE = 1 << 16, TRIES = 40, PAUSE = 50 };

static const ULONGLONG ABANDONED = 36000000000; /* an hour, in units of 100 ns */

struct file {
    const wchar_t *name;
    ULONGLONG size, place;
    BOOL is_there;
};

static struct file *files;
static int count;

static void read_files(const wchar_t *lines) {
    int most = 0;
    for (const wchar_t *each = lines; *each; each++) most += *each == L'\n';
    files = allocate((SIZE_T)(most + 1) * sizeof *files);
    while (*lines && count < most) {
        wchar_t *name = allocate((length_of(lines) + 1) * sizeof(wchar_t)), *end = name;
        while (*lines && *lines != L'\t') *end++ = *lines++;
        if (*lines) lines++;
        files[count].name = name;
        files[count].size = read_number(&lines);
        if (*lines) lines++;
        files[count++].place = read_number(&lines);
        if (*lines) lines++;
    }
}

static BOOL is_dots(const wchar_t *name) {
    return is_same(name, L".") || is_same(name, L"..");
}

/* Marks an entry of the folder as there, if it is one of ours and has its size. */
static BOOL is_expected(const WIN32_FIND_DATAW *entry) {
    if (entry->dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) return FALSE;
    ULONGLONG size = (ULONGLONG)entry->nFileSizeHigh << 32 | entry->nFileSizeLow;
    for (int row = 0; row < count; row++)
        if (is_same_name(files[row].name, entry->cFileName)) return files[row].is_there = files[row].size == size;
    return FALSE;
}

/* Tells whether a folder has exactly our files. */
static BOOL is_complete(const wchar_t *folder) {
    WIN32_FIND_DATAW entry;
    BOOL is_as_written = TRUE;
    for (int row = 0; row < count; row++) files[row].is_there = FALSE;
    HANDLE search = FindFirstFileExW(joined(folder, L"\\*", NULL), FindExInfoBasic, &entry, FindExSearchNameMatch, NULL,
                                     FIND_FIRST_EX_LARGE_FETCH);
    if (search == INVALID_HANDLE_VALUE) return FALSE;
    do {
        if (!is_dots(entry.cFileName) && !is_expected(&entry)) is_as_written = FALSE;
    } while (is_as_written && FindNextFileW(search, &entry));
    FindClose(search);
    for (int row = 0; row < count; row++) is_as_written = is_as_written && files[row].is_there;
    return is_as_written;
}

/* Removes a folder of files, as far as they are not in use. */
static void remove_folder(const wchar_t *folder) {
    WIN32_FIND_DATAW entry;
    HANDLE search = FindFirstFileW(joined(folder, L"\\*", NULL), &entry);
    if (search != INVALID_HANDLE_VALUE) {
        do {
            if (!is_dots(entry.cFileName)) DeleteFileW(joined(folder, L"\\", entry.cFileName, NULL));
        } while (FindNextFileW(search, &entry));
        FindClose(search);
    }
    RemoveDirectoryW(folder);
}

/* Removes what first starts left that were killed an hour ago or earlier. */
static void remove_abandoned(const wchar_t *root) {
    WIN32_FIND_DATAW entry;
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    HANDLE search = FindFirstFileW(joined(root, L"\\.new-*", NULL), &entry);
    if (search == INVALID_HANDLE_VALUE) return;
    do {
        ULONGLONG written = (ULONGLONG)entry.ftLastWriteTime.dwHighDateTime << 32 | entry.ftLastWriteTime.dwLowDateTime;
        if (written + ABANDONED < ((ULONGLONG)now.dwHighDateTime << 32 | now.dwLowDateTime))
            remove_folder(joined(root, L"\\", entry.cFileName, NULL));
    } while (FindNextFileW(search, &entry));
    FindClose(search);
}

static DECLSPEC_NORETURN void refuse_folder(const wchar_t *path, const wchar_t *problem) {
    refuse(joined(L"cannot unpack Python: ", path, problem,
                  L"; set MCPC_RUNTIME_CACHE to another folder that only you can write to", NULL));
}

static DECLSPEC_NORETURN void refuse_error(const wchar_t *path, DWORD error) {
    refuse_folder(path, joined(L" cannot be written (error ", decimal(error), L")", NULL));
}

/* Returns a name beside the folder that nothing else has. */
static wchar_t *new_name(const wchar_t *root) {
    LARGE_INTEGER ticks;
    QueryPerformanceCounter(&ticks);
    return joined(root, L"\\.new-", decimal(GetCurrentProcessId()), L"-", decimal((ULONGLONG)ticks.QuadPart), NULL);
}

/* Copies a stored file out of this one; returns an error code. */
static DWORD copy_file(HANDLE from, const struct file *file, const wchar_t *path) {
    BYTE *piece = allocate(PIECE);
    LARGE_INTEGER place = {.QuadPart = (LONGLONG)file->place};
    ULONGLONG left = file->size;
    DWORD got, written, error = 0;
    HANDLE to = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    if (to == INVALID_HANDLE_VALUE) return GetLastError();
    if (!SetFilePointerEx(from, place, NULL, FILE_BEGIN)) error = GetLastError();
    for (; left && !error; left -= got) {
        DWORD wanted = left < PIECE ? (DWORD)left : PIECE;
        if (!ReadFile(from, piece, wanted, &got, NULL) || !WriteFile(to, piece, got, &written, NULL)) error = GetLastError();
        else if (!got) error = ERROR_HANDLE_EOF;
        else if (written != got) error = ERROR_DISK_FULL;
        if (error) break;
    }
    CloseHandle(to);
    return error;
}

/* Writes the complete interpreter to a new folder, or refuses. */
static void write_interpreter(const wchar_t *folder, const struct record *record) {
    DWORD error = make_private_folder(folder) ? 0 : GetLastError();
    if (error) refuse_error(folder, error);
    HANDLE from = open_self();
    for (int row = 0; row < count && !error; row++)
        if (files[row].place) error = copy_file(from, &files[row], joined(folder, L"\\", files[row].name, NULL));
    CloseHandle(from);
    if (error) {
        remove_folder(folder);
        refuse_error(folder, error);
    }
    wchar_t *python = joined(folder, L"\\python.exe", NULL);
    wchar_t *command =
        joined(L"\"", python, L"\" -I -S -c \"", record->unpack, L"\" \"", self, L"\" \"", folder, L"\"", NULL);
    DWORD code = exit_code_of(python, command, inherited(STD_ERROR_HANDLE));
    if (code) {
        remove_folder(folder);
        if (code == CANNOT_RUN) ExitProcess(CANNOT_RUN); /* Python has written why */
        refuse(joined(L"cannot unpack Python: the Python of ", self, L" ended with ", decimal(code), NULL));
    }
}

/* Gives a complete folder its name. A scanner that reads the new files may hold them for a moment. */
static BOOL take_name(const wchar_t *folder, const wchar_t *name) {
    for (int left = TRIES; left; left--) {
        if (MoveFileExW(folder, name, 0)) return TRUE;
        if (is_private_folder(name) && is_complete(name)) return FALSE;
        Sleep(PAUSE);
    }
    refuse_error(name, GetLastError());
}

static void unpack(const wchar_t *root, const wchar_t *name, const struct record *record) {
    wchar_t *folder = new_name(root);
    write_interpreter(folder, record);
    DWORD attributes = GetFileAttributesW(name);
    if (attributes != INVALID_FILE_ATTRIBUTES && !is_complete(name)) {
        /* What is there is damaged: it is put aside, which fails while a server runs from it. */
        wchar_t *aside = new_name(root);
        if (MoveFileExW(name, aside, 0)) remove_folder(aside);
    }
    if (!take_name(folder, name)) remove_folder(folder);
    remove_abandoned(root);
}

/* Returns the folder of all unpacked interpreters, made if it is missing, or refuses. */
static wchar_t *private_root(void) {
    wchar_t *root = variable(L"MCPC_RUNTIME_CACHE");
    if (!*root) {
        wchar_t *above = variable(L"LOCALAPPDATA");
        if (!*above) refuse(L"cannot unpack Python: LOCALAPPDATA is not set; set MCPC_RUNTIME_CACHE to a folder of yours");
        root = joined(above, L"\\mcpc", NULL);
    }
    if (GetFileAttributesW(root) == INVALID_FILE_ATTRIBUTES && !make_private_folder(root) &&
        GetLastError() != ERROR_ALREADY_EXISTS)
        refuse_error(root, GetLastError());
    if (!is_private_folder(root)) refuse_folder(root, L" is a link, or other users may write to it");
    return root;
}

/* Runs the server with the interpreter of this file. */
void run_unpacked(const struct record *record) {
    wchar_t *root = private_root(), *name = joined(root, L"\\", record->digest, NULL);
    read_files(record->files);
    BOOL is_new = GetFileAttributesW(name) == INVALID_FILE_ATTRIBUTES;
    if (!is_new && !is_private_folder(name)) refuse_folder(name, L" is a link, or other users may write to it");
    if (is_new || !is_complete(name)) unpack(root, name, record);
    run_server(joined(name, L"\\python.exe", NULL), record);
    refuse(joined(name, L"\\python.exe cannot be started (error ", decimal(GetLastError()), L")", NULL));
}
