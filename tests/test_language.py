"""Text in another language is told apart from English, and English never is."""

from pathlib import Path

import pytest

from empathia import analyse, corpora
from empathia.language import foreign


@pytest.mark.parametrize(
    "text",
    [
        "Ich bin so traurig, mein Hund ist gestorben.",
        "mi perro murió ayer y no puedo dormir",
        "je ne sais pas quoi faire",
        "Sono molto triste, il mio cane è morto",
        "Estou muito triste hoje",
        "Ik ben zo verdrietig",
        "Jag är så ledsen",
        "Jestem bardzo smutny",
        "Minä olen surullinen",
        "Saya sangat sedih hari ini",
        "Tôi rất buồn",
        "今日はとても悲しい",
        "Мне очень грустно",
        "أنا حزين جدا",
    ],
)
def test_other_languages_are_told(text: str) -> None:
    assert foreign(text)


@pytest.mark.parametrize(
    "text",
    ["", "ok", "lol same", "C'est la vie, you know", "no no no", "Reset link broken again", "1234 !!! :)", "me la I de on so"],
)
def test_english_and_what_is_too_short_to_tell_are_not(text: str) -> None:
    assert not foreign(text)


def test_an_analysis_says_so() -> None:
    found = analyse([{"role": "a", "content": "Mein Hund ist weg und ich bin so traurig."}, {"role": "b", "content": "I am so sorry."}])
    assert [turn.english for turn in found.turns] == [False, True]


@pytest.mark.parametrize("name", ["esconv", "epitome"])
def test_real_english_is_not_called_foreign(name: str, data: Path) -> None:
    turns = [turn.content for dialogue in corpora.dialogues(name, data) for turn in dialogue.turns]
    assert sum(map(foreign, turns)) <= len(turns) / 10_000
