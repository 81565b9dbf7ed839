"""What a check and verify cost: far from the measured numbers, so that only a change of kind fails here."""

from amends.benchmarks.check_bench import measure


def test_a_check_is_quick_and_does_not_grow_with_the_record():
    measured = measure()
    short, long = (spread.p50 for name, spread in measured.items() if name.startswith("check"))
    (verify,) = (spread.p50 for name, spread in measured.items() if name.startswith("verify"))
    assert short < 100
    assert long < short * 2 + 5
    assert verify < 5_000_000
