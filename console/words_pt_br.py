"""The words of the console in Brazilian Portuguese."""

WORDS = {
    "desk": "Atendimento", "inbox": "Pendências", "runs": "Execuções", "plan": "Plano", "tools": "Ferramentas",
    "record": "Registro", "settings": "Configurações", "skip_link": "Ir para o conteúdo", "sign_in": "Entrar",
    "sign_out": "Sair", "token": "Chave de acesso", "bad_token": "Ninguém tem essa chave.",
    "signed_in_as": "Conectado como", "turn": "Pedido", "send": "Enviar", "conversations": "Conversas",
    "open": "Abrir", "read_as": "Os pedidos aqui são lidos em", "agents_language": "o idioma do próprio agente",
    "waits_above": "Esta conversa espera uma resposta acima.", "no_turns": "Nada foi dito aqui ainda.",
    "not_read": "Este pedido não foi lido.", "step": "Passo", "of": "de", "person": "Pessoa", "state": "Estado",
    "started": "Início", "ended": "Fim", "tool": "Ferramenta", "arguments": "Argumentos", "forward": "Ida",
    "undo": "Desfazer", "key": "Chave", "any": "qualquer", "filter": "Filtrar", "nothing": "Nada aqui.",
    "kind": "Tipo", "asks": "Pergunta", "since": "Desde", "expires": "Expira",
    "never_expires": "Esta pergunta não expira.", "run": "Execução", "reply": "Resposta", "questions": "Perguntas",
    "temporal": "Abrir no Temporal", "stop": "Parar esta execução",
    "stop_means": "Nada mais é enviado, e o que foi feito é desfeito.",
    "reason": "Motivo", "irreversible": "irreversível", "answered": "respondeu", "changed_nothing": "não mudou nada",
    "undone_by": "Se um passo posterior falhar, será desfeito por {undo}.",
    "no_undo": "Se um passo posterior falhar, fica feito: nada o desfaz.",
    "independent": "Se um passo posterior falhar, fica feito: as execuções deste agente são independentes.",
    "because": "Perguntado por causa de",
    "because_write": "Perguntado porque toda escrita é confirmada por uma pessoa.",
    "approve": "Aprovar", "skip": "Pular este passo", "cancel all": "Cancelar tudo", "happened": "Aconteceu",
    "did not happen": "Não aconteceu", "retry": "Tentar de novo", "done by hand": "Feito à mão", "abandon": "Deixar",
    "approve_means": "executa exatamente isto", "skip_means": "a execução segue sem ele",
    "cancel all_means": "para a execução e desfaz, do mais recente: {undone}",
    "cancel_nothing": "para a execução; nada dela foi feito", "cancel_stays": "fica: {stays}",
    "cancel_keeps": "para a execução; o que ela fez fica", "by": "por", "undoes": "desfaz {tool}",
    "happened_means": "a execução segue como se tivesse funcionado",
    "did not happen_means": "a execução para e é desfeita",
    "retry_means": "envia de novo o desfazer, com a mesma chave",
    "done by hand_means": "alguém desfez por fora; o desfazer continua",
    "abandon_means": "o desfazer para aqui; a resposta diz o que ainda falta desfazer",
    "answer": "Responder", "note": "Quem e como, ou por quê (preciso nas duas últimas)",
    "result": "O que ela devolveu, em JSON", "details": "Detalhes", "digest": "Resumo criptográfico",
    "may_not_answer": "Outra pessoa precisa responder.",
    "changed": "A pergunta mudou. Ela não foi respondida; veja como está agora.",
    "refused": "Isso não foi feito", "plan_it": "Planejar", "calls": "Chamadas",
    "nothing_ran": "Nada foi executado.", "verdict": "Verificação", "question": "Pergunta", "language": "Idioma",
    "selector_language": "Idioma que o seletor lê", "console_language": "Idioma deste console",
    "save": "Salvar", "saved": "Salvo.", "export": "Exportar", "head": "Cabeça", "whole": "inteiro",
    "broken": "quebrado", "reads": "lê", "writes": "escreve", "undo_none": "nenhum, de propósito", "lints": "Avisos",
    "class": "Tipo", "waiting_for_you": "esperando por você desde", "live": "ao vivo", "waits_for": "Espera",
    "evidence": "Evidência", "tries": "tentativas", "still_open": "A execução continua.", "thread_of": "Conversa de",
    "go": "Ir", "left": "ficou como está", "stuck_head": "Um desfazer falhou",
    "note_needed": "Esta resposta precisa de uma observação.",
    "too_soon": "Esse clique veio no instante em que a pergunta apareceu, e nada foi respondido. "
    "Olhe, e responda de novo.",
}  # fmt: skip

RUN_STATES = {
    "reading": "lendo", "running": "em andamento", "waiting": "esperando", "undoing": "desfazendo", "stuck": "travada",
    "done": "concluída", "undone": "desfeita", "left": "parada, e algo ficou", "abandoned": "abandonada",
    "refused": "recusada", "condemned": "condenada",
}  # fmt: skip
STEP_STATES = {
    "proposed": "planejado", "refused": "recusado", "declined": "pulado", "approved": "aprovado",
    "sent": "em andamento", "done": "feito", "failed": "falhou", "in doubt": "em dúvida",
    "did not happen": "não aconteceu", "undoing": "desfazendo", "undone": "desfeito",
    "undone by hand": "desfeito à mão", "undo failed": "o desfazer falhou", "left": "ficou como está",
}  # fmt: skip
OTHERS = {
    "confirm": "confirmar", "outcome": "teve efeito?", "undo": "desfazer", "allow": "permitida", "refuse": "recusada",
}  # fmt: skip
