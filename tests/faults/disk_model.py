"""What a disk may hold after the power failed: a file's bytes are sure from its fsync on, a name from the fsync of its folder on.
All else may have come through, in part, as rubbish, or not at all."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class File:
    now: bytes = b""
    sure: bytes = b""


@dataclass
class Folder:
    now: dict = field(default_factory=dict)
    sure: dict = field(default_factory=dict)


class Disk:
    """Everything below one folder, which is sure itself."""

    def __init__(self, top: Path):
        self.top, self.root = top, Folder()

    def _place(self, path: str):
        """(folder, name) of a path."""
        *folders, name = Path(path).relative_to(self.top).parts
        at = self.root
        for part in folders:
            at = at.now[part]
        return at, name

    def node(self, path: str):
        if Path(path) == self.top:
            return self.root
        folder, name = self._place(path)
        return folder.now[name]

    def apply(self, call: str, path: str, to: str, data: bytes):
        if call == "sync":
            node = self.node(path)
            node.sure = dict(node.now) if isinstance(node, Folder) else node.now
            return
        folder, name = self._place(path)
        if call in ("open", "create"):
            file = folder.now.setdefault(name, File())
            if call == "create":
                file.now = b""
        elif call == "write":
            folder.now[name].now += data
        elif call == "mkdir":
            folder.now[name] = Folder()
        elif call in ("unlink", "rmdir"):
            del folder.now[name]
        else:
            other, other_name = self._place(to)
            moved, replaced = folder.now.pop(name), other.now.get(other_name)
            if call == "exchange":
                folder.now[name] = replaced
            other.now[other_name] = moved

    def write_out(self, where: Path, choose):
        """choose(node) says what became of it: "sure" or "now"; of files with more bytes than are sure also "half" or "zeros"."""
        self._write_folder(self.root, where, choose)

    def _write_folder(self, folder: Folder, where: Path, choose):
        where.mkdir(parents=True, exist_ok=True)
        names = folder.sure if choose(folder) == "sure" else folder.now
        for name, node in names.items():
            if isinstance(node, Folder):
                self._write_folder(node, where / name, choose)
            else:
                (where / name).write_bytes(contents(node, choose(node)))


def contents(file: File, what: str) -> bytes:
    if file.now == file.sure or what == "now":
        return file.now
    if what == "sure":
        return file.sure
    return file.now[:len(file.now) // 2] if what == "half" else bytes(len(file.now))
