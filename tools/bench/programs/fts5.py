"""The same texts in SQLite's FTS5, in one process: what a search takes there. Lines in, lines out, all of them JSON."""

import json
import sqlite3
import sys
import time

database = sqlite3.connect(":memory:")
database.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61')")
SEARCH = "SELECT rowid, bm25(texts) AS score FROM texts WHERE texts MATCH ? ORDER BY score LIMIT ?"


def quoted(words, operator):
    return operator.join('"' + word.replace('"', '""') + '"' for word in words)


for line in sys.stdin:
    asked = json.loads(line)
    if "add" in asked:
        rows = [(number, text) for number, text in asked["add"]]
        database.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
        answer = {"added": len(rows)}
    elif "search" in asked:
        operator = " OR " if asked.get("any") else " AND "
        began = time.perf_counter()
        found = database.execute(SEARCH, (quoted(asked["search"], operator), asked["limit"])).fetchall()
        answer = {"ms": (time.perf_counter() - began) * 1000, "found": [number for number, _ in found]}
    else:
        database.execute("INSERT INTO texts (texts) VALUES ('optimize')")
        answer = {}
    print(json.dumps(answer), flush=True)
