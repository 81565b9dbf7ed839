"""The command forms of a verb, made when an agent is loaded and never taken apart when a turn is read.

English has one form. In pt-BR three are made of the infinitive: the command to *você* (``cobre``), the colloquial one
to *tu* (``cobra``) and the infinitive itself (``cobrar``). Plurals, past tenses and clitics are not made, so they are
unread.
"""

from ..contract.reading import Language
from .language import VerbForm

__all__ = ["NotAnInfinitive", "verb_forms"]

# infinitive: (você command, tu command)
_IRREGULAR = {
    "fazer": ("faça", "faz"), "refazer": ("refaça", "refaz"), "desfazer": ("desfaça", "desfaz"),
    "satisfazer": ("satisfaça", "satisfaz"), "dizer": ("diga", "diz"), "trazer": ("traga", "traz"),
    "dar": ("dê", "dá"), "estar": ("esteja", "está"), "ir": ("vá", "vai"), "ser": ("seja", "é"),
    "haver": ("haja", "há"), "saber": ("saiba", "sabe"), "caber": ("caiba", "cabe"), "poder": ("possa", "pode"),
    "querer": ("queira", "quer"), "requerer": ("requeira", "requer"), "perder": ("perca", "perde"),
    "valer": ("valha", "vale"), "ler": ("leia", "lê"), "reler": ("releia", "relê"), "crer": ("creia", "crê"),
    "prover": ("proveja", "provê"), "ver": ("veja", "vê"), "rever": ("reveja", "revê"), "prever": ("preveja", "prevê"),
    "pedir": ("peça", "pede"), "despedir": ("despeça", "despede"), "expedir": ("expeça", "expede"),
    "impedir": ("impeça", "impede"), "medir": ("meça", "mede"), "ouvir": ("ouça", "ouve"), "rir": ("ria", "ri"),
    "proibir": ("proíba", "proíbe"), "coibir": ("coíba", "coíbe"), "reunir": ("reúna", "reúne"),
    "saudar": ("saúde", "saúda"), "construir": ("construa", "constrói"), "reconstruir": ("reconstrua", "reconstrói"),
    "destruir": ("destrua", "destrói"), "subir": ("suba", "sobe"), "sumir": ("suma", "some"), "fugir": ("fuja", "foge"),
    "consumir": ("consuma", "consome"), "prevenir": ("previna", "previne"), "progredir": ("progrida", "progride"),
    "agredir": ("agrida", "agride"), "polir": ("pula", "pule"),
}  # fmt: skip

# verbs that end in these, behind any prefix: (cut from the end, você ending, tu ending)
_FAMILIES = {
    "pôr": ("ponha", "põe"), "por": ("ponha", "põe"), "ter": ("tenha", "tém"), "vir": ("venha", "vém"),
}  # fmt: skip
_OF_TER = ("manter", "obter", "conter", "deter", "reter", "entreter", "abster", "suster", "ater")
_OF_VIR = ("intervir", "provir", "convir", "advir", "sobrevir")
_OF_POR = (
    "repor",
    "propor",
    "compor",
    "dispor",
    "expor",
    "impor",
    "supor",
    "transpor",
    "depor",
    "opor",
    "sobrepor",
    "recompor",
    "predispor",
)

# the vowel of the stem changes in the você command: transferir, transfira
_STEM = {
    "servir": "sirv", "vestir": "vist", "despir": "disp", "sentir": "sint", "mentir": "mint", "consentir": "consint",
    "seguir": "sig", "conseguir": "consig", "perseguir": "persig", "prosseguir": "prossig", "repetir": "repit",
    "competir": "compit", "refletir": "reflit", "divertir": "divirt", "advertir": "advirt", "cobrir": "cubr",
    "descobrir": "descubr", "encobrir": "encubr", "dormir": "durm", "tossir": "tuss", "engolir": "engul",
}  # fmt: skip
_STEM_ENDINGS = {"ferir": "fir", "gerir": "gir", "serir": "sir", "derir": "dir"}  # transferir, sugerir, inserir, aderir

_IAR_LIKE_EAR = frozenset({"odiar", "mediar", "ansiar", "remediar", "incendiar", "intermediar"})


class NotAnInfinitive(ValueError):  # noqa: N818 -- what the word is not
    """The word is not a pt-BR infinitive."""

    def __init__(self, word: str) -> None:
        super().__init__(f"{word!r} is not an infinitive: write the verb as cobrar, devolver, emitir")


def verb_forms(language: Language, verb: str) -> dict[VerbForm, str]:
    """Return the forms in which ``verb`` may head a command. Words after the verb (``dar baixa``) stay as they are.

    Raises:
        NotAnInfinitive: pt-BR, and the first word does not end as an infinitive does.
    """
    if language == "en":
        return {"base": verb}
    head, space, rest = verb.partition(" ")
    command, familiar = _portuguese(head)
    tail = space + rest
    return {"subjunctive": command + tail, "familiar": familiar + tail, "infinitive": head + tail}


def _portuguese(verb: str) -> tuple[str, str]:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    for ending, members in (("ter", _OF_TER), ("vir", _OF_VIR), ("por", _OF_POR), ("pôr", ("pôr",))):
        if verb in members:
            stem = verb.removesuffix(ending)
            return stem + _FAMILIES[ending][0], stem + _FAMILIES[ending][1]
    if verb == "ter":
        return "tenha", "tem"
    if verb == "vir":
        return "venha", "vem"
    stem = verb[:-2]
    if not stem:
        raise NotAnInfinitive(verb)
    match verb[-2:]:
        case "ar":
            return _first_conjugation(verb, stem)
        case "er":
            return _second_conjugation(stem)
        case "ir":
            return _third_conjugation(verb, stem)
        case _:
            raise NotAnInfinitive(verb)


def _first_conjugation(verb: str, stem: str) -> tuple[str, str]:
    if stem.endswith("e") or verb in _IAR_LIKE_EAR:
        return stem[:-1] + "eie", stem[:-1] + "eia"
    command = stem + "e"
    if stem.endswith("c"):
        command = stem[:-1] + "que"
    elif stem.endswith("g"):
        command = stem + "ue"
    elif stem.endswith("ç"):
        command = stem[:-1] + "ce"
    return command, stem + "a"


def _second_conjugation(stem: str) -> tuple[str, str]:
    command = stem + "a"
    if stem.endswith("c"):
        command = stem[:-1] + "ça"
    elif stem.endswith("gu"):
        command = stem[:-1] + "a"
    elif stem.endswith("g"):
        command = stem[:-1] + "ja"
    return command, stem + "e"


def _third_conjugation(verb: str, stem: str) -> tuple[str, str]:
    if verb.endswith("uir") and not verb.endswith(("guir", "quir")):
        return stem + "a", stem + "i"
    if verb.endswith("air"):
        return stem + "ia", stem + "i"
    changed = _STEM.get(verb) or next(
        (verb.removesuffix(end) + new for end, new in _STEM_ENDINGS.items() if verb.endswith(end)), stem
    )
    command = changed + "a"
    if changed is stem and stem.endswith("gu"):
        command = stem[:-1] + "a"
    elif changed is stem and stem.endswith("g"):
        command = stem[:-1] + "ja"
    return command, stem if stem.endswith("z") else stem + "e"
