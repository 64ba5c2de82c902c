/* The record behind the launcher: what the compiler wants it to start.
 *
 *     launcher (PE), "MCPCEXE1", length, fields in UTF-16 that each end in NUL, the interpreter's files, the archive
 *
 * The launcher's end is in its section table; a signature that is added later is behind the archive. */
#include "launcher.h"

static const char MAGIC[8] = {'M', 'C', 'P', 'C', 'E', 'X', 'E', '1'};
enum { HEADERS = 4096, LARGEST_RECORD = 1 << 20 };

wchar_t *self;

/* Sets the path of this file, with a prefix that allows more than 260 characters if it has as many. */
static void find_self(void) {
    DWORD room = 512, length;
    do {
        room *= 2;
        self = allocate(room * sizeof(wchar_t));
        length = GetModuleFileNameW(NULL, self, room);
    } while (length >= room && room < 65536);
    if (length < MAX_PATH - 1 || (self[0] == L'\\' && self[1] == L'\\' && self[2] == L'?')) return;
    self = self[0] == L'\\' ? joined(L"\\\\?\\UNC", self + 1, NULL) : joined(L"\\\\?\\", self, NULL);
}

HANDLE open_self(void) {
    HANDLE file = CreateFileW(self, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    if (file == INVALID_HANDLE_VALUE) refuse(joined(L"cannot read ", self, NULL));
    return file;
}

static BOOL read_at(HANDLE file, DWORD place, void *target, DWORD count) {
    OVERLAPPED position = {.Offset = place};
    DWORD got = 0;
    return ReadFile(file, target, count, &got, &position) && got == count;
}

/* Returns where the launcher ends: behind the last section. */
static DWORD end_of_launcher(const BYTE *headers) {
    DWORD start = ((const IMAGE_DOS_HEADER *)headers)->e_lfanew, end = 0;
    if (start > HEADERS - 1024) return 0;
    const IMAGE_NT_HEADERS *header = (const IMAGE_NT_HEADERS *)(headers + start);
    const IMAGE_SECTION_HEADER *section = IMAGE_FIRST_SECTION(header);
    for (WORD left = header->FileHeader.NumberOfSections; left && (const BYTE *)(section + 1) <= headers + HEADERS; left--) {
        if (section->PointerToRawData + section->SizeOfRawData > end)
            end = section->PointerToRawData + section->SizeOfRawData;
        section++;
    }
    return end;
}

static DECLSPEC_NORETURN void refuse_damaged(void) {
    refuse(joined(self, L" is damaged or incomplete: copy or download it again", NULL));
}

void read_record(struct record *record) {
    BYTE *headers = allocate(HEADERS);
    struct { char magic[sizeof MAGIC]; DWORD bytes; } prefix;
    LARGE_INTEGER size = {0};
    find_self();
    HANDLE file = open_self();
    if (!read_at(file, 0, headers, 1024)) refuse_damaged();
    DWORD end = end_of_launcher(headers);
    if (!end || !read_at(file, end, &prefix, sizeof prefix) || memcmp(prefix.magic, MAGIC, sizeof MAGIC) ||
        prefix.bytes > LARGEST_RECORD)
        refuse_damaged();
    wchar_t *text = allocate(prefix.bytes + 2 * sizeof(wchar_t)), *limit = text + prefix.bytes / sizeof(wchar_t);
    if (!read_at(file, end + sizeof prefix, text, prefix.bytes)) refuse_damaged();
    const wchar_t **fields = (const wchar_t **)record;
    for (SIZE_T field = 0; field < sizeof *record / sizeof *fields; field++) {
        fields[field] = text < limit ? text : limit;
        text += length_of(fields[field]) + 1;
    }
    const wchar_t *digits = record->size;
    if (!GetFileSizeEx(file, &size) || (ULONGLONG)size.QuadPart < read_number(&digits)) refuse_damaged();
    CloseHandle(file);
}
