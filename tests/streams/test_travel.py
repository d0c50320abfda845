"""Can a stream that is in several hands give two of them the same noise?"""

import copy
import multiprocessing
import pickle
import threading

import numpy as np
import pyarrow as pa
import pytest
from conftest import KEY

import fastnoise as fn

MECHANISM = fn.Staircase(epsilon=1.0)
CHOICE = fn.StaircaseChoice(epsilon=1.0)
PLAN = {"columns": {"income": {"mechanism": "laplace", "epsilon": 1.0, "sensitivity": 1.0}}}
CURE = r"at\(row\).*rows="

TRAVELS = {
    "pickle": lambda stream: pickle.loads(pickle.dumps(stream)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickled twice": lambda stream: pickle.loads(pickle.dumps(copy.copy(stream))),
}
KINDS = {
    "stream": lambda stream: stream,
    "child": lambda stream: stream.child("worker"),
    "grandchild": lambda stream: stream.child(1).child(2),
    "of a seed": lambda stream: fn.Stream(5),
}


def noise(stream, n=8):
    return MECHANISM.sample(n, stream=stream).tolist()


def table():
    return pa.table({"income": np.zeros(8)})


ADVANCES = {
    "sample": noise,
    "perturb": lambda stream: MECHANISM.perturb(np.zeros(8), stream=stream),
    "choose": lambda stream: CHOICE.choose(np.zeros((8, 3)), stream=stream),
    "plan": lambda stream: fn.Plan(PLAN).perturb(table(), stream=stream),
    "its child": lambda stream: noise(stream.child("x")),
    "child of its view": lambda stream: noise(stream.at(3).child("x")),
}


@pytest.mark.filterwarnings("ignore::fastnoise.InsecureStreamWarning")
@pytest.mark.parametrize("advance", ADVANCES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("travel", TRAVELS)
def test_travelled__never_advances(travel, kind, advance, stream):
    for used in (False, True):
        one = KINDS[kind](stream)
        if used:
            noise(one)
        away = TRAVELS[travel](one)
        with pytest.raises(RuntimeError, match=CURE):
            ADVANCES[advance](away)
        assert len(noise(one)) == 8  # the one that stayed goes on


@pytest.mark.filterwarnings("ignore::fastnoise.InsecureStreamWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("travel", TRAVELS)
def test_travelled__is_addressed(travel, kind, stream):
    one = KINDS[kind](stream)
    away = TRAVELS[travel](one)
    assert noise(away.at(5)) == noise(one.at(5))
    assert noise(away.child("x").at(5)) == noise(one.child("x").at(5))
    rows = [9, 2, 4]
    keyed = [MECHANISM.perturb(np.zeros(3), stream=s.child("x"), rows=rows) for s in (away, one)]
    assert np.array_equal(*keyed)


@pytest.mark.parametrize("travel", TRAVELS)
def test_travelled_views__serve_one_call(travel, stream):
    view = stream.at(20)
    away = TRAVELS[travel](view)
    assert noise(away) == noise(stream.at(20))
    with pytest.raises(RuntimeError, match=CURE):
        noise(away)
    for leave in TRAVELS.values():
        with pytest.raises(TypeError, match=CURE):
            leave(away)
    assert noise(view, 3) + noise(view, 5) == noise(stream.at(20))  # at home it goes on


def test_views_of_travelled_streams__serve_one_call(stream):
    view = copy.copy(stream).at(20)
    assert noise(view) == noise(stream.at(20))
    with pytest.raises(RuntimeError, match=CURE):
        noise(view)


def test_used_views__cannot_travel(stream):
    view = stream.at(20)
    noise(view)
    for leave in TRAVELS.values():
        with pytest.raises(TypeError, match=CURE):
            leave(view)


def test_travelled_views__serve_one_of_many_threads(stream):
    view, served = copy.copy(stream.at(20)), []

    def work():
        try:
            served.append(noise(view))
        except RuntimeError:
            served.append(None)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(served) == 8
    assert [drawn for drawn in served if drawn] == [noise(stream.at(20))]


def test_plans_by_position__refuse_travelled_views(stream):
    """A plan draws batch by batch; one call of a view would be the first of them."""
    with pytest.raises(RuntimeError, match=CURE):
        fn.Plan(PLAN).perturb(table(), stream=copy.copy(stream.at(3)))


def test_plans_by_ids__take_travelled_streams(stream):
    plan = fn.Plan({**PLAN, "key": "id"})
    data = table().append_column("id", pa.array(range(8)))
    assert plan.perturb(data, stream=copy.copy(stream)).equals(plan.perturb(data, stream=stream))


def _in_child(use, queue):
    try:
        queue.put(("noise", use()))
    except RuntimeError as problem:
        queue.put(("refused", str(problem)))


def forked(use):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(use, queue))
    child.start()
    try:
        return queue.get(timeout=20)
    finally:
        child.kill()  # if it waits for ever
        child.join()


def test_fork__streams_and_children_of_the_parent_never_advance(stream):
    used, child = fn.Stream.from_key(KEY), stream.child("worker")
    noise(used)
    uses = {
        "fresh": lambda: noise(stream),
        "used": lambda: noise(used),
        "child of the parent": lambda: noise(child),
        "child made here": lambda: noise(stream.child("worker")),
        "child of a child": lambda: noise(child.child(1)),
        "child of a view": lambda: noise(stream.at(3).child(1)),
    }
    for name, use in uses.items():
        outcome, text = forked(use)
        assert outcome == "refused", name
        assert "at(row)" in text
        assert "rows=" in text


def test_fork__unused_views_serve_one_call(stream):
    view, used = stream.at(20), stream.at(40)
    noise(used)

    def twice(one):
        first = noise(one)
        with pytest.raises(RuntimeError, match=CURE):
            noise(one)
        return first

    assert forked(lambda: twice(view)) == ("noise", noise(stream.at(20)))
    assert forked(lambda: twice(stream.at(3))) == ("noise", noise(stream.at(3)))
    assert forked(lambda: noise(used))[0] == "refused"


def test_fork__rows_and_streams_made_there_work(stream):
    def keyed():
        return MECHANISM.perturb(np.zeros(3), stream=stream, rows=[1, 2, 3]).tolist()

    assert forked(keyed) == ("noise", keyed())
    assert forked(lambda: noise(fn.Stream.from_key(KEY))) == ("noise", noise(stream.at(0)))


def test_fork__a_child_whose_parent_was_drawing_does_not_wait(stream):
    """The parent's lock is taken for good in a child that is forked while another thread has it."""
    view = stream.at(20)
    with view._lock:
        assert forked(lambda: noise(view))[0] == "refused"


def test_fork__a_child_of_a_child_is_another_process(stream):
    def grandchild():
        made_here = fn.Stream.from_key(KEY)
        return forked(lambda: noise(made_here))[0]

    assert forked(grandchild) == ("noise", "refused")


def _drawn_in_a_worker(stream):
    try:
        return noise(stream)
    except RuntimeError as problem:
        return str(problem)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_pools__two_workers_never_get_the_same_noise(method, stream):
    with multiprocessing.get_context(method).Pool(2) as pool:
        for text in pool.map(_drawn_in_a_worker, [stream, stream], chunksize=1):
            assert "rows=" in text
        parts = pool.map(_drawn_in_a_worker, [stream.at(0), stream.at(8)], chunksize=1)
    assert parts[0] + parts[1] == noise(stream.at(0), 16)


def test_repr__says_that_it_has_travelled(stream):
    assert "addressed only" in repr(copy.copy(stream))
    assert KEY.hex() not in repr(copy.copy(stream))
