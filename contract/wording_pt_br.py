"""The sentences of a reply in Brazilian Portuguese (SPEC 6.3). Their meanings stand at `wording.ReplyWords`."""

from collections.abc import Sequence

from .run import StopClass


def done(ran: Sequence[str], skipped: Sequence[str]) -> str:
    """Say that the run is done."""
    said = f"Feito: {', '.join(ran)}." if ran else "Nada foi feito."
    return f"{said} Pulado: {', '.join(skipped)}." if skipped else said


def stopped(cause: str) -> str:
    """Say that the run stopped."""
    return f"Esta execução parou: {cause}."


def undone(steps: Sequence[tuple[str, str]]) -> str:
    """Say what was undone, latest first."""
    return f"Desfeito, do mais recente: {', '.join(f'{tool} ({by})' for tool, by in steps)}."


def left(steps: Sequence[str]) -> str:
    """Say what nothing can undo."""
    return f"Não dá para desfazer, e ficaram como estão: {', '.join(steps)}."


def kept(steps: Sequence[str]) -> str:
    """Say what the run keeps."""
    return f"Ficaram feitos, porque as execuções deste agente são independentes: {', '.join(steps)}."


def remaining(steps: Sequence[str]) -> str:
    """Say what still needs undoing."""
    return f"Ainda falta desfazer à mão: {', '.join(steps)}."


def failed(tool: str, error: str) -> str:
    """Give the cause: a tool failed. SPEC keeps this clause in English."""
    return f"{tool} failed ({error})"


def refused(tool: str, rule: str, say: str) -> str:
    """Give the cause: the check refused a call."""
    return f"{tool} foi recusada ({rule}: {say.rstrip('.')})" if say else f"{tool} foi recusada ({rule})"


def cancelled(by: str) -> str:
    """Give the cause: a person answered cancel all."""
    return f"cancelada por {by}"


def not_confirmed(tool: str) -> str:
    """Give the cause: nobody confirmed a write in time."""
    return f"ninguém confirmou {tool} a tempo"


def did_not_happen(tool: str, by: str) -> str:
    """Give the cause: a doubtful write did not happen."""
    return f"{tool} não aconteceu, disse {by}"


def cancelled_outside() -> str:
    """Give the cause: cancelled from outside."""
    return "foi cancelada de fora"


def stopped_by(by: str, reason: str) -> str:
    """Give the cause: a person stopped the run."""
    return f"parada por {by}: {reason.rstrip('.')}" if reason else f"parada por {by}"


def condemned(by: str, reason: str) -> str:
    """Give the cause: an operator had the run undone."""
    return f"{by} mandou desfazê-la: {reason.rstrip('.')}"


def unwound(by: str, reason: str) -> str:
    """Begin the reply of an unwind."""
    return f"{by} mandou desfazer esta execução: {reason.rstrip('.')}."


def barred() -> str:
    """Say that a condemned run sends nothing."""
    return "Esta execução foi desfeita de fora. Ela não envia mais nada."


def not_begun(cause: str) -> str:
    """Say that a turn's run was never started."""
    return f"Este pedido não foi iniciado: {cause}."


def in_flight(tool: str, found: StopClass) -> str:
    """Say what became of the call in flight."""
    said = {
        "before dispatch": "não foi enviada",
        "aborted": "foi interrompida",
        "unknown": "já tinha sido enviada",
        "committed": "teve efeito",
    }
    return f"Em andamento quando parou: {tool}, que {said[found]}."


def undone_by(tool: str) -> str:
    """Say which tool undid a write."""
    return f"por {tool}"


def by_hand(by: str) -> str:
    """Say that a person undid a write."""
    return f"à mão, {by}"


def declined() -> str:
    """Say what the result of a skipped call says."""
    return "A pessoa recusou esta chamada."


def ended_outside() -> str:
    """Say that the run was ended from outside."""
    return "Esta execução foi encerrada de fora antes do fim."


def still_done(steps: Sequence[str]) -> str:
    """Say what such a run did and did not undo."""
    return f"O que ela fez continua feito: {', '.join(steps)}."


def nobody_knows(tools: Sequence[str]) -> str:
    """Say which calls may have taken effect."""
    return f"Ninguém sabe se tiveram efeito: {', '.join(tools)}."
