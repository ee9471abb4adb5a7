"""The files of a new project that are the same in all of them, or nearly so."""

STAND_IN = "stand-in"

ENGINES = """\
# What can answer, by name. A prompt version may name one of these in its front matter, and nothing else.
default: stand-in
engines:
  # NOT A MODEL: it answers each case with the expectation of the case that is most like it, so that all of it
  # runs before there is a key. Its numbers say nothing about your prompt, which it does not read.
  stand-in:
    kind: recorded
    path: recorded/{suite}/{version}.jsonl
  # Your model, at any OpenAI-compatible address. Remove the marks, set the key, write `default: model` above.
  # model:
  #   kind: endpoint
  #   url: https://api.openai.com/v1
  #   model: gpt-4o-mini
  #   key_variable: MODEL_API_KEY             # the name of an environment variable; the key stands in no file
  #   temperature: 0
  #   concurrency: 8
  #   prices: {prompt: 0.15, completion: 0.60}   # dollars per million tokens
  #   budget: {calls: 2000, dollars: 2}          # of a run, which goes on later where it stopped
  #   trials: 1
"""

ENVIRONMENT_EXAMPLE = """\
# Copy this to .env, which Git ignores. `dagster dev` reads it; for eval-pipeline: set -a; . ./.env; set +a
# Where all state goes, as a whole path:
# DAGSTER_HOME=/path/to/this/folder/.eval
# The key that engines.yaml names:
# MODEL_API_KEY=
"""

IGNORED = """\
.env
.eval/
.tmp_dagster_home_*/
.venv/
__pycache__/
production/drop/
production/suggested/
production/ratings/*/*
!production/ratings/*/ledger.jsonl
"""

WORKSPACE = """\
# What `dagster dev` loads.
load_from:
  - python_module:
      module_name: eval_pipeline.definitions
      location_name: eval_pipeline
"""

GATES = """\
# Which values fail and pass, and which drops against the baseline matter.
# The bounds are first guesses, which the stand-in's answers pass: write what you demand.
metrics:
"""

GATE = """\
  {metric}:                 # the stand-in reaches {reached}
    fail: "< {fail}"
    pass: ">= 0.8"
    regression: {{investigate: 0.01, block: 0.05}}
"""

GATE_TO_COME = """\
  # {metric}:                 # the stand-in has no figure: remove the marks once a model answers
  #   fail: "< 0.5"
  #   pass: ">= 0.8"
  #   regression: {{investigate: 0.01, block: 0.05}}
"""
