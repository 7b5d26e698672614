"""What random CUDA kernels compute with, once in CUDA and once in Python: arithmetic that wraps around, and bits.

An expression is the same text in both: `u8(37 * t + n)` calls a function of CUDA or one of Python. All numbers are
unsigned, of 32 bits at most.
"""

from __future__ import annotations

from collections.abc import Callable

WORD = 0xFFFFFFFF
CUDA = """
__device__ __forceinline__ unsigned u8(unsigned v) { return (unsigned char)v; }
__device__ __forceinline__ unsigned u16(unsigned v) { return (unsigned short)v; }
__device__ __forceinline__ unsigned u32(unsigned v) { return v; }
__device__ __forceinline__ unsigned sum8(unsigned a, unsigned b) {
    return (unsigned char)((unsigned char)a + (unsigned char)b);
}
__device__ __forceinline__ unsigned mul16(unsigned a, unsigned b) {
    unsigned short r;
    asm("mul.lo.u16 %0, %1, %2;" : "=h"(r) : "h"((unsigned short)a), "h"((unsigned short)b));
    return r;
}
__device__ __forceinline__ unsigned add16(unsigned a, unsigned b) {
    unsigned short r;
    asm("add.u16 %0, %1, %2;" : "=h"(r) : "h"((unsigned short)a), "h"((unsigned short)b));
    return r;
}
__device__ __forceinline__ unsigned pick(bool held, unsigned a, unsigned b) { return held ? a : b; }
__device__ __forceinline__ unsigned times(unsigned a, unsigned b) { return a * b; }
__device__ __forceinline__ unsigned high(unsigned a, unsigned b) { return __umulhi(a, b); }
__device__ __forceinline__ unsigned far(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 16);
}
__device__ __forceinline__ unsigned turned(unsigned v, unsigned by) { return __funnelshift_l(v, v, by); }
__device__ __forceinline__ unsigned field(unsigned v, unsigned at, unsigned bits) {
    unsigned r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(at), "r"(bits));
    return r;
}
__device__ __forceinline__ unsigned put_in(unsigned v, unsigned into, unsigned at, unsigned bits) {
    unsigned r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(v), "r"(into), "r"(at), "r"(bits));
    return r;
}
__device__ __forceinline__ unsigned bytes_of(unsigned a, unsigned b, unsigned which) {
    return __byte_perm(a, b, which);
}
__device__ __forceinline__ unsigned either(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, 0xd8;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ __forceinline__ unsigned ones(unsigned v) { return __popc(v); }
__device__ __forceinline__ unsigned zeros(unsigned v) { return __clz(v); }
__device__ __forceinline__ unsigned mirrored(unsigned v) { return __brev(v); }
__device__ __forceinline__ unsigned least(unsigned a, unsigned b) { return min(a, b); }
__device__ __forceinline__ unsigned most(unsigned a, unsigned b) { return max(a, b); }
__device__ __forceinline__ unsigned apart(unsigned a, unsigned b) { return abs((int)a - (int)b); }
__device__ __forceinline__ unsigned half(unsigned v) { return (unsigned)((int)v / 2); }
__device__ __forceinline__ unsigned odd(unsigned v) { return (unsigned)((int)v % 2); }
__device__ __forceinline__ unsigned down(unsigned v, unsigned by) { return (unsigned)((int)v >> by); }
__device__ __forceinline__ int quotient(int a, int b) { return a / b; }
__device__ __forceinline__ int remainder_of(int a, int b) { return a % b; }
__device__ __forceinline__ int shifted(int a, int by) { return a >> by; }
__device__ __forceinline__ int masked(int a, int mask) { return a & mask; }
__device__ __forceinline__ int larger(int a, int b) { return max(a, b); }
__device__ __forceinline__ unsigned place(volatile int *p) {
    return (unsigned)__cvta_generic_to_shared((void *)p);
}
__device__ __forceinline__ void load_int2(volatile int *p) {
    int a, b;
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(place(p)));
}
__device__ __forceinline__ void load_int4(volatile int *p) {
    int a, b, c, d;
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(place(p)));
}
__device__ __forceinline__ void store_int2(volatile int *p, int v) {
    asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" :: "r"(place(p)), "r"(v));
}
__device__ __forceinline__ void store_int4(volatile int *p, int v) {
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" :: "r"(place(p)), "r"(v));
}
"""


def _signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _bytes_of(a: int, b: int, which: int) -> int:
    whole, found = (a & WORD) | (b & WORD) << 32, 0
    for at in range(4):
        pick = which >> 4 * at & 15
        byte = whole >> 8 * (pick & 7) & 255
        if pick & 8:
            byte = 255 * (byte >> 7)
        found |= byte << 8 * at
    return found


def _either(a: int, b: int, c: int) -> int:
    return sum(
        (0xD8 >> ((a >> at & 1) << 2 | (b >> at & 1) << 1 | (c >> at & 1)) & 1) << at for at in range(32)
    )


def _put_in(value: int, into: int, at: int, bits: int) -> int:
    mask = ((1 << bits) - 1) << at & WORD
    return (into & ~mask | value << at & mask) & WORD


def _quotient(a: int, b: int) -> int:
    return abs(a) // b if a >= 0 else -(abs(a) // b)


def _turned(value: int, by: int) -> int:
    value, by = value & WORD, by & 31
    return (value << by | value >> (32 - by)) & WORD


FUNCTIONS: dict[str, Callable[..., int]] = {
    "u8": lambda v: v & 0xFF,
    "u16": lambda v: v & 0xFFFF,
    "u32": lambda v: v & WORD,
    "sum8": lambda a, b: (a + b) & 0xFF,
    "mul16": lambda a, b: a * b & 0xFFFF,
    "add16": lambda a, b: (a + b) & 0xFFFF,
    "pick": lambda held, a, b: a if held else b,
    "times": lambda a, b: a * b & WORD,
    "high": lambda a, b: (a & WORD) * (b & WORD) >> 32,
    "far": lambda a, b: (a & WORD) * (b & WORD) >> 16 & WORD,
    "turned": _turned,
    "field": lambda v, at, bits: (v & WORD) >> at & ((1 << bits) - 1),
    "put_in": _put_in,
    "bytes_of": _bytes_of,
    "either": _either,
    "ones": lambda v: (v & WORD).bit_count(),
    "zeros": lambda v: 32 - (v & WORD).bit_length(),
    "mirrored": lambda v: int(f"{v & WORD:032b}"[::-1], 2),
    "least": lambda a, b: min(a & WORD, b & WORD),
    "most": lambda a, b: max(a & WORD, b & WORD),
    "apart": lambda a, b: abs(_signed(a - b)) & WORD,
    "half": lambda v: int(_signed(v) / 2) & WORD,
    "odd": lambda v: (abs(_signed(v)) % 2 * (-1 if _signed(v) < 0 else 1)) & WORD,
    "down": lambda v, by: _signed(v) >> by & WORD,
    "quotient": lambda a, b: _quotient(_signed(a), b),
    "remainder_of": lambda a, b: _signed(a) - b * _quotient(_signed(a), b),
    "shifted": lambda a, by: _signed(a) >> by,
    "masked": lambda a, mask: _signed(a) & mask,
    "larger": lambda a, b: max(_signed(a), b),
}
"""The same in Python."""


def indexes(threads: int) -> list[str]:
    """Indexes that wrap around, turn bits or hash: a few are one for each thread, most are not quite."""
    return [
        "u8(t * 37)",
        "u8(t * 37 + n)",
        "u8(t + 200)",
        "sum8(t, 100 + n)",
        "u16(t * 641) % 64",
        "mul16(t, 40503) / 1024",
        "mul16(t + 1, n + 1021)",
        "add16(t, 65500)",
        "u32(t * 2654435761u) / 67108864",
        "times(t, 2654435761u) % 64",
        "times(t + n, 40503) / 65536",
        "far(t, 1057 * n + 65536)",
        "high(t + 1, 1u + 134217728u * n)",
        "turned(t, 3) % 256",
        "turned(t, n) % 256",
        "field(t, 1, 5)",
        "field(t, n % 4, 4) + (t & 96)",
        "put_in(t, t / 2, 3, 2)",
        "put_in(t, 64, 0, n % 8)",
        "bytes_of(t, n, 4112) / 4",
        "either(t, 32, n)",
        "ones(t)",
        "zeros(t)",
        "mirrored(t) / 67108864",
        "mirrored(t) / 33554432",
        "least(t, n)",
        "most(t, n)",
        "apart(t, n)",
        f"apart(t, {threads // 2})",
        "t ^ (t >> 3)",
        "t ^ (t >> 3 & 7)",
        "(t ^ n) & 127",
        "t ^ (n & 7)",
        "(t << 3 | t >> 3) & 63",
        "t / 8 * 8 + (t ^ t / 8) % 8",
        "t % (n + 1) * 16 + t / (n + 1)",
        "t - t % (n + 1)",
        "half(t)",
        "odd(t) * 64 + half(t)",
        "down(u32(0u - t), 1) % 64",
        "u32(t - n) % 256",
        "u32(n - t) % 128",
        "u32(0u - t) % 128",
        "(t + g) & 255",
        "(g == 5 ? 0 : t)",
        "(g > 60000 ? 0 : t)",
        "t + g % 64",
        "t ^ (g & 32)",
        "g % 64",
        "t * (g & 1) + t",
        "u8(g) + t",
        "turned(g, t)",
    ]


def signed_indexes(threads: int, loops: list[str]) -> list[tuple[str, int]]:
    """Indexes with parts that are negative for some threads, and how many elements they need."""
    half = threads // 2
    values = [f"t - {half}", f"{half} - t", "t - 5", "3 - t", "t - n", "n - t", f"x - {half}"]
    values += [f"{name} - t" for name in loops] + [f"(t - 5) * {name}" for name in loops]
    bounded = [each for each in values[:4] for _ in range(2)]
    return [
        *[(f"remainder_of({value}, {each}) + {each}", 2 * each) for value in values for each in (8, 32)],
        *[(f"quotient({value}, {each}) + {threads}", 2 * threads) for value in bounded for each in (2, 4)],
        *[(f"shifted({value}, {each}) + {threads}", 2 * threads) for value in bounded for each in (1, 2)],
        *[
            (f"masked({value}, {each}) + {threads}", 2 * threads)
            for value in bounded
            for each in (-2, -4, ~1 & 63)
        ],
        *[
            (f"larger(remainder_of({value}, 32), {each}) + {-each}", 64)
            for value in values
            for each in (-3, -31)
        ],
        *[(f"(t - 5) * least({name}, 3) + 15", 3 * threads) for name in loops],
        *[(f"{3 * threads} - (t + 1) * least({name}, 3)", 3 * threads + 1) for name in loops],
    ]


SOMETIMES = [
    "g",
    "g % 64",
    "u8(g)",
    "half(g)",
    "down(g, 1)",
    "g >> 3",
    "mul16(g, 181)",
    "times(g, n)",
    "turned(g, n)",
    "field(g, 2, 3)",
    "ones(g)",
    "zeros(g)",
    "g % (n + 1)",
    "u8(t + g)",
    "apart(g, n)",
    "least(g, n)",
    "put_in(g, n, 2, 3)",
    "mirrored(g) >> 28",
    "times(n, n)",
    "u16(n * 40503u)",
    "either(g, n, 5)",
    "bytes_of(g, n, 12816) & 15",
    "high(g, 1073741824u)",
    "m",
    "u8(m)",
    "half(m)",
]
"""What is seldom a given number."""
STEPS = [
    "g + 3",
    "(g + 3) & 246",
    "(g + 4) & 252",
    "(g + 1) % 5",
    "(g + n) % 7",
    "(g + 60000) % 4999",
    "g ^ (g >> 1)",
    "times(g, 5) + n",
    "times(g, 3)",
    "turned(g, 1)",
    "u8(g + 100)",
    "u8(g - 1)",
    "u32(g - 1)",
    "mul16(g, 181)",
    "mul16(g, n + 3)",
    "g >> 1",
    "g << 1",
    "half(g)",
    "g / 3",
    "g ^ 32",
    "~g & 255",
    "5 - g % 6",
    "most(g, 7)",
    "t & 3",
    "g + t",
    "(g > 3 ? 0 : g + 1)",
]
"""What the register `g` may become."""
CONDITIONS = ["g > 2", "g % 2 == 0", "u8(g) < 100", "g == 5", "half(g) > 3"]
"""Of what is the same in all threads, as long as `g` is."""
LOOPS = [
    ("unsigned char", 8, "250", "{} != 3", "u8({} + 1)"),
    ("unsigned char", 8, "0", "{} < 200", "u8({} + 60)"),
    ("unsigned short", 16, "65530", "{} > 5", "u16({} + 3)"),
    ("unsigned", 32, "5", "{} < 6", "u32({} - 1)"),
    ("unsigned", 32, "1", "{} != 0", "{} << 8"),
    ("unsigned", 32, "n", "{} > 0", "half({})"),
    ("unsigned", 32, "n", "{} > 2", "{} / 3"),
    ("unsigned", 32, "0", "{} != 3 * n", "{} + 3"),
    ("unsigned", 32, "n % 3", "{} < 9", "{} * 2 + 1"),
]
"""Type, bits, first value, condition and step of loops."""
