import math
import threading

from lab.reproduction import run as protocols
from lab.reproduction.methods import METHODS, PAPER_METHOD
from lab.reproduction.problems import PROBLEMS
from lab.reproduction.run import run_protocol
from lab.reproduction.train import MODELS, ClassifierOptions, ReproductionCache, Run

SYNTHETIC = [PROBLEMS["synthetic-raw"]]


def _run(cache, protocol, seeds, problems=SYNTHETIC, **options):
    return run_protocol(problems, protocol, slack="binary", seeds=seeds, cache=cache, **options)


def test_honest_keeps_every_seed_and_method(cache):
    rows = _run(cache, "honest", 2)
    assert [(r.seed, r.method) for r in rows] == [(s, m) for s in (0, 1) for m in METHODS]
    assert all(r.kept for r in rows)


def test_paper_goes_on_until_enough_are_solved(cache, monkeypatch):
    solved = iter([False, True, False, False, True])
    monkeypatch.setattr(protocols, "_is_solved", lambda *run: next(solved))
    rows = _run(cache, "paper", 2)
    kept = {r.seed: r.kept for r in rows}
    assert kept == {0: False, 1: True, 2: False, 3: False, 4: True}


def test_paper_gives_up_at_last(cache, monkeypatch):
    monkeypatch.setattr(protocols, "_MOST_SEEDS_PER_WANTED", 2)
    monkeypatch.setattr(protocols, "_is_solved", lambda *run: False)
    rows = _run(cache, "paper", 1)
    assert {r.seed for r in rows} == {0, 1}
    assert not any(r.kept for r in rows)


def test_kept_is_solved_by_the_papers_method(cache):
    rows = _run(cache, "paper", 2, [PROBLEMS["hepatitis"]])
    ours = [r for r in rows if r.method == PAPER_METHOD]
    assert [r.kept for r in ours] == [r.solved for r in ours]
    assert sum(r.kept for r in ours) == 2


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, small):
    cache = ReproductionCache(tmp_path, small)
    for model in MODELS[:2]:
        cache.make(*cache.training(Run(SYNTHETIC[0], "honest", 0, model)))
    told = []
    _run(cache, "honest", 1, progress=lambda *step: told.append(step))
    assert told[0] == ("training", 1, 1)
    assert told[-1] == ("deciding", 1, 1)


def test_a_failed_training_is_a_row_a_method(tmp_path, small, monkeypatch):
    cache = ReproductionCache(tmp_path, small)
    make = cache.make

    def fail(key, run, options):
        if run.model == "smote":
            raise RuntimeError("no neighbours")
        return make(key, run, options)

    fail.check_call_in_cache = lambda *training: True
    monkeypatch.setattr(cache, "make", fail)
    rows = {r.method: r for r in _run(cache, "honest", 1)}
    assert len(rows) == len(METHODS)
    assert rows["smote"].status == "FAILED"
    assert rows["smote"].message == "RuntimeError: no neighbours"
    assert math.isnan(rows["smote"].g_mean)
    assert rows["untouched"].status == "DECIDED"


def test_other_options_and_versions_train_anew(tmp_path, small, monkeypatch):
    run = Run(PROBLEMS["pima"], "honest", 0)
    first = ReproductionCache(tmp_path, small).training(run)[0]
    assert ReproductionCache(tmp_path, ClassifierOptions()).training(run)[0] != first
    monkeypatch.setattr("lab.reproduction.train.PROTOCOL_VERSION", 99)
    assert ReproductionCache(tmp_path, small).training(run)[0] != first


def test_jobs_change_nothing(tmp_path, small, cache):
    alone = _run(cache, "honest", 1)
    lock = threading.Lock()  # like a terminal, cannot be sent to another process

    def progress(*step):
        with lock:
            pass

    together = _run(ReproductionCache(tmp_path, small), "honest", 1, jobs=2, progress=progress)
    assert [r.g_mean for r in alone] == [r.g_mean for r in together]
