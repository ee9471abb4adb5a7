"""Serves a GGUF model on loopback until its standard input ends, so that it never outlives who started it.

Started by `local.LocalClient` as a plain script: it imports nothing of this package. Its first line on
standard output is its address.
"""

import json
import sys


def main() -> None:
    """Serve as the options on the command line say."""
    import xllamacpp

    options = json.loads(sys.argv[1])
    parameters = xllamacpp.CommonParams()
    parameters.model.path = options["path"]
    parameters.n_ctx = options["context"]
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = options["threads"]
    parameters.cpuparams_batch.n_threads = options["threads"]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.ui = False
    parameters.offline = True
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
