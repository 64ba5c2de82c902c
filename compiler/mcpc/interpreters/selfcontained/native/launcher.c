/* The beginning of a self-contained server: starts the interpreter that is linked into it, and then START_CODE.
 *
 * Without options of an interpreter it serves. With one as the first word (`-c`, `-I`, `-m` and so on) it is an
 * interpreter, as which the server starts its own workers; handlers may do so, too, by `sys.executable`.
 *
 * With MCPC_EARLY_START the server starts before the main phase of the interpreter's initialization, which comes with
 * the first import that needs it (`_mcpc.finish`). That is private API of CPython, the same in 3.11, 3.12 and 3.13. */
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <marshal.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "images.h"

#define CANNOT_RUN 8
#define INTERRUPTED 130

extern const struct _frozen FROZEN[];
extern const unsigned char START_CODE[];
extern const size_t START_CODE_SIZE;

/* Written by the builder after linking: where the start table is in this file. */
struct place {
    char marker[24];
    uint64_t offset;
    uint64_t length;
};
__attribute__((used)) volatile struct place START_TABLE = {"mcpc start table is at\n", 0, 0};

static char path[PATH_MAX];
static char **arguments; /* without the name of the program */
static int is_interpreter;
static int is_finished;

static int refuse(const char *text)
{
    fprintf(stderr, "this server cannot start: %s\n", text);
    return CANNOT_RUN;
}

/* There may be no /proc. */
static int find_path(const char *word)
{
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
        if (access(path, R_OK) == 0)
            return 0;
    }
    const char *name = (const char *)getauxval(AT_EXECFN);
    return realpath(name ? name : word, path) ? 0 : -1;
}

/* The module _mcpc */

static PyObject *provide(PyObject *module, PyObject *arguments)
{
    const char *name;
    PyObject *data;
    if (!PyArg_ParseTuple(arguments, "sO!", &name, &PyBytes_Type, &data))
        return NULL;
    if (provide_image(name, PyBytes_AS_STRING(data), (size_t)PyBytes_GET_SIZE(data)))
        return PyErr_NoMemory();
    Py_INCREF(data); /* it stays for as long as the process */
    Py_RETURN_NONE;
}

static PyObject *knows(PyObject *module, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8(name);
    return text ? PyBool_FromLong(knows_image(text)) : NULL;
}

static PyObject *finish(PyObject *module, PyObject *nothing)
{
#ifdef MCPC_EARLY_START
    if (!is_finished) {
        is_finished = 1;
        struct sigaction before;
        if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            signal(SIGINT, SIG_DFL); /* the interpreter replaces no other handler by its own */
        PyStatus status = _Py_InitializeMain();
        if (PyStatus_Exception(status)) {
            PyErr_SetString(PyExc_SystemError, status.err_msg ? status.err_msg : "the interpreter cannot be initialized");
            return NULL;
        }
    }
#endif
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"provide", provide, METH_VARARGS, "Make a shared object known by its file name."},
    {"knows", knows, METH_O, "Tell whether a shared object is known."},
    {"finish", finish, METH_NOARGS, "Complete the interpreter's initialization."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_mcpc", "The executable itself.", -1, METHODS};

/* Works before the interpreter knows the encoding of the file system, which is always UTF-8 here. */
static PyObject *decoded(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

static PyObject *decoded_words(void)
{
    PyObject *words = PyList_New(0);
    for (char **word = arguments; words != NULL && *word != NULL; word++) {
        PyObject *text = decoded(*word);
        if (text == NULL || PyList_Append(words, text))
            return NULL;
        Py_DECREF(text);
    }
    return words;
}

static PyObject *create_module(void)
{
    PyObject *module = PyModule_Create(&MODULE);
    if (module == NULL)
        return NULL;
    PyObject *values[] = {decoded(path), decoded_words(), PyLong_FromUnsignedLongLong(START_TABLE.offset),
                          PyLong_FromUnsignedLongLong(START_TABLE.length), PyBool_FromLong(is_interpreter),
                          PyBool_FromLong(is_finished)};
    const char *names[] = {"path", "arguments", "offset", "length", "is_interpreter", "is_finished"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (values[i] == NULL || PyModule_AddObject(module, names[i], values[i]))
            return NULL;
    return module;
}

/* Runs START_CODE in a module of its own, so that __main__ stays empty for an interpreter's program. */
static int run_start_code(void)
{
    PyObject *module = PyImport_AddModule("_mcpc_start");
    PyObject *code = PyMarshal_ReadObjectFromString((const char *)START_CODE, (Py_ssize_t)START_CODE_SIZE);
    if (module == NULL || code == NULL)
        return -1;
    PyObject *names = PyModule_GetDict(module);
    if (PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()))
        return -1;
    PyObject *result = PyEval_EvalCode(code, names, names);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* Configuration */

static PyStatus set_paths(PyConfig *config)
{
    wchar_t **fields[] = {&config->executable, &config->base_executable, &config->program_name, &config->prefix,
                          &config->exec_prefix, &config->base_prefix, &config->base_exec_prefix, &config->stdlib_dir};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        PyStatus status = PyConfig_SetBytesString(config, fields[i], path);
        if (PyStatus_Exception(status))
            return status;
    }
    config->module_search_paths_set = 1;
    config->site_import = 0;
    config->write_bytecode = 0;
    config->pathconfig_warnings = 0;
    return PyStatus_Ok();
}

static PyStatus initialize(int argc, char **argv)
{
    PyPreConfig before;
    if (is_interpreter)
        PyPreConfig_InitPythonConfig(&before);
    else
        PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1;
    before.configure_locale = 0;
    before.coerce_c_locale = 0;
    PyStatus status = is_interpreter ? Py_PreInitializeFromBytesArgs(&before, argc, argv) : Py_PreInitialize(&before);
    if (PyStatus_Exception(status))
        return status;
    PyConfig config;
    if (is_interpreter)
        PyConfig_InitPythonConfig(&config);
    else {
        PyConfig_InitIsolatedConfig(&config);
        config.parse_argv = 0;
        config.install_signal_handlers = 1;
#ifdef MCPC_EARLY_START
        config._init_main = 0;
#endif
    }
    status = set_paths(&config);
    if (!PyStatus_Exception(status))
        status = PyConfig_SetBytesArgv(&config, argc, argv);
    if (!PyStatus_Exception(status))
        status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    return status;
}

static void interrupted(int number)
{
    (void)number;
    _exit(INTERRUPTED);
}

/* Until the interpreter sets its own handlers. */
static void set_signals(void)
{
    struct sigaction before;
    signal(SIGPIPE, SIG_IGN);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        signal(SIGINT, interrupted);
}

/* Options of an interpreter, none of which is an option of a server. */
static int is_interpreter_option(const char *word)
{
    return word[0] == '-' && (word[1] == 0 || strchr("cmIEsSBbuOPWXx", word[1]) != NULL);
}

int main(int argc, char **argv)
{
    if (find_path(argc ? argv[0] : ""))
        return refuse("its own file cannot be found or read");
    arguments = argv + (argc > 0);
    is_interpreter = argc > 1 && is_interpreter_option(argv[1]);
#ifdef MCPC_EARLY_START
    is_finished = is_interpreter;
    if (!is_interpreter)
        set_signals();
#else
    is_finished = 1;
#endif
    PyImport_FrozenModules = FROZEN;
    if (PyImport_AppendInittab("_mcpc", create_module))
        return refuse("there is not enough memory");
    PyStatus status = initialize(argc, argv);
    if (PyStatus_IsExit(status))
        return status.exitcode;
    if (PyStatus_Exception(status))
        return refuse(status.err_msg ? status.err_msg : "the interpreter cannot be initialized");
    if (run_start_code()) {
        PyErr_Print();
        return 1;
    }
    return is_interpreter ? Py_RunMain() : 0;
}
