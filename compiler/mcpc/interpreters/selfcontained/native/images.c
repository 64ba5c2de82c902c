#define _GNU_SOURCE
#include "images.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define RELOCATE_RELATIVE R_X86_64_RELATIVE
#define RELOCATE_ABSOLUTE R_X86_64_64
#define RELOCATE_DATA R_X86_64_GLOB_DAT
#define RELOCATE_CALL R_X86_64_JUMP_SLOT
#define RELOCATE_RESOLVER R_X86_64_IRELATIVE
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define RELOCATE_RELATIVE R_AARCH64_RELATIVE
#define RELOCATE_ABSOLUTE R_AARCH64_ABS64
#define RELOCATE_DATA R_AARCH64_GLOB_DAT
#define RELOCATE_CALL R_AARCH64_JUMP_SLOT
#define RELOCATE_RESOLVER R_AARCH64_IRELATIVE
#else
#error "images are supported on x86-64 and arm64"
#endif

#define RELATIVE_PACKED 36 /* DT_RELR and DT_RELRSZ, which older headers lack */
#define RELATIVE_PACKED_SIZE 35
#define MAX_NEEDED 16

struct image {
    struct image *next;
    char *name;
    const unsigned char *data;
    size_t size;
    unsigned char *base; /* NULL until it is loaded */
    ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash; /* DT_GNU_HASH */
    struct image *needed[MAX_NEEDED];
    int needed_count;
    int is_relocated;
};

static struct image *images;
static struct image program; /* what dlopen(NULL) returns */
static char problem[256];
static int has_problem;

static void *fail(const char *text, const char *name)
{
    snprintf(problem, sizeof problem, "%s: %s", name, text);
    has_problem = 1;
    return NULL;
}

static struct image *image_named(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (struct image *image = images; image; image = image->next)
        if (strcmp(image->name, name) == 0)
            return image;
    return NULL;
}

int knows_image(const char *name)
{
    return image_named(name) != NULL;
}

int provide_image(const char *name, const void *data, size_t size)
{
    struct image *image = calloc(1, sizeof *image);
    if (image == NULL || (image->name = strdup(name)) == NULL)
        return -1;
    image->data = data;
    image->size = size;
    image->next = images;
    images = image;
    return 0;
}

/* Symbols */

static const void *exported(const char *name)
{
    size_t low = 0, high = EXPORT_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, EXPORTS[middle].name);
        if (order == 0)
            return EXPORTS[middle].address;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t hash = 5381;
    for (const unsigned char *letter = (const unsigned char *)name; *letter; letter++)
        hash = hash * 33 + *letter;
    return hash;
}

/* The symbol of this name that an image defines: buckets and chains of DT_GNU_HASH, without its Bloom filter. */
static void *defined(const struct image *image, const char *name)
{
    if (image->hash == NULL)
        return NULL;
    uint32_t bucket_count = image->hash[0], first = image->hash[1], bloom_size = image->hash[2];
    const uint32_t *buckets = image->hash + 4 + bloom_size * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chains = buckets + bucket_count;
    uint32_t hash = gnu_hash(name);
    uint32_t index = bucket_count ? buckets[hash % bucket_count] : 0;
    if (index < first)
        return NULL;
    for (;; index++) {
        uint32_t chain = chains[index - first];
        const ElfW(Sym) *symbol = &image->symbols[index];
        if ((chain | 1) == (hash | 1) && strcmp(image->strings + symbol->st_name, name) == 0 &&
            symbol->st_shndx != SHN_UNDEF)
            return image->base + symbol->st_value;
        if (chain & 1)
            return NULL;
    }
}

static void *defined_or_needed(const struct image *image, const char *name)
{
    void *address = defined(image, name);
    for (int i = 0; address == NULL && i < image->needed_count; i++)
        address = defined_or_needed(image->needed[i], name);
    return address;
}

static void *resolve(const struct image *image, const ElfW(Sym) * symbol)
{
    const char *name = image->strings + symbol->st_name;
    if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
        return image->base + symbol->st_value;
    void *address = (void *)exported(name);
    if (address == NULL)
        address = defined_or_needed(image, name);
    if (address == NULL && ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
        fail("undefined symbol", name);
    return address;
}

/* Loading */

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int protection(uint32_t flags)
{
    return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) | (flags & PF_X ? PROT_EXEC : 0);
}

static int is_supported(const struct image *image)
{
    const ElfW(Ehdr) *header = (const void *)image->data;
    return image->size > sizeof *header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_machine == MACHINE && header->e_type == ET_DYN && header->e_phentsize == sizeof(ElfW(Phdr)) &&
           header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) <= image->size;
}

static void *map_segments(struct image *image)
{
    const ElfW(Ehdr) *header = (const void *)image->data;
    const ElfW(Phdr) *segments = (const void *)(image->data + header->e_phoff);
    size_t end = 0;
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD) {
            if (segments[i].p_offset + segments[i].p_filesz > image->size)
                return fail("it is damaged", image->name);
            if (segments[i].p_vaddr + segments[i].p_memsz > end)
                end = segments[i].p_vaddr + segments[i].p_memsz;
        } else if (segments[i].p_type == PT_TLS)
            return fail("thread-local data are not supported", image->name);
    size_t length = (end + page_size() - 1) & ~(page_size() - 1);
    unsigned char *base = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return fail("there is no memory for it", image->name);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            memcpy(base + segments[i].p_vaddr, image->data + segments[i].p_offset, segments[i].p_filesz);
        else if (segments[i].p_type == PT_DYNAMIC)
            image->dynamic = (void *)(base + segments[i].p_vaddr);
    return image->base = base;
}

static ElfW(Addr) dynamic_value(const struct image *image, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = image->dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_val;
    return 0;
}

static void *dynamic_pointer(const struct image *image, ElfW(Sxword) tag)
{
    ElfW(Addr) value = dynamic_value(image, tag);
    return value ? image->base + value : NULL;
}

static int apply(const struct image *image, const ElfW(Rela) * entries, size_t size)
{
    for (size_t i = 0; i < size / sizeof *entries; i++) {
        const ElfW(Rela) *entry = &entries[i];
        ElfW(Addr) *place = (void *)(image->base + entry->r_offset);
        const ElfW(Sym) *symbol = &image->symbols[ELF64_R_SYM(entry->r_info)];
        switch (ELF64_R_TYPE(entry->r_info)) {
        case RELOCATE_RELATIVE:
            *place = (ElfW(Addr))image->base + entry->r_addend;
            break;
        case RELOCATE_ABSOLUTE:
        case RELOCATE_DATA:
        case RELOCATE_CALL:
            *place = (ElfW(Addr))resolve(image, symbol) + entry->r_addend;
            break;
        case RELOCATE_RESOLVER:
            *place = ((ElfW(Addr)(*)(void))(image->base + entry->r_addend))();
            break;
        default:
            fail("a relocation is not supported", image->name);
        }
        if (has_problem)
            return -1;
    }
    return 0;
}

/* Relative relocations in their packed form (DT_RELR): addresses, and bitmaps of the 63 words after them. */
static void apply_packed(const struct image *image, const ElfW(Addr) * entries, size_t size)
{
    ElfW(Addr) *place = NULL;
    for (size_t i = 0; i < size / sizeof *entries; i++)
        if ((entries[i] & 1) == 0) {
            place = (void *)(image->base + entries[i]);
            *place++ += (ElfW(Addr))image->base;
        } else {
            for (int bit = 0; bit < 63; bit++)
                if (entries[i] >> (bit + 1) & 1)
                    place[bit] += (ElfW(Addr))image->base;
            place += 63;
        }
}

static void protect_segments(const struct image *image)
{
    const ElfW(Ehdr) *header = (const void *)image->data;
    const ElfW(Phdr) *segments = (const void *)(image->data + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        int is_constant = segments[i].p_type == PT_GNU_RELRO; /* follows the segments that it is part of */
        if (segments[i].p_type != PT_LOAD && !is_constant)
            continue;
        size_t start = segments[i].p_vaddr & ~(page_size() - 1), end = segments[i].p_vaddr + segments[i].p_memsz;
        if (is_constant)
            end &= ~(page_size() - 1);
        if (end > start)
            mprotect(image->base + start, end - start, is_constant ? PROT_READ : protection(segments[i].p_flags));
    }
}

static void run_initializers(const struct image *image)
{
    void (**functions)(int, char **, char **) = dynamic_pointer(image, DT_INIT_ARRAY);
    size_t count = dynamic_value(image, DT_INIT_ARRAYSZ) / sizeof *functions;
    void (*first)(void) = (void (*)(void))dynamic_pointer(image, DT_INIT);
    if (first)
        first();
    for (size_t i = 0; i < count; i++)
        functions[i](0, NULL, environ);
}

static struct image *load(struct image *image);

/* Libraries of the C library itself are part of this program. */
static int load_needed(struct image *image)
{
    for (const ElfW(Dyn) *entry = image->dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag != DT_NEEDED)
            continue;
        struct image *needed = image_named(image->strings + entry->d_un.d_val);
        if (needed == NULL)
            continue;
        if (image->needed_count == MAX_NEEDED || load(needed) == NULL)
            return -1;
        image->needed[image->needed_count++] = needed;
    }
    return 0;
}

static struct image *load(struct image *image)
{
    if (image->is_relocated)
        return image;
    if (!is_supported(image))
        return fail("it is not a shared object for this machine", image->name);
    if (map_segments(image) == NULL)
        return NULL;
    image->symbols = dynamic_pointer(image, DT_SYMTAB);
    image->strings = dynamic_pointer(image, DT_STRTAB);
    image->hash = dynamic_pointer(image, DT_GNU_HASH);
    apply_packed(image, dynamic_pointer(image, RELATIVE_PACKED), dynamic_value(image, RELATIVE_PACKED_SIZE));
    if (load_needed(image) || apply(image, dynamic_pointer(image, DT_RELA), dynamic_value(image, DT_RELASZ)) ||
        apply(image, dynamic_pointer(image, DT_JMPREL), dynamic_value(image, DT_PLTRELSZ)))
        return NULL;
    protect_segments(image);
    __builtin___clear_cache((char *)image->base, (char *)image->base + image->size);
    image->is_relocated = 1;
    run_initializers(image);
    return image;
}

/* The functions of <dlfcn.h> */

void *dlopen(const char *path, int mode)
{
    (void)mode;
    has_problem = 0;
    if (path == NULL)
        return &program;
    struct image *image = image_named(path);
    if (image == NULL)
        return fail("a self-contained server loads only the shared objects of its own standard library", path);
    return load(image);
}

void *dlsym(void *handle, const char *name)
{
    has_problem = 0;
    void *address = (void *)exported(name);
    if (handle != NULL && handle != RTLD_NEXT && handle != &program) {
        void *own = defined_or_needed(handle, name);
        address = own ? own : address;
    }
    return address ? address : fail("undefined symbol", name);
}

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}

char *dlerror(void)
{
    int had = has_problem;
    has_problem = 0;
    return had ? problem : NULL;
}
