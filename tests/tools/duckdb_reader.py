# SPDX-License-Identifier: Apache-2.0
"""Ask DuckDB itself, through its C interface and without the program: an independent reader of Parquet files."""
import ctypes
import os
import pathlib

import tap


def library(program):
    """The library that the program finds, or a skipped test."""
    places = [os.environ.get("TRACEVIEW_DUCKDB", "")] + [
        str(folder / "libduckdb.so") for folder in list(pathlib.Path(program).resolve().parents)[:3]]
    for place in places:
        if place and os.path.exists(place):
            return ctypes.CDLL(place)
    raise tap.Skipped("there is no libduckdb.so: run `make sql`")


class Result(ctypes.Structure):
    """duckdb_result, which has six words; two to spare."""
    _fields_ = [("words", ctypes.c_uint64 * 8)]


class Reader:
    """A database in memory."""

    def __init__(self, program):
        self.duck = library(program)
        self.connection = ctypes.c_void_p()
        database = ctypes.c_void_p()
        for function in ("duckdb_column_count", "duckdb_row_count"):
            getattr(self.duck, function).restype = ctypes.c_uint64
        self.duck.duckdb_result_error.restype = ctypes.c_char_p
        self.duck.duckdb_value_varchar.restype = ctypes.c_void_p
        self.duck.duckdb_value_varchar.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        assert self.duck.duckdb_open(None, ctypes.byref(database)) == 0
        assert self.duck.duckdb_connect(database, ctypes.byref(self.connection)) == 0

    def ask(self, query):
        """The rows, as lists of texts; None is NULL."""
        result = Result()
        at = ctypes.byref(result)
        assert self.duck.duckdb_query(self.connection, query.encode(), at) == 0, \
            (query, self.duck.duckdb_result_error(at).decode())
        rows = []
        for row in range(self.duck.duckdb_row_count(at)):
            texts = [self.duck.duckdb_value_varchar(at, column, row) for column in range(self.duck.duckdb_column_count(at))]
            rows.append([ctypes.cast(text, ctypes.c_char_p).value.decode() if text else None for text in texts])
        self.duck.duckdb_destroy_result(at)
        return rows
