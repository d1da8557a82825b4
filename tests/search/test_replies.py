"""Dates and texts as APIs write them."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.replies import day, plain


@pytest.mark.parametrize(
    "value",
    ["2024-03-05", "2024-03-05T08:00:00Z", "2024-03-05 08:00:00+02:00", "Mar 5, 2024", "March 5, 2024", "5 Mar 2024",
     "Tue, 05 Mar 2024 12:00:00 GMT", 1709640000, 1709640000000, 1709640000.5],
)  # fmt: skip
def test_a_date_is_read_in_every_form_that_apis_use(value):
    assert day(value) == date(2024, 3, 5)


def test_a_date_before_now_is_read():
    assert day("3 days ago") in {(datetime.now(UTC) - timedelta(days=3, minutes=n)).date() for n in (0, 1)}


@pytest.mark.parametrize(
    "value",
    [None, "", "soon", "2024", "2024-13-45", "99999-01-01", [], {}, True, float("nan"), float("inf"), 10**30,
     "9" * 9000],
)  # fmt: skip
def test_what_is_no_date_is_none(value):
    assert day(value) is None


@settings(deadline=None)
@given(st.one_of(st.text(), st.integers(), st.floats(), st.lists(st.text())))
def test_no_value_breaks_it(value):
    assert day(value) is None or isinstance(day(value), date)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("the <b>sky</b> is&nbsp;blue &amp; <strong>far</strong>", "the sky is\xa0blue & far"),
        ("if a < b and b > c", "if a < b and b > c"),
        ("<<<<", "<<<<"),
    ],
)
def test_tags_and_entities_are_taken_out_of_an_excerpt(html, text):
    assert plain(html) == text
