"""The shop's world: orders, charges, the CRM, accounts and receipts in one SQLite file, to be looked at after a run.

Every write and every undo goes through `Store.once`, which honours idempotency keys as a payment provider does: a key
seen before returns its first result and does nothing; a key with other arguments is an error. Nothing here knows of
agents or runs.
"""

import json
import os
import secrets
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

__all__ = ["KeyReusedError", "Row", "Store", "World", "main"]

Row: TypeAlias = dict[str, str]
World: TypeAlias = dict[str, dict[str, str | int | None]]

_SCHEMA = """
CREATE TABLE orders (order_id TEXT PRIMARY KEY, customer TEXT NOT NULL, email TEXT NOT NULL, total TEXT NOT NULL);
CREATE TABLE charges (
    charge_id TEXT PRIMARY KEY,
    order_id TEXT NOT NULL REFERENCES orders,
    amount TEXT NOT NULL,
    refunded TEXT NOT NULL DEFAULT '0.00'
);
CREATE TABLE crm (order_id TEXT PRIMARY KEY REFERENCES orders, status TEXT NOT NULL);
CREATE TABLE accounts (order_id TEXT PRIMARY KEY REFERENCES orders, account_id TEXT NOT NULL);
CREATE TABLE receipts (receipt_id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, email TEXT NOT NULL);
CREATE TABLE services (name TEXT PRIMARY KEY, up INTEGER NOT NULL);
CREATE TABLE keys (key TEXT PRIMARY KEY, operation TEXT NOT NULL, arguments TEXT NOT NULL, result TEXT NOT NULL);
CREATE TABLE calls (number INTEGER PRIMARY KEY AUTOINCREMENT, tool TEXT NOT NULL, key TEXT NOT NULL, at TEXT NOT NULL);
"""
_ORDERS = (
    ("4411", "Ana Souza", "ana@example.com", "40.00"),
    ("4412", "Ben Okafor", "ben@example.com", "125.50"),
    ("5120", "Chiara Rossi", "chiara@example.com", "9.90"),
    ("5121", "Dmitri Ivanov", "dmitri@example.com", "310.00"),
)


class KeyReusedError(Exception):
    """An idempotency key came back with another operation or other arguments: two calls were given one key."""


class Store:
    """The shop's database.

    Args:
        path: the file; by default the one that ``SHOP_DB`` names, else ``.amends/shop.db``. It is made, with its
            orders, when it is first opened.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path or os.environ.get("SHOP_DB") or ".amends/shop.db")

    def once(
        self,
        key: str,
        operation: str,
        arguments: Mapping[str, str],
        effect: Callable[[sqlite3.Connection], Row],
    ) -> Row:
        """Run ``effect`` once for ``key``, in one transaction with the key itself, and return its result.

        Raises:
            KeyReusedError: the key belongs to another operation or other arguments.
        """
        asked = json.dumps(dict(arguments), sort_keys=True)
        with self.open() as connection:
            known = connection.execute("SELECT operation, arguments, result FROM keys WHERE key = ?", (key,)).fetchone()
            if known is not None:
                if (known["operation"], known["arguments"]) != (operation, asked):
                    raise KeyReusedError(
                        f"the key {key} was used for {known['operation']} with {known['arguments']}, "
                        f"and now comes with {operation} and {asked}"
                    )
                return dict[str, str](json.loads(known["result"]))
            result = effect(connection)
            connection.execute("INSERT INTO keys VALUES (?, ?, ?, ?)", (key, operation, asked, json.dumps(result)))
            return result

    def order(self, order_id: str) -> Row | None:
        """Return an order with what is known of it, or None."""
        with self.open() as connection:
            row = connection.execute(
                "SELECT o.*, c.status FROM orders o JOIN crm c USING (order_id) WHERE order_id = ?", (order_id,)
            ).fetchone()
        return dict(row) if row else None

    def snapshot(self) -> World:
        """Return the whole world by order, to compare before and after.

        ``charged`` is what the customer has paid, refunds taken off; ``receipts`` counts the receipts that were sent.
        """
        with self.open() as connection:
            world: World = {
                row["order_id"]: {"charged": "0.00", "crm": row["status"], "account": row["account_id"], "receipts": 0}
                for row in connection.execute(
                    "SELECT order_id, status, account_id FROM orders JOIN crm USING (order_id)"
                    " LEFT JOIN accounts USING (order_id) ORDER BY order_id"
                )
            }
            for row in connection.execute("SELECT order_id, amount, refunded FROM charges"):
                order = world[row["order_id"]]
                order["charged"] = str(
                    Decimal(str(order["charged"])) + Decimal(row["amount"]) - Decimal(row["refunded"])
                )
            for row in connection.execute("SELECT order_id, count(*) AS sent FROM receipts GROUP BY order_id"):
                world[row["order_id"]]["receipts"] = row["sent"]
        return world

    def is_up(self, service: str) -> bool:
        """Whether a service the shop depends on answers."""
        with self.open() as connection:
            row = connection.execute("SELECT up FROM services WHERE name = ?", (service,)).fetchone()
        return bool(row and row["up"])

    def switch(self, service: str, *, up: bool) -> None:
        """Switch a service on or off."""
        with self.open() as connection:
            connection.execute("INSERT OR REPLACE INTO services VALUES (?, ?)", (service, int(up)))

    def note_call(self, tool: str, key: str) -> None:
        """Write down that a tool ran, whatever comes of it."""
        with self.open() as connection:
            connection.execute(
                "INSERT INTO calls (tool, key, at) VALUES (?, ?, ?)", (tool, key, datetime.now(UTC).isoformat())
            )

    def calls(self) -> list[str]:
        """Return the names of the tools that ran, in order."""
        with self.open() as connection:
            return [row["tool"] for row in connection.execute("SELECT tool FROM calls ORDER BY number")]

    def clear_calls(self) -> None:
        """Forget which tools ran; the world stays as it is."""
        with self.open() as connection:
            connection.execute("DELETE FROM calls")

    def reset(self) -> None:
        """Make the world new."""
        with self.open() as connection:
            for table in ("receipts", "accounts", "charges", "crm", "orders", "services", "keys", "calls"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 -- names from the line above
            _seed(connection)

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Open one connection with one transaction, which is committed when the block ends without an error."""
        if not self.path.exists():
            _create(self.path)
        with closing(sqlite3.connect(self.path, timeout=10, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def _create(path: Path) -> None:
    """Make the file beside its place, and put it there whole.

    Turning on WAL in a file that others are opening fails at once with "database is locked", whatever the timeout.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        with closing(sqlite3.connect(draft)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
            _seed(connection)
            connection.commit()
        with suppress(FileExistsError):
            path.hardlink_to(draft)
    finally:
        draft.unlink(missing_ok=True)


def _seed(connection: sqlite3.Connection) -> None:
    connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", _ORDERS)
    connection.executemany("INSERT INTO crm VALUES (?, 'open')", [(order[0],) for order in _ORDERS])
    connection.execute("INSERT INTO services VALUES ('provisioning', 1)")


def _show(store: Store) -> str:
    lines = [f"{'order':<8}{'charged':>10}  {'crm':<8}{'account':<20}{'receipts':>8}"]
    lines += [
        f"{order_id:<8}{said['charged']:>10}  {said['crm']:<8}{said['account'] or '-':<20}{said['receipts']:>8}"
        for order_id, said in store.snapshot().items()
    ]
    lines.append(f"provisioning is {'up' if store.is_up('provisioning') else 'down'}")
    lines += [f"{number}. {tool}" for number, tool in enumerate(store.calls(), 1)]
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    """Look at the shop, or change it: ``show``, ``provisioning up`` or ``down``, ``reset``. Others return 2."""
    store = Store()
    match words:
        case [] | ["show"]:
            pass
        case ["provisioning", "up" | "down" as way]:
            store.switch("provisioning", up=way == "up")
        case ["reset"]:
            store.reset()
        case _:
            sys.stderr.write("usage: python -m amends.examples.shop.store [show | provisioning up|down | reset]\n")
            return 2
    sys.stdout.write(f"{_show(store)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
