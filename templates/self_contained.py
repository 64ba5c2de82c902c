"""Where a self-contained server begins: the executable runs this once its interpreter can run code.

The start table has the directory of the archive and the modules of the start path, so that nothing is looked up. The
standard library is found by LibraryFinder. Where the interpreter is not completely initialized yet (`is_finished`),
the first import that is neither part of the start path nor built in completes it (Completion).
"""

import _frozen_importlib
import _frozen_importlib_external
import gc
import marshal
import posix
import sys

import _mcpc

gc.disable()
_frozen_importlib._bootstrap_external = _frozen_importlib_external
_frozen_importlib_external._set_bootstrap_module(_frozen_importlib)

FILE = _mcpc.path
LIBRARY, SHARED_OBJECTS = "python/library", "python/shared-objects"
FOLDER = FILE + "/python/"
EARLY = ("_json",)
"""Shared objects that the start path imports."""


def read_range(offset, length):
    """Return a range of this file. It is opened each time: programs that a server forks close all descriptors."""
    descriptor = posix.open(OPENED, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        if STATE is not None and identity(posix.fstat(descriptor)) != STATE:
            raise ImportError("the server's file was replaced while the server ran; restart the server")
        return posix.pread(descriptor, length, offset)
    finally:
        posix.close(descriptor)


def identity(status):
    """Return what changes when a file is replaced or written to."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


OPENED, STATE = "/proc/self/exe", None
try:
    STATE = identity(posix.stat(FILE))
    if identity(posix.stat(OPENED)) != STATE:
        raise OSError
except OSError:
    OPENED = FILE  # there is no /proc
table = read_range(_mcpc.offset, _mcpc.length)
size = int.from_bytes(table[:4], "little") + 4
DIRECTORY, DATA, EXTENSIONS = marshal.loads(table[4:size])
BUNDLE = () if _mcpc.is_interpreter else marshal.loads(table[size:])
del table


class LibraryFinder:
    """Finds the standard library in this file: bytecode in one entry, extension modules in another.

    A row of the library: whether the module is a package, and where its deflated bytecode is. A row of the shared
    objects: where it is, whether it is deflated, and the libraries it needs.
    """

    table = None

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        """Return the spec of a module, None for modules that are not in the standard library."""
        file = EXTENSIONS["modules"].get(name)
        if file is not None:
            provide(file)
            origin = FOLDER + file
            loader = _frozen_importlib_external.ExtensionFileLoader(name, origin)
            spec = _frozen_importlib.ModuleSpec(name, loader, origin=origin)
            spec.has_location = True
            return spec
        row = cls.rows().get(name)
        if row is None:
            return None
        spec = _frozen_importlib.ModuleSpec(name, cls, origin=cls.get_filename(name), is_package=row[0])
        spec.has_location = True
        if row[0]:
            spec.submodule_search_locations.append(FOLDER + name.replace(".", "/"))
        return spec

    @classmethod
    def rows(cls):
        """Return the table of the library's modules."""
        if cls.table is None:
            start = DATA[LIBRARY][0]
            size = int.from_bytes(read_range(start, 4), "little")
            cls.table = marshal.loads(read_range(start + 4, size))
        return cls.table

    @classmethod
    def create_module(cls, spec):
        """Use the default module of the importer."""

    @classmethod
    def exec_module(cls, module):
        """Run a module."""
        exec(cls.get_code(module.__spec__.name), module.__dict__)

    @classmethod
    def get_code(cls, name):
        """Return the code of a module, which `runpy` runs."""
        _, offset, length, is_deflated = cls.rows()[name]
        body = read_range(DATA[LIBRARY][0] + offset, length)
        return marshal.loads(__import__("zlib").decompress(body, -15) if is_deflated else body)

    @classmethod
    def get_filename(cls, name):
        """Return the file name of a module; there is no such file."""
        return FOLDER + name.replace(".", "/") + ("/__init__.py" if cls.rows()[name][0] else ".py")

    @classmethod
    def is_package(cls, name):
        """Tell whether a module is a package."""
        return cls.rows()[name][0]

    @classmethod
    def get_source(cls, name):
        """Return None: there are no sources."""


def provide(file):
    """Make a shared object and the libraries that it needs available to the loader."""
    if _mcpc.knows(file):
        return
    offset, length, is_deflated, needed = EXTENSIONS["files"][file]
    for name in needed:
        provide(name)
    data = read_range(DATA[SHARED_OBJECTS][0] + offset, length)
    _mcpc.provide(file, __import__("zlib").decompress(data, -15) if is_deflated else data)


class Completion:
    """Completes the interpreter's initialization when something is imported that may need it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Let an early module be found; complete the interpreter before any other."""
        if name in sys.builtin_module_names or name == "zipimport":
            return None
        if name in EARLY:
            return LibraryFinder.find_spec(name)
        if Completion in sys.meta_path:
            sys.meta_path.remove(Completion)
            _mcpc.finish()
            sys.path[:] = [ARCHIVE]
            sys.meta_path.append(LibraryFinder)
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


if _mcpc.is_interpreter:
    sys.meta_path.append(LibraryFinder)
else:
    # An empty file is put where a standard stream is missing, so that no file of ours gets its number.
    for number in (0, 1, 2):
        try:
            posix.fstat(number)
        except OSError:
            try:
                posix.open("/dev/null", posix.O_RDWR)  # takes the lowest number that is free, which is this one
            except FileNotFoundError:
                posix.close(posix.pipe()[1])
    # The file is opened once: whatever takes its name later, this server goes on as it began.
    ARCHIVE = FILE
    try:
        place = "/proc/%d/fd/%d" % (posix.getpid(), posix.open(OPENED, posix.O_RDONLY | posix.O_CLOEXEC))
        posix.stat(place)
        ARCHIVE = place
    except OSError:
        pass
    if not _mcpc.is_finished:
        sys.meta_path.insert(0, Completion)
    else:
        sys.meta_path.append(LibraryFinder)
        sys.path.insert(0, ARCHIVE)
    import zipimport

    zipimport._zip_directory_cache[ARCHIVE] = {
        name: row and (ARCHIVE + "/" + name,) + row for name, row in DIRECTORY.items()
    }
    LOADER = zipimport.zipimporter(ARCHIVE)
    for name, is_package, code in BUNDLE:
        module = sys.modules[name] = type(sys)(name)
        module.__loader__ = LOADER
        module.__file__ = ARCHIVE + "/" + name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
        module.__package__ = name if is_package else name.rpartition(".")[0]
        if is_package:
            module.__path__ = [ARCHIVE + "/" + name.replace(".", "/")]
        exec(code, module.__dict__)

    if Completion in sys.meta_path:  # before the runtime's own finder, which the bundle has put in front
        sys.meta_path.remove(Completion)
        sys.meta_path.insert(0, Completion)

    from mcpc_app.index import INDEX
    from mcpc_runtime.main import main

    main(FILE, _mcpc.arguments, LOADER, INDEX)
