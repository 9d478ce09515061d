"""What a person asks of the running service over its control socket: to pause, to resume, to reload or to stop."""

from collections.abc import Callable, Sequence

from syncd.daemon.control.control_socket import ControlAnswer, ControlRequest, ServedRepository
from syncd.daemon.control.pauses import Pauses
from syncd.daemon.task import Job, Task
from syncd.errors import ConfigInvalid, SyncdError

_FAULT_HINT = "all other files count from now on; the line of each mistake: syncd config check"


class Commands:
    """Carries out requests; it belongs to the main loop."""

    def __init__(
        self,
        pauses: Pauses,
        reload: Callable[[], SyncdError | None],
        stop: Callable[[], None],
        tasks: Callable[[], Sequence[Task]],
    ) -> None:
        """Prepare to answer, with the pauses, the tasks, and what reads the configuration again or ends the service."""
        self._pauses, self._reload, self._stop, self._list_tasks = pauses, reload, stop, tasks

    def carry_out(self, request: ControlRequest) -> ControlAnswer:
        """Do what a request says, and return what came of it."""
        tasks = self._list_tasks()
        chosen = [task for task in tasks if request.repository in _list_names(task.job)]
        if request.repository and not chosen:
            hint = f"it serves {', '.join(task.job.name for task in tasks)}"
            return ControlAnswer(
                exit_code=64, messages=(f"the service has no repository {request.repository}",), hint=hint
            )
        try:
            messages = tuple(self._run_command(request, chosen))
        except SyncdError as error:
            return ControlAnswer(exit_code=error.exit_code, messages=(error.what,), hint=error.hint)
        return ControlAnswer(
            messages=messages, repositories=tuple(self._describe_task(task) for task in self._list_tasks())
        )

    def _run_command(self, request: ControlRequest, tasks: Sequence[Task]) -> list[str]:
        match request.command:
            case "pause":
                return self._pauses.pause(tasks, request.seconds)
            case "resume":
                return self._pauses.resume(tasks)
            case "reload":
                if (error := self._reload()) is not None:
                    raise error
                if faults := [task.job.fault.what for task in self._list_tasks() if task.job.fault is not None]:
                    raise ConfigInvalid("; ".join(faults), hint=_FAULT_HINT)
                return ["the configuration was read again"]
            case "stop":
                self._stop()
                return ["running runs end between two steps, and the service stops"]
            case "describe" | "link":  # a link is made beside the loop, which may be busy
                return []

    def _describe_task(self, task: Task) -> ServedRepository:
        pause = self._pauses.find_pause(task.job.path)
        at, until = (pause.at, pause.until) if pause is not None else ("", "")
        return ServedRepository(name=task.job.name, path=str(task.job.path), paused_at=at, paused_until=until)


def _list_names(job: Job) -> tuple[str, ...]:
    """How a person may name a repository; "" is any."""
    return "", job.name, str(job.path), str(job.path / ".git")
