"""How deeply a value may be nested, without regard to who asks.

Decoders and validators go as deep as Python's recursion limit lets them, and that counts what is on the stack already: another
number in each lane, worker and test. What fails for that reason is tried once more where the stack is empty. So what one caller
can read all can, and what none can read is too deep for all of them alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def at_any_depth(function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """What a function returns. Raises `RecursionError` only if it does so on an empty stack."""
    try:
        return function(*args, **options)
    except RecursionError:
        pass
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:  # a thread has a stack of its own
        return pool.submit(function, *args, **options).result()
