"""The compiler, as a process of its own: Ctrl-C ends it, and what crashes in it does not end Python."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

from ._errors import BY_CODE, CompileWarning, Error, InternalError, UnsupportedError
from ._values import visible

#: The variable with the path of the program `sutura`, which goes before the package `sutura_compiler`.
VARIABLE = "SUTURA_COMPILER"

_log = logging.getLogger("sutura.compile")

#: Seconds until a compiler that was asked to end is ended.
_GRACE = 5.0


def program() -> Path:
    """The program `sutura`. Raises `UnsupportedError` where there is none."""
    if path := os.environ.get(VARIABLE):
        found = shutil.which(path)
        if found is None:
            raise UnsupportedError(f"{VARIABLE} is `{path}`, which is no program")
        return Path(found)
    try:
        import sutura_compiler
    except ImportError:
        raise UnsupportedError(
            f"the compiler is missing: pip install sutura-compiler, or set {VARIABLE} to the program `sutura`"
        ) from None
    return Path(sutura_compiler.PROGRAM)


def run(arguments: list[str]) -> None:
    """Runs a command of `sutura`, with its arguments. What it says becomes warnings, log records, or the exception."""
    command = [str(program()), arguments[0], "--message-format=json", *arguments[1:]]
    _log.debug("%s", command)
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise BY_CODE[5](f"cannot run the compiler: {error}") from error
    try:
        said = process.communicate()[1]
    except BaseException:
        # It removes what is half written, and goes.
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
    _answer(process.returncode, _messages(said.decode("utf-8", "replace")))


def _messages(text: str) -> list[dict[str, Any]]:
    """One message a line. What is none, such as the last words of a crash, counts as an error's text."""
    messages = []
    for line in text.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        messages.append(message if isinstance(message, dict) else {"level": "text", "message": line})
    return messages


def _answer(code: int, messages: list[dict[str, Any]]) -> None:
    for message in messages:
        if message.get("level") == "warning":
            warnings.warn(_shown(message), CompileWarning, stacklevel=4)
        else:
            _log.debug("%s", message)
    if code == 0:
        return
    if code == 130:
        raise KeyboardInterrupt
    diagnostics = [message for message in messages if message.get("level") == "error"]
    shown = [_shown(message) for message in messages if message.get("level") in ("error", "text")]
    if code < 0:
        raise InternalError("\n".join([f"the compiler was ended by signal {-code}", *shown]))
    error = BY_CODE.get(code, Error)("\n".join(shown) or f"the compiler ended with code {code}")
    error.diagnostics = diagnostics
    raise error


def _shown(message: dict[str, Any]) -> str:
    if rendered := message.get("rendered"):
        return visible(str(rendered).rstrip())
    words = (message.get("message"), message.get("help"))
    return visible("; ".join(str(part).rstrip() for part in words if part))
