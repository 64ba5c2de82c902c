/* Shared objects that are part of the executable: loaded from memory, without the system's dynamic loader.
 *
 * A statically linked program has no dynamic loader. The extension modules of the standard library and the libraries
 * that they need are relocated here, against EXPORTS and each other; they have no thread-local data (checked at build).
 * This file also defines dlopen and its companions, so that the interpreter and ctypes use these images. */
#ifndef MCPC_IMAGES_H
#define MCPC_IMAGES_H

#include <stddef.h>

struct export {
    const char *name;
    const void *address;
};

extern const struct export EXPORTS[]; /* sorted by name */
extern const size_t EXPORT_COUNT;

/* Makes a shared object known by its file name. `data` has to stay valid until the image is loaded. */
int provide_image(const char *name, const void *data, size_t size);

/* Tells whether an image of this name is known. */
int knows_image(const char *name);

#endif
