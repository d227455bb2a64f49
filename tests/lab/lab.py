"""The lab: two to four hosts on one machine, joined by a switch of a set speed.

Each host is a set of namespaces (network, host name, mounts) that a holder process keeps: interface eth0 with an address of
its own, host name host-a, host-b, ..., and a disk of its own that every host sees under the same path (lab.disk). What a
host writes there, no other host sees. The machine's own network is not touched, and everything vanishes with the holders.

    with Lab(hosts=2, rate="100mbit", folder=tmp_path) as lab:
        lab.run("host-b", ["ping", "-c1", "host-a"])
        lab.mpirun([program, "train", ...], workers=2)      # on all hosts, as people call it
        lab.pull_cable("host-b"); lab.plug_in("host-b"); lab.set_rate("1gbit"); lab.full_speed()
"""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NETWORK = "10.77.0"
# A bucket that lets a rate be reached: too small a one wastes what the timer's ticks leave over.
BURST = {"100mbit": "64kb", "1gbit": "256kb"}


def missing() -> str:
    """Why there can be no lab here; empty when there can."""
    if os.geteuid() != 0:
        return "needs root: makes network namespaces"
    for tool in ("ip", "tc", "unshare", "nsenter"):
        if not shutil.which(tool):
            return f"needs {tool}"
    tried = subprocess.run(["unshare", "--net", "--uts", "--mount", "sh", "-c",
                            "ip link add br0 type bridge && ip link add v0 type veth peer name v1 && "
                            "tc qdisc add dev v0 root tbf rate 1gbit burst 256kb latency 50ms && hostname host-x && mount -t sysfs sysfs /sys"],
                           capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"namespaces or traffic control are not allowed here: {tried.stderr.strip()}"


class Lab:
    def __init__(self, hosts: int, rate: str, folder: Path):
        assert 2 <= hosts <= 4
        self.names = [f"host-{letter}" for letter in "abcd"[:hosts]]
        self.address = {name: f"{NETWORK}.{number}" for number, name in enumerate(self.names, 1)}
        self.folder = folder
        self.disk = folder / "disk"
        self.disk.mkdir(parents=True, exist_ok=True)  # what hosts had on their disks before is there again
        self._holders = {}
        self._started = []
        try:
            self._build(rate)
        except BaseException:
            self.close()
            raise

    # --- hosts and cables ---------------------------------------------------------------------------------------------

    def _build(self, rate: str):
        (self.folder / "etc-hosts").write_text(
            "127.0.0.1 localhost\n" + "".join(f"{ip} {name}\n" for name, ip in self.address.items()))
        self._holders["switch"] = self._hold("switch", "true")
        self._in("switch", "ip link add br0 type bridge && ip link set br0 up && ip link set lo up")
        for name in self.names:
            own = self.folder / name
            own.mkdir(exist_ok=True)
            self._holders[name] = self._hold(
                name, f"mount --bind {own} {self.disk} && mount --bind {self.folder}/etc-hosts /etc/hosts && "
                      "mount -t sysfs sysfs /sys")  # each network has a /sys/class/net of its own
            self._in("switch", f"ip link add {name} type veth peer name eth0 netns {self._holders[name].pid} && "
                               f"ip link set {name} master br0 && ip link set {name} up")
            self._in(name, f"ip link set lo up && ip addr add {self.address[name]}/24 dev eth0 && ip link set eth0 up")
        (self.folder / "hosts").write_text(
            "".join(f"{ip} {name} {self._holders[name].pid}\n" for name, ip in self.address.items()))
        self.set_rate(rate)

    def _hold(self, name: str, setup: str) -> subprocess.Popen:
        holder = subprocess.Popen(
            ["unshare", "--net", "--uts", "--mount", "sh", "-c", f"hostname {name} && {setup} && echo ready && exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if holder.stdout.readline() != "ready\n":
            raise RuntimeError(f"cannot make {name}: {holder.stderr.read().strip()}")
        return holder

    def command(self, host: str, command: list) -> list:
        """The command line that runs a command in a host, on its own disk."""
        return ["nsenter", "--target", str(self._holders[host].pid), "--net", "--uts", "--mount",
                "sh", "-c", 'cd "$0" && exec "$@"', str(self.disk), *map(str, command)]

    def _in(self, host: str, script: str):
        subprocess.run(self.command(host, ["sh", "-c", script]), check=True, capture_output=True, text=True)

    def set_rate(self, rate: str):
        """Of every cable, in both directions; also while something runs."""
        burst = BURST.get(rate, "128kb" if rate.endswith("mbit") else "8kb")  # of a kbit link: or a probe would see little else
        shape = f"root tbf rate {rate} burst {burst} latency 50ms"
        for name in self.names:
            self._in(name, f"tc qdisc replace dev eth0 {shape}")
            self._in("switch", f"tc qdisc replace dev {name} {shape}")

    def full_speed(self):
        """As fast as the machine moves memory, from now on."""
        for name in self.names:
            self._in(name, "tc qdisc del dev eth0 root")
            self._in("switch", f"tc qdisc del dev {name} root")

    def pull_cable(self, host: str):
        """Silence: nothing arrives, and nobody is told that a connection ended."""
        self._in("switch", f"ip link set {host} down")

    def plug_in(self, host: str):
        self._in("switch", f"ip link set {host} up")

    def bytes_sent(self, host: str) -> int:
        """By a host's interface since it was made."""
        counters = Path(f"/proc/{self._holders[host].pid}/net/dev").read_text()  # at once, where a program would have to start first
        return int(counters.split("eth0:")[1].split()[8])

    # --- programs -----------------------------------------------------------------------------------------------------

    def _environment(self, env) -> dict:
        merged = {**os.environ, "TANDEM_LAB": str(self.folder), "OMPI_MCA_plm_rsh_agent": str(HERE / "rsh-agent")}
        merged.update({key: str(value) for key, value in (env or {}).items()})
        return merged

    def start(self, host: str, command: list, env=None, **options) -> subprocess.Popen:
        process = subprocess.Popen(self.command(host, command), env=self._environment(env), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                   **options)
        self._started.append(process)
        return process

    def forget(self, process: subprocess.Popen):
        """One that was started and has ended."""
        self._started.remove(process)

    def run(self, host: str, command: list, env=None, timeout=120) -> subprocess.CompletedProcess:
        """Standard output and error together, as text."""
        process = self.start(host, command, env)
        try:
            output, _ = process.communicate(timeout=timeout)
        finally:
            self.forget(process)
            if process.poll() is None:
                process.kill()
                process.wait()
        return subprocess.CompletedProcess(command, process.returncode, output)

    def mpirun_command(self, command: list, workers: int) -> list:
        """As in docs/launch.md, started on host-a."""
        hosts = ",".join(f"{self.address[name]}:{workers}" for name in self.names)
        return ["mpirun", "--allow-run-as-root", "-n", str(workers * len(self.names)), "-H", hosts, "-bind-to", "none",
                "-map-by", "slot", "--mca", "btl_tcp_if_include", "eth0", "-x", "NCCL_SOCKET_IFNAME=eth0",
                "-x", "NCCL_DEBUG=INFO", *map(str, command)]

    def mpirun(self, command: list, workers: int = 2, **options) -> subprocess.CompletedProcess:
        return self.run(self.names[0], self.mpirun_command(command, workers), **options)

    def start_mpirun(self, command: list, workers: int = 2, **options) -> subprocess.Popen:
        return self.start(self.names[0], self.mpirun_command(command, workers), **options)

    # --- the end ------------------------------------------------------------------------------------------------------

    def processes(self, host: str) -> list:
        """Ids of all processes in a host but its holder."""
        holder = self._holders[host]
        try:
            home = os.readlink(f"/proc/{holder.pid}/ns/net")
        except OSError:  # the holder has ended, and the host with it
            return []
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == holder.pid:
                continue
            try:
                if os.readlink(entry / "ns/net") == home:
                    found.append(int(entry.name))
            except OSError:  # it ended meanwhile
                pass
        return found

    def close(self):
        for host in list(self._holders):
            if self._holders[host].poll() is None:
                for _ in range(50):
                    left = self.processes(host)
                    if not left:
                        break
                    for pid in left:
                        try:
                            os.kill(pid, signal.SIGKILL)
                        except ProcessLookupError:
                            pass
                    time.sleep(0.02)
        for process in self._started:
            process.wait()
            process.stdout.close()
        for holder in self._holders.values():
            holder.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
