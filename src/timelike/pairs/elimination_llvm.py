"""The loops of the compiled engine for small matrices: straight code for one rank, through LLVM.

It is there in a fraction of a second, so that nothing has to be kept on the disk. All steps for eight pairs happen
between registers and the first cache. Products are rounded before they are added: no bit depends on the machine.
Importing it needs llvmlite, which comes with Numba.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from itertools import zip_longest
from threading import Lock
from typing import Any

import numpy as np
from llvmlite import binding, ir

from timelike.base.arrays import Floats

LANES = 8
"""Pairs that one instruction works on, where the processor can."""

_NUMBER, _WHOLE = ir.DoubleType(), ir.IntType(64)
_VECTOR = ir.VectorType(_NUMBER, LANES)
_lock = Lock()


def fill(A_i: Floats, b_i: Floats, A_j: Floats, b_j: Floats) -> tuple[Floats, Floats]:
    """Half squares, and products of pivots minus 1, for all pairs."""
    rows, cols = b_i.shape[1], b_j.shape[1]
    padded = -(-cols // LANES) * LANES
    given = [np.ascontiguousarray(side, dtype=float) for side in (A_i, b_i, *(_padded(s, padded) for s in (A_j, b_j)))]
    found = np.empty((rows, padded)), np.empty((rows, padded))
    with _lock:
        _, call = _compiled(len(b_i))
    call(*(array.ctypes.data for array in (*given, *found)), rows, padded)
    return found[0][:, :cols], found[1][:, :cols]


def _padded(side: Floats, width: int) -> Floats:
    return np.pad(side, ((0, 0), (0, width - side.shape[1]))) if width > side.shape[1] else side


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
    return translated, ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 6, whole, whole)(address)


class _Loops:
    """``fill(A_i, b_i, A_j, b_j, quadratic, product, rows, cols)`` for a rank, in LLVM's language."""

    def __init__(self, rank: int) -> None:
        self.module = ir.Module("elimination")
        kinds = [_NUMBER.as_pointer()] * 6 + [_WHOLE] * 2
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), kinds), "fill")
        *arrays, self.rows, self.cols = function.args
        start, row, pairs, next_row, end = (function.append_basic_block() for _ in range(5))
        ir.IRBuilder(start).branch(row)
        outer = ir.IRBuilder(row)
        self.row = outer.phi(_WHOLE)
        outer.branch(pairs)
        self.do = ir.IRBuilder(pairs)
        self.col = self.do.phi(_WHOLE)
        self._pairs(rank, *arrays)
        self._count(self.do, self.col, LANES, self.cols, (row, pairs), next_row)
        self._count(ir.IRBuilder(next_row), self.row, 1, self.rows, (start, row), end)
        ir.IRBuilder(end).ret_void()

    def _count(self, do: Any, place: Any, step: int, until: Any, blocks: tuple[Any, Any], after: Any) -> None:
        """Go back to the second of two blocks until all is done; the first is where counting starts."""
        following = do.add(place, _WHOLE(step))
        place.add_incoming(_WHOLE(0), blocks[0])
        place.add_incoming(following, do.block)
        do.cbranch(do.icmp_signed("<", following, until), blocks[1], after)

    def _pairs(self, rank: int, A_i: Any, b_i: Any, A_j: Any, b_j: Any, quadratic: Any, pivots: Any) -> None:
        """``L D L^T`` of one course and eight others, with ``U = L D`` beside L, row by row."""
        do, one = self.do, self._all(1.0)
        L: dict[tuple[int, int], Any] = {}
        U: dict[tuple[int, int], Any] = {}
        z: list[Any] = []
        inverse: list[Any] = []
        half = more = self._all(0.0)
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
            half = do.fadd(half, do.fmul(do.fmul(z[i], z[i]), inverse[i]))
        self._store(do.fmul(half, self._all(0.5)), quadratic)
        self._store(more, pivots)

    def _all(self, number: float) -> Any:
        return ir.Constant(_VECTOR, [number] * LANES)

    def _sum(self, of_i: Any, of_j: Any, k: int) -> Any:
        """Entry k of the course of the row, plus those of the courses of the columns."""
        do = self.do
        number = do.load(do.gep(of_i, [do.add(do.mul(_WHOLE(k), self.rows), self.row)]))
        nothing, first = ir.Constant(_VECTOR, ir.Undefined), ir.IntType(32)(0)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
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

    def _store(self, value: Any, where: Any) -> None:
        self.do.store(value, self._vector(where, self.row), align=8)

    def _vector(self, array: Any, row: Any) -> Any:
        """Where the entries of a row for the present columns are."""
        place = self.do.add(self.do.mul(row, self.cols), self.col)
        return self.do.bitcast(self.do.gep(array, [place]), _VECTOR.as_pointer())
