"""The Sutura compiler as a program, with its libraries. `sutura.compile` runs it; the command `sutura` is it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["PROGRAM"]

#: The program `sutura`.
PROGRAM: Path = Path(__file__).resolve().parent / "bin" / "sutura"
