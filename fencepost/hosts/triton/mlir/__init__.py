"""MLIR's generic form as a plain typed tree, without MLIR.

The generic form writes every operation in one regular way,

    %r:2 = "dialect.op"(%a, %b)[^bb1, ^bb2] <{properties}> ({regions}) {attributes} : (types) -> (types) loc(...)

so one reader serves all dialects, those of tomorrow too. `reader` builds the tree of `tree`;
`attributes`, `types` and `locations` understand the small languages inside an operation, and keep
as raw text what they do not know. The invariant: every operation remembers where it stands in the
text, so a change to the module is a change to that text and nothing else moves.
"""

from fencepost.hosts.triton.mlir.attributes import UNIT, Attribute, Dense, Opaque, Symbol, parse_attribute
from fencepost.hosts.triton.mlir.locations import Location
from fencepost.hosts.triton.mlir.reader import read_module
from fencepost.hosts.triton.mlir.tree import Block, Module, Operation, Region, Successor, Value
from fencepost.hosts.triton.mlir.types import Encoding, MemDesc, Tensor, parse_encoding, parse_type

__all__ = [
    "UNIT",
    "Attribute",
    "Block",
    "Dense",
    "Encoding",
    "Location",
    "MemDesc",
    "Module",
    "Opaque",
    "Operation",
    "Region",
    "Successor",
    "Symbol",
    "Tensor",
    "Value",
    "parse_attribute",
    "parse_encoding",
    "parse_type",
    "read_module",
]
