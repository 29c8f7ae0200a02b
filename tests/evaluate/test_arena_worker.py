"""Tests of the arena's search workers: stops at any moment of a request, and ended processes."""

import asyncio
import time

import pytest

from ludoteca.envs.records import batch_of_one
from ludoteca.envs.registry import make_game
from ludoteca.envs.serialization import states_to_bytes
from ludoteca.evaluate.arena import job
from ludoteca.evaluate.arena import worker as worker_module
from ludoteca.evaluate.arena.requests import (
    COMPUTING,
    SEARCHING,
    AgentsRequest,
    AnalysisRequest,
    RequestHandler,
)
from ludoteca.evaluate.arena.worker import SearchWorker, SearchWorkers

pytestmark = pytest.mark.interpreted

LIMIT = 60  # seconds until a test that waits fails


def request(agent="searcher", owner="game/play", kind="analysis"):
    """Return the request for an analysis of the first position of tic-tac-toe."""
    return AnalysisRequest(
        owner, "tictactoe", agent, seed=0, start=None, actions=(), seat=0, kind=kind
    )


class ScriptedProcess:
    """Double of `WorkerProcess` that sends the messages that a test passes to `message`.

    `sent` has the kinds and request numbers of the messages to the process.
    """

    def __init__(self, receive):
        self.receive, self.sent = receive, []
        self.is_ready, self.is_alive, self.was_killed = False, True, False
        self.pid = id(self)

    def send(self, kind, number, content=None):
        self.sent.append((kind, number))

    def kill(self):
        self.is_ready, self.was_killed = False, True

    def start(self):
        self.is_ready = True
        self.message("ready", 0)

    def end(self, exit_code=-9):
        self.is_ready = self.is_alive = False
        self.message("ended", 0, exit_code)

    def message(self, kind, number, content=None):
        self.receive(self, kind, number, content)


@pytest.fixture
def processes(monkeypatch):
    """Return the list of the started `ScriptedProcess`; their time limits are 0.1 s."""
    started = []

    def start(receive):
        started.append(ScriptedProcess(receive))
        return started[-1]

    monkeypatch.setattr(worker_module, "WorkerProcess", start)
    for name in ("ACKNOWLEDGE_SECONDS", "SEARCHING_SECONDS", "COMPUTING_SECONDS"):
        monkeypatch.setattr(job, name, 0.1)
    return started


def run(scenario):
    """Run a coroutine to its end."""
    asyncio.run(asyncio.wait_for(scenario, LIMIT))


async def wait_until(condition):
    """Let the event loop run until a condition holds."""
    while not condition():
        await asyncio.sleep(0.001)


async def start_request(worker, processes, phase=SEARCHING, progress=None):
    """Let a new process enter a phase of a request; return the task, the process and the number."""
    task = asyncio.create_task(worker.handle(request(), progress))
    await wait_until(lambda: processes)
    processes[-1].start()
    await wait_until(lambda: processes[-1].sent)
    number = processes[-1].sent[-1][1]
    if phase:
        processes[-1].message("phase", number, phase)
    return task, processes[-1], number


def test_a_stop_while_the_process_starts_is_answered_at_once(processes):
    async def scenario():
        worker = SearchWorker()
        task = asyncio.create_task(worker.handle(request()))
        await wait_until(lambda: processes)
        worker.stop("game/play")
        assert (await task)["note"] == "searcher was stopped before its search began"
        processes[0].start()
        later = asyncio.create_task(worker.handle(request()))
        await wait_until(lambda: processes[0].sent)
        assert processes[0].sent == [("request", 2)]  # not the request that was stopped
        processes[0].message("answer", 2, {"analysis": 5})
        assert await later == {"analysis": 5}

    run(scenario())


def test_a_stop_reaches_requests_that_wait_but_only_those_of_its_owner(processes):
    async def scenario():
        worker = SearchWorker()
        first, process, number = await start_request(worker, processes)
        mine = asyncio.create_task(worker.handle(request()))
        other = asyncio.create_task(worker.handle(request(owner="other/play")))
        await asyncio.sleep(0)
        worker.stop("game/play")
        assert "before its search began" in (await mine)["note"]
        assert process.sent[1:] == [("stop", number)]
        process.message("stopping", number)
        process.message("answer", number, {"analysis": 1, "stopped": True})
        assert await first == {"analysis": 1, "stopped": True}
        await wait_until(lambda: len(process.sent) == 3)
        process.message("answer", process.sent[-1][1], {"analysis": 2})
        assert await other == {"analysis": 2}
        assert not process.was_killed

    run(scenario())


def test_a_stop_during_a_compilation_is_answered_and_the_compilation_is_finished(processes):
    async def scenario():
        worker, reports = SearchWorker(), []
        task, process, number = await start_request(worker, processes, "", reports.append)
        process.message("compiling", number, "compiling tictactoe")
        worker.stop("game/play")
        assert "while its code was compiled or loaded" in (await task)["note"]
        assert reports == [{"compiling": "compiling tictactoe"}, {"compiling": ""}]
        later = asyncio.create_task(worker.handle(request()))
        # Longer than the limits of 0.1 s, none of which applies to a compilation.
        await asyncio.sleep(0.3)
        assert not process.was_killed
        assert len(process.sent) == 2
        process.message("compiling", number, "")
        process.message("answer", number, {"stopped": True})
        await wait_until(lambda: len(process.sent) == 3)
        process.message("answer", process.sent[-1][1], {"analysis": 7})
        assert await later == {"analysis": 7}

    run(scenario())


@pytest.mark.parametrize(
    ("phase", "acknowledged"), [(SEARCHING, True), (SEARCHING, False), (COMPUTING, True)]
)
def test_a_process_that_does_not_stop_is_killed_and_the_next_request_has_another(
    processes, phase, acknowledged
):
    async def scenario():
        worker = SearchWorker()
        task, process, number = await start_request(worker, processes, phase)
        worker.stop("game/play")
        worker.stop("game/play")  # a second stop does nothing
        if acknowledged:
            process.message("stopping", number)
        later = asyncio.create_task(worker.handle(request()))
        await wait_until(lambda: process.was_killed)
        process.end()
        assert await task == {
            "stopped": True,
            "note": "searcher did not stop by itself, so its process was ended",
        }
        assert process.sent == [("request", number), ("stop", number)]
        await wait_until(lambda: len(processes) == 2)
        processes[1].start()
        await wait_until(lambda: processes[1].sent)
        processes[1].message("answer", processes[1].sent[0][1], {"analysis": 1})
        assert await later == {"analysis": 1}

    run(scenario())


def test_an_answer_that_comes_while_the_process_is_killed_is_not_that_of_a_later_request(processes):
    async def scenario():
        worker = SearchWorker()
        task, process, number = await start_request(worker, processes, COMPUTING)
        worker.stop("game/play")
        later = asyncio.create_task(worker.handle(request()))
        await wait_until(lambda: process.was_killed)
        process.message("answer", number, {"analysis": 1})
        assert await task == {"analysis": 1}
        await asyncio.sleep(0.05)
        assert len(process.sent) == 2  # the later request waits for another process
        process.end()
        await wait_until(lambda: len(processes) == 2)
        processes[1].start()
        await wait_until(lambda: processes[1].sent)
        processes[1].message("answer", processes[1].sent[0][1], {"analysis": 2})
        assert await later == {"analysis": 2}

    run(scenario())


def test_a_stop_after_the_answer_does_nothing(processes):
    async def scenario():
        worker = SearchWorker()
        task, process, number = await start_request(worker, processes)
        process.message("answer", number, {"analysis": 1})
        worker.stop("game/play")
        assert await task == {"analysis": 1}
        worker.stop("game/play")
        await asyncio.sleep(0.2)
        assert process.sent == [("request", number)]
        assert not process.was_killed
        process.message("stopping", number)  # late messages are ignored
        process.message("answer", number, {"analysis": 2})
        process.message("progress", 99, {})  # a number of no request

    run(scenario())


def test_the_end_of_a_process_is_a_failure_with_its_exit_code(processes):
    async def scenario():
        worker = SearchWorker()
        task, process, _ = await start_request(worker, processes)
        process.end(-11)
        assert await task == {"failure": "searcher failed: its process ended with exit code -11"}
        never = asyncio.create_task(worker.handle(request()))
        await wait_until(lambda: len(processes) == 2)
        processes[1].end(1)
        assert await never == {"failure": "the process for searches ended while it was started"}

    run(scenario())


def test_requests_that_are_not_wanted_any_more_are_not_sent(processes):
    async def scenario():
        worker = SearchWorker()
        answer = await worker.handle(request(), is_wanted=lambda: False)
        assert answer["stopped"] is True
        assert processes == []

    run(scenario())


def test_a_cancelled_request_is_stopped(processes):
    async def scenario():
        worker = SearchWorker()
        task, process, number = await start_request(worker, processes)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert process.sent[-1] == ("stop", number)
        process.message("answer", number, {"stopped": True})

    run(scenario())


def test_a_request_without_an_owner_does_not_wait_for_searches(processes):
    async def scenario():
        workers = SearchWorkers(2)
        tasks = [
            asyncio.create_task(workers.of(owner).handle(request(owner=owner)))
            for owner in ("one/play", "other/play")
        ]
        await wait_until(lambda: len(processes) == 2)
        form = asyncio.create_task(workers.handle(AgentsRequest("tictactoe", ())))
        await wait_until(lambda: len(processes) == 3)
        processes[2].start()
        await wait_until(lambda: processes[2].sent)
        processes[2].message("answer", 1, {"agents": []})
        assert await form == {"agents": []}
        assert processes[2].was_killed
        workers.close()
        await asyncio.gather(*tasks)
        assert len(processes) == 3

    run(scenario())


@pytest.mark.parametrize("moment", ["idle", "starting", "searching", "stopping", "killed"])
def test_closing_is_safe_at_any_time(processes, moment):
    async def scenario():
        worker = SearchWorker()
        tasks = []
        if moment != "idle":
            tasks.append(asyncio.create_task(worker.handle(request())))
            tasks.append(asyncio.create_task(worker.handle(AgentsRequest("tictactoe", ()))))
            await wait_until(lambda: processes)
        if moment in ("searching", "stopping", "killed"):
            processes[0].start()
            await wait_until(lambda: processes[0].sent)
            processes[0].message("phase", 1, COMPUTING)
        if moment in ("stopping", "killed"):
            worker.stop("game/play")
        if moment == "killed":
            await wait_until(lambda: processes[0].was_killed)
        worker.close()
        worker.close()
        answers = await asyncio.gather(*tasks)
        assert all(answer["note"] == "the arena is closed" for answer in answers)
        if processes:
            assert processes[0].was_killed
            processes[0].end()
        assert await worker.handle(request()) == {"stopped": True, "note": "the arena is closed"}
        await asyncio.sleep(0.05)
        assert len(processes) <= 1

    run(scenario())


async def start_until_progress(worker, agent):
    """Return a task that handles a request, once it has reported progress, and its reports."""
    reports = []
    task = asyncio.create_task(worker.handle(request(agent), reports.append))
    await wait_until(lambda: reports or task.done())
    return task, reports


@pytest.mark.slow
def test_real_processes_stop_compile_and_die():
    async def scenario():
        workers = SearchWorkers(1)
        worker = workers.of("game/play")
        starting = asyncio.create_task(worker.handle(request("stopping_agents:Stoppable")))
        await wait_until(lambda: worker.pid)
        await workers.stop("game/play")
        assert "before its search began" in (await starting)["note"]

        compiling, reports = await start_until_progress(worker, "stopping_agents:Compiling")
        pid = worker.pid
        assert reports[0]["compiling"].startswith("compiling tictactoe 3x3 search")
        begin = time.monotonic()
        await workers.stop("game/play")
        assert "compiled or loaded" in (await compiling)["note"]
        assert time.monotonic() - begin < 2  # seconds, less than the compilation takes

        search = asyncio.create_task(worker.handle(request("stopping_agents:Stoppable")))
        await wait_until(lambda: worker._current and worker._current.phase == SEARCHING)
        await workers.stop("game/play")
        answer = await search
        assert (answer["analysis"]["action"], answer["stopped"]) == (0, True)
        assert worker.pid == pid

        spec = "stopping_agents:Dying"
        dying = await worker.handle(request(spec))
        assert dying["failure"] == f"{spec} failed: its process ended with exit code 3"
        workers.close()

    run(scenario())


@pytest.mark.slow
@pytest.mark.interpreted
@pytest.mark.parametrize("agent", ["Ignoring", "Holding"])
def test_real_processes_that_do_not_stop_are_killed(agent):
    async def scenario():
        worker = SearchWorker()
        spec = f"stopping_agents:{agent}"
        task = asyncio.create_task(worker.handle(request(spec)))
        phase = SEARCHING if agent == "Ignoring" else COMPUTING
        await wait_until(lambda: worker._current and worker._current.phase == phase)
        await asyncio.sleep(0.2)
        worker.stop("game/play")
        answer = await task
        assert answer["note"] == f"{spec} did not stop by itself, so its process was ended"
        assert "analysis" in await worker.handle(request("random"))
        worker.close()

    run(scenario())


def test_a_new_game_with_the_seed_of_one_that_was_set_up_begins_at_the_start_of_the_rules():
    game = make_game("tictactoe")
    s = game.new(0)
    game.step(s, 4)
    set_up = states_to_bytes(game, batch_of_one(game, s))
    handler = RequestHandler(lambda: False)
    num_legal = []
    for start in (None, set_up, None):
        answer = handler.handle(
            AnalysisRequest("game/play", "tictactoe", "mcts:simulations=50", 0, start, (), 0),
            lambda *_: None,
        )
        num_legal.append(len(answer["analysis"]["moves"]))
    assert num_legal == [9, 8, 9]
