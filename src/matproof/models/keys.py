"""The provider's key: from the environment, or from a file that nobody else can read. Never shown, never logged."""

import os
import re
import stat
from pathlib import Path

from matproof.config.models import Provider
from matproof.core.errors import InputError

_SHAPE = re.compile(r"[!-~]{8,4096}")


def read_key(provider: Provider, *, name: str = "provider") -> str:
    """The key of `provider`, called `name` in messages. Raises InputError, which never quotes the key."""
    if provider.key_env and (key := os.environ.get(provider.key_env, "").strip()):
        return _checked(key, f"environment variable {provider.key_env}")
    if provider.key_file:
        path = Path(provider.key_file).expanduser()
        return _checked(_read_private(path), str(path))
    remedy = f"set {provider.key_env}, or give key_file" if provider.key_env else "give key_env or key_file"
    raise InputError("models.yaml", f"providers.{name}", "no key found", remedy)


def _read_private(path: Path) -> str:
    try:
        # Opened first and asked afterwards: what is checked is what is read.
        with path.open("rb") as stream:
            state = os.fstat(stream.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise InputError(path, "", "not a plain file", "put the key into a file of its own")
            if state.st_mode & 0o177:
                mode = f"{stat.S_IMODE(state.st_mode):04o}"
                raise InputError(path, "", f"its mode is {mode}, others could read the key", "chmod 600 the file")
            if state.st_uid != os.geteuid():
                raise InputError(path, "", "belongs to another user", "use a file of your own")
            return stream.read(10_000).decode("ascii", "replace").strip()
    except OSError as error:
        raise InputError(path, "", f"can't be read ({error.strerror})", "create it with mode 0600") from error


def _checked(key: str, where: str) -> str:
    if not _SHAPE.fullmatch(key):
        problem = "does not hold a key (one word of at least 8 plain characters)"
        raise InputError(where, "", problem, "put nothing but the key there")
    return key
