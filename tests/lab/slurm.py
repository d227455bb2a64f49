"""A Slurm of one machine: munged, slurmctld and slurmd with files, ports and keys of their own in one folder.

    with Slurm(folder, cores=4) as slurm:
        slurm.run(["srun", "--mpi=pmix", "-n", "4", program])
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

CONFIG = """
ClusterName=tandemtest
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
ReturnToService=2
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmctldTimeout=30
SlurmdTimeout=30
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


def missing() -> str:
    """Why there can be no Slurm here; empty when there can."""
    if os.geteuid() != 0:
        return "needs root: starts Slurm's daemons"
    if not Path("/sys/fs/cgroup").is_dir():
        return "needs /sys/fs/cgroup, which slurmd looks for; a chroot may lack it"
    for tool in ("munged", "slurmctld", "slurmd", "srun"):
        if not shutil.which(tool):
            return f"needs {tool}"
    return ""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Slurm:
    def __init__(self, folder: Path, cores: int = 4):
        self.folder = folder
        self._daemons = []
        for name in ("state", "spool", "pmix"):
            (folder / name).mkdir(parents=True)
        folder.chmod(0o755)
        self.config = folder / "slurm.conf"
        self.config.write_text(CONFIG.format(host=socket.gethostname(), folder=folder, cores=cores,
                                             controller_port=free_port(), node_port=free_port()))
        try:
            self._start_munge()
            self._start("slurmctld", ["slurmctld", "-D", "-c", "-f", self.config])
            self._start("slurmd", ["slurmd", "-D", "-f", self.config])
            self._wait_until_idle()
        except BaseException:
            self.close()
            raise

    def _start(self, name: str, command: list):
        log = (self.folder / f"{name}.log").open("wb")
        self._daemons.append(subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log,
                                              stderr=subprocess.STDOUT, env=self.environment()))

    def _start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        files = [f"--{option}={self.folder}/munge.{option.split('-')[0]}" for option in ("key-file", "socket", "pid-file", "log-file", "seed-file")]
        self._start("munged", ["munged", "--foreground", "--force", *files])
        self._wait(lambda: (self.folder / "munge.socket").exists(), "munged")

    def _wait_until_idle(self):
        self._wait(lambda: "idle" in self.run(["sinfo", "-h", "-o", "%T"]).stdout, "slurmd")

    def _wait(self, ready, what: str):
        for _ in range(300):
            if ready():
                return
            if any(daemon.poll() is not None for daemon in self._daemons):
                break
            time.sleep(0.1)
        logs = "".join(path.read_text(errors="replace")[-1500:] for path in self.folder.glob("*.log"))
        raise RuntimeError(f"{what} does not start:\n{logs}")

    def environment(self, env=None) -> dict:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "PMIX_", "OMPI_"))}
        # PMIx folders are named by job and step only: those of another Slurm, or of a killed one, must not be in the way.
        return {**clean, "SLURM_CONF": str(self.config), "SLURM_PMIX_TMPDIR": str(self.folder / "pmix"), **(env or {})}

    def run(self, command: list, env=None, timeout=120) -> subprocess.CompletedProcess:
        """Standard output and error together, as text."""
        return subprocess.run([str(part) for part in command], env=self.environment(env), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout)

    def _steps(self) -> list:
        """Ids of the daemons that slurmd starts for each step; they are nobody's children."""
        ours, found = f"SLURM_CONF={self.config}".encode(), []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and (entry / "comm").read_text().startswith("slurmstepd") and \
                        ours in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:  # it ended meanwhile
                pass
        return found

    def close(self):
        for _ in range(100):  # a step that ends tells slurmctld so; without one it would try for ever
            if not self._steps():
                break
            time.sleep(0.1)
        for step in self._steps():
            os.kill(step, signal.SIGKILL)
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
