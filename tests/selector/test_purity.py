"""Reading is a pure function: the same bytes in a fresh process, under any hash seed and locale, and under threads."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from amends.tests.selector.desk import all_turns, selector_for

SCRIPT = """
import sys
from amends.tests.selector.desk import all_turns, selector_for
for language, turn in all_turns():
    sys.stdout.buffer.write(selector_for(language).read(turn["say"]).model_dump_json().encode() + b"\\n")
"""


def here():
    return [selector_for(language).read(turn["say"]).model_dump_json() for language, turn in all_turns()]


def test_a_fresh_process_with_another_hash_seed_and_locale_answers_the_same_bytes():
    mine = here()
    for seed, locale in (("1", "pt_BR.UTF-8"), ("4242", "C"), ("0", "tr_TR.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "LANG": locale, "TZ": "Asia/Tokyo"}
        done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True, env=environment)
        theirs = done.stdout.decode().splitlines()
        assert theirs == mine
        assert len({json.loads(line).get("lexicon") for line in theirs} - {None}) == 2


def test_threads_share_a_selector():
    turns = list(all_turns()) * 2
    with ThreadPoolExecutor(4) as pool:
        read = list(pool.map(lambda one: selector_for(one[0]).read(one[1]["say"]), turns))
    assert read[: len(read) // 2] == read[len(read) // 2 :]


def test_the_lexicon_hash_changes_with_words_tools_and_language_only():
    from amends.selector.compiled import compile_selector
    from amends.tests.selector.desk import DESK, vocabulary_of

    base = compile_selector(DESK, language="en", vocabulary=vocabulary_of("en")).lexicon
    assert base == selector_for("en").lexicon
    assert len(base) == 64
    others = [
        compile_selector(DESK, language="en").lexicon,
        compile_selector(DESK[1:], language="en", vocabulary=vocabulary_of("en")).lexicon,
        compile_selector(DESK, language="pt-BR", vocabulary=vocabulary_of("en")).lexicon,
    ]
    assert len({base, *others}) == 4
