"""The turns of tests/cases, each read with the desk's tools and vocabularies."""

from pathlib import Path

import pytest
from desk_tools import DESK

from amends.contract.reading import Reading, Unread
from amends.contract.yaml12 import load_yaml
from amends.selector.compiled import compile_selector
from amends.selector.vocabulary_model import Vocabulary

CASES = Path(__file__).parent.parent / "cases"
