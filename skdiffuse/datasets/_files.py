"""Which file of a folder is meant, what is in it, and which harness wrote it."""

import json
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from skdiffuse.datasets import _formats
from skdiffuse.datasets._formats import Run
from skdiffuse.datasets._text import decoded, document

_ZSTANDARD = 93  # the compression of Inspect's archives; `zipfile` reads it from 3.14
_RUNS = ("scenario_state.json", "*.eval", "samples_*.jsonl", "model_outputs.json")


def read_run(path: Any, argument: str) -> Run:
    """Read the one run that a file or folder holds.

    Parameters
    ----------
    path : str or path-like
        The file, or a folder with one.
    argument : str
        What it is called where it was passed.

    Returns
    -------
    Run
        With at least one example.

    Raises
    ------
    FileNotFoundError
        If there is nothing.
    ValueError
        If it holds no run, several, or one without outputs.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"{argument} ({path}): there is no such file or folder")
    try:
        run = _read(_file_of(Path(path)))
        if not run.examples:
            raise ValueError(
                f"no examples are in it ({run.format}); was the run broken off?"
            )
    except ValueError as error:
        raise ValueError(f"{argument} ({path}): {error}") from error
    except (AttributeError, KeyError, TypeError, StopIteration, IndexError) as error:
        raise ValueError(
            f"{argument} ({path}): a part is not as the harness writes it ({error!r}); "
            "make a file of records with 'id' and 'output' of it."
        ) from error
    return run


def _file_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = _files_of(path, _RUNS) or _files_of(path, ("*.json", "*.jsonl"))
    if not found:
        raise ValueError("no outputs of a harness that is known are in this folder.")
    if len(found) > 1:
        names = ", ".join(str(file.relative_to(path)) for file in found[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        raise ValueError(
            f"{len(found)} runs are in this folder: {names}{more}; name one of them."
        )
    return found[0]


def _files_of(folder: Path, kinds: Iterable[str]) -> list[Path]:
    found = (file for kind in kinds for file in folder.rglob(kind))
    return sorted(file for file in found if file.is_file())


def _read(file: Path) -> Run:
    with file.open("rb") as stream:
        start = stream.read(4)
    if start == b"PK\x03\x04":
        return _inspect_archive(file)
    content = _parsed(decoded(file.read_bytes()))
    if isinstance(content, dict):
        if "request_states" in content:
            return _formats.helm(content, file)
        if "eval" in content and ("samples" in content or "plan" in content):
            if not content.get("samples"):
                raise ValueError("this log of Inspect has a header and no samples.")
            return _formats.inspect(content, content["samples"])
        if "results" in content and ("configs" in content or "versions" in content):
            raise ValueError(
                "this is the summary of lm-evaluation-harness; pass the file "
                "samples_TASK_DATE.jsonl that --log_samples writes beside it."
            )
        content = [content]
    return _of_records(content, file)


def _of_records(records: list[Any], file: Path) -> Run:
    if not records:
        raise ValueError("it is an empty list; was the run broken off?")
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(
                f"record {row} is a {type(record).__name__}; each is an object with "
                "'output' and 'id' or 'input'."
            )
    keys = records[0].keys()
    need: set[str] = set()
    read: Callable[[list[dict[str, Any]], Path], Run] = _formats.plain
    if "doc_id" in keys and ("resps" in keys or "filtered_resps" in keys):
        need, read = {"doc_id", "resps"}, _formats.lm_eval
    elif "instance_id" in keys and ("stats" in keys or "predicted_text" in keys):
        raise ValueError(
            "this is a summary of HELM; pass its folder, with scenario_state.json."
        )
    elif {"output_1", "output_2"} <= keys:
        raise ValueError(
            "it holds both outputs of each example already (annotations of AlpacaEval);"
            " pass the model_outputs.json of each generator."
        )
    elif {"instruction", "output"} <= keys:
        need, read = {"instruction"}, _formats.alpaca_eval
    elif not ("output" in keys and ("id" in keys or "input" in keys)):
        raise ValueError(
            f"its records have {', '.join(map(repr, list(keys)[:6])) or 'no keys'}, as "
            "those of no harness that is known (HELM, lm-evaluation-harness, Inspect, "
            "AlpacaEval); name the columns 'output' and 'id' or 'input'."
        )
    for row, record in enumerate(records):
        if not need <= record.keys():
            lacking = min(need - record.keys())
            raise ValueError(f"record {row} has no {lacking!r}, which others have.")
    return read(records, file)


def _parsed(text: str) -> Any:
    """Return a document of JSON, or the list of its lines."""
    if not text.strip():
        raise ValueError("it is empty; was the run broken off?")
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("its JSON is nested too deep to be read.") from error
    except json.JSONDecodeError as error:
        whole = error
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error}).") from error
    records: list[Any] = []
    # Not splitlines: a text may hold other line ends as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                if not records:
                    raise ValueError(
                        f"it is no JSON (line {whole.lineno}, column {whole.colno}: "
                        f"{whole.msg}); is it cut short?"
                    ) from error
                raise ValueError(
                    f"line {number} is no JSON ({error}); is the file cut short?"
                ) from error
    return records


def _inspect_archive(file: Path) -> Run:
    try:
        with zipfile.ZipFile(file) as archive:
            names = archive.NameToInfo
            heads = [n for n in ("header.json", "_journal/start.json") if n in names]
            if not heads:
                raise ValueError("this archive is no log of Inspect (no header.json).")
            header = document(_member(archive, file, heads[0]), heads[0])
            return _formats.inspect(header, _inspect_samples(archive, file))
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(
            f"it is no whole archive ({error}); is it cut short?"
        ) from error


def _inspect_samples(archive: zipfile.ZipFile, file: Path) -> Iterator[dict[str, Any]]:
    for name in archive.NameToInfo:
        if name.startswith("samples/") and name.endswith(".json"):
            yield document(_member(archive, file, name), name)


def _member(archive: zipfile.ZipFile, file: Path, name: str) -> bytes:
    info = archive.NameToInfo[name]
    try:
        return archive.read(info)
    except NotImplementedError:
        if info.compress_type != _ZSTANDARD:
            raise ValueError(f"{name} is compressed in a way not known here.") from None
    except (RuntimeError, OSError, lzma.LZMAError) as error:
        raise ValueError(f"{name} in the archive cannot be read ({error}).") from error
    with file.open("rb") as stream:
        stream.seek(info.header_offset + 26)
        lengths = stream.read(4)
        # A local header: 30 bytes, the name and an extra field before the data.
        stream.seek(int.from_bytes(lengths[:2], "little"), 1)
        stream.seek(int.from_bytes(lengths[2:], "little"), 1)
        data = _unpacked(stream.read(info.compress_size))
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(f"bad checksum of {name}")
    return data


def _unpacked(data: bytes) -> bytes:
    """Decompress Zstandard with whichever module is there."""
    for name in ("backports.zstd", "zstandard"):
        try:
            zstd = import_module(name)
        except ImportError:
            continue
        try:
            if name == "backports.zstd":
                return zstd.decompress(data)
            reader = zstd.ZstdDecompressor().stream_reader(
                data, read_across_frames=True
            )
            return reader.read()
        except zstd.ZstdError as error:
            raise zipfile.BadZipFile(str(error)) from error
    raise ValueError(
        "it is compressed with Zstandard, which Python reads from 3.14 on: install "
        "zstandard (pip install zstandard; inspect_ai brings it), or convert the log: "
        "inspect log convert LOG.eval --to json --output-dir DIR."
    )
