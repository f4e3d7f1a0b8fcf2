"""Probes of 01_bytes: calls that tell its misconceptions apart."""

from grader.diagnosis.probe import probe

NE = [110, 195, 169, 33]  # né!
TREES = [230, 156, 168, 240, 159, 140, 179]  # 木🌳

PROBES = [
    probe("text_to_ids", "Hi"),
    probe("text_to_ids", "é"),
    probe("text_to_ids", "木"),
    probe("text_to_ids", "né!"),
    probe("text_to_ids", "🌳 a"),
    probe("text_to_ids", " a b "),
    probe("text_to_ids", "e\u0301"),
    probe("text_to_ids", "\ufefftree"),
    probe("text_to_ids", ""),
    probe("ids_to_text", [72, 105]),
    probe("ids_to_text", NE),
    probe("ids_to_text", TREES),
    probe("ids_to_text", [72, 195]),
    probe("ids_to_text", [72, 255, 63, 105]),
    probe("ids_to_text", [239, 187, 191, 97]),
    probe("ids_to_text", [72, 300], names=(300,)),
    probe("ids_to_text", [72, -7], names=(-7,)),
    probe("ids_to_text", []),
    probe("character_starts", [72, 105]),
    probe("character_starts", NE),
    probe("character_starts", TREES),
    probe("character_starts", [97, 97, 195, 169, 97]),
    probe("character_starts", []),
    probe("cut_to_fit", NE, 1),
    probe("cut_to_fit", NE, 2),
    probe("cut_to_fit", NE, 3),
    probe("cut_to_fit", NE, 4),
    probe("cut_to_fit", NE, 9),
    probe("cut_to_fit", TREES, 2),
    probe("cut_to_fit", TREES, 3),
    probe("cut_to_fit", TREES, 6),
    probe("cut_to_fit", [72, 105], 1),
    probe("cut_to_fit", NE, 0),
]
