"""A process that logs at full speed, for tests that end it: `writing_child.py LOG MODE`.

It prints the number of records that are acknowledged: those that `Log.written` counts.
"""

import os
import signal
import sys
import time

from policyengine.kinds.bundle import load
from policyengine.kinds.made import Made
from policyengine.log.record import Recorder
from policyengine.log.settings import open_sink
from policyengine.log.writer import Log


def main(path, mode):
    bundle = load()
    policy = bundle.policy("floor")
    given = {"window": 200_000, "tokens": 1000}
    made = Made(policy, given, policy.decide(given))
    log = Log(Recorder(bundle, source="runtime"), [open_sink(path)])
    if mode == "exit":
        for number in range(500):
            log.decided(made, round=number + 1)
        print(500, flush=True)
        return
    if mode == "handled":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    number = 0
    said = -1
    until = time.monotonic() + 60
    while time.monotonic() < until:
        number += 1
        log.decided(made, round=number)
        if mode != "run":
            time.sleep(0.0005)  # so that little waits when the process is told to end
        if log.written != said:
            if said < 0:
                log.flush()
                print("ready", flush=True)
            said = log.written
            os.write(1, b"%d\n" % said)


if __name__ == "__main__":
    main(*sys.argv[1:])
