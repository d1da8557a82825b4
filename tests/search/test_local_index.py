"""How the index of a folder is kept: what is read again, and what survives kills, damage and other processes."""

import shutil
import signal
import subprocess
import sys
import textwrap

import pytest

from regen.errors import InputError, ProviderError
from search import local as local_module
from search import store
from search.local import LocalSearch
from search.text import UnreadableError


@pytest.fixture
def reads(monkeypatch):
    """The names of the files that are read, as they are."""
    names = []

    def read(entry):
        names.append(entry.path.name)
        return original(entry)

    original = store.read
    monkeypatch.setattr(store, "read", read)
    return names


@pytest.fixture
def three(folder):
    """Three documents about glass."""
    for name in ("a.md", "b.md", "c.md"):
        (folder / name).write_text(f"glass {name}")
    return folder


def ids(results):
    return [document.id for document in results.documents]


def index_files(cache):
    return [path for path in cache.rglob("search-*/*") if path.suffix != ".lock"]


# What is read again


def test_a_second_run_reads_nothing_again(three, cache, reads):
    LocalSearch(three, cache=cache).top("glass")
    reads.clear()
    LocalSearch(three, cache=cache).top("glass")
    assert reads == []


def test_only_what_changed_is_read_again(three, local, reads):
    local.top("glass")
    reads.clear()
    (three / "b.md").write_text("glass is new here")
    (three / "d.md").write_text("glass too")
    (three / "a.md").unlink()
    assert (sorted(ids(local.top("glass"))), reads) == (["b.md", "c.md", "d.md"], ["b.md", "d.md"])


def test_a_changed_file_is_found_by_its_new_words_only(three, local):
    local.top("glass")
    (three / "b.md").write_text("zebra instead")
    assert (ids(local.top("zebra")), sorted(ids(local.top("glass")))) == (["b.md"], ["a.md", "c.md"])


def test_a_file_that_was_moved_is_found_in_its_new_place(three, local):
    local.top("glass")
    (three / "sub").mkdir()
    (three / "a.md").rename(three / "sub" / "a.md")
    assert sorted(ids(local.top("glass"))) == ["b.md", "c.md", "sub/a.md"]


def test_a_second_run_repeats_the_warning_without_reading_the_file(three, local, reads):
    (three / "bad.pdf").write_bytes(b"%PDF broken")
    first = local.top("glass").warnings
    reads.clear()
    assert (local.top("glass").warnings, reads) == (first, [])


def test_a_mended_file_has_no_warning_any_more(three, local):
    (three / "d.md").write_text("")
    local.top("glass")
    (three / "d.md").write_text("glass")
    assert local.top("glass").warnings == []


@pytest.mark.parametrize("cause", [PermissionError(13, "Permission denied"), ImportError("no module")])
def test_a_file_that_was_refused_is_tried_again(three, local, monkeypatch, cause):
    def refuse(path):
        raise cause

    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.read_bytes", refuse)
        with pytest.raises(InputError, match="3 that could not be read"):
            local.top("glass")
    results = local.top("glass")
    assert (len(results.documents), results.warnings) == (3, [])


def test_a_file_that_is_refused_again_and_again_does_not_rebuild_the_index(three, local, cache, monkeypatch):
    original = store.read

    def refuse(entry):
        if entry.path.name == "b.md":
            raise UnreadableError("Permission denied", lasting=False)
        return original(entry)

    monkeypatch.setattr(store, "read", refuse)
    first = local.top("glass").warnings
    built = index_files(cache)
    assert (local.top("glass").warnings, index_files(cache)) == (first, built)


def test_progress_counts_the_files_that_are_read(three, local):
    seen = []
    local.prepare(lambda done, total: seen.append((done, total)))
    local.prepare(lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_the_same_folder_under_two_names_has_one_index(three, cache, tmp_path, reads):
    LocalSearch(three, cache=cache).top("glass")
    reads.clear()
    (tmp_path / "alias").symlink_to(three)
    LocalSearch(tmp_path / "alias", cache=cache).top("glass")
    assert reads == []


def test_two_folders_do_not_share_an_index(three, cache, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "z.md").write_text("glass")
    LocalSearch(three, cache=cache).top("glass")
    assert ids(LocalSearch(tmp_path / "other", cache=cache).top("glass")) == ["z.md"]


# Kills


def killed(folder, cache, patch):
    """Search in another process that runs `patch` first, and see that it was killed."""
    script = f"""
        import os, signal
        from pathlib import Path
        from search import index, store
        from search.local import LocalSearch

        def kill(*_):
            os.kill(os.getpid(), signal.SIGKILL)

        progress = None
        {patch}
        local = LocalSearch(Path({str(folder)!r}), cache=Path({str(cache)!r}))
        local.prepare(progress)
        local.top("glass")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    "patch",
    [
        "progress = lambda done, total: kill() if done == 2 else None",
        "store.Store._save = kill",
        "index._checksum = kill",
        "Path.rename = kill",
    ],
    ids=["while reading", "before saving", "before the index is whole", "before it is in place"],
)
def test_a_killed_run_leaves_nothing_half_written(three, cache, patch):
    killed(three, cache, patch)
    results = LocalSearch(three, cache=cache).top("glass")
    assert (sorted(ids(results)), results.warnings) == (["a.md", "b.md", "c.md"], [])


def test_a_run_killed_while_updating_leaves_the_index_as_it_was_or_as_it_should_be(three, cache):
    LocalSearch(three, cache=cache).top("glass")
    (three / "a.md").write_text("zebra")
    killed(three, cache, "Path.rename = kill")
    assert ids(LocalSearch(three, cache=cache).top("zebra")) == ["a.md"]


def test_what_a_killed_run_had_saved_is_not_read_again(three, cache, reads):
    killed(three, cache, "store.CHECKPOINT_SECONDS = -1; progress = lambda d, t: kill() if d == 2 else None")
    LocalSearch(three, cache=cache).top("glass")
    assert reads == ["c.md"]


def test_ctrl_c_while_reading_leaves_nothing_half_written(three, local):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        local.prepare(interrupt)
    assert len(local.top("glass").documents) == 3


# Damage


@pytest.mark.parametrize("damage", [b"", b"garbage" * 1000])
def test_a_damaged_full_text_index_is_built_again_with_a_warning(three, local, cache, reads, damage):
    local.top("glass")
    reads.clear()
    for path in index_files(cache):
        path.write_bytes(damage)
    results = local.top("glass")
    assert (len(results.documents), reads) == (3, [])
    assert [warning for warning in results.warnings if "damaged, and was built again" in warning]


def test_damage_that_preparing_found_is_a_warning_of_the_search(three, local, cache):
    local.top("glass")
    for path in index_files(cache):
        path.write_bytes(b"garbage")
    local.prepare()
    assert len(local.top("glass").warnings) == 1


def test_preparing_builds_the_full_text_index(three, local, cache):
    local.prepare()
    built = index_files(cache)
    local.top("glass")
    assert (bool(built), index_files(cache)) == (True, built)


def test_one_flipped_byte_in_the_full_text_index_is_noticed(three, local, cache):
    local.top("glass")
    largest = max(index_files(cache), key=lambda path: path.stat().st_size)
    data = largest.read_bytes()
    largest.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    assert len(local.top("glass").warnings) == 1


def test_a_lost_full_text_index_is_built_again(three, local, cache):
    local.top("glass")
    shutil.rmtree(index_files(cache)[0].parent)
    assert len(local.top("glass").documents) == 3


@pytest.mark.parametrize("keep", [0, 50, 5000])
def test_a_damaged_store_is_read_again_with_a_warning(three, local, cache, keep):
    local.top("glass")
    (path,) = cache.rglob("passages.sqlite")
    path.write_bytes(path.read_bytes()[:keep] + b"garbage" * 3000)
    results = local.top("glass")
    assert len(results.documents) == 3
    assert [warning for warning in results.warnings if "was damaged" in warning]


def test_an_index_of_another_format_is_built_again(three, local, reads, monkeypatch):
    local.top("glass")
    reads.clear()
    monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
    results = local.top("glass")
    assert (len(results.documents), results.warnings, reads) == (3, [], ["a.md", "b.md", "c.md"])


# Other processes


def test_processes_that_start_at_once_all_get_the_same_answer(three, cache):
    script = (
        "import sys; from pathlib import Path; from search.local import LocalSearch;"
        "print([d.id for d in LocalSearch(Path(sys.argv[1]), cache=Path(sys.argv[2])).top('glass').documents])"
    )
    command = [sys.executable, "-c", script, str(three), str(cache)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert {process.communicate()[0].strip() for process in running} == {"['a.md', 'b.md', 'c.md']"}


def test_waiting_too_long_for_another_process_is_told(three, local, cache, monkeypatch):
    from filelock import FileLock

    local.top("glass")
    monkeypatch.setattr(local_module, "LOCK_SECONDS", 0)
    (lock,) = cache.rglob("lock")
    with FileLock(lock), pytest.raises(ProviderError, match="Another process"):
        local.top("glass")


def test_importing_the_provider_loads_no_parser_and_no_search_engine():
    heavy = ["tantivy", "trafilatura", "htmldate", "pypdf", "docx", "frontmatter", "yaml", "lxml"]
    script = f"import sys, search.local; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
