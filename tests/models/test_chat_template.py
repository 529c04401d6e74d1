"""The chat format of a GGUF is read off its own template, or refused with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from factcheck_local.core.errors import ModelError
from factcheck_local.models.add import add_model
from factcheck_local.models.cards import find_card
from factcheck_local.models.chat_format import CHAT_FORMATS
from factcheck_local.models.chat_template import ChatTemplate, format_of, template_of
from factcheck_local.models.contracts import Message
from factcheck_local.models.openai_server.prompt import as_text

_REPLY = "{% if add_generation_prompt %}"


def _turns(opening: str, closing: str, reply: str) -> str:
    turn = opening + "{{ m['content'] | trim }}" + closing
    return f"{{% for m in messages %}}{turn}{{% endfor %}}{_REPLY}{reply}{{% endif %}}"


#: Written as the families' publishers write theirs: with dates, defaults, merged instructions.
TEMPLATES = {
    "chatml": "{% if messages[0].role != 'system' %}<|im_start|>system\nBe kind.<|im_end|>\n"
    "{% endif %}" + _turns("<|im_start|>{{ m.role }}\n", "<|im_end|>\n", "<|im_start|>assistant\n"),
    "llama3": "{{ bos_token }}{% for m in messages %}"
    "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{% if m.role == 'system' %}Today: {{ strftime_now('%d') }}\n\n{% endif %}"
    "{{ m.content }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
    "gemma": "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    + _turns(
        "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n",
        "<end_of_turn>\n",
        "<start_of_turn>model\n",
    ),
    "mistral": "{% set ns = namespace(said='') %}{% for m in messages %}"
    "{% if m.role == 'system' %}{% set ns.said = m.content + '\n\n' %}"
    "{% elif m.role == 'user' %}[INST] {{ ns.said if loop.last }}{{ m.content }}[/INST]"
    "{% else %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %}",
    "mistral-v7": "{% for m in messages %}"
    "{% if m.role == 'system' %}[SYSTEM_PROMPT]{{ m.content }}[/SYSTEM_PROMPT]"
    "{% elif m.role == 'user' %}[INST]{{ m.content }}[/INST]"
    "{% else %}{{ m.content }}{{ eos_token }}{% endif %}{% endfor %}",
    "phi3": _turns("<|{{ m.role }}|>\n", "<|end|>\n", "<|assistant|>\n"),
    "phi4": _turns(
        "<|im_start|>{{ m.role }}<|im_sep|>", "<|im_end|>", "<|im_start|>assistant<|im_sep|>"
    ),
    "zephyr": _turns("<|{{ m.role }}|>\n", "{{ eos_token }}\n", "<|assistant|>\n"),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_recognised_by_what_it_writes(name: str) -> None:
    assert format_of(ChatTemplate(TEMPLATES[name], "</s>")) == name


def test_mistrals_two_tokenisers_are_told_apart() -> None:
    tekken = TEMPLATES["mistral"].replace("[INST] ", "[INST]").replace(" {{ m.con", "{{ m.con")
    assert format_of(ChatTemplate(tekken, "</s>")) == "mistral-tekken"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (None, "no chat template"),
        (_turns("### {{ m.role }}:\n", "\n\n", "### assistant:\n"), "none that is known"),
        ("{{ bos_token }}", "none that is known"),
        (_turns("<|im_start|>{{ m.role }}\n", "<|im_end|>", "<|im_start|>"), "none that is known"),
        ("{% for m in messages %}", "cannot be read"),
        ("{{ messages.__class__.__mro__ }}", "cannot be read"),
        ("{% for i in range(10 ** 9) %}{% endfor %}", "cannot be read"),
        ("{{ 1 / 0 }}", "cannot be read"),
        ("{{ 'x' | dictsort }}", "cannot be read: AttributeError"),
        ("{{ cycler() }}", "cannot be read: RuntimeError"),
        ("{% for m in messages %}" * 25 + "{% endfor %}" * 25, "cannot be read: SyntaxError"),
        ("{{ 'a' * 10 ** 16 }}", "cannot be read: MemoryError"),
    ],
)
def test_another_template_is_refused_with_a_reason(source: str | None, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        format_of(ChatTemplate(source, "</s>"))


@pytest.fixture(scope="module")
def installed() -> Path:
    """A real file with a template; found before ``home`` hides it."""
    return find_card("smollm2-135m").folder / "model.gguf"


@pytest.mark.usefixtures("home")
def test_the_template_of_a_file_decides(installed: Path) -> None:
    assert template_of(installed).end == "<|im_end|>"
    assert add_model("own", installed, "llm").options["chat_format"] == "chatml"


def test_a_file_without_one_is_refused_and_says_what_to_add(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(ModelError, match="cannot load this file") as refused:
        add_model("own", path, "llm")
    assert "--chat-format" in str(refused.value.hint)
    assert not list(home.rglob("*.toml"))


def test_instructions_are_folded_into_the_turn_behind_them() -> None:
    chat = [Message("system", "Judge."), Message("user", "a"), Message("assistant", "b")]
    chat.append(Message("user", "c"))
    assert as_text(chat, CHAT_FORMATS["gemma"]) == (
        "<start_of_turn>user\nJudge.\n\na<end_of_turn>\n<start_of_turn>model\nb<end_of_turn>\n"
        "<start_of_turn>user\nc<end_of_turn>\n<start_of_turn>model\n"
    )
    assert as_text(chat, CHAT_FORMATS["mistral"]) == "[INST] Judge.\n\na[/INST]b</s>[INST] c[/INST]"
