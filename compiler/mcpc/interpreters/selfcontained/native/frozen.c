/* The frozen modules of this executable, in place of those that CPython links into every interpreter (its frozen.c, and
 * before 3.13 its deepfreeze.c, a megabyte of objects). A linker that finds all symbols of an object here does not take
 * that object from the static library. This is private API of CPython, the same in 3.11, 3.12 and 3.13. */
#include <Python.h>

struct _module_alias {
    const char *name;
    const char *orig;
};

extern const struct _frozen FROZEN[], BOOTSTRAP[];

#ifdef MCPC_EARLY_START
const struct _frozen *PyImport_FrozenModules = FROZEN;
static const struct _frozen NONE[] = {{0}};
static const struct _module_alias ALIASES[] = {
    {"_frozen_importlib", "importlib._bootstrap"},
    {"_frozen_importlib_external", "importlib._bootstrap_external"},
    {0},
};
const struct _frozen *_PyImport_FrozenBootstrap = BOOTSTRAP;
const struct _frozen *_PyImport_FrozenStdlib = NONE;
const struct _frozen *_PyImport_FrozenTest = NONE;
const struct _module_alias *_PyImport_FrozenAliases = ALIASES;

#if PY_VERSION_HEX < 0x030D0000
int _Py_Deepfreeze_Init(void)
{
    return 0;
}

void _Py_Deepfreeze_Fini(void)
{
}
#endif
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030D0000
uint32_t _Py_next_func_version = 1; /* none is used by frozen functions */
#endif
#endif
