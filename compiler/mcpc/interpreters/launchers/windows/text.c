/* Text, memory and messages, in place of a C runtime. */
#include "launcher.h"
#include <stdarg.h>

/* The compiler may call these three by itself. */
void *memset(void *target, int byte, size_t count) {
    volatile unsigned char *bytes = target;
    while (count--) *bytes++ = (unsigned char)byte;
    return target;
}

void *memcpy(void *target, const void *source, size_t count) {
    volatile unsigned char *to = target;
    const unsigned char *from = source;
    while (count--) *to++ = *from++;
    return target;
}

int memcmp(const void *one, const void *other, size_t count) {
    const unsigned char *left = one, *right = other;
    for (; count--; left++, right++)
        if (*left != *right) return *left - *right;
    return 0;
}

void *allocate(SIZE_T bytes) {
    void *memory = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, bytes);
    if (!memory) ExitProcess(CANNOT_RUN);
    return memory;
}

SIZE_T length_of(const wchar_t *text) {
    SIZE_T length = 0;
    while (text[length]) length++;
    return length;
}

BOOL is_same(const wchar_t *one, const wchar_t *other) {
    for (; *one && *one == *other; one++) other++;
    return *one == *other;
}

/* Compares names of files, as the system does. */
BOOL is_same_name(const wchar_t *one, const wchar_t *other) {
    return CompareStringOrdinal(one, -1, other, -1, TRUE) == CSTR_EQUAL;
}

/* Joins texts; NULL is behind the last. */
wchar_t *joined(const wchar_t *first, ...) {
    va_list list;
    SIZE_T length = 0;
    va_start(list, first);
    for (const wchar_t *text = first; text; text = va_arg(list, const wchar_t *)) length += length_of(text);
    va_end(list);
    wchar_t *result = allocate((length + 1) * sizeof(wchar_t)), *end = result;
    va_start(list, first);
    for (const wchar_t *text = first; text; text = va_arg(list, const wchar_t *))
        while (*text) *end++ = *text++;
    va_end(list);
    return result;
}

wchar_t *decimal(ULONGLONG number) {
    wchar_t *text = allocate(24 * sizeof(wchar_t)), *digit = text + 22;
    do *digit-- = (wchar_t)(L'0' + number % 10);
    while (number /= 10);
    return digit + 1;
}

/* Reads a number at the beginning of a text, and moves behind it. */
ULONGLONG read_number(const wchar_t **text) {
    ULONGLONG number = 0;
    for (; **text >= L'0' && **text <= L'9'; (*text)++) number = number * 10 + (ULONGLONG)(**text - L'0');
    return number;
}

/* Returns the value of an environment variable, empty if it is not set. */
wchar_t *variable(const wchar_t *name) {
    DWORD room = GetEnvironmentVariableW(name, NULL, 0);
    wchar_t *value = allocate((room + 1) * sizeof(wchar_t));
    if (room && GetEnvironmentVariableW(name, value, room) >= room) *value = 0;
    return value;
}

/* Writes one line to standard error and ends this process: the file cannot run here. */
DECLSPEC_NORETURN void refuse(const wchar_t *text) {
    HANDLE errors = GetStdHandle(STD_ERROR_HANDLE);
    wchar_t *line = joined(text, L"\n", NULL);
    int length = (int)length_of(line);
    DWORD written;
    if (!WriteConsoleW(errors, line, (DWORD)length, &written, NULL)) {
        char *bytes = allocate((SIZE_T)length * 3);
        int count = WideCharToMultiByte(CP_UTF8, 0, line, length, bytes, length * 3, NULL, NULL);
        WriteFile(errors, bytes, (DWORD)count, &written, NULL);
    }
    ExitProcess(CANNOT_RUN);
}
