"""Python sources: importing the module an agent file names, and finding the functions in it that are marked `@tool`.

A module is named as Python names it, with the agent file's own folder looked in first, as if a script there were run;
or by the path of its file, ``./tools.py``. Whatever goes wrong while a user's module is imported is that user's
mistake, and is told with the line it happened on.
"""

import hashlib
import importlib
import importlib.util
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from ..contract.mistakes import FileMistake, nearest
from ..contract.tool import Origin
from .declaration import DECLARATION, Declaration

__all__ = ["declared_functions", "import_source"]


def import_source(target: str, *, folder: Path, origin: Origin) -> ModuleType:
    """Import the module that a ``python:`` source names.

    Args:
        target: a dotted module name, or a path that starts with a dot or ends in ``.py``, relative to ``folder``.
        folder: the folder of the agent file.
        origin: where the source is written.

    Raises:
        FileMistake: there is no such module, another one of that name is imported already, or importing it fails.
    """
    by_path = target.startswith((".", "/")) or target.endswith(".py")
    if not by_path and not all(part.isidentifier() for part in target.split(".")):
        raise FileMistake(f"python: {target!r} is no module name; write it as `shop.tools` or `./tools.py`", origin)
    with _looked_in_first(folder):
        try:
            if by_path:
                return _import_file((folder / target).resolve(), origin)
            return _import_module(target, folder, origin)
        except FileMistake:
            raise
        except ModuleNotFoundError as error:
            if error.name and (target == error.name or target.startswith(f"{error.name}.")):
                near = nearest(target, _modules_beside(target, folder))
                raise FileMistake(f"python: there is no module {target!r}", origin, near) from None
            raise FileMistake(_import_failed(target, error), origin) from error
        except (Exception, SystemExit) as error:
            raise FileMistake(_import_failed(target, error), origin) from error


def declared_functions(module: ModuleType) -> Iterator[tuple[Callable[..., object], Declaration]]:
    """Find the functions of a module that are marked `@tool`, its own and imported ones, in the order of the module."""
    seen: set[int] = set()
    for value in vars(module).values():
        declaration = getattr(value, DECLARATION, None) if callable(value) else None
        if isinstance(declaration, Declaration) and id(value) not in seen:
            seen.add(id(value))
            yield value, declaration


@contextmanager
def _looked_in_first(folder: Path) -> Iterator[None]:
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(entry)


def _import_module(name: str, folder: Path, origin: Origin) -> ModuleType:
    top = name.partition(".")[0]
    here = folder.resolve() / top
    imported = sys.modules.get(top)
    if imported is not None and (here.with_suffix(".py").exists() or (here / "__init__.py").exists()):
        its_file = Path(getattr(imported, "__file__", None) or "").resolve()
        if its_file not in (here.with_suffix(".py"), here / "__init__.py"):
            raise FileMistake(
                f"python: another module {top!r} is imported already, from {getattr(imported, '__file__', 'Python')}; "
                "rename this one, or name it by its path, such as `./tools.py`",
                origin,
            )
    return importlib.import_module(name)


def _import_file(path: Path, origin: Origin) -> ModuleType:
    if not path.is_file():
        near = nearest(path.name, (beside.name for beside in path.parent.glob("*.py")))
        raise FileMistake(f"python: there is no file {path}", origin, near)
    name = f"amends_file_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FileMistake(f"python: {path.name} is no Python file", origin)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _modules_beside(target: str, folder: Path) -> Iterator[str]:
    package, _, _ = target.rpartition(".")
    places = [str(folder.resolve())]
    if package:
        places = list(
            getattr(sys.modules.get(package), "__path__", [str(folder.resolve() / package.replace(".", "/"))])
        )
    for found in pkgutil.iter_modules(places):
        yield f"{package}.{found.name}" if package else found.name


def _import_failed(target: str, error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f'python: importing {target} ends the program; keep what runs under `if __name__ == "__main__":`'
    if isinstance(error, SyntaxError):
        return f"python: {target} is not readable as Python: {error.msg} ({error.filename}:{error.lineno})"
    frames = traceback.extract_tb(error.__traceback__)
    said = f"python: importing {target} failed: {type(error).__name__}: {error}"
    return f"{said} ({frames[-1].filename}:{frames[-1].lineno})" if frames else said
