"""Results are cut before Temporal sees them, and an undo keeps what it needs (SPEC 13.3)."""

from amends.contract.sizes import LARGEST_RESULT, fit

BODY = "x" * (LARGEST_RESULT + 1)


def test_a_result_that_fits_is_left_alone() -> None:
    assert fit({"id": "r-1", "rows": [1, 2]}, ("id",)) == {"id": "r-1", "rows": [1, 2]}


def test_a_large_result_keeps_the_fields_an_undo_needs_and_says_how_large_it_was() -> None:
    kept = fit({"id": "r-1", "meta": {"version": 3, "body": BODY}, "body": BODY}, ("id", "meta.version"))
    assert isinstance(kept, dict)
    assert kept["id"] == "r-1"
    assert kept["meta"] == {"version": 3}
    assert isinstance(kept["amends_left_out"], int)
    assert kept["amends_left_out"] > 2 * LARGEST_RESULT
    assert "body" not in kept


def test_a_kept_field_that_is_itself_too_large_is_left_out() -> None:
    kept = fit({"id": "r-1", "body": BODY}, ("id", "body"))
    assert isinstance(kept, dict)
    assert set(kept) == {"id", "amends_left_out"}


def test_a_large_text_is_left_out_whole() -> None:
    assert fit(BODY, ()) == {"amends_left_out": len(BODY) + 2}


def test_a_path_that_leads_nowhere_is_ignored() -> None:
    assert fit([BODY], ("id", "a.b")) == {"amends_left_out": len(BODY) + 4}
