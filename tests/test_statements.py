"""What two sentences differ in, by rules."""

from __future__ import annotations

import pytest

from regen.statements import Difference, difference, proper_nouns, statement

PROPER = proper_nouns(["we met Priya Raman, Dana Lee, Berlin, Munich, Quillmont and Tide in June, and Dana O'Brien"])


def differ(one: str, other: str) -> Difference | None:
    found, back = (difference(statement(a, PROPER), statement(b, PROPER)) for a, b in ((one, other), (other, one)))
    assert (found and found.kind) == (back and back.kind)
    return found


@pytest.mark.parametrize(
    ("one", "other", "kind", "reason"),
    [
        ("The limit is 100 requests a minute.", "From 1 May 2025 the limit is 500 requests a minute.", "number",
         "numbers differ: 100 requests / 500 requests"),
        ("Refunds take two weeks.", "Refunds take 30 days.", "number", "lengths of time differ: two weeks / 30 days"),
        ("Revenue in 2024 was $4.2 million.", "Revenue in 2024 was 3.8 million dollars.", "number",
         "amounts differ: $4.2 million / 3.8 million dollars"),
        ("Backups run every six hours.", "Backups run twice a week.", "number",
         "frequencies differ: every six hours / twice a week"),
        ("The firm was founded in 2016.", "The firm was founded in 2014.", "date", "dates differ: 2016 / 2014"),
        ("The desk opens at 8 a.m.", "The desk opens at nine in the morning.", "date",
         "times of day differ: 8 a.m. / nine in the morning"),
        ("Guests may park here.", "Guests may not park here.", "denial", "only one of them denies: not"),
        ("Badges are mandatory.", "Badges are optional.", "denial", "opposites: mandatory / optional"),
        ("The disk is encrypted.", "The disk is unencrypted.", "denial", "opposites: encrypted / unencrypted"),
        ("The claim is valid.", "The claim is invalid.", "denial", "opposites: valid / invalid"),
        ("Meals cost up to $60 a day.", "Meals cost $75 a day.", "number", "amounts differ: $60 / $75"),
        ("The cli\u200bnic opens at 10 a.m.", "The clinic opens at 8 a.m.", "date",
         "times of day differ: 10 a.m. / 8 a.m."),
        ("The fee is 10 pounds sterling.", "The fee is \u00a312.", "number",
         "amounts differ: 10 pounds sterling / \u00a312"),
        ("Dana O'Brien leads support.", "Priya Raman leads support.", "name",
         "names differ: Dana O'Brien / Priya Raman"),
        ("Everyone needs eight glasses of water.", "It is a myth that everyone needs eight glasses of water.", "denial",
         "only one of them denies: myth"),
        ("Energy use rose by 5%.", "Energy use fell by 3%.", "direction", "directions differ: rose / fell"),
        ("Support is led by Priya Raman.", "Dana Lee leads support.", "name",
         "names differ: Priya Raman / Dana Lee"),
    ],
)  # fmt: skip
def test_what_differs_is_told(one: str, other: str, kind: str, reason: str) -> None:
    found = differ(one, other)
    assert found is not None
    assert (found.kind, found.reason()) == (kind, reason)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Refunds are made within 30 days.", "Refunds are made within thirty days."),
        ("Refunds are made within two weeks.", "Refunds are made within 14 days."),
        ("The launch is on 3 March 2025.", "The launch is on 2025-03-03."),
        ("Uploads may have up to 50 MB.", "Uploads may have at most 0.05 GB."),
        ("Backups run daily.", "Backups run once a day."),
        ("Revenue was $4.2 million.", "Revenue was $4,231,000."),
        ("Files may have up to 25 MB.", "Files larger than 25 megabytes are refused."),
        ("Parking is not forbidden.", "Parking is allowed."),
        ("Setup comes at no extra cost.", "Setup comes at a fixed cost."),
        ("Guests form a line.", "Guests inform a line."),
        ("Delivery takes 3 to 5 days.", "Delivery takes 4 days."),
        ("Staff get at least 20 days of leave.", "Staff get 25 days of leave."),
        ("Meals cost up to $60 a day.", "Meals cost $45 a day."),
        ("The fee for members is $10.", "The fee for non-members is $20."),
    ],
)
def test_the_same_in_other_words_is_no_difference(one: str, other: str) -> None:
    assert differ(one, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Revenue in 2023 was $4 million.", "Revenue in 2024 was $5 million."),
        ("The 2023 report is in the portal.", "The 2024 report is in the portal."),
        ("The Berlin office has 40 desks.", "The Munich office has 60 desks."),
        ("Hourly staff get 10 days.", "Salaried staff get 25 days."),
        ("Parking for visitors costs $5.", "Parking for tenants costs $9."),
        ("Version 2.1 supports 10 users.", "Version 3.0 supports 50 users."),
        ("Call +1 414 555 0199 at night.", "Call +1 414 555 0111 at night."),
        ("Berlin is led by Priya Raman.", "Munich is led by Priya Raman."),
        ("The trip takes 3 hours.", "The trip takes 40 people."),
    ],
)
def test_two_things_do_not_contradict_each_other(one: str, other: str) -> None:
    assert differ(one, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In 2019 employees had 25 days of leave.", "Employees have 28 days of leave."),
        ("Until 2015 the museum was open on five days a week.", "The museum is open on six days a week."),
        ("In 1998 a seat cost $12.", "A seat costs $35."),
        ("Members used to pay $20.", "Members pay $30."),
        ("In May 1998 a loan lasted one week.", "A loan lasts three weeks."),
        ("A day ticket formerly cost $2.", "A day ticket costs $6."),
        ("In 2010 guests were not admitted.", "Guests are admitted."),
        ("In 2015 support was led by Dana Lee.", "Priya Raman leads support."),
    ],
)
def test_how_it_was_does_not_contradict_how_it_is(one: str, other: str) -> None:
    assert differ(one, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In 2023 the limit was raised to 500 requests.", "The limit is 100 requests."),
        ("Since 2019 employees have had 25 days of leave.", "Employees have 28 days of leave."),
        ("Revenue in 2024 was $4 million.", "Revenue for 2024 is $5 million."),
        ("The wall was 2 meters high.", "The wall is 3 meters high."),
        ("In 2024 the fee is $20.", "The fee is $30."),
        ("From 2024 employees get 25 days of paid leave.", "Employees have 28 days of paid leave."),
        ("From May invoices were paid within 30 days.", "Invoices are paid within 45 days."),
    ],
)
def test_what_was_changed_or_still_holds_is_no_history(one: str, other: str) -> None:
    assert differ(one, other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The minimum length is 12 characters.", "The maximum length is 128 characters."),
        ("The abstract must have at least 150 words.", "The abstract must have at most 300 words."),
        ("The old bridge carries 10 tons.", "The new bridge carries 40 tons."),
        ("The crossing with a car costs $60.", "The crossing without a car costs $15."),
        ("The kit costs $80 plus VAT.", "The kit costs $96 including VAT."),
        ("The kit costs $80 (excl. VAT).", "The kit costs $96, VAT included."),
        ("The bonus is $4,000 before tax.", "The bonus is $2,600 after tax."),
        ("The fridge is set to 5 degrees Celsius.", "The fridge is set to 41 degrees Fahrenheit."),
        ("The fridge is set to 5 \u00b0C.", "The fridge is set to 41\u00b0F."),
        ("The course is 10 miles long.", "The course is 16 kilometers long."),
        ("A day ticket costs CHF 20.", "A day ticket costs 22 euros."),
        ("The water in the indoor pool has 28 degrees.", "The water in the outdoor pool has 22 degrees."),
    ],
)
def test_another_bound_condition_basis_or_unit_is_no_contradiction(one: str, other: str) -> None:
    assert differ(one, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The abstract must have at least 300 words.", "The abstract must have at most 150 words."),
        ("The minimum length is 12 characters.", "The minimum length is 8 characters."),
        ("The kit costs $80 plus VAT.", "The kit costs $90 plus VAT."),
        ("The oven is set to 180 \u00b0C.", "The oven is set to 200 \u00b0C."),
        ("VAT is included in the price.", "VAT is not included in the price."),
        ("The new limit is 500 requests.", "The limit is 100 requests."),
    ],
)
def test_the_same_bound_condition_basis_and_unit_leave_a_contradiction(one: str, other: str) -> None:
    assert differ(one, other) is not None


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Paper waste is collected on Tuesdays.", "From now on paper waste is collected on Fridays.",
         "days of the week differ: Tuesdays / Fridays"),
        ("The desk is staffed Monday to Friday.", "The desk is staffed Monday to Saturday.",
         "days of the week differ: Friday / Saturday"),
        ("Invoices are paid by the 10th of each month.", "Invoices are paid by the 25th of each month.",
         "ordinal numbers differ: 10th / 25th"),
        ("Rent is due on the 1st of the month.", "Rent is due on the fifth of the month.",
         "ordinal numbers differ: 1st / fifth"),
        ("The archive is on the second floor.", "The archive is on the third floor.",
         "ordinal numbers differ: second / third"),
        ("Our team finished third in the league.", "Our team finished fifth in the league.",
         "ordinal numbers differ: third / fifth"),
        ("Gloves are put on before washing.", "Gloves are put on after washing.", "opposites: before / after"),
        ("Retries are switched on.", "Retries are switched off.", "opposites: on / off"),
        ("Bikes are kept inside.", "Bikes are kept outside.", "opposites: inside / outside"),
        ("Tracking is enabled.", "Tracking is disabled.", "opposites: enabled / disabled"),
        ("Bonfires are allowed.", "Bonfires are forbidden.", "opposites: allowed / forbidden"),
        ("The yard is open on holidays.", "The yard is closed on holidays.", "opposites: open / closed"),
        ("The dye is harmless.", "The dye is dangerous.", "opposites: harmless / dangerous"),
    ],
)  # fmt: skip
def test_days_ordinals_and_opposites_are_told(one: str, other: str, reason: str) -> None:
    found = differ(one, other)
    assert found is not None
    assert found.reason() == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rent is due on the 1st of the month.", "Rent is due on the first of the month."),
        ("The first draft is read by the board.", "The second draft is read by the board."),
        ("The first exam lasts 2 hours.", "The second exam lasts 3 hours."),
        ("In the first quarter revenue rose.", "In the second quarter revenue fell."),
        ("Sales rose in the first quarter.", "Sales fell in the second quarter."),
        ("Pets stay on the first floor.", "Pets stay on the second Monday."),
        ("On Mondays the canteen has soup.", "On Tuesdays the canteen has soup."),
        ("On weekdays Tide opens at noon.", "On Mondays Tide opens at noon."),
        ("Orders before noon leave the same day.", "Orders after noon leave a day later."),
        ("The indoor pool is free.", "The outdoor pool is not free."),
    ],
)
def test_days_ordinals_and_opposites_that_say_which_are_no_contradiction(one: str, other: str) -> None:
    assert differ(one, other) is None


def test_no_text_makes_it_fail() -> None:
    texts = ("\x1b[2J \u202e" + "1," * 200, "." * 400, "hundred " * 50, "9" * 390, "every " * 60, "\u0661\u0662 a.m.")
    taken = [statement(text, PROPER) for text in texts]
    assert all(difference(one, one) is None for one in taken)
    assert {found.kind for one in taken for other in taken if (found := difference(one, other))} <= {"number"}
