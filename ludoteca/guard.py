"""Guard process that runs a command and kills it when the guard's parent ends.

`child_processes.py` starts it as a script: `python -I -S guard.py PIPE PARENT COMMAND [ARGUMENT
...]`. `PIPE` is a file descriptor, one end of a pipe, and `PARENT` the parent's process id. The
command runs in a process group of its own. The guard kills the group as soon as the other end of
the pipe, which the parent holds, is closed or written to: the kernel closes it however the parent
ends, `kill -9` included. As forks of the parent may hold that end, too, the guard also checks every
second whether the parent lives. It does no other work, so the command cannot delay it.

Interrupts and requests to terminate are forwarded to the group. The guard ends with the
exit status of the command, or by the same signal.
"""

import contextlib
import os
import select
import signal
import sys
import threading

PR_SET_PDEATHSIG = 1  # linux/prctl.h
POLL_INTERVAL = 1.0  # seconds between checks whether the parent lives
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # signals that the group receives
NOT_FOUND = 127  # the exit status of shells for commands that cannot be run


def main() -> None:
    """Run the command until the command or the parent ends."""
    if len(sys.argv) < 4:
        print("usage: python -I -S guard.py PIPE PARENT COMMAND [ARGUMENT ...]", file=sys.stderr)
        sys.exit(0 if "--help" in sys.argv else 2)
    pipe, parent, *command = sys.argv[1:]
    # Signals wait until the handlers are installed; the child has the default ones.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    guard = os.getpid()
    child = os.fork()
    if child == 0:
        _exec(command, guard)
    with contextlib.suppress(OSError):  # the child does the same; either may be first
        os.setpgid(child, child)
    for signal_number in FORWARDED:
        signal.signal(signal_number, lambda received, frame: kill_group(child, received))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    watch = threading.Thread(target=_watch, args=(int(pipe), int(parent), child), daemon=True)
    watch.start()
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    # Ends the processes that the command started; the group's id stays valid until `waitpid`.
    kill_group(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        _end_by_signal(-status)
    os._exit(status)


def die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when the thread that started it ends; Linux only.

    Args:
        parent: id of the process that started this one; if that has ended, exit at once.
    """
    if sys.platform == "linux":
        # Without `prctl`, `_watch`, or the thread of `end_with_parent` in `child_processes.py`,
        # notices that the parent has ended.
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def kill_group(group: int, signal_number: int) -> None:
    """Send a signal to all processes of a group, if any are left."""
    # macOS raises `PermissionError` if all of them have ended, but are not waited for yet.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal_number)


def _exec(command: list[str], guard: int) -> None:
    """Replace this process by the command, in a process group of its own.

    Args:
        command: the program and its arguments.
        guard: process id of the guard.
    """
    os.setpgid(0, 0)
    die_with_parent(guard)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(NOT_FOUND)


def _watch(pipe: int, parent: int, child: int) -> None:
    """Kill the child's group when the parent has ended, or asks for it through the pipe.

    Args:
        pipe: file descriptor of the guard's end of the pipe.
        parent: process id of the parent.
        child: process id of the command, which is the id of its group, too.
    """
    while os.getppid() == parent and not select.select([pipe], [], [], POLL_INTERVAL)[0]:
        pass
    kill_group(child, signal.SIGKILL)


def _end_by_signal(signal_number: int) -> None:
    """End this process by the signal that ended the command, without a second core dump."""
    import resource

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):  # SIGKILL has no handler
        signal.signal(signal_number, signal.SIG_DFL)
    os.kill(os.getpid(), signal_number)
    os._exit(128 + signal_number)  # as shells do, if the signal did not end this process


if __name__ == "__main__":
    main()
