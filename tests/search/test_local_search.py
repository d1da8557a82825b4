"""What a search over a folder returns: which passages, in what order, with which fields and warnings."""

import os
from datetime import UTC, date, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regen.errors import ConfigurationError, InputError
from search.base import SearchProvider, provider_class
from search.local import LocalSearch


def ids(results):
    return [document.id for document in results.documents]


def long_text(subject, sentences=120):
    return " ".join(f"The {subject} sentence number {n} has a few words more." for n in range(sentences))


# Ranking


def test_the_document_about_the_query_comes_first(folder, local):
    (folder / "glass.md").write_text("Window glass is not a slow liquid.")
    (folder / "water.md").write_text("Water boils at 100 degrees.")
    assert ids(local.top("is glass a liquid?")) == ["glass.md"]


@pytest.mark.parametrize("query", ["vaccinating", "VACCINATE", "vaccination", "café vaccinated"])
def test_words_are_found_by_their_stem_whatever_their_case(folder, local, query):
    (folder / "a.md").write_text("All were vaccinated at the cafe.")
    assert ids(local.top(query)) == ["a.md"]


def test_a_word_in_the_title_counts_more_than_in_the_text(folder, local):
    (folder / "a.md").write_text("---\ntitle: Notes\n---\nMoney and a salary and other things.")
    (folder / "b.md").write_text("---\ntitle: Salary\n---\nMoney and a bonus and other things.")
    assert ids(local.top("salary")) == ["b.md", "a.md"]


def test_a_query_of_stop_words_alone_still_finds_them(folder, local):
    (folder / "a.md").write_text("To be or not to be.")
    assert ids(local.top("to be or not")) == ["a.md"]


def test_no_match_is_an_empty_list_without_warning(folder, local):
    (folder / "a.md").write_text("Water boils.")
    results = local.top("zebra")
    assert (results.documents, results.warnings) == ([], [])


def test_a_query_without_spaces_between_words_that_finds_nothing_says_why(folder, local):
    (folder / "a.md").write_text("\u6599\u91d1\u306f 10 \u30e6\u30fc\u30ed")
    assert ids(local.top("\u6599\u91d1\u306f")) == ["a.md"]
    results = local.top("\u6599\u91d1")
    assert results.documents == []
    assert "a language without spaces between words" in results.warnings[0]


def test_equal_scores_stand_in_the_order_of_paths(folder, local):
    for name in ("c.md", "a.md", "d.md", "b.md"):
        (folder / name).write_text("---\ntitle: Same\n---\nThe very same text.")
    assert ids(local.top("same text", k=3)) == ["a.md", "b.md", "c.md"]


def test_scores_do_not_depend_on_what_was_edited_and_deleted_before(folder, local, tmp_path):
    for n in range(30):
        (folder / f"{n:02}.md").write_text(f"glass {'liquid ' * (n % 4)} water {n}")
    local.top("glass liquid")
    for n in range(0, 30, 2):
        (folder / f"{n:02}.md").unlink()
    (folder / "03.md").write_text("liquid glass, and much more about glass")
    afresh = LocalSearch(folder, cache=tmp_path / "other")
    assert ids(local.top("glass liquid water", k=20)) == ids(afresh.top("glass liquid water", k=20))


def test_a_file_gives_two_passages_at_most(folder, local):
    (folder / "a.txt").write_text(long_text("glass", 400))
    assert len(local.top("glass", k=10).documents) == 2


def test_distinct_files_come_before_second_passages(folder, local):
    (folder / "a.txt").write_text(long_text("glass glass glass"))
    (folder / "b.txt").write_text("Much is said here, and glass is mentioned once among many other words.")
    (folder / "c.txt").write_text("Much is said there, and glass is mentioned once among many other words.")
    assert {document.id.split("#")[0] for document in local.top("glass", k=3).documents} == {"a.txt", "b.txt", "c.txt"}


@pytest.mark.parametrize("k", [1, 2, 5])
def test_at_most_k_documents_come_back(folder, local, k):
    for n in range(8):
        (folder / f"{n}.md").write_text(f"glass {n}")
    assert len(local.top("glass", k=k).documents) == k


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "a AND",
        "OR",
        "title:(",
        ")*",
        "-glass",
        "glass^",
        "[a TO b]",
        "😀",
        "",
        "\x00",
        "glass " * 2000,
        "x" * 10_000,
    ],
)
def test_no_query_is_taken_as_a_query_language(folder, local, query):
    (folder / "window.md").write_text("Window glass.")
    assert ids(local.top(query)) == (["window.md"] if "glass" in query else [])


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200))
def test_no_text_of_a_query_raises(folder, local, query):
    (folder / "a.md").write_text("Window glass.")
    local.top(query)


# Fields


def test_a_document_says_where_it_comes_from(folder, local):
    (folder / "policies").mkdir()
    (folder / "policies" / "remote work.md").write_text("---\ndate: 2024-03-01\n---\n# Remote\n\nThree\ndays.")
    (document,) = local.top("days").documents
    assert document.model_dump(exclude={"retrieved_at"}) == {
        "id": "policies/remote work.md",
        "text": "# Remote\n\nThree\ndays.",
        "title": "Remote",
        "url": (folder / "policies" / "remote work.md").as_uri(),
        "snippet": "# Remote Three days.",
        "published": date(2024, 3, 1),
        "published_from": "front matter",
        "rank": 1,
        "source": "local",
    }


def test_a_document_says_when_it_was_retrieved(folder, local):
    (folder / "a.md").write_text("glass")
    before = datetime.now(UTC)
    assert before <= local.top("glass").documents[0].retrieved_at <= datetime.now(UTC)


def test_a_passage_of_a_longer_file_has_its_number_in_the_id(folder, local):
    (folder / "guide.txt").write_text(long_text("filler") + " Zebras are striped.")
    assert ids(local.top("zebras", k=1))[0].startswith("guide.txt#")


def test_ranks_count_from_one(folder, local):
    for n in range(3):
        (folder / f"{n}.md").write_text(f"glass {n}")
    assert [document.rank for document in local.top("glass").documents] == [1, 2, 3]


def test_a_snippet_is_one_line_of_at_most_200_characters(folder, local):
    (folder / "a.txt").write_text("glass\n" * 200)
    snippet = local.top("glass").documents[0].snippet
    assert ("\n" not in snippet, len(snippet) <= 200) == (True, True)


# The folder


def test_every_kind_of_document_is_found(folder, local, pdf):
    import docx

    document = docx.Document()
    document.add_paragraph("zebra in Word")
    document.save(folder / "a.docx")
    (folder / "b.pdf").write_bytes(pdf("zebra in PDF"))
    (folder / "c.html").write_text("<html><body><p>zebra on a page</p></body></html>")
    (folder / "d.HTM").write_text("<html><body><p>zebra on a page</p></body></html>")
    (folder / "e.md").write_text("zebra in Markdown")
    (folder / "f.txt").write_text("zebra in a text")
    assert sorted(ids(local.top("zebra"))) == ["a.docx", "b.pdf", "c.html", "d.HTM", "e.md", "f.txt"]


@pytest.mark.parametrize("place", [".git/a.md", ".hidden.md", "node_modules/x/a.md", "~$a.docx", "sub/.cache/a.md"])
def test_hidden_files_are_passed_over(folder, local, place):
    (folder / "shown.md").write_text("glass")
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_text("glass")
    results = local.top("glass")
    assert (ids(results), results.warnings) == (["shown.md"], [])


def test_an_unreadable_file_is_a_warning_with_its_cause(folder, local):
    (folder / "a.md").write_text("glass")
    (folder / "b.pdf").write_bytes(b"%PDF broken")
    (folder / "c.md").write_text("")
    results = local.top("glass")
    assert ids(results) == ["a.md"]
    assert [warning.split(":")[0] for warning in results.warnings] == ["b.pdf was not read", "c.md was not read"]
    assert results.warnings[1] == "c.md was not read: it is empty."


def test_a_link_out_of_the_folder_is_not_followed(folder, local, tmp_path):
    (folder / "a.md").write_text("glass")
    (tmp_path / "secret.md").write_text("glass")
    (tmp_path / "elsewhere").mkdir()
    (folder / "b.md").symlink_to(tmp_path / "secret.md")
    (folder / "c").symlink_to(tmp_path / "elsewhere")
    results = local.top("glass")
    assert (ids(results), results.warnings) == (
        ["a.md"],
        [f"{name} was not read: it is a link out of the folder." for name in ("b.md", "c")],
    )


def test_links_in_a_circle_end(folder, local):
    (folder / "a.md").write_text("glass")
    (folder / "loop").symlink_to(folder)
    (folder / "b.md").symlink_to(folder / "c.md")
    (folder / "c.md").symlink_to(folder / "b.md")
    assert ids(local.top("glass")) == ["a.md"]


def test_a_file_and_a_link_to_it_are_one_document(folder, local):
    (folder / "b.md").write_text("glass")
    (folder / "a.md").symlink_to(folder / "b.md")
    assert ids(local.top("glass")) == ["b.md"]


def test_a_link_to_a_hidden_file_in_the_folder_is_read(folder, local):
    (folder / "..data").mkdir()
    (folder / "..data" / "a.md").write_text("glass")
    (folder / "a.md").symlink_to(folder / "..data" / "a.md")
    assert ids(local.top("glass")) == ["a.md"]


def test_a_pipe_is_not_waited_for(folder, local):
    (folder / "a.md").write_text("glass")
    os.mkfifo(folder / "pipe.txt")
    assert local.top("glass").warnings == ["pipe.txt was not read: it is not a regular file."]


def test_a_name_that_is_not_unicode_is_a_warning(folder, local):
    (folder / "a.md").write_text("glass")
    try:
        (folder / os.fsdecode(b"caf\xe9.md")).write_text("glass")
    except OSError:
        pytest.skip("this file system takes no such name")
    assert local.top("glass").warnings == ["caf\\udce9.md was not read: its name is not valid Unicode; rename it."]


def test_a_missing_folder_is_told(tmp_path):
    with pytest.raises(InputError, match="missing does not exist"):
        LocalSearch(tmp_path / "missing", cache=tmp_path / "cache").top("glass")


@pytest.mark.parametrize("name", ["x" * 5000, "nul\0"])
def test_a_folder_that_cannot_be_opened_is_told(tmp_path, name):
    with pytest.raises(InputError, match="cannot be opened"):
        LocalSearch(tmp_path / name, cache=tmp_path / "cache").top("glass")


def test_a_file_in_place_of_a_folder_is_told(tmp_path):
    (tmp_path / "a.md").write_text("glass")
    with pytest.raises(InputError, match=r"a\.md is not a folder"):
        LocalSearch(tmp_path / "a.md", cache=tmp_path / "cache").top("glass")


def test_a_folder_without_readable_documents_is_told_with_what_is_in_it(folder, local):
    (folder / "a.xlsx").write_text("x")
    (folder / "b.md").write_text("")
    with pytest.raises(InputError) as error:
        local.top("glass")
    assert str(error.value) == (
        f"There is no readable document in {folder}: looked for .md, .txt, .html, .htm, .pdf, .docx; "
        "found 1 file of another kind and 1 that could not be read (b.md was not read: it is empty). "
        "Name a folder that holds such files."
    )


def test_a_cache_that_cannot_be_written_is_told(folder, tmp_path):
    (folder / "a.md").write_text("glass")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="REGEN_CACHE_DIR"):
        LocalSearch(folder, cache=tmp_path / "file").top("glass")


def test_nothing_is_written_into_the_folder(folder, local):
    (folder / "a.md").write_text("glass")
    local.top("glass")
    assert [path.name for path in folder.iterdir()] == ["a.md"]


def test_the_default_cache_is_the_users(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("REGEN_CACHE_DIR", str(tmp_path / "home"))
    (folder / "a.md").write_text("glass")
    LocalSearch(folder).top("glass")
    assert (tmp_path / "home" / "index").is_dir()


def test_local_is_a_registered_search_provider(local):
    assert (isinstance(local, SearchProvider), provider_class("local")) == (True, LocalSearch)
