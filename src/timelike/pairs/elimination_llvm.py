"""The loops of the compiled engine for small matrices: straight code for one rank, through LLVM.

It is there in a fraction of a second, so that nothing has to be kept on the disk. All steps for eight pairs happen
between registers and the first cache. Products are rounded before they are added: no bit depends on the machine.
Importing it needs llvmlite, which comes with Numba.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from itertools import zip_longest
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir

from timelike.base.arrays import Floats
from timelike.pairs.elimination import Side

LANES = 8
"""Pairs that one instruction works on, where the processor can."""

TERMS = 9
"""Terms of the series of a logarithm: the next one is less than a quarter of the last bit."""

_NUMBER, _WHOLE = ir.DoubleType(), ir.IntType(64)
_VECTOR, _BITS, _SMALL = (ir.VectorType(kind, LANES) for kind in (_NUMBER, _WHOLE, ir.IntType(32)))
_MANTISSA, _BIAS = 52, 1023
_HALF_ROOT = int(np.sqrt(0.5).view(np.int64))
_LN2 = math.floor(math.log(2) * 2**32) / 2**32  # so few digits that an exponent times it is exact
_LN2_REST = float(Decimal("0.6931471805599453094172321214581766") - Decimal(_LN2))
_lock = Lock()


def fill(left: Side, right: Side, out: Floats) -> None:
    """Write the gain of all pairs into `out`."""
    rows, cols = out.shape
    if cols < LANES:  # the last pairs of a row are eight
        wide = np.empty((rows, LANES))
        fill(left, Side(*(_padded(part, LANES - cols) for part in right)), wide)
        out[...] = wide[:, :cols]
        return
    with _lock:
        _, call = _compiled(len(left.b))
    parts = [_in_rows(part) for part in (*left, *right)]
    places = [place for part in (*parts, out) for place in (part.ctypes.data, part.strides[0] // part.itemsize)]
    call(*places, rows, cols)


def _padded(part: Floats, more: int) -> Floats:
    return np.pad(part, [(0, 0)] * (part.ndim - 1) + [(0, more)])


def _in_rows(part: Floats) -> Floats:
    """The array, of which each row is in one piece."""
    return part if part.strides[-1] == part.itemsize else np.ascontiguousarray(part)


@lru_cache
def _compiled(rank: int) -> tuple[Any, Callable[..., None]]:
    """The code for a rank, as it was translated for this machine, and what calls it without the interpreter's lock."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    code = binding.parse_assembly(str(_Loops(rank).module))
    features = binding.get_host_cpu_features().flatten()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=3
    )
    translated = binding.create_mcjit_compiler(code, machine)
    translated.finalize_object()
    address = translated.get_function_address("fill")
    whole = ctypes.c_int64
    return translated, ctypes.CFUNCTYPE(None, *[ctypes.c_void_p, whole] * 7, whole, whole)(address)


class _Rows(NamedTuple):
    """An array in memory: where it begins, and how many numbers lie between the beginnings of its rows."""

    begin: Any
    width: Any


class _Loops:
    """``fill`` for a rank, in LLVM's language: the arrays of both sides, and the result, each with its width."""

    def __init__(self, rank: int) -> None:
        self.module = ir.Module("elimination")
        kinds = [_NUMBER.as_pointer(), _WHOLE] * 7 + [_WHOLE] * 2
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), kinds), "fill")
        *given, rows, cols = function.args
        arrays = [_Rows(*given[at : at + 2]) for at in range(0, len(given), 2)]
        start, row, pairs, next_row, end = (function.append_basic_block() for _ in range(5))
        begin = ir.IRBuilder(start)
        last = begin.sub(cols, _WHOLE(LANES))
        begin.branch(row)
        outer = ir.IRBuilder(row)
        self.row = outer.phi(_WHOLE)
        outer.branch(pairs)
        self.do = ir.IRBuilder(pairs)
        col = self.do.phi(_WHOLE)
        # The last eight pairs of a row are its end, though some of them were done before.
        self.col = self.do.select(self.do.icmp_signed("<", col, last), col, last)
        self._pairs(rank, *arrays)
        self._count(self.do, col, LANES, cols, (row, pairs), next_row)
        self._count(ir.IRBuilder(next_row), self.row, 1, rows, (start, row), end)
        ir.IRBuilder(end).ret_void()

    def _count(self, do: Any, place: Any, step: int, until: Any, blocks: tuple[Any, Any], after: Any) -> None:
        """Go back to the second of two blocks until all is done; the first is where counting starts."""
        following = do.add(place, _WHOLE(step))
        place.add_incoming(_WHOLE(0), blocks[0])
        place.add_incoming(following, do.block)
        do.cbranch(do.icmp_signed("<", following, until), blocks[1], after)

    def _pairs(self, rank: int, A_i: _Rows, b_i: _Rows, own_i: _Rows, *others: _Rows) -> None:
        """``L D L^T`` of one course and eight others, with ``U = L D`` beside L, row by row."""
        A_j, b_j, own_j, out = others
        do, one = self.do, self._all(1.0)
        L: dict[tuple[int, int], Any] = {}
        U: dict[tuple[int, int], Any] = {}
        z: list[Any] = []
        inverse: list[Any] = []
        squares = more = self._all(0.0)  # and the product of all pivots, minus 1
        for i in range(rank):
            for j in range(i):
                known = self._sum(A_i, A_j, i * (i + 1) // 2 + j)
                U[i, j] = self._less(known, [(L[j, k], U[i, k]) for k in range(j)])
            for j in range(i):
                L[i, j] = do.fmul(U[i, j], inverse[j])
            known = self._sum(A_i, A_j, i * (i + 1) // 2 + i)
            pivot = self._less(known, [(L[i, k], U[i, k]) for k in range(i)])  # minus 1
            z.append(self._less(self._sum(b_i, b_j, i), [(L[i, k], z[k]) for k in range(i)]))
            inverse.append(do.fdiv(one, do.fadd(one, pivot)))
            more = do.fadd(more, do.fmul(pivot, do.fadd(one, more)))
            squares = do.fadd(squares, do.fmul(do.fmul(z[i], z[i]), inverse[i]))
        together = do.fmul(do.fsub(squares, self._log1p(more)), self._all(0.5))
        gain = do.fsub(together, self._sum(own_i, own_j, 0))
        do.store(gain, self._vector(out, self.row), align=8)

    def _log1p(self, x: Any) -> Any:
        """``log(1 + x)``, to the last bit or the one before, also of an x that is small beside 1.

        ``1 + x = 2^k (1 + f)``, and ``log(1 + f) = 2 (s + s^3 / 3 + s^5 / 5 + ...)`` with ``s = f / (2 + f)``.
        """
        do, one = self.do, self._all(1.0)
        near = do.fadd(one, x)
        bits = do.bitcast(near, _BITS)
        k = do.ashr(do.sub(bits, self._whole(_HALF_ROOT)), self._whole(_MANTISSA))
        mantissa = do.bitcast(do.sub(bits, do.shl(k, self._whole(_MANTISSA))), _VECTOR)
        power = do.bitcast(do.shl(do.sub(self._whole(_BIAS), k), self._whole(_MANTISSA)), _VECTOR)  # 2^-k
        lost = do.fmul(do.fsub(x, do.fsub(near, one)), power)
        f = do.fadd(do.fsub(mantissa, one), lost)
        s = do.fdiv(f, do.fadd(self._all(2.0), f))
        square, series = do.fmul(s, s), self._all(0.0)
        for term in range(TERMS, 0, -1):
            series = do.fmul(do.fadd(series, self._all(2 / (2 * term + 1))), square)
        log = do.fsub(f, do.fmul(s, do.fsub(f, series)))
        times = do.sitofp(do.trunc(k, _SMALL), _VECTOR)
        return do.fadd(do.fmul(times, self._all(_LN2)), do.fadd(log, do.fmul(times, self._all(_LN2_REST))))

    def _whole(self, number: int) -> Any:
        return ir.Constant(_BITS, [number] * LANES)

    def _all(self, number: float) -> Any:
        return ir.Constant(_VECTOR, [number] * LANES)

    def _sum(self, of_i: _Rows, of_j: _Rows, k: int) -> Any:
        """Entry k of the course of the row, plus those of the courses of the columns."""
        do = self.do
        number = do.load(do.gep(of_i.begin, [do.add(do.mul(_WHOLE(k), of_i.width), self.row)]))
        nothing, first = ir.Constant(_VECTOR, ir.Undefined), ir.IntType(32)(0)
        everywhere = ir.Constant(_SMALL, [0] * LANES)
        left = do.shuffle_vector(do.insert_element(nothing, number, first), nothing, everywhere)
        return do.fadd(left, do.load(self._vector(of_j, _WHOLE(k)), align=8))

    def _less(self, value: Any, products: list[tuple[Any, Any]]) -> Any:
        """``value`` less the sum of the products, added two by two."""
        do = self.do
        terms = [do.fmul(*factors) for factors in products]
        while len(terms) > 1:
            pairs = zip_longest(terms[::2], terms[1::2])
            terms = [one if other is None else do.fadd(one, other) for one, other in pairs]
        return do.fsub(value, terms[0]) if terms else value

    def _vector(self, array: _Rows, row: Any) -> Any:
        """Where the entries of a row for the present columns are."""
        place = self.do.add(self.do.mul(row, array.width), self.col)
        return self.do.bitcast(self.do.gep(array.begin, [place]), _VECTOR.as_pointer())
