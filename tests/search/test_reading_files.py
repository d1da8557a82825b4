"""What is read from one file: text, title, date, and the cause where nothing can be read."""

import logging
import os
import zipfile
from datetime import UTC, date, datetime
from io import BytesIO

import docx
import pytest
from pypdf import PdfReader, PdfWriter

from search import files, formats
from search.files import read
from search.text import UnreadableError


@pytest.fixture
def content(tmp_path, entry):
    """Read a file of that name and those bytes (or that text)."""

    def of(name, data):
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        stamp = datetime(2020, 5, 17, 12, tzinfo=UTC).timestamp()
        os.utime(path, (stamp, stamp))
        return read(entry(path))

    return of


def dated(content):
    return content.published, content.published_from


def page(head="", body="<p>Glass is not a liquid.</p>"):
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def word(fill=lambda document: None, **properties):
    document = docx.Document()
    document.add_paragraph("Three days a week.")
    fill(document)
    for name, value in properties.items():
        setattr(document.core_properties, name, value)
    out = BytesIO()
    document.save(out)
    return out.getvalue()


# Dates


@pytest.mark.parametrize(
    ("matter", "published"),
    [
        ("date: 2024-03-01", date(2024, 3, 1)),
        ("date: 2024-03-01T10:00:00Z", date(2024, 3, 1)),
        ("published: March 1, 2024", date(2024, 3, 1)),
        ("last-updated: '2024/03/01'", date(2024, 3, 1)),
        ("last_reviewed: 2024-03", date(2024, 3, 1)),
        ("updated: 2025-01-01\ndate: 2024-03-01", date(2024, 3, 1)),
    ],
)
def test_the_date_of_front_matter_is_taken(content, matter, published):
    assert dated(content("a.md", f"---\n{matter}\n---\nText.")) == (published, "front matter")


def test_front_matter_goes_before_the_date_in_the_name(content):
    assert dated(content("2019-01-01.md", "---\ndate: 2024-03-01\n---\nText."))[1] == "front matter"


def test_a_date_of_front_matter_that_is_none_is_a_warning(content):
    assert content("a.md", "---\ndate: soon\n---\nText.").warnings == (
        "the date in its front matter is not a date (soon)",
    )


def test_front_matter_that_unfolds_to_gigabytes_is_not_unfolded(content):
    bomb = "k0: &k0 [x, x]\n" + "".join(f"k{n}: &k{n} [*k{n - 1}, *k{n - 1}]\n" for n in range(1, 60))
    assert content("a.md", f"---\n{bomb}date: *k59\ntitle: *k59\n---\nText.").title == "a"


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("2024-03-01-foo.md", date(2024, 3, 1)),
        ("foo_20240301.txt", date(2024, 3, 1)),
        ("report 2024-03.txt", date(2024, 3, 1)),
        ("2024_03_01.txt", date(2024, 3, 1)),
    ],
)
def test_the_date_in_a_file_name_is_taken(content, name, published):
    assert dated(content(name, "Text.")) == (published, "name")


@pytest.mark.parametrize("name", ["20241399.txt", "120240301.txt", "2024-13.txt", "v2024.txt", "1024-03-01.txt"])
def test_a_number_in_a_name_that_is_no_date_is_not_taken(content, name):
    assert dated(content(name, "Text.")) == (date(2020, 5, 17), "mtime")


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
def test_no_date_is_guessed_from_running_text(content, name):
    text = "Published on 2024-03-01. Updated: March 3, 2023. Copyright 2022."
    assert dated(content(name, page(body=f"<h1>2021-02-03</h1><p>{text}</p>") if name == "a.html" else text)) == (
        date(2020, 5, 17),
        "mtime",
    )


@pytest.mark.parametrize(
    "head",
    [
        '<meta property="article:published_time" content="2023-05-04T10:00:00Z">',
        '<meta name="date" content="2023-05-04">',
        '<script type="application/ld+json">{"@type":"Article","datePublished":"2023-05-04"}</script>',
    ],
)
def test_the_date_of_a_web_page_comes_from_its_markup(content, head):
    assert dated(content("a.html", page(head))) == (date(2023, 5, 4), "metadata")


def test_a_date_in_the_description_of_a_web_page_is_not_its_date(content):
    head = '<meta name="description" content="As of 2021-01-02 10:00:00"><title>News of 2021-01-02</title>'
    assert dated(content("a.html", page(head)))[1] == "mtime"


def test_a_pdf_has_the_date_of_its_creation(content, pdf):
    data = pdf("Text.", CreationDate="D:20220304050607Z", ModDate="D:20230101000000Z")
    assert dated(content("a.pdf", data)) == (date(2022, 3, 4), "metadata")


def test_a_damaged_date_of_a_pdf_is_a_warning_and_its_text_is_kept(content, pdf):
    found = content("a.pdf", pdf("Text.", CreationDate="yesterday"))
    assert (found.text, "title and date" in "".join(found.warnings)) == ("Text.", True)


def test_a_word_file_has_the_date_of_its_creation(content):
    assert dated(content("a.docx", word(created=datetime(2021, 6, 7)))) == (date(2021, 6, 7), "metadata")


def test_the_date_of_the_python_docx_template_is_no_date(content):
    assert dated(content("a.docx", word()))[1] == "mtime"


# Titles


@pytest.mark.parametrize(
    ("name", "data", "title"),
    [
        ("a.md", "---\ntitle: Front\n---\n# Heading\n", "Front"),
        ("a.md", "intro\n\n# Heading\n\ntext", "Heading"),
        ("remote-work.txt", "text", "remote-work"),
        ("a.html", page("<title>Remote &amp;\n work</title>"), "Remote & work"),
        ("a.html", page(body="<h1>Heading</h1><p>Some text.</p>"), "Heading"),
        ("a.docx", word(title="Properties"), "Properties"),
        ("a.docx", word(lambda d: d.add_heading("Heading", 1)), "Heading"),
    ],
)
def test_a_title_comes_from_the_document_before_the_file_name(content, name, data, title):
    assert content(name, data).title == title


def test_a_pdf_has_the_title_of_its_properties(content, pdf):
    assert content("a.pdf", pdf("Text.", Title="Microsoft Word - Leave policy")).title == "Leave policy"


# Text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_the_encoding_of_a_text_is_found(content, encoding):
    text = "The fee is £20 per day at the café, says the employee handbook."
    assert content("a.txt", text.encode(encoding)).text == text


def test_a_text_in_another_alphabet_is_decoded(content):
    text = "Вакцинация населения началась, сообщает министерство здравоохранения." * 3
    assert content("a.txt", text.encode("cp1251")).text == text


def test_a_web_page_is_decoded_as_it_declares(content):
    data = page('<meta charset="iso-8859-2">', "<p>Zażółć gęślą jaźń</p>").encode("iso-8859-2")
    assert content("a.html", data).text == "Zażółć gęślą jaźń"


def test_control_characters_and_terminal_escapes_are_dropped(content):
    assert content("a.txt", "red \x1b[31mtext\u009b0m\u00ad\n\n\n\nend").text == "red [31mtext0m\n\nend"


def test_a_rule_at_the_top_is_not_taken_for_front_matter(content):
    assert content("a.md", "---\nA sentence.\n---\nText.").text == "---\nA sentence.\n---\nText."


@pytest.mark.parametrize("matter", ["title: [", "date: 2024-13-45", "a: " + "[" * 5000])
def test_broken_front_matter_is_kept_as_text_with_a_warning(content, matter):
    found = content("a.md", f"---\n{matter}\n---\nText.")
    assert found.text.endswith("Text.")
    assert "not valid YAML" in found.warnings[0]


def test_scripts_and_styles_of_a_web_page_are_dropped(content):
    body = "<script>evil()</script><style>p {}</style><p>Kept.</p>"
    assert content("a.html", page("<script>bad()</script>", body)).text == "Kept."


@pytest.mark.parametrize("fragment", ["<p>Hello there</p>", "Hello there", "<div><b>Hello</b> there</div>"])
def test_a_fragment_of_html_is_read(content, fragment):
    assert content("a.html", fragment).text.replace("*", "").split() == ["Hello", "there"]


def test_a_page_that_is_only_an_address_is_not_fetched(content, monkeypatch):
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("went to the network"))
    assert content("a.html", "http://example.com/2020/01/01/page").text == "http://example.com/2020/01/01/page"


def test_a_word_file_keeps_headings_and_tables(content):
    def fill(document):
        document.add_heading("Days", 2)
        table = document.add_table(1, 2)
        table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Team", "x" * 300

    assert content("a.docx", word(fill)).text == f"Three days a week.\n\n## Days\n\n| Team | {'x' * 300} |"


def test_every_page_of_a_pdf_is_read(content, pdf):
    assert content("a.pdf", pdf("One.", "Two.", "Three.")).text == "One.\n\nTwo.\n\nThree."


def test_a_damaged_page_of_a_pdf_is_a_warning_and_the_others_are_read(content, pdf):
    data = pdf("One.", "Two.", "Three.").replace(b"(Two.) Tj", b"((((((((((")
    found = content("a.pdf", data)
    assert ("One." in found.text, "Three." in found.text) == (True, True)


def test_a_pdf_that_needs_no_password_to_be_read_is_read(content, pdf):
    writer = PdfWriter(PdfReader(BytesIO(pdf("Open to all."))))
    writer.encrypt("", "owner", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    assert content("a.pdf", out.getvalue()).text == "Open to all."


# What can't be read


def encrypted(pdf):
    writer = PdfWriter(PdfReader(BytesIO(pdf("Secret."))))
    writer.encrypt("secret", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "cause"),
    [
        ("a.md", b"", "empty"),
        ("a.txt", b" \n\n ", "empty"),
        ("a.txt", bytes(range(256)) * 20, "binary"),
        ("a.md", b"\x89PNG\r\n\x1a\n" + bytes(100), "binary"),
        ("a.html", b"\x00\x01\x02\x03" * 50, "binary"),
        ("a.html", page("", "<script>x</script>").encode(), "no text"),
        ("a.pdf", b"%PDF-1.4 nothing more", "damaged"),
        ("a.pdf", b"not a PDF at all", "damaged"),
        ("a.docx", b"PK\x03\x04 broken", "not a .docx"),
        ("a.docx", b"\xd0\xcf\x11\xe0" + bytes(600), "encrypted or an old Word file"),
        ("a.md", b"---\ntitle: only\n---\n", "no text"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(content, name, data, cause):
    with pytest.raises(UnreadableError, match=cause):
        content(name, data)


def test_a_pdf_that_needs_a_password_is_told(content, pdf):
    with pytest.raises(UnreadableError, match="needs a password"):
        content("a.pdf", encrypted(pdf))


def test_a_scanned_pdf_is_told(content, pdf):
    with pytest.raises(UnreadableError, match="OCR"):
        content("a.pdf", pdf("", ""))


def test_a_pdf_cut_at_any_place_never_raises_anything_else(content, pdf):
    data = pdf("One.", "Two.", Title="T")
    for end in range(10, len(data), 37):
        try:
            content("a.pdf", data[:end])
        except UnreadableError:
            continue


def test_a_zip_that_holds_no_word_document_is_told(content):
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(UnreadableError, match="damaged"):
        content("a.docx", out.getvalue())


def test_a_word_file_that_unzips_to_too_much_is_not_read(content, monkeypatch):
    monkeypatch.setattr(formats, "MAX_UNZIPPED", 10_000)
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", "0" * 1_000_000)
    with pytest.raises(UnreadableError, match="unzips to 1 MB"):
        content("a.docx", out.getvalue())


def test_a_file_over_the_size_limit_is_not_opened(tmp_path, entry, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    path = tmp_path / "a.txt"
    path.write_text("x" * 1001)
    with pytest.raises(UnreadableError, match="are read at most"):
        read(entry(path))


def test_a_file_that_may_not_be_read_is_told(content, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(UnreadableError, match=r"^Permission denied$"):
        content("a.txt", "text")


def test_the_parsers_log_nothing_and_keep_their_levels(content, pdf, caplog):
    logging.getLogger("pypdf").setLevel(logging.DEBUG)
    content("a.pdf", pdf("One.").replace(b"startxref\n", b"startxref\n9"))
    assert (caplog.records, logging.getLogger("pypdf").level) == ([], logging.DEBUG)
