"""What goes wrong, as exceptions. Each class is a row of docs/exit-codes.md, and `code` is its number there."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Everything that Sutura raises for what it was asked to do.

    `code` is the exit code that the command line tool would end with. Where they are known, `dim` names the dimension that does
    not fit, `value` the input or output, and `node` the model's node. `diagnostics` has the messages of the compiler, each a
    dictionary as of `--message-format=json`.
    """

    code: int = 70
    diagnostics: list[dict[str, Any]]

    def __init__(
        self, *args: object, dim: str | None = None, node: str | None = None, value: str | None = None
    ) -> None:
        super().__init__(*args)
        self.dim = dim
        self.node = node
        self.value = value
        self.diagnostics = []


class InputError(Error, ValueError):
    """The data given to a model, or a model given to the compiler, is wrong."""

    code = 1


class UsageError(Error, ValueError):
    """The call itself is wrong: a setting, a name, the number of arguments."""

    code = 2


class UnsupportedError(Error):
    """The call is right, and needs what this machine or this version does not have."""

    code = 3


class CorruptError(Error):
    """An artifact is damaged, or is no artifact."""

    code = 4


class SystemError(Error, OSError):  # noqa: A001
    """The system refused: a file, memory, a thread."""

    code = 5


class InternalError(Error):
    """A bug of the compiler or of the runtime."""

    code = 70


class CopyRemark(UserWarning):
    """An input or an output was copied because its elements do not lie one behind the other."""


class CompileWarning(UserWarning):
    """What the compiler warns of."""


BY_CODE: dict[int, type[Error]] = {
    cls.code: cls for cls in (InputError, UsageError, UnsupportedError, CorruptError, SystemError, InternalError)
}
