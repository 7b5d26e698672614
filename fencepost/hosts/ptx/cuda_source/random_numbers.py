"""What stands for `curand_kernel.h`, which does not come with NVRTC.

What a generator gives is loaded from a table that nobody fills: a proof takes it for any number, and runs make it up
like other data. Generators that meet at barriers (`curandStateMtgp32`) are left out.
"""

from __future__ import annotations

_STATES = """
curandState curandState_t curandStateXORWOW curandStateXORWOW_t curandStateMRG32k3a curandStateMRG32k3a_t
curandStatePhilox4_32_10 curandStatePhilox4_32_10_t curandStateSobol32 curandStateSobol32_t
curandStateScrambledSobol32 curandStateScrambledSobol32_t curandStateSobol64 curandStateSobol64_t
curandStateScrambledSobol64 curandStateScrambledSobol64_t
"""
_FLOAT, _DOUBLE = "2.3283064e-10f", "5.421010862427522e-20"
_SHAPES = {"2": "xy", "4": "xyzw"}


def _function(head: str, body: str) -> str:
    return f"static __device__ __forceinline__ {head} {{ {body} }}\n"


def _vector(name: str, one: str, kind: str, parts: str, more: str = "") -> str:
    """A function that gives several numbers at once."""
    arguments = "".join(f", {each.split()[-1]}" for each in more.split(",") if each.strip())
    fill = " ".join(f"found.{part} = {one}(state{arguments});" for part in parts)
    head = f"template <class State> static __device__ {kind}{len(parts)} {name}(State *state{more})"
    return f"{head} {{ {kind}{len(parts)} found; {fill} return found; }}\n"


def _of_a_state(head: str, body: str) -> str:
    return "template <class State> " + _function(head, body)


def _generators() -> str:
    text = _of_a_state(
        "unsigned int curand(State *state)",
        "state->at = state->at * 1664525u + 1013904223u; return fencepost_random[state->at >> 16];",
    )
    normal = "return sqrtf(-2.0f * logf(curand_uniform(state))) * cosf(6.2831853f * curand_uniform(state));"
    log_normal = "float mean, float deviation"
    text += _of_a_state("float curand_uniform(State *state)", f"return (curand(state) + 1.0f) * {_FLOAT};")
    text += _of_a_state(
        "double curand_uniform_double(State *state)",
        f"return ((double)(((unsigned long long)curand(state) << 32) | curand(state)) + 1.0) * {_DOUBLE};",
    )
    text += _of_a_state("float curand_normal(State *state)", normal)
    text += _of_a_state("double curand_normal_double(State *state)", normal)
    text += _of_a_state(
        f"float curand_log_normal(State *state, {log_normal})",
        "return expf(mean + deviation * curand_normal(state));",
    )
    text += _of_a_state(
        "double curand_log_normal_double(State *state, double mean, double deviation)",
        "return exp(mean + deviation * curand_normal_double(state));",
    )
    text += _of_a_state("unsigned int curand_poisson(State *state, double)", "return curand(state);")
    text += _vector("curand4", "curand", "uint", "xyzw")
    for size, parts in _SHAPES.items():
        for name, more in (("uniform", ""), ("normal", ""), ("log_normal", f", {log_normal}")):
            text += _vector(f"curand_{name}{size}", f"curand_{name}", "float", parts, more)
        for name in ("uniform", "normal"):
            text += _vector(f"curand_{name}{size}_double", f"curand_{name}_double", "double", parts)
    return text


def _seeds() -> str:
    number = "unsigned long long"
    seed = "state->at = (unsigned int)(seed * 2654435761u + sequence * 40503u + offset);"
    text = _of_a_state(
        f"void curand_init({number} seed, {number} sequence, {number} offset, State *state)", seed
    )
    for kind in ("unsigned int", number):
        direction = "state->at = directions[0] + (unsigned int)offset;"
        text += _of_a_state(f"void curand_init({kind} *directions, {number} offset, State *state)", direction)
    text += _of_a_state(f"void skipahead({number} n, State *state)", "state->at += (unsigned int)n;")
    text += _of_a_state(f"void skipahead_sequence({number} n, State *state)", "state->at += (unsigned int)n;")
    return text


def random_numbers_header() -> str:
    """The text of the header."""
    first, *others = _STATES.split()
    text = "#pragma once\n__device__ unsigned int fencepost_random[65536];\n"
    text += f"struct {first} {{ unsigned int at; unsigned int more[11]; }};\n"
    text += "".join(f"typedef {first} {name};\n" for name in others)
    text += "typedef unsigned int curandDirectionVectors32_t[32];\n"
    text += "typedef unsigned long long curandDirectionVectors64_t[64];\n"
    return text + _generators() + _seeds()
