"""Whether a result can be written where it is asked for: known before the work that it would be the result of."""

import errno
import os
import tempfile
from pathlib import Path

from matproof.core.errors import InputError


def check_output(path: Path, *inputs: Path) -> None:
    """Check before a job begins that its result can be written to `path` without losing one of its `inputs`.

    Directories on the way are made. Raises InputError.
    """
    if any(path.exists() and given.exists() and path.samefile(given) for given in inputs):
        raise InputError(path, "--output", "is an input too and would be lost", "name another file")
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        problem = f"can't be written ({error.strerror})"
        raise InputError(path, "--output", problem, "name a file in a directory that you may write to") from error
