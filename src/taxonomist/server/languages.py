"""Guess the language of a text by its most common words, as ``detect-language`` asks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taxonomist.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LANGUAGES", "detect_language"]

_COMMON = {
    "cs": "a se v na je že o s z do k i za to jako ale by pro jsou by po jeho který byl není",
    "da": "og i at det er en til på som med for den af de der ikke et har var jeg han fra men",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch",
    "en": "the of and to in a is that for it as was with be by on not he his are at this from or",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más pero",
    "et": "ja on ei et see ta oli kui mis ma oma ka aga ning või seda selle nii siis mida olid",
    "fi": "ja on ei että se hän oli mutta kun niin myös tai joka ovat sen ole kuin mitä jos ollut",
    "fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce",
    "it": "di e il la che in a un per è del non una i le con si da dei sono della alla più nel ma",
    "lv": "un ir ka par ar no uz kas bet tas vai arī lai pie kā viņš nav tā bija to gan pēc jau",
    "nb": "og i det er på som en til å av for at med de ikke den har han fra et var om men jeg",
    "nl": "de van het een en in is dat op te zijn met die voor niet aan er om ook als dan maar",
    "nn": "og i det er på som ein til å av for at med dei ikkje den har han frå eit var om men eg",
    "no": "og i det er på som en til å av for at med de ikke den har han fra et var om men jeg",
    "pl": "i w na z do się nie to że jest o jak za po co ale od tym przez jego dla są który był",
    "pt": "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele",
    "ro": "de și în la a cu pe un o nu din că este pentru care mai sau prin ca fi dar sunt lui",
    "sk": "a v sa na je že s o z do k i za to ako ale by pre sú po jeho ktorý bol nie aj od",
    "sl": "in v je na da se za so ki s z pa po ne kot tudi bi bil ali o iz do ter pri kar lahko",
    "sv": "och i att det som en på är av för med den till inte ett om har de jag var han men från",
}
LANGUAGES = {code: frozenset(words.split()) for code, words in _COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")
MOST_WORDS = 2_000
"""Words of a text to look at."""


def detect_language(text: str, languages: Sequence[str]) -> list[tuple[str | None, float]]:
    """Return the share of a text's words that are common words of each language.

    The last entry, without a language, has the share of words that are common in none of them.
    The others come in descending order. A text without words has this entry only, as in Annif.

    Raises
    ------
    ParameterError
        If a language is not known.
    """
    unknown = [code for code in languages if code not in LANGUAGES]
    if unknown:
        raise ParameterError("unsupported candidate languages")
    words = [match.group().lower() for match in _WORD.finditer(text[: 20 * MOST_WORDS])]
    words = words[:MOST_WORDS]
    if not words:
        return [(None, 1.0)]
    shares = {
        code: sum(word in LANGUAGES[code] for word in words) / len(words)
        for code in dict.fromkeys(languages)
    }
    known = frozenset[str]().union(*(LANGUAGES[code] for code in shares))
    rest = sum(word not in known for word in words) / len(words)
    ranked: list[tuple[str | None, float]] = sorted(
        shares.items(), key=lambda pair: (-pair[1], pair[0])
    )
    return [*ranked, (None, rest)]
