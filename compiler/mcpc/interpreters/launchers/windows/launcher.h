/* The launcher of a built file on Windows: what its parts offer each other.
 *
 * It uses no C runtime, so that it starts with kernel32 and kernelbase alone; memory is never freed, since all that it
 * allocates is a few kilobytes before the server starts. */
#ifndef MCPC_LAUNCHER_H
#define MCPC_LAUNCHER_H

#define WIN32_LEAN_AND_MEAN
#define UNICODE
#include <windows.h>

enum { OLDEST_MINOR = 11, NEWEST_MINOR = 30, CANNOT_RUN = 8, NOT_STARTED = 0x7FFFFFFF };

/* The fields of the record behind the launcher, in the order in which the compiler writes them. */
struct record {
    const wchar_t *size;      /* of the whole file: less is there if a download was cut off */
    const wchar_t *minors;    /* those that the file has bytecode for, best first: "13 12" */
    const wchar_t *only;      /* "1": no other minor may start it */
    const wchar_t *start;     /* Python code that starts the archive given as first argument */
    const wchar_t *required;  /* for messages: "Python 3.11 or newer" */
    const wchar_t *digest;    /* of the interpreter in this file, empty if there is none */
    const wchar_t *unpack;    /* Python code that completes and verifies an unpacked interpreter */
    const wchar_t *files;     /* of that interpreter: lines of name, size, and place in this file (0: unpacked by Python) */
};

/* text.c */
void *allocate(SIZE_T bytes);
SIZE_T length_of(const wchar_t *text);
BOOL is_same(const wchar_t *one, const wchar_t *other);
BOOL is_same_name(const wchar_t *one, const wchar_t *other);
wchar_t *joined(const wchar_t *first, ...);
wchar_t *decimal(ULONGLONG number);
ULONGLONG read_number(const wchar_t **text);
wchar_t *variable(const wchar_t *name);
DECLSPEC_NORETURN void refuse(const wchar_t *line);

/* record.c */
extern wchar_t *self;
HANDLE open_self(void);
void read_record(struct record *record);

/* child.c */
void run_server(const wchar_t *python, const struct record *record);
DWORD exit_code_of(const wchar_t *program, wchar_t *command, HANDLE errors);
HANDLE inherited(DWORD which);

/* library.c */
void run_in_process(const wchar_t *python, const struct record *record);

/* search.c */
void run_installed(const struct record *record);

/* private_folder.c */
BOOL make_private_folder(const wchar_t *path);
BOOL is_private_folder(const wchar_t *path);

/* unpacked.c */
void run_unpacked(const struct record *record);

#endif
