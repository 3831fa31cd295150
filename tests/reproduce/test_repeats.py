"""Many jobs: in order, kept, and the same on several processes."""

import json

from timelike.reproduce import repeats, synthetic


def square(job):
    return job[0] ** 2


def test_results_come_in_order_and_are_kept(tmp_path):
    jobs = [[3], [1], [2]]
    assert repeats.run(square, jobs, tmp_path / "store", 1, "") == [9, 1, 4]

    def fail(job):
        raise AssertionError(f"{job} was computed again")

    assert repeats.run(fail, [[2], [3]], tmp_path / "store", 1, "") == [4, 9]


def test_a_line_that_was_cut_off_is_done_again(tmp_path):
    store = tmp_path / "store"
    repeats.run(square, [[1], [2]], store, 1, "")
    store.write_text(store.read_text()[:-5])
    assert repeats.run(square, [[1], [2], [3]], store, 1, "") == [1, 4, 9]
    assert [json.loads(line)["result"] for line in store.read_text().splitlines()] == [1, 4, 9]


def test_two_processes_give_the_same(tmp_path):
    jobs = [["even", 0.1, 0, r] for r in range(3)]
    alone = [synthetic.one_repeat(job) for job in jobs]
    assert repeats.run(synthetic.one_repeat, jobs, tmp_path / "store", 2, "") == alone
