"""Executors of this machine: order, shared values, exceptions, and workers that die."""

import operator
import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from executor_tasks import Counted, count_up, kill_once, sum_of

from ludoteca import worker_pool
from ludoteca.executor import MAX_PENDING, WAIT, WorkerDiedError, make_executor, parse_executor
from ludoteca.local_executor import InlineExecutor, LocalExecutor, cores
from ludoteca.worker_pool import WorkerPool

GET = operator.methodcaller("get")  # task: returns the value of a shared value


@pytest.fixture(scope="module")
def pool():
    """Yield an executor with two worker processes."""
    with LocalExecutor(2) as executor:
        yield executor


@pytest.fixture(params=["inline", "processes"])
def executor(request):
    """Return an executor of each kind."""
    if request.param == "inline":
        return InlineExecutor()
    return request.getfixturevalue("pool")


def test_results_come_in_the_order_of_the_tasks(pool):
    tasks = [partial(time.sleep, 0.3), *(partial(pow, 2, k) for k in range(20))]
    assert list(pool.run(tasks)) == [None, *(2**k for k in range(20))]
    assert next(pool.run_unordered(tasks)) == 1


def test_tasks_are_taken_when_workers_become_free(executor):
    taken = 0

    def tasks():
        nonlocal taken
        for k in range(100):
            taken += 1
            yield partial(pow, 2, k)

    window = MAX_PENDING * executor.num_workers
    for returned, _ in enumerate(executor.run(tasks()), 1):
        assert taken <= returned + window
    assert taken == returned == 100


def test_a_slow_task_holds_up_no_more_than_the_window(pool):
    taken = []

    def tasks():
        yield partial(time.sleep, 0.5)
        for k in range(50):
            taken.append(k)
            yield partial(pow, 2, k)

    results = pool.run(tasks())
    assert next(results) is None
    assert len(taken) <= MAX_PENDING * pool.num_workers
    assert list(results) == [2**k for k in range(50)]


def test_exceptions_come_back_with_their_tracebacks(executor):
    with pytest.raises(ZeroDivisionError) as raised:
        list(executor.run([partial(pow, 2, 3), partial(divmod, 1, 0), partial(pow, 2, 4)]))
    if isinstance(executor, LocalExecutor):
        assert "run_task" in str(raised.value.__cause__)
        assert "ZeroDivisionError" in str(raised.value.__cause__)
    assert executor.reruns == 0
    assert list(executor.run([partial(pow, 3, 2)])) == [9]


def test_unpicklable_tasks_are_named(pool):
    with pytest.raises(TypeError, match=r"<lambda>.* cannot be sent to a worker: "):
        list(pool.run([lambda: 1]))
    with pytest.raises(TypeError, match=r"the result of open\('/dev/null'\) cannot be pickled"):
        list(pool.run([partial(open, "/dev/null")]))
    assert list(pool.run([partial(pow, 3, 2)])) == [9]


def test_each_worker_receives_a_shared_value_once(pool, tmp_path):
    file = str(tmp_path / "unpickled")
    shared = pool.put(Counted(file))
    assert list(pool.run([partial(GET, shared)] * 20)) == [file] * 20
    pids = [int(line) for line in Path(file).read_text().split()]
    assert sorted(pids) == sorted(set(pids))
    assert set(pids) <= set(pool.pids)
    # Many other shared values evict it from the workers; then it is sent again.
    values = [pool.put(k) for k in range(50)]
    assert list(pool.run(partial(GET, one) for one in values)) == [*range(50)]
    assert list(pool.run([partial(GET, shared)] * 4)) == [file] * 4
    many = [values[:20]] * 4
    assert list(pool.run(partial(sum_of, one) for one in many)) == [sum(range(20))] * 4


def test_shared_values_work_in_this_process():
    executor = InlineExecutor()
    assert list(executor.run([partial(GET, executor.put("weights"))])) == ["weights"]


def test_closed_stream_leaves_no_tasks_for_the_next(pool):
    pids = pool.pids
    results = pool.run([partial(pow, 2, 3), partial(time.sleep, 600)])
    assert next(results) == 8
    with pytest.raises(RuntimeError, match="one stream of tasks at a time"):
        next(pool.run([partial(pow, 2, 3)]))
    results.close()
    assert list(pool.run(partial(pow, 2, k) for k in range(5))) == [1, 2, 4, 8, 16]
    assert len(set(pool.pids) & set(pids)) == 1  # the one that slept was replaced


def test_poll_ends_the_iteration(pool):
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(pool.run([partial(time.sleep, 600)], stop))
    assert list(pool.run([partial(pow, 3, 2)])) == [9]


def test_a_task_whose_worker_dies_runs_again(pool, tmp_path, caplog):
    before = pool.reruns
    tasks = [partial(kill_once, tmp_path / f"{k % 2}", k) for k in range(6)]
    assert list(pool.run(tasks)) == [*range(6)]
    assert pool.reruns - before == 2
    assert "its task runs again: process" in caplog.text


def test_a_task_whose_workers_always_die_is_named(pool, monkeypatch):
    monkeypatch.setattr(worker_pool, "ATTEMPTS", 2)
    expected = r"_exit\(3\) was run 2 times.*process \d+ died with exit code 3; was there enough"
    with pytest.raises(WorkerDiedError, match=expected):
        list(pool.run([partial(os._exit, 3)]))
    assert list(pool.run([partial(pow, 3, 2)])) == [9]


def test_a_worker_that_died_while_it_was_free_is_replaced(pool):
    for pid in pool.pids:
        os.kill(pid, signal.SIGKILL)
    assert list(pool.run(partial(pow, 2, k) for k in range(5))) == [1, 2, 4, 8, 16]


class RefusingPool(WorkerPool):
    """Pool in this process, whose first workers, `refusals` of them, are dead when sent a task."""

    def __init__(self, refusals):
        super().__init__(2)
        self.refusals, self.jobs = refusals, {}
        self.start_missing()

    def start(self, number):
        return number, True

    def stop(self, workers):
        for worker in workers:
            self.jobs.pop(worker, None)

    def send(self, worker, job):
        self.refusals -= 1
        if self.refusals >= 0:
            return False
        self.jobs[worker] = job
        return True

    def wait(self, timeout):
        done = [(number, "done", job.task()) for number, job in self.jobs.items()]
        self.jobs.clear()
        return done


def test_all_workers_may_be_dead_when_they_get_a_task():
    for refusals in range(4):
        pool = RefusingPool(refusals)
        assert list(pool.run(partial(pow, 2, k) for k in range(5))) == [1, 2, 4, 8, 16]
        assert pool.reruns == refusals
    with pytest.raises(WorkerDiedError, match="run 4 times, and its worker died each time"):
        list(RefusingPool(4).run([partial(pow, 2, 3)]))


def test_pinned_tasks_use_state_of_their_worker(pool):
    left = [3, 5]

    def next_task(worker):
        left[worker] -= 1
        return partial(count_up, worker) if left[worker] >= 0 else None

    with pool.stream(next_task, pinned=True) as stream:
        results = [result for _, result in stream]
    assert sorted(results) == [(0, 1), (0, 2), (0, 3), *((1, k) for k in range(1, 6))]


def test_collect_with_zero_timeout_does_not_wait(executor):
    tasks = iter([partial(time.sleep, 0.2), None])
    with executor.stream(lambda worker: next(tasks, None)) as stream:
        found = stream.collect(timeout=0)
        while not stream.finished:
            found += stream.collect(timeout=0.01)
    assert found == [(0, None)]
    with executor.stream(lambda worker: WAIT) as stream:
        assert stream.collect(timeout=0) == []
        with pytest.raises(RuntimeError, match="returned WAIT"):
            stream.collect()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("local", ("", {})),
        ("ray", ("", {})),
        ("ray:auto", ("auto", {})),
        ("ray:10.0.0.1:6379", ("10.0.0.1:6379", {})),
        ("ray://head:10001", ("ray://head:10001", {})),
        ("ray,num_cpus=2", ("", {"num_cpus": 2})),
        ("ray:auto,num_cpus=0.5,num_gpus=1", ("auto", {"num_cpus": 0.5, "num_gpus": 1})),
    ],
)
def test_spec_strings_of_executors(spec, expected):
    assert parse_executor(spec) == expected


@pytest.mark.parametrize(
    "spec", ["", "rays", "local:2", "local,num_cpus=2", "ray:", "ray,cpus=2", "ray,num_cpus=-1"]
)
def test_invalid_spec_strings_of_executors_are_refused(spec):
    with pytest.raises(ValueError, match=r"executor must be local, ray, ray:auto, .*; got "):
        make_executor(spec)


def test_number_of_workers_is_checked_and_at_most_that_of_tasks():
    assert make_executor(num_workers=1).num_workers == 1
    assert isinstance(make_executor(num_workers=8, num_tasks=1), InlineExecutor)
    assert cores() >= 1
    with pytest.raises(ValueError, match="the number of workers must be"):
        make_executor(num_workers=0)
