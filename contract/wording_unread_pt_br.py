"""What an unread turn is told in Brazilian Portuguese: one sentence for each code, which says what to say instead."""

from collections.abc import Callable, Mapping

from .reading import Unread, UnreadCode

__all__ = ["SENTENCES", "unread_sentence"]


def unread_sentence(unread: Unread) -> str:
    """Return the sentence for ``unread``, with the known words nearest to an unknown one, if there are any."""
    sentence = SENTENCES[unread.code](unread)
    return f"{sentence} Você quis dizer {_or(unread.near)}?" if unread.near else sentence


def _or(words: tuple[str, ...]) -> str:
    quoted = [f"“{word}”" for word in words]
    return " ou ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 2 else quoted)


def _missing(unread: Unread) -> str:
    named = [name.partition(".") for name in unread.missing]
    lacks = " ou ".join(f"{parameter} de {tool}" for tool, _, parameter in named)
    return f"Falta algo em “{unread.text}”: diga também {lacks or 'o valor que falta'}."


def _objectless(unread: Unread) -> str:
    tools = sorted({name.partition(".")[0] for name in unread.missing})
    meant = f" ({' ou '.join(tools)})" if tools else ""
    return f"“{unread.text}” não diz sobre o que agir: diga o quê, como em “envie o recibo do pedido 4411”{meant}."


def _left_over(unread: Unread) -> str:
    expected = unread.detail.get("expected", "")
    tool = unread.detail.get("tool", "")
    hint = f" {tool} ainda aceita {expected}." if expected and tool else ""
    return f"As palavras a partir de “{unread.text}” não se encaixam: retire-as ou diga de outro jeito.{hint}"


def _ambiguous(unread: Unread) -> str:
    readings = " ou ".join(", depois ".join(calls) for calls in unread.readings)
    return f"Isto pode significar {readings or 'mais de uma coisa'}: use palavras que só sirvam para uma delas."


def _odd_character(unread: Unread) -> str:
    code = unread.detail.get("character", "")
    shown = f"“{unread.text}” ({code})" if unread.text else code
    return f"O caractere {shown} não pode estar num turno: digite de novo sem ele."


SENTENCES: Mapping[UnreadCode, Callable[[Unread], str]] = {
    "empty": lambda _: "Não há nada para ler: diga o que deve ser feito, como em “cobre 40,00 do pedido 4411”.",
    "too_long": lambda u: (
        f"É longo demais: diga em no máximo {u.detail.get('limit', '2000')} caracteres, ou em vários turnos."
    ),
    "odd_character": _odd_character,
    "unbalanced_quote": lambda _: "Uma aspa está sem par na sua linha: ponha uma antes e uma depois do texto.",
    "list_order": lambda u: (
        f"A lista não está numerada 1, 2, 3 em “{u.text}”: numere os passos na ordem em que devem rodar."
    ),
    "language": lambda u: (
        f"Este turno parece estar em {_language(u.detail.get('looks_like', ''))}: "
        "diga em português do Brasil, ou escolha esse idioma."
    ),
    "negation": lambda u: f"“{u.text}” diz o que não fazer, e só leio o que fazer: diga apenas os passos a rodar.",
    "conditional": lambda u: f"“{u.text}” faz um passo depender de algo: diga só passos para rodar agora, na ordem.",
    "choice": lambda u: f"“{u.text}” deixa uma escolha: diga a que você quer.",
    "question": lambda _: (
        "Isto é uma pergunta, e só leio pedidos: diga “cobre 40,00 do pedido 4411” ou “pode cobrar …?”."
    ),
    "quantity": lambda u: f"“{u.text}” conta sem nomear: diga cada passo uma vez, com o seu número e o seu valor.",
    "number_words": lambda u: f"“{u.text}” é um número por extenso: escreva em algarismos.",
    "pronoun": lambda u: (
        f"“{u.text}” aponta para algo que não tenho como saber: diga o nome, como em “pedido 4411” ou “o mesmo pedido”."
    ),
    "unknown_word": lambda u: f"Não conheço a palavra “{u.text}”: diga de outro jeito, ou acrescente-a ao vocabulário.",
    "number_form": lambda u: (
        f"“{u.text}” não é um número como se escreve em português: escreva como "
        f"{u.detail.get('example', '1.234,56')}, sem decimais ou com dois, e maior que zero."
    ),
    "date_form": lambda u: (
        f"“{u.text}” não é uma data da qual eu possa ter certeza: escreva 05/03/2026 ou 5 de março de 2026."
    ),
    "currency": lambda u: (
        f"“{u.text}” está em outra moeda: os valores aqui são em {u.detail.get('wanted', 'uma só moeda')}."
    ),
    "no_tool": lambda u: (
        f"“{u.text}” não começa um passo que eu conheça: comece pelo que fazer, como em “cobre”, “envie” ou “cancele”."
    ),
    "missing_argument": _missing,
    "missing_object": _objectless,
    "left_over": _left_over,
    "no_antecedent": lambda u: (
        f"“{u.text}” precisa se referir a exatamente uma coisa já dita no mesmo turno: diga o número dela."
    ),
    "ambiguous": _ambiguous,
    "bad_value": lambda u: f"“{u.text}” não pode ser {u.detail.get('parameter', 'o valor')}: confira e diga de novo.",
    "repeated_write": lambda u: (
        f"“{u.text}” foi dito duas vezes com os mesmos valores: diga uma vez só, ou em dois turnos se quer duas vezes."
    ),
}


def _language(code: str) -> str:
    return {"pt-BR": "português do Brasil", "en": "inglês"}.get(code, "outra língua")


def value_question(tool: str, name: str) -> str:
    """Return the question for the one value that a turn lacks."""
    return f"{tool} precisa de: {name}. Diga só isso, ou diga outra coisa."
