"""Other languages are noticed, and English that looks odd is not mistaken for one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from factcheck_local.core.text.language import Language, foreign, named

ROOT = Path(__file__).parents[1]

GERMAN = (
    "Vollzeitbeschäftigte erhalten dreißig Tage bezahlten Urlaub im Jahr. Nicht genommene Tage "
    "können bis Ende März übertragen werden."
)
ENGLISH = (
    "Full-time employees get thirty days of paid leave a year. Days that are not taken can be "
    "carried over until the end of March."
)
OTHERS = {
    "de": GERMAN,
    "fr": "Les salariés à temps plein ont droit à trente jours de congés payés par an. Les jours "
    "non pris peuvent être reportés jusqu'à fin mars.",
    "es": "Los empleados a tiempo completo reciben treinta días de vacaciones pagadas al año. Los "
    "días no utilizados se pueden trasladar hasta finales de marzo.",
    "it": "I dipendenti a tempo pieno ricevono trenta giorni di ferie pagate all'anno.",
    "nl": "Voltijdse werknemers krijgen dertig dagen betaald verlof per jaar, en zij mogen die in "
    "het volgende jaar opnemen.",
    "da": "Fuldtidsansatte har ret til at have tredive dages betalt ferie om året. Dage, som ikke "
    "er brugt, kan overføres til næste år, når man bor i en by med to kontorer.",
    "hi": "पूर्णकालिक कर्मचारियों को वर्ष में तीस दिन का सवैतनिक अवकाश मिलता है।",
    "pl": "Pracownicy zatrudnieni na pełny etat otrzymują trzydzieści dni płatnego urlopu rocznie.",
    "ru": "Сотрудники получают тридцать дней оплачиваемого отпуска в год.",
    "zh": "全职员工每年享有三十天带薪休假。未使用的天数可以结转到三月底。",
    "ja": "正社員は年間三十日の有給休暇を取得できます。残った日数は翌年に繰り越せます。",
}


@pytest.mark.parametrize(("code", "text"), OTHERS.items())
def test_a_text_in_another_language_is_named(code: str, text: str) -> None:
    found = foreign(text)
    assert found is not None
    assert (found.code, found.share) == (code, 1.0)


ENGLISH_OR_NONE = {
    "prose": ENGLISH,
    "short": "Urlaub: dreißig Tage.",
    "empty": "",
    "numbers": "12 345 67 89.5 % 2024-01-01 " * 20,
    "commands": "kubectl get pods -n kube-system; docker run --rm -it ubuntu bash; systemctl "
    "restart nginx; journalctl -u nginx --since today; grep -rn pattern src",
    "acronyms": "LoRaWAN EU868 SX1262 ESP32 BLE Wi-Fi 802.11ax OTA MQTT TLS 1.3 " * 5,
    "medicines": "Metformin hydrochloride, atorvastatin calcium, lisinopril, amlodipine besylate, "
    "omeprazole magnesium, levothyroxine sodium, losartan potassium",
    "names": "Jürgen Höß, Käthe Müller, Hans-Peter Schröder, Straße der Einheit, 80331 München, "
    "Günther Grün, Anneliese Köhler, Friedrich Schäfer, Bayerische Motorenwerke",
    "licences": "Apache License, BSD License, MIT License, Mozilla Public License, ISC License, "
    "Python Software Foundation License, Historical Permission Notice and Disclaimer",
    "table": "| Plan | Price | Seats | Storage |\n|---|---|---|---|\n"
    + "| Basic | 10 EUR | 5 | 10 GB |\n| Pro | 25 EUR | 20 | 100 GB |\n" * 4,
    "code": "def even(x):\n    return [y for y in range(x) if y % 2 == 0]\n\nclass Foo(Bar):\n"
    "    pass\n\nimport numpy as np\nprint(even(3))\nfor item in items:\n    result.append(item)\n",
    "fenced": f"{ENGLISH}\n\n```\n{GERMAN}\n{GERMAN}\n```\n",
    "addresses": "https://beispiel.de/urlaub/nicht/genommene/tage/werden/uebertragen/und/verfallen "
    * 3,
    "quoted": f"{ENGLISH} {ENGLISH} {ENGLISH} {ENGLISH}\n\n> Sie dürfen übertragen werden.",
    "shouted": "THE SOFTWARE IS PROVIDED AS IS, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, "
    "INCLUDING BUT NOT LIMITED TO MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE.",
}


@pytest.mark.parametrize("name", ENGLISH_OR_NONE)
def test_what_is_english_or_cannot_be_told_is_not_named(name: str) -> None:
    assert foreign(ENGLISH_OR_NONE[name]) is None


def test_no_page_of_this_project_is_taken_for_another_language() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("corpora/handbook/**/*.md")]
    assert len(pages) > 30
    assert {p.name: foreign(p.read_text(encoding="utf-8")) for p in pages} == dict.fromkeys(
        (p.name for p in pages), None
    )


def test_a_table_in_another_language_is_named() -> None:
    rows = [
        "| Tarif | wer ihn bucht | was darin enthalten ist |",
        "|---|---|---|",
        "| Basis | kleine Betriebe mit wenigen Geräten | die ersten zehn Geräte sind kostenlos |",
        "| Profi | größere Betriebe mit mehreren Werken | alle Geräte und jeder Bericht |",
    ]
    found = foreign("\n".join(rows))
    assert found is not None
    assert found.code == "de"


def test_a_part_is_named_with_its_share() -> None:
    found = foreign(f"{ENGLISH} {ENGLISH}\n\n{GERMAN} {GERMAN}\n\n{ENGLISH} {ENGLISH}")
    assert found is not None
    assert found.code == "de"
    assert 0.2 <= found.share <= 0.5
    assert str(found) == f"{found.share * 100:.0f} % German"


def test_a_long_text_costs_no_more_than_a_few_pieces() -> None:
    assert foreign(f"{GERMAN}\n" * 80_000) == Language("de", "German", 1.0)


def test_names_of_languages() -> None:
    german, french = Language("de", "German", 1.0), Language("fr", "French", 0.5)
    assert (str(german), str(french)) == ("German", "50 % French")
    assert named([french, german, german]) == "German, French"


def test_english_needs_no_model_and_nothing_needs_the_network() -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*_): raise SystemExit('a connection was tried')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from factcheck_local.core.text.language import foreign\n"
        f"assert foreign({ENGLISH!r}) is None and 'py3langid' not in sys.modules\n"
        f"print(foreign({GERMAN!r}).code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("de\n", "")


@pytest.mark.parametrize("text", ["x" * 200_000, "a.b+" * 50_000, "\n" * 200_000, "<" * 200_000])
@pytest.mark.parametrize("tail", ["", "@", "`", "```"])
def test_what_is_hostile_comes_to_an_end(text: str, tail: str) -> None:
    """Patterns that begin anew at each character took minutes for such a text."""
    assert foreign(text + tail) is None
