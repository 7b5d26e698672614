"""What a program is: something for `torch.compile`, with its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Inputs = Callable[[], tuple[Any, ...]]
"""Makes the inputs; called where tensors are fake and on the pretended device by default."""


@dataclass(frozen=True)
class Program:
    """A function or a module, and what it is called with."""

    name: str
    make: Callable[[], Callable[..., Any]]
    """Makes what is compiled; called where tensors are fake."""
    inputs: Inputs
    training: bool = False
    """Whether the backward graph is compiled as well."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of inductor, as `torch.compile` takes them."""
    choice: int = 0
    """Of the templates that inductor could choose among for a product or a convolution: which one it takes."""
    dynamic: bool = False
    """Whether sizes are symbols."""


def program(name: str, function: Callable[..., Any], inputs: Inputs, **rest: Any) -> Program:
    """A program that is a plain function."""
    return Program(name, lambda: function, inputs, **rest)
