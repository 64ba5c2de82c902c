"""Calls of the project's functions, and parameters that clients do not see: the context, and `Depends`."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import copy_context
from typing import Annotated, Any, get_args, get_origin

from mcpc_runtime.systems.fastmcp.engine.context import BaseContext, current_context, is_raised_on_purpose
from mcpc_runtime.systems.fastmcp.engine.schema_types import UNKNOWN, function_name, has_arm, hints_of, resolved
from mcpc_runtime.systems.fastmcp.interfaces import Function, Object

# Like the default of anyio, in whose threads FastMCP runs them.
THREADS = 40
"""How many synchronous functions run at the same time."""


def innermost(function: object) -> Any:
    """Return the function that is called in the end: behind partial functions, methods, and callable objects."""
    while isinstance(function, (functools.partial, staticmethod, classmethod)):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    if not inspect.isroutine(function) and not inspect.isclass(function) and callable(function):
        return function.__call__
    return function


def is_asynchronous(function: object) -> bool:
    """Tell whether a call of a function gives an awaitable."""
    found = innermost(function)
    return inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found)


@functools.cache
def function_threads() -> ThreadPoolExecutor:
    """Return the threads of this process in which synchronous functions run."""
    return ThreadPoolExecutor(THREADS, "function")


async def in_thread(function: Function, **values: object) -> object:
    """Return the result of a function that runs in another thread, in this context."""
    run = functools.partial(copy_context().run, function, **values)
    return await asyncio.get_running_loop().run_in_executor(function_threads(), run)


async def call_function(function: Function, values: Object, *, threaded: bool, collects: bool = False) -> object:
    """Call a function; `threaded`: in a thread, if it is synchronous; `collects`: a generator as a list."""
    called = functools.partial(collected, function) if collects else function
    if threaded and not is_asynchronous(function):
        result = await in_thread(called, **values)
    else:
        result = called(**values)
    if inspect.isawaitable(result):
        result = await result
    if not collects:
        return result
    if inspect.isasyncgen(result):
        return [item async for item in result]
    return list(result) if inspect.isgenerator(result) else result


def collected(function: Function, /, **values: object) -> Any:
    """Return what a function returns, the items of a generator as a list: where it is called, so that it can block."""
    result = function(**values)
    return list(result) if inspect.isgenerator(result) else result


CONTEXT: object = "context"
"""What stands for the context among the dependencies of a function."""


class Dependency:
    """The default value of a parameter whose value the server gives: an asynchronous context manager.

    Projects subclass it.
    """

    single = False

    async def __aenter__(self) -> object:
        raise NotImplementedError

    async def __aexit__(self, *_: object) -> None:
        """Do nothing at the end of the call."""


class Depends(Dependency):
    """Gives the result of a function; a context manager is entered for the call.

    `bindings`: values, or dependencies, of the function's parameters.
    """

    def __init__(self, dependency: Function, use_cache: bool = True, **bindings: object) -> None:
        self.dependency = dependency
        # The cache is by function alone, which other bindings would give another result.
        self.use_cache = use_cache and not bindings
        self.bindings = bindings


class FunctionDependency(Dependency):
    """Gives what a function without parameters returns; `name` is shown in messages."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    async def __aenter__(self) -> object:
        return self._function()


def CurrentContext() -> FunctionDependency:  # noqa: N802 - the framework's name
    return FunctionDependency(required_context)


def CurrentFastMCP() -> FunctionDependency:  # noqa: N802 - the framework's name
    """Stand for the current server."""
    return FunctionDependency(lambda: required_context().fastmcp)


def required_context() -> BaseContext:
    """Return the current context; RuntimeError: there is none."""
    found = current_context()
    if found is None:
        raise RuntimeError("No active context found.")
    return found


def is_context(annotation: object) -> bool:
    kind = get_origin(annotation) or annotation
    return isinstance(kind, type) and issubclass(kind, BaseContext) and kind.is_injected


def resolved_hints(function: Any) -> Object:
    """Return a function's annotations; those that are text are resolved one by one if they cannot be all at once."""
    hints = hints_of(function)
    if not any(isinstance(hint, str) for hint in hints.values()):
        return hints
    names = getattr(inspect.unwrap(innermost(function)), "__globals__", {})
    values = {name: resolved(hint, names) for name, hint in hints.items()}
    return {name: hints[name] if value is UNKNOWN else value for name, value in values.items()}


def find_dependencies(function: Any) -> Object:
    """Return what a function is given, by parameter: CONTEXT or a Dependency."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    hints = resolved_hints(function)
    found: Object = {}
    for name, parameter in parameters.items():
        annotation = hints.get(name, parameter.annotation)
        source = dependency_of(annotation, parameter.default)
        if source is not None:
            found[name] = source
    return found


def dependency_of(annotation: object, default: object) -> object:
    """Return what a parameter is given, None if it is an argument."""
    if isinstance(default, Dependency) or is_foreign_dependency(default):
        return default
    if get_origin(annotation) is Annotated:
        for each in get_args(annotation)[1:]:
            if isinstance(each, Dependency):
                return each
    if annotation is not inspect.Parameter.empty and has_arm(annotation, is_context):
        return CONTEXT
    return None


def is_foreign_dependency(default: object) -> bool:
    """Tell whether a default value is a dependency of another package, which FastMCP knows by its class's name."""
    names = {f"{base.__module__}.{base.__qualname__}" for base in type(default).__mro__}
    return bool(names & FOREIGN)


FOREIGN = frozenset({"docket.dependencies._base.Dependency", "uncalled_for.base.Dependency"})


def injected_parameters(function: object) -> frozenset[str]:
    """Return the names of the parameters that clients do not see."""
    return frozenset(find_dependencies(function))


@asynccontextmanager
async def entered_dependencies(function: Any, dependencies: Object) -> AsyncIterator[Object]:
    """Enter the dependencies of a call of a function; give their values by parameter."""
    async with AsyncExitStack() as stack:
        resolution = Resolution(stack)
        values = {}
        for name, source in dependencies.items():
            try:
                values[name] = await resolution.value_of(source)
            except Exception as problem:
                if is_raised_on_purpose(problem):
                    raise
                text = f"Failed to resolve dependency '{name}' for {function_name(function)}"
                raise RuntimeError(text) from problem
        yield values


class Resolution:
    """The dependencies of one call, each function of them called once."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._cache: dict[Function, object] = {}

    async def value_of(self, source: Any) -> object:
        """Return the value of a parameter's dependency."""
        if source is CONTEXT:
            return current_context()
        if not isinstance(source, Depends):
            return await self._stack.enter_async_context(source)
        if source.use_cache and source.dependency in self._cache:
            return self._cache[source.dependency]
        value = await self._result_of(source.dependency, source.bindings)
        if source.use_cache:
            self._cache[source.dependency] = value
        return value

    async def _result_of(self, function: Any, bindings: Object) -> object:
        sources = {**find_dependencies(function), **bindings}
        values = {name: source if is_plain(source) else await self.value_of(source) for name, source in sources.items()}
        found = innermost(function)
        if inspect.isasyncgenfunction(found):
            return await self._stack.enter_async_context(asynccontextmanager(function)(**values))
        if inspect.isgeneratorfunction(found):
            return self._stack.enter_context(contextmanager(function)(**values))
        result = function(**values)
        if inspect.isawaitable(result):
            result = await result
        if hasattr(result, "__aenter__") and not isinstance(function, type):
            return await self._stack.enter_async_context(result)
        entered: Any = result
        return self._stack.enter_context(entered) if isinstance(result, GENERATED) else result


def is_plain(source: object) -> bool:
    """Tell whether a binding is a value, not a dependency."""
    return source is not CONTEXT and not isinstance(source, Dependency) and not is_foreign_dependency(source)


# `contextlib` has no public name for it.
GENERATED: tuple[type, ...] = (type(contextmanager(lambda: iter(()))()),)
"""The class of what a function decorated with `contextmanager` returns."""
