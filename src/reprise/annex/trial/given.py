"""Losses as a user gives them: `mine.py:my_loss`, `mine.py:loss(tau=.1)`, a class or an object of a file, a
function of a notebook, a published loss by its name.

Experiments take a loss by a file and the name of a function in it. A loss that is given in another form gets
such a file, in a temporary folder, which fetches it from this process. Figures and messages show the user's
words.
"""

import ast
import copy
import inspect
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, NamedTuple

import torch
from matplotlib.figure import Figure
from matplotlib.text import Text
from torch import Tensor, nn

from reprise import objectives
from reprise.annex.ours.objectives_by_diagnostics.lineup import METHODS
from reprise.contract import losses
from reprise.engine.ids import spelled
from reprise.errors import RepriseError, unknown
from reprise.storage.user_code import executed
from reprise.training.objective import OfEmbeddings

Loss = Callable[..., Any]

OBJECTS: dict[str, Loss] = {}
"""The losses that files of ours fetch, by the name of the file and function."""
WRITTEN = re.compile(r"(?P<file>.+\.py):(?P<name>\w+)\s*(?P<arguments>\(.*\))?", re.DOTALL)
FORMS = "path/mine.py:my_loss, or with arguments, path/mine.py:my_loss(tau=.1)"


class Given(NamedTuple):
    """A loss.

    Attributes:
        name: by which experiments take it, `path/mine.py:my_loss`.
        label: in figures and messages.
        note: what a reader must know of it; may be empty.
    """

    name: str
    label: str
    note: str = ""


@contextmanager
def named(written: str | Loss, against: Sequence[str], folder: Path) -> Iterator[list[Given]]:
    """Names a user's loss, first, and published ones for experiments. Errors within the context have their
    labels.

    Args:
        written: in one of `FORMS`, or a function, `functools.partial` or module of two views' embeddings.
        against: published losses, as in `published`.
        folder: an empty one, for files that must exist within the context.

    Raises:
        RepriseError: if there is no such loss, or it cannot be made with these arguments.
    """
    given: list[Given] = []
    try:
        given.append(_own(written, folder))
        given += [_filed(loss, label, folder) for label, loss in map(published, against)]
        yield given
    except RepriseError as error:
        raise RepriseError(worded(str(error), given)) from None
    finally:
        for each in given:
            OBJECTS.pop(each.name, None)


def worded(message: str, given: Sequence[Given]) -> str:
    """A message with the labels of losses, without the files that fetch them."""
    for each in given:
        if each.name in OBJECTS:
            file = re.escape(each.name.rpartition(":")[0])
            message = re.sub(rf"{file}:\d+: ", "", message.replace(each.name, each.label))
    return message


def published(written: str) -> tuple[str, Loss]:
    """The label and the function of a published loss of two views' embeddings, by its name in the comparison
    of objectives, with the hyperparameters that it has there, or by its function's, with its defaults.

    Raises:
        RepriseError: if there is none.
    """
    known = {name: (name, objectives.resolve(name)) for name in losses.names()}
    for name, method in METHODS.items():
        if isinstance(method.objective, OfEmbeddings):
            known[name] = (method.name, method.objective.function())
    by_spelling = {spelled(name): each for name, each in known.items()}
    by_spelling |= {spelled(label): (label, loss) for label, loss in known.values()}
    if spelled(written) not in by_spelling:
        names = {spelled(name): name for name in known}.values()  # `w_mse` and `w-mse` are one
        raise unknown("loss", written, known, f"losses of two views' embeddings: {', '.join(names)}")
    return by_spelling[spelled(written)]


def baseline(written: str) -> str:
    """The key in the comparison of objectives that a name stands for.

    Raises:
        RepriseError: if there is none.
    """
    keys = {spelled(each): key for key, method in METHODS.items() for each in (key, method.name)}
    if spelled(written) not in keys:
        raise unknown("objective", written, METHODS, f"compared are: {', '.join(METHODS)}")
    return keys[spelled(written)]


def relabelled(figure: Figure, given: Sequence[Given]) -> Figure:
    """Writes the labels of losses into a figure, in place of the names of their functions, the first, the
    user's, in bold, and beside panels that are a loss's alone; returns it."""

    def named(text: str) -> str:
        for each in given:
            text = text.replace(each.name.rpartition(":")[2], each.label) if each.name in OBJECTS else text
        return text

    for axes in figure.axes:
        ticks = [text.get_text() for text in axes.get_yticklabels()]
        if [*map(named, ticks)] != ticks:  # a tick takes its text anew when it is drawn
            axes.set_yticklabels(map(named, ticks))
        lines, place = [named(str(line.get_label())) for line in axes.lines], axes.get_subplotspec()
        for each in given:
            own = [line for line in lines if line.startswith(f"{each.label}, ")]
            name = named(axes.get_ylabel())
            if place and place.is_first_col() and 2 * len(own) > len(lines) and each.label not in name:
                axes.set_ylabel(f"{each.label}\n{name}")
    for text in figure.findobj(Text):
        text.set_text(named(text.get_text()))
        if given[0].label in re.split(r"[,:]?\n|[,:] ", text.get_text()):
            text.set_fontweight("bold")
    return figure


def _own(written: str | Loss, folder: Path) -> Given:
    if not isinstance(written, str):
        if isinstance(written, type) or not callable(written):
            raise RepriseError(f"loss={written!r}: expected a function of two views' embeddings, or {FORMS}")
        return _filed(written, _label(written), folder)
    match = WRITTEN.fullmatch(written)
    if not match:
        raise RepriseError(f"'{written}': expected {FORMS}")
    file, name, arguments = Path(match["file"]), match["name"], match["arguments"]
    if arguments is None and _is_function(file, name):
        return Given(written, name)
    with torch.random.fork_rng():
        torch.manual_seed(0)  # for initial weights
        found = getattr(executed(file), name, None)
        if not callable(found):
            raise RepriseError(f"{file} defines no function '{name}'")
        loss = found
        if arguments is not None or isinstance(found, type):
            values = _values(written, arguments or "()")
            try:
                inspect.signature(found).bind_partial(**values)
                loss = found(**values) if isinstance(found, type) else partial(found, **values)
            except Exception as error:
                raise RepriseError(f"{written}: {type(error).__name__}: {error}") from None
    return _filed(loss, f"{name}{arguments or ''}", folder)


def _is_function(file: Path, name: str) -> bool:
    """Tells if a file defines a function of this name; true for a file that is missing or not Python, which
    the loss's trial reports."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return True
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in body)


def _values(written: str, arguments: str) -> dict[str, Any]:
    """The values in `(tau=.1, kind="a")`."""
    with suppress(SyntaxError, ValueError):
        call = ast.parse(f"f{arguments}", mode="eval").body
        if isinstance(call, ast.Call) and not call.args:
            pairs = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
            if len(pairs) == len(call.keywords):
                return pairs
    raise RepriseError(
        f"'{written}': arguments are numbers, strings, lists and the like, each with its name, as in "
        "my_loss(tau=.1)"
    )


def _label(loss: Loss) -> str:
    """Label of a function, partial or module."""
    if isinstance(loss, partial):
        named = [f"{key}={value!r}" for key, value in loss.keywords.items()]
        return f"{_label(loss.func)}({', '.join([*map(repr, loss.args), *named])})"
    name = getattr(loss, "__name__", type(loss).__name__)
    return "loss" if name == "<lambda>" else str(name)


def _filed(loss: Loss, label: str, folder: Path) -> Given:
    """A loss with a file that fetches it."""
    number = sum(1 for _ in folder.glob("*.py"))
    function = f"{re.sub(r'[^0-9A-Za-z]+', '_', label).strip('_') or 'loss'}_{number}"
    function = f"loss_{function}" if function[0].isdigit() else function
    file = folder / f"{function}.py"
    name = f"{file}:{function}"
    code = f"from {__name__} import OBJECTS\n\n{function} = OBJECTS[{name!r}]\n"
    file.write_text(code, encoding="utf-8")
    note = ""
    if isinstance(loss, nn.Module):
        module = copy.deepcopy(loss)  # frozen here, and not where it is from
        if parameters := [each for each, value in module.named_parameters() if value.requires_grad]:
            listed = ", ".join(parameters[:4]) + (" and more" if len(parameters) > 4 else "")
            note = f"{label} keeps its initial {listed}: the network alone is trained"
        loss = module.requires_grad_(False)
    OBJECTS[name] = _placed(loss)
    return Given(name, label, note)


def _placed(loss: Loss) -> Loss:
    """A loss whose errors say in which line of the user's they arose."""

    @wraps(loss, updated=())
    def called(z1: Tensor, z2: Tensor) -> Any:
        try:
            return loss(z1, z2)
        except Exception as error:
            lines = traceback.extract_tb(error.__traceback__)[1:]
            own = [line for line in lines if "site-packages" not in Path(line.filename).parts]
            if own and not isinstance(error, RepriseError):
                error.add_note(f"line {own[-1].lineno} of {own[-1].filename}")
            raise

    return called
