"""Tables as their rows: blocks with a fragment for each cell of text, which can be compared as other blocks are."""

from collections.abc import Sequence

from syncd.web.blocks.members import Node, read_data, read_nodes

ROW = "table-row"


def split_rows(table: Node) -> tuple[Node, list[Node]]:
    """Return what of a table is about no single row, and its rows in the order in which they are shown.

    Shape: the data of a row has what stands in no fragment, with the words for it; equal rows have equal keys.
    """
    data = dict(read_data(table))
    records, labels = (data.pop(name, None) for name in ("records", "labels"))
    fragments = {str(one.get("fragment")): read_nodes(one) for one in read_nodes(table, "fragments")}
    kept = [item for item in (records.items() if isinstance(records, dict) else ()) if isinstance(item[1], dict)]
    rows: list[Node] = []
    for record, held in sorted(kept, key=lambda item: str(item[1].get("orderIndex", ""))):
        values = read_data({"data": held.get("values")})
        texts = {name: fragments.pop(str(value)) for name, value in values.items() if str(value) in fragments}
        words = labels if isinstance(labels, dict) else {}
        known = {name: (value, words.get(f"{record}{name}")) for name, value in values.items() if name not in texts}
        cells = [{"object": "fragment", "fragment": name, "nodes": nodes} for name, nodes in texts.items()]
        keys = [str(block.get("key") or block).partition("-")[0] for nodes in texts.values() for block in nodes]
        row = {"object": "block", "type": ROW, "data": known, "fragments": cells, "key": repr((known, keys))}
        rows.append(row | {"change": held.get("change")})
    return {"data": data, "fragments": fragments}, rows


def join_rows(table: Node, rows: Sequence[Node]) -> Node:
    """Return a table with these rows in the place of its own; a record has the `change` of its row."""
    around, _ = split_rows(table)
    records, labels = {}, {}
    fragments = [{"object": "fragment", "fragment": name, "nodes": held} for name, held in around["fragments"].items()]
    for number, row in enumerate(rows):
        record = f"r{number}"
        values = {name: value for name, (value, _) in row["data"].items()}
        labels.update({f"{record}{name}": words for name, (_, words) in row["data"].items()})
        for cell in row["fragments"]:
            values[cell["fragment"]] = f"{record}{cell['fragment']}"
            fragments.append({**cell, "fragment": f"{record}{cell['fragment']}"})
        records[record] = {"orderIndex": f"{number:06}", "values": values, "change": row.get("change")}
    data = {**around["data"], "records": records, "labels": labels}
    return {**table, "data": data, "fragments": fragments}
