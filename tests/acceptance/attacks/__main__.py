"""Run the attacks against a tier or the control: `python -m tests.acceptance.attacks strict [--without LAYER]`.

Prints one JSON object: the tier, the user, and what each attack reached. An empty list means that it reached nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from grader.sandbox.jail.tiers import planned, without
from grader.sandbox.jail.view import gpu_devices
from tests.acceptance.attacks.attack import read_attacks, share_of, some_of_each
from tests.acceptance.attacks.world import World


def main() -> None:
    """Run the chosen attacks and print what they reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tier", choices=["strict", "contained", "control"])
    parser.add_argument("--backend", choices=["numpy", "torch"], default="numpy")
    parser.add_argument("--gpu", action="store_true", help="workers that have the GPU (--backend torch)")
    parser.add_argument("--without", action="append", default=[], help="a layer to leave out")
    parser.add_argument("--only", action="append", help="attacks, by name or family")
    parser.add_argument("--each", type=int, help="only so many attacks of each family")
    parser.add_argument("--share", type=int, nargs=2, metavar=("NUMBER", "COUNT"), help="see `share_of`")
    options = parser.parse_args()
    attacks = [one for one in read_attacks() if not options.only or {one.name, one.family} & set(options.only)]
    attacks = some_of_each(attacks, options.each) if options.each else attacks
    attacks = share_of(attacks, *options.share) if options.share else attacks
    results: dict[str, list[str]] = {}
    with World() as world:
        if options.tier == "control":
            from tests.acceptance.attacks import control

            for attack in attacks:
                results[attack.name] = sorted(control.run(attack, world))
                print(attack.name, results[attack.name], file=sys.stderr, flush=True)
        else:
            from tests.acceptance.attacks.jailed import AttackRange

            plan = planned(options.backend, options.tier, gpu_devices() if options.gpu else ())
            for layer in options.without:
                plan = without(plan, layer)
            with AttackRange(plan, world) as attack_range:
                for attack in attacks:
                    results[attack.name] = sorted(attack_range.run(attack))
                    print(attack.name, results[attack.name], file=sys.stderr, flush=True)
    print(json.dumps({"tier": options.tier, "uid": os.getuid(), "reached": results}))


if __name__ == "__main__":
    main()
